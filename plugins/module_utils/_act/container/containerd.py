# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn CDI on in containerd's config.toml: one line of the site's own file.

Not by a file of our own that the site's imports: before 2.0 containerd takes a plugin's whole table
from the last file that has it, and the site's settings of the CRI plugin would be lost. Source:
containerd issue 5837 and pull request 9982. Confidence: confirmed.
"""

from __future__ import annotations

import re
from typing import Any

from ..._data import container_engines as data
from ..._parse.version_text import numbers
from . import model, tomltext
from .model import Change, Desired, Plan, bad_byte
from .tomltext import Path, Toml, TomlError

KEY = "enable_cdi"
_HEADER = "# Written by ibready.cluster.container_engines."
_ON = "true"


def plan(path: str, before: str | None, dump: Toml, wish: Desired, version: str, record: dict[str, Any]) -> Plan:
    """config.toml as it is to be; TomlError where the file cannot be read.

    ``dump``: what the engine says that all its files mean.
    """
    made = Plan(path, before, before, record=record)
    own = tomltext.parse(before or "")
    bad = bad_byte(before or "")
    if bad is not None:
        raise TomlError(before or "", bad, "a byte that is no UTF-8")
    if not wish.cdi:
        _take_back(made, own, record)
        return made
    why = _why_not(dump, version)
    if why:
        made.left["cdi"] = why
        return made
    if effective(dump) == _ON:
        return made
    table = data.CRI.get(_format(own, dump, before))
    if table is None:
        shown = own.raw(("version",)) or dump.raw(("version",))
        made.left["cdi"] = f"{path} has format {shown}, which ibready does not know"
        return made
    now = own.raw((*table, KEY))
    if now is not None and not wish.replace:
        made.left["cdi"] = model.kept(path, f"{KEY} = {now}")
        return made
    made.after, block = _set(own, table, f"version = {dump.raw(('version',))}\n" if before is None else "")
    change = Change(tomltext.dotted((*table, KEY)), now, _ON)
    made.changes.append(change)
    if now is not None:
        made.overridden.append(change)
    made.record = {"made": before is None, "block": block, "before": now}
    return made


def effective(dump: Toml) -> str | None:
    """What the CRI plugin has as enable_cdi, None where it does not know the key."""
    found = [pair for pair in dump.pairs if pair.path[-1] == KEY and pair.path[:-1] in _TABLES]
    return dump.text[found[-1].value : found[-1].value_end] if found else None


def others(dump: Toml) -> dict[Path, str]:
    """All that a dump says besides our key and the names of the files: this must not change."""
    return {
        pair.path: re.sub(r"\s+", " ", dump.text[pair.value : pair.value_end])
        for pair in dump.pairs
        if pair.path != ("imports",) and not (pair.path[-1] == KEY and pair.path[:-1] in _TABLES)
    }


_TABLES = tuple(data.CRI.values())


def _why_not(dump: Toml, version: str) -> str:
    off = tomltext.texts(dump.raw(("disabled_plugins",)) or "[]") or []
    if set(off) & set(data.CRI_NAMES):
        return (
            "the CRI plugin, which is all that reads CDI specifications, is turned off in "
            "disabled_plugins; ctr and nerdctl take devices by themselves"
        )
    if effective(dump) is None:
        old = numbers(version) < numbers(data.CONTAINERD_CDI)
        since = f", which came with {data.CONTAINERD_CDI}" if old else ""
        return f"containerd {version} has no {KEY}{since}"
    return ""


def _format(own: Toml, dump: Toml, before: str | None) -> int:
    """A file without a version is of format 1; a new one is of the engine's own format."""
    raw = dump.raw(("version",)) if before is None else own.raw(("version",)) or "1"
    return int(raw) if raw is not None and raw.isdigit() else 0


def _set(own: Toml, table: Path, start: str) -> tuple[str, str]:
    """The text with the key, and what was put in (empty where a value was replaced)."""
    text = own.text or start
    pair = own.pair((*table, KEY))
    if pair is not None:
        return text[: pair.value] + _ON + text[pair.value_end :], ""
    header = own.header(table)
    if header is None:
        gap = "" if text.endswith("\n") else "\n"
        block = f"{gap}\n{_HEADER}\n[{tomltext.dotted(table)}]\n  {KEY} = {_ON}\n"
        return text + block, block
    indent = text[text.rfind("\n", 0, header.start) + 1 : header.start]
    gap = "" if text[: header.end].endswith("\n") else "\n"
    block = f"{gap}{indent}  {KEY} = {_ON}\n"
    return text[: header.end] + block + text[header.end :], block


def _take_back(made: Plan, own: Toml, record: dict[str, Any]) -> None:
    """Undo what an earlier run did, unless somebody changed it since."""
    made.record = {}
    table = next((table for table in _TABLES if own.raw((*table, KEY)) == _ON), None)
    if not record or table is None:
        return
    block, was = record.get("block", ""), record.get("before")
    if block and own.text.count(block) == 1:
        made.after = own.text.replace(block, "")
    elif was is not None:
        pair = own.pair((*table, KEY))
        if pair is None:
            raise AssertionError("what was read has its pair")
        made.after = own.text[: pair.value] + was + own.text[pair.value_end :]
    else:
        return
    if record.get("made") and not tomltext.parse(made.after).pairs[1:]:
        made.after = None
    made.changes.append(Change(tomltext.dotted((*table, KEY)), _ON, was))
