# SPDX-License-Identifier: GPL-3.0-or-later
"""How each host and fabric went over the last runs: ``history`` of the run object.

Every run carries on what the run before it holds, so that the history of ten runs costs the one file
that ``since`` reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._ground.check import FAIL, UNKNOWN
from .compare import ABSENT, WAIVED, is_limited, judged, worst

# Of a run in which it was no finding; whether it passed then is not kept.
NONE = "none"
FOUND = frozenset((FAIL, UNKNOWN, WAIVED))

Said = Mapping[str, Any]
_Key = tuple[str, str]


def carried(before: Said | None, now: Said, most: int, unread: Sequence[str] = ()) -> dict[str, Any]:
    """``now`` after what ``before`` holds, the last ``most`` runs, oldest first.

    ``unread``: what keeps a run from being read. A host that a run did not have is ABSENT in it, of
    a --limit as well. A finding is kept from the first run in which it is found.
    """
    then: Said = (before.get("history") or _first(before)) if before else {"runs": (), "hosts": {}, "findings": ()}
    today, length = judged(now), len(then["runs"])
    tracked = _tracked(then["findings"])
    hosts: dict[str, list[str]] = {}
    findings: dict[tuple[_Key, tuple[str, ...]], list[str]] = {}
    for name in today if is_limited(now) else dict.fromkeys((*then["hosts"], *today)):
        said = today.get(name)
        past = then["hosts"].get(name) or [ABSENT] * length
        verdicts = [*past, said["verdict"] if said else ABSENT][-most:]
        if set(verdicts) == {ABSENT}:
            continue
        hosts[name] = verdicts
        for key, results in _results(tracked.get(name, {}), past, said["checks"] if said else ()):
            if not FOUND.isdisjoint(results[-most:]):
                findings.setdefault((key, results[-most:]), []).append(name)
    return {
        "runs": [*then["runs"], now["created"]][-most:],
        "unread": list(unread),
        "hosts": hosts,
        "findings": [
            {"id": key[0], "subject": key[1], "results": list(results), "hosts": names}
            for (key, results), names in findings.items()
        ],
    }


def _first(run: Said) -> dict[str, Any]:
    """Of a run that holds none."""
    return carried(None, run, 1)


def _tracked(findings: Sequence[Said]) -> dict[str, dict[_Key, tuple[str, ...]]]:
    """By host, check and subject."""
    found: dict[str, dict[_Key, tuple[str, ...]]] = {}
    for entry in findings:
        results = tuple(entry["results"])
        for name in entry["hosts"]:
            found.setdefault(name, {})[entry["id"], entry["subject"]] = results
    return found


def _results(
    mine: Mapping[_Key, tuple[str, ...]], past: Sequence[str], checks: Sequence[Said]
) -> Iterator[tuple[_Key, tuple[str, ...]]]:
    """What was a finding before or is one now, and what became of it in each run."""
    now = worst(
        check for check in checks if check["result"] in (FAIL, UNKNOWN) or (check["id"], check["subject"]) in mine
    )
    untold = tuple(verdict if verdict == ABSENT else NONE for verdict in past)
    for key in dict.fromkeys((*mine, *now)):
        yield key, (*mine.get(key, untold), now.get(key, ABSENT))


def uneven(history: Said) -> str:
    """What of it has not one entry for each run; "" where all is even."""
    length = len(history["runs"])
    for name, verdicts in history["hosts"].items():
        if len(verdicts) != length:
            return f"history.hosts.{name}: {len(verdicts)} verdicts of {length} runs"
    for number, entry in enumerate(history["findings"]):
        if len(entry["results"]) != length:
            return f"history.findings[{number}]: {len(entry['results'])} results of {length} runs"
    return ""
