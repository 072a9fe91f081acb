# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as GitHub-flavoured Markdown, short enough for a job summary (1 MiB).

What hosts say is shown as it is: no markup, link, mention or picture can come of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._ground.check import READY
from ...module_utils._ground.text import few
from .._hosts import summary
from .._run.compare import WAYS
from .._run.shape import VERDICTS
from .html import causes, model

_GROUPS = 20
_HOSTS = 50
_NAMED = 6
_CHANGED = 3
_LONGEST = 200
_MARKS = {"ready": "🟢", "degraded": "🟡", "unknown": "⚪", "not_ready": "🔴"}
# Line ends and other control characters; what turns the direction of text; what UTF-8 cannot hold.
_BLANK = re.compile("[\x00-\x20\x7f-\x9f\u2028\u2029]+")
_STRAY = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
# What begins markup within a line. Of names, times and paths that is nothing: a ticket is read as plain text, too.
_MARKUP = re.compile(
    r"[\\*<|~@#$]|\](?=[(\[:])|&(?=[#A-Za-z])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//|[a-z][a-z0-9_+-]*:)", re.ASCII
)
_ADDRESS = re.compile(r"(?<=www)\.", re.IGNORECASE)

Said = Mapping[str, Any]


def render(report: Said) -> str:
    """The whole text."""
    lines = [f"## ibready: {_headline(report)}", ""]
    if report["simulated"]:
        lines += [f"**Simulated:** {text(report['simulated'])}", ""]
    page = model.read(report)
    reported = f"{page.cluster or 'cluster'}, {page.at}, ibready {report['ibready']}"
    lines += [f"{text(reported)}. {_counted(report)}", ""]
    lines += _wrong(report)
    lines += _hosts(report)
    lines += _fabrics(report)
    lines += _since(report.get("since"))
    lines += _waivers(report.get("waivers") or ())
    return "\n".join(lines).rstrip() + "\n"


def text(said: object) -> str:
    """Foreign text in a cell or a line, in which nothing means anything to Markdown."""
    clean = _STRAY.sub("\ufffd", _BLANK.sub(" ", str(said))).strip().replace("`", "'")
    if len(clean) > _LONGEST:
        clean = f"{clean[:_LONGEST]}..."
    marked = _MARKUP.sub(lambda entry: f"&#{ord(entry.group())};", clean)
    return _ADDRESS.sub("&#46;", marked)


def _headline(report: Said) -> str:
    hosts = report["hosts"].values()
    ready = sum(host["verdict"] == READY for host in hosts)
    return f"{ready} of {len(hosts)} nodes ready"


def _counted(report: Said) -> str:
    counts = Counter(host["verdict"] for host in report["hosts"].values())
    reported = (f"{_MARKS[verdict]} {counts[verdict]} {text(verdict)}" for verdict in VERDICTS if counts[verdict])
    return ", ".join(reported) or "No hosts took part."


def _wrong(report: Said) -> list[str]:
    """The causes of the page: on which nodes, at which cable, and what to do."""
    found = causes.causes(report)
    if not found:
        return []
    rows = [
        (
            f"{cause.result}{'' if cause.error else ' (warning)'}",
            f"{text(cause.title)}{f' (in the words of {text(cause.words_of)})' if cause.words_of else ''}",
            ", ".join(filter(None, (text(cause.nodes), _names(cause.others)))),
            _names([f"{host} {port} - {far or '?'}" for host, port, far, _unused in cause.cables], _CHANGED),
            _next(cause),
            _names(cause.checks, _CHANGED),
        )
        for cause in found[:_GROUPS]
    ]
    head = ("result", "what", "nodes", "cable", "next", "checks")
    return ["### What is wrong", "", *_table(head, rows), *_more(len(found), _GROUPS, "causes")]


def _next(cause: causes.Cause) -> str:
    """What hands do and the first command, where there is room for it, and how many more there are."""
    first = [command for command in cause.commands[:1] if len(command) <= _LONGEST]
    shown = "; ".join(text(entry) for entry in (cause.act, *first) if 0 < len(entry) <= _LONGEST)
    more = len(cause.commands) - len(first)
    return f"{shown} (and {more} more command{'s' * (more > 1)})".strip() if more else shown


def _hosts(report: Said) -> list[str]:
    bad = {name: host for name, host in report["hosts"].items() if host["verdict"] != READY}
    if not bad:
        return []
    rows = [
        (text(name), f"{_MARKS[entry['verdict']]} {text(entry['verdict'])}", text(summary.counts(entry)))
        for name, entry in list(bad.items())[:_HOSTS]
    ]
    reported = _table(("node", "verdict", "checks"), rows)
    return ["### Nodes that are not ready", "", *reported, *_more(len(bad), _HOSTS, "nodes")]


def _fabrics(report: Said) -> list[str]:
    reported = report.get("fabric")
    if not reported or not (reported["error"] or reported["fabrics"]):
        return []
    rows = [
        (text(fabric["name"]), f"{_MARKS[fabric['verdict']]} {text(fabric['verdict'])}", text(summary.counts(fabric)))
        for fabric in reported["fabrics"]
    ]
    lines = ["### Fabrics", ""]
    lines += [f"Not judged: {text(reported['error'])}", ""] if reported["error"] else []
    return [*lines, *(_table(("fabric", "verdict", "checks"), rows) if rows else [])]


def _since(since: Said | None) -> list[str]:
    if since is None:
        return []
    lines = [f"### Since {text(since['created'])}", ""]
    if since["error"]:
        return [*lines, f"Not compared: {text(since['error'])}", ""]
    if not since["hosts"]:
        return [*lines, "Nothing got better or worse.", ""]
    rows = [
        (text(name), text(f"{host['before']} -> {host['now']}"), *(_found(host[way]) for way in WAYS))
        for name, host in list(since["hosts"].items())[:_HOSTS]
    ]
    reported = _table(("node", "verdict", *WAYS), rows)
    return [*lines, *reported, *_more(len(since["hosts"]), _HOSTS, "nodes")]


def _found(found: Sequence[Said]) -> str:
    return _names(list(dict.fromkeys(f"{item['id']} {item['subject']}" for item in found)), _CHANGED)


def _waivers(waivers: Sequence[Said]) -> list[str]:
    if not waivers:
        return []
    head = ("check", "node", "until", "reason", "state")
    rows = [
        tuple(text(waiver[key]) for key in ("check", "host", "until", "reason", "state")) for waiver in waivers[:_HOSTS]
    ]
    return ["### Waivers", "", *_table(head, rows), *_more(len(waivers), _HOSTS, "waivers")]


def _names(names: Sequence[str], most: int = _NAMED) -> str:
    return few(list(map(text, names)), most)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    lines = (head, ("---",) * len(head), *rows)
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def _more(count: int, shown: int, what: str) -> list[str]:
    if count <= shown:
        return []
    return [f"And {count - shown} more {what}: the report has all of them.", ""]
