# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong, on which nodes and at which cable, and what to do: the causes of a diagnosis; no I/O.

The ranking is that of _diagnose. Causes that are equal but for their hosts are one here, at the rank
of the first. What could not be looked at stands between errors and warnings.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....module_utils._ground.check import FAIL, SEVERITIES, UNKNOWN, Check
from ..._diagnose import command, diagnosis, rank
from ..._diagnose.finding import ACCESS, Finding, Unlooked
from ..._hosts.nameless import GAP
from ..._slurm import hostlist
from .cables import Cables

Said = Mapping[str, Any]
_MERGED = "\0"


@dataclass
class Cause:
    """``id``: of the table of causes, "" for what could not be looked at. ``error``: it keeps from ready.

    ``why`` and ``remedy``: of its first finding; ``words_of``: its host, where others say the same of themselves;
    ``seeks``: so much of ``why`` as they all say, in parts. ``act``: what hands do, or what to know before the
    commands; ``mends``: whether these do it. ``found``: its findings by place, ``behind``: what
    follows from it, as check and how many places. ``cables``: both ends, by place.
    ``readies``: how many hosts lack nothing once it and those above it are mended. ``own``: ``act`` is the
    controller's word, so that a command in it may be copied.
    """

    result: str
    id: str
    title: str
    error: bool
    why: str = ""
    remedy: str = ""
    words_of: str = ""
    seeks: str = ""
    costs: str = ""
    act: str = ""
    mends: bool = False
    commands: list[str] = field(default_factory=list)
    found: dict[str, list[Check]] = field(default_factory=dict)
    behind: dict[str, set[str]] = field(default_factory=dict)
    cables: list[tuple[str, str, str, bool]] = field(default_factory=list)
    readies: int = 0
    own: bool = False

    @property
    def checks(self) -> list[str]:
        """Their ids, each once."""
        return list(dict.fromkeys(check.id for some in self.found.values() for check in some))

    @property
    def nodes(self) -> str:
        """Its places that have a plain name, as Slurm reads them: ``node[17,129-160]``."""
        return hostlist.fold(name for name in self.found if hostlist.NAME.fullmatch(name))

    @property
    def shown(self) -> str:
        """The same for people."""
        return hostlist.shown(name for name in self.found if hostlist.NAME.fullmatch(name))

    @property
    def others(self) -> list[str]:
        """The places whose name no such list can hold."""
        return [name for name in self.found if not hostlist.NAME.fullmatch(name)]


def causes(run: Said) -> list[Cause]:
    """Errors before warnings, each in the order of the diagnosis."""
    reported = diagnosis.diagnose(run)
    cables = Cables(run)
    merged: dict[tuple[object, ...], list[rank.Cause]] = {}
    for cause in reported.causes:
        merged.setdefault((cause.id, cause.error, _shared(_telling(cause))), []).append(cause)
    found = [_cause(some, cables) for some in merged.values()]
    found += [_unlooked(item) for item in reported.unknown]
    found.sort(key=lambda item: (not item.error, item.result != FAIL))
    for item in found:
        item.own = all(_access(run["hosts"].get(at, {})) == [one.id] for at, some in item.found.items() for one in some)
    last = {place: item for item in found for place in (*item.found, *_touched(item))}
    for place, item in last.items():
        item.readies += place in run["hosts"]
    return found


def _touched(item: Cause) -> Iterable[str]:
    return (place for places in item.behind.values() for place in places)


def _cause(some: Sequence[rank.Cause], cables: Cables) -> Cause:
    # Of a host whose name can stand in no command the note says so.
    first = next((cause for cause in some if cause.command), some[0])
    told = _telling(first)
    every = [entry for cause in some for entry in cause.evidence]
    seen = any(entry.check.result == FAIL or entry.split for entry in every)
    result = FAIL if seen else UNKNOWN
    found = Cause(result, first.id, first.title, first.error, told.check.cause, first.evidence[0].check.remedy)
    alike = {entry.check.cause for entry in every if _shared(entry) == _shared(told)}
    found.words_of = "" if len(alike) == 1 else told.host
    found.seeks, found.costs = _seeks(told), first.costs
    found.act, found.mends, found.commands = first.note, first.mends, _commands(some)
    for item in every:
        found.found.setdefault(item.host, []).append(item.check)
    for item in (entry for cause in some for entry in (*cause.explains, *cause.hides)):
        found.behind.setdefault(item.check.id, set()).add(item.host)
    found.cables = cables.of((item.host, item.check) for cause in some for item in cause.evidence)
    return found


def _unlooked(item: Unlooked) -> Cause:
    error = item.severity == SEVERITIES[0]
    found = Cause(UNKNOWN, "", item.why, error, item.why, item.next, item.words_of, act=item.next)
    found.seeks = _seeks(item.findings[0])
    for finding in item.findings:
        found.found.setdefault(finding.host, []).append(finding.check)
    return found


def _access(host: Said) -> list[str]:
    """The controller's finding on the way to a host; and one more where the host says such a thing, too."""
    return [check["id"] for check in host.get("checks", ()) if check["id"] == ACCESS]


def _telling(cause: rank.Cause) -> Finding:
    """The first finding that says why."""
    return next((finding for finding in cause.evidence if finding.check.cause), cause.evidence[0])


def _shared(finding: Finding) -> str:
    return finding.shared(finding.check.cause)


def _seeks(finding: Finding) -> str:
    return _shared(finding).replace(GAP, '"')


def _commands(some: Iterable[rank.Cause]) -> list[str]:
    """Those that are equal but for their hosts are one, of all these hosts."""
    merged: dict[tuple[str, ...], list[str]] = {}
    for cause in some:
        words = shlex.split(cause.command)
        pattern = command.pattern(cause.hosts)
        if pattern in words:
            at = words.index(pattern)
            merged.setdefault((*words[:at], _MERGED, *words[at + 1 :]), []).extend(cause.hosts)
        elif words:
            merged.setdefault(tuple(words), [])
    return [
        shlex.join(command.pattern(hosts) if word == _MERGED else word for word in words)
        for words, hosts in merged.items()
    ]
