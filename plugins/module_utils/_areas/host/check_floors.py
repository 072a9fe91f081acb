# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the values of a host by the table of floors: one walk for every id that its rows name."""

from __future__ import annotations

import posixpath

from ..._data.floors import FLOORS, NEEDED, USUAL, Floor
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, passed
from ..._ground.reading import Reading
from ..._ground.tally import Tally
from ..._parse.proc_limits import UNLIMITED
from ..machine.facts import Machine
from . import check_scope, floors
from .check_scope import HOST, Scope
from .facts import HostFacts, UnitLimit
from .facts_machine import FloorFacts

_SHARED = (NEEDED, USUAL)
_NONE = "this kernel does not have the setting"


def judge(facts: HostFacts, machine: Machine) -> list[Check]:
    """Every check of the table, in its order."""
    real = check_scope.real(machine).then(check_scope.outside_container(machine))
    scopes = {
        "any": Scope(),
        "real": real,
        "bare": real.then(check_scope.bare_metal(machine)),
        "fabric": real.then(check_scope.with_gpu_or_hca(machine)),
    }
    checks: list[Check] = []
    for check in dict.fromkeys(row.check for row in FLOORS):
        rows = [row for row in FLOORS if row.check == check]
        open_ = [row for row in rows if not scopes[row.scope].skip]
        scope = scopes[(open_ or rows)[0].scope]
        checks += scope.judge(check, lambda check=check, rows=open_: _walk(check, rows, facts))  # type: ignore[misc]
    return checks


def _walk(check: str, rows: list[Floor], facts: HostFacts) -> list[Check]:
    tally, found = Tally(check, "values"), facts.floors
    seen = ""
    for row in rows:
        of = found.parts[floors.kind(row)] if floors.kind(row) else Reading(("",))
        when = found.values[row.when[0]] if row.when[0] else Reading("")
        if of.value is None:
            tally.unsure(HOST, of.why)
        if when.value is None and not when.missing:
            tally.unsure(HOST, when.why)
        if not floors.applies(row, found.values):
            continue
        for part, reads in floors.each(row, found.parts):
            subject = _name(reads) if check in _SHARED else HOST
            value, limit = found.values[reads], floors.bound(row, found.values)
            lost = value if value.value is None else limit if limit.why else None
            if lost is not None:
                if not lost.missing or row.everywhere:
                    tally.unsure(subject, lost.why)
                continue
            try:
                past = floors.is_past(row, reads, found.values)
            except ValueError as exc:
                tally.unsure(subject, f"{reads}: {exc}")
                continue
            seen = floors.chosen(value.value or "")
            if past:
                _fail(tally, row, part, reads, facts, subject)
            else:
                tally.good(subject)
    checks = tally.checks(
        _expected(rows[0], found) if check not in _SHARED else "none past its floor", CAPABILITY, nothing=_NONE
    )
    if check not in _SHARED and checks[0].result == "pass":
        return [passed(check, HOST, seen, checks[0].expected, CAPABILITY)]
    return checks


def _fail(tally: Tally, row: Floor, part: str, reads: str, facts: HostFacts, subject: str) -> None:
    value, expected = facts.floors.values[reads].value or "", _expected(row, facts.floors)
    observed = " ".join(floors.chosen(value).split())
    if row.take or " " in observed:
        observed += f" ({floors.number(value, row.take):.10g})"
    remedy = row.remedy.replace(f"{{{floors.kind(row)}}}", posixpath.basename(part))
    cause = row.fails and f"{subject} is {observed}: {row.fails}"
    if row.unit:
        asked = facts.services.asked.get(part, {}).get(row.unit, UnitLimit())
        place = f"in place of {asked.line} in {asked.path}" if asked.line else f"in a drop-in (`systemctl edit {part}`)"
        cause += f"; {asked.path} sets {asked.line}" if asked.line else ""
        limit = floors.bound(row, facts.floors.values).value or 0
        least = "infinity" if limit >= UNLIMITED else f"{limit:.0f}"
        remedy = (
            f"write Limit{row.unit}={least} {place}; `systemctl daemon-reload`, then restart {part} when no job runs"
        )
    elif reads.startswith("/proc/sys/") and tally.id in _SHARED:
        name = _name(reads)
        remedy = (
            f"`grep -r {name} /etc/sysctl.d /run/sysctl.d /usr/lib/sysctl.d /etc/sysctl.conf` shows who sets it; take "
            f"that line out or {remedy or f'set {expected}'}, then `sysctl -w` the same"
        )
    tally.fail(subject, observed, expected, CAPABILITY, cause=cause, remedy=remedy)


def _expected(row: Floor, found: FloorFacts) -> str:
    if row.bad:
        return f"not {' or '.join(row.bad)}"
    limit = floors.bound(row, found.values).value
    if limit is None:
        return ""
    word = "unlimited" if limit >= UNLIMITED else f"{limit:.0f}"
    if row.least is not None:
        return word if limit >= UNLIMITED else f"at least {word}"
    return f"at most {word}" if limit else word


def _name(reads: str) -> str:
    """As people call it: ``kernel.pid_max``, ``SUnreclaim``, ``eth0 speed``, ``slurmd.service pids.max``."""
    path, _blank, name = reads.partition(" ")
    if name:
        return name if path.startswith("/") else reads
    if path.startswith("/proc/sys/"):
        return path[len("/proc/sys/") :].replace("/", ".")
    if path.startswith(("/sys/class/net/", "/sys/fs/cgroup/")):
        return f"{posixpath.basename(posixpath.dirname(path))} {posixpath.basename(path)}"
    return path.replace("/sys/devices/system/cpu/", "").replace("/sys/module/", "")
