# SPDX-License-Identifier: GPL-3.0-or-later
"""What `ansible` prints of hosts that a verify module judged: those that say the same are told of once."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from ...module_utils._ground.check import (
    DEGRADED,
    FAIL,
    NOT_READY,
    PASS,
    READY,
    SKIP,
    SKIPPED,
    UNKNOWN,
    UNKNOWN_VERDICT,
)
from .._answers import apart
from .._answers.typed import AnswerError, read
from .._ground.plain import plain
from .._hosts.contact import AROUND
from .._hosts.summary import ABOVE
from .._slurm import hostlist

UNREACHABLE, MALFORMED = "unreachable", "malformed"
# The worst last: that is where a terminal stands.
ORDER = (SKIPPED, READY, DEGRADED, MALFORMED, UNREACHABLE, UNKNOWN_VERDICT, NOT_READY)
# As Ansible's settings name them.
COLORS = {
    "": "COLOR_HIGHLIGHT",
    READY: "COLOR_OK",
    DEGRADED: "COLOR_WARN",
    SKIPPED: "COLOR_SKIP",
    UNREACHABLE: "COLOR_UNREACHABLE",
}
_RESULTS = (PASS, FAIL, UNKNOWN, SKIP)
# Of one host; -v has all of them, at any length.
_MOST, _LONGEST = 64, 2_000
_REACH = "Next: `ansible HOST{} -m ping -vvv` shows each step of the connection"
_NEXT = "Next: `ibready explain ID` or docs/checks.md explains each check; -v prints all of them"


class _Short(TypedDict):
    """``answer=short`` of a verify module (_verify/brief), as far as it is printed."""

    verdict: Literal["ready", "degraded", "unknown", "not_ready"]
    counts: dict[str, int]
    findings: list[str]


class _Waiving(_Short, total=False):
    waived: list[str]


@dataclass(frozen=True)
class Told:
    """What one host told; ``lines`` follow it."""

    verdict: str
    counts: tuple[tuple[str, int], ...] = ()
    lines: tuple[str, ...] = ()


def color(verdict: str) -> str:
    """The name of the setting."""
    return COLORS.get(verdict, "COLOR_ERROR")


def told(answer: Mapping[str, Any]) -> Told:
    """What is printed of a host that answered; an answer that is none of ours is told as such."""
    try:
        found = read(_Waiving, answer)
        _believed(found)
    except AnswerError as exc:
        return Told(MALFORMED, (), (_line(f"{apart.why(exc)}. Next: {apart.NEXT}"),))
    counts = tuple((name, found["counts"][name]) for name in _RESULTS if found["counts"].get(name))
    lines = [*found["findings"], *(f"waived: {entry}" for entry in found.get("waived", ()))]
    more = [f"and {len(lines) - _MOST} more"] if len(lines) > _MOST else []
    shown = SKIPPED if found["verdict"] == READY and {name for name, _number in counts} == {SKIP} else found["verdict"]
    return Told(shown, counts, tuple(map(_line, [*lines[:_MOST], *more])))


def _believed(found: _Waiving) -> None:
    """Refuse counts that the verdict cannot be of (_ground/check.verdict)."""
    for result, number in found["counts"].items():
        if result not in _RESULTS:
            raise AnswerError("no result of a check", f"counts.{_line(result)[:80]}")
        if number < 0:
            raise AnswerError("below 0", f"counts.{result}")
    if found["verdict"] in (READY, DEGRADED) and not any(found["counts"].values()):
        raise AnswerError(f"{found['verdict']}, but no check ran", "counts")
    odd = found["counts"].get(FAIL, 0) + found["counts"].get(UNKNOWN, 0)
    if found["verdict"] == READY and odd > len(found.get("waived", ())):
        raise AnswerError(f"{READY}, but {odd} checks did not pass", "counts")


def absent(word: str, host: str, said: Any) -> str:
    """What is printed of a host that a playbook goes on without."""
    return _line(f"{word}: [{host}]: {str(said or 'no message').removeprefix(AROUND)}")


def unreachable(said: Any) -> Told:
    """What is printed of a host that did not answer."""
    return Told(UNREACHABLE, (), (_line(str(said or "no message")),))


def render(hosts: Mapping[str, Told], failed: int = 0, inventory: Iterable[str] = ()) -> list[tuple[str, str]]:
    """The lines, each with the verdict that it is of; "" for those of all hosts. ``failed``: so many more, of which the
    module failed, as Ansible has printed. ``inventory``: what was given with -i."""
    alike: dict[Told, list[str]] = {}
    for name, entry in hosts.items():
        alike.setdefault(entry, []).append(name)
    lines = []
    for entry, names in sorted(alike.items(), key=lambda pair: (ORDER.index(pair[0].verdict), -len(pair[1]))):
        counts = "".join(f" {number} {result}" for result, number in entry.counts)
        lines.append((plain(f"{hostlist.shown(names)} {entry.verdict}{counts}"), entry.verdict))
        lines += [(f"  {line}", entry.verdict) for line in entry.lines]
    if hosts and len(hosts) + failed > 1:
        above = f", {failed} failed (above)" if failed else ""
        lines.append((f"{len(hosts) + failed} hosts: {_sum(list(hosts.values()))}{above}", ""))
    if any(entry.verdict == UNREACHABLE for entry in alike):
        lines.append((plain(_REACH.format("".join(f" -i {shlex.quote(source)}" for source in inventory))), ""))
    if any(entry.lines and entry.counts for entry in alike):
        lines.append((_NEXT, ""))
    return lines


def ended(said: Mapping[str, str]) -> list[tuple[str, str]]:
    """What a playbook ends with: of each host why it does not end well (summary.bad), equal ones once."""
    alike: dict[tuple[bool, str], list[str]] = {}
    for name, why in said.items():
        own = why.removeprefix(f"{name} is ")  # A fabric's verdict is told at the host that asked it.
        alike.setdefault((own != why, own.removesuffix(f" {ABOVE}").removesuffix(".")), []).append(name)
    lines = []
    for (its, why), names in alike.items():
        verb = (" is" if len(names) == 1 else " are") if its else ":"
        lines.append(f"{hostlist.shown(names)}{verb} {why}")
    if any(why.endswith(ABOVE) for why in said.values()):
        lines.append(f"Next: {ABOVE[0].lower()}{ABOVE[1:]}")
    return [(plain(line), NOT_READY) for line in lines]


def _sum(every: Sequence[Told]) -> str:
    counts = Counter(entry.verdict for entry in every)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in ORDER if counts[verdict])


def _line(text: str) -> str:
    return plain(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ...")
