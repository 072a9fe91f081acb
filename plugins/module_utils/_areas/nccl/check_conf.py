# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge /etc/nccl.conf by itself: what its lines mean to NCCL, and whether NCCL took them."""

from __future__ import annotations

from typing import Collection, Iterator, Mapping

from ..._ask.nccl.proof import Proof
from ..._data import nccl_files, nccl_left, nccl_variables
from ..._data.nccl_reading import SYSTEM_FILE
from ..._data.nccl_recommended import recommended
from ..._evidence.redact import masked
from ..._expect.expectations import CAPABILITY
from ..._expect.nccl_policy import HCA, SOCKET
from ..._ground.check import Cause, Check, failed, passed, skipped, unknown
from ..._nccl import lint, lint_value, registry, values
from ..._nccl.conf import ENVIRONMENT, as_text, effective
from ..._nccl.derive import derive
from ..._nccl.made import HARMFUL
from ..._nccl.problem import ERROR, WARNING, Problem, short
from ..._nccl.release import NEWEST, Release, release, shown
from . import check_harm, named_files
from .check_library import NO_LIBRARY
from .facts import NOWHERE, HostFacts

_LINES = "nccl.conf.lines"
_DOUBTS = "nccl.conf.doubts"
_TAKEN = "nccl.conf.taken"
_IDS = (_LINES, _DOUBTS, _TAKEN)
_MEANT = "a line that NCCL reads as it is meant"
# A file with more is no nccl.conf, and one look at it tells that.
_MOST = 20
_FOR_ALL = 0o004
_LEFT = {left.name: left for left in nccl_left.LEFT}
_UNDOCUMENTED = {variable.name for variable in nccl_variables.UNDOCUMENTED} - nccl_left.FREE
_BY_ITSELF = ("-2", "-1", "INT_MIN")
_OTHERS = (registry.ELSEWHERE, registry.FOREIGN, registry.UNKNOWN, HARMFUL)


def judge(here: HostFacts) -> Iterator[Check]:
    """nccl.conf.lines, .doubts and .taken."""
    text = here.conf.value
    proof = here.asked.proof.value
    folder = "directory" in here.conf.why and proof is not None and not proof.taken
    if text is None and (folder or here.conf.why.startswith(NOWHERE)):
        yield from _unread(here)
        return
    if text is None:
        answer = skipped if here.conf.missing else unknown
        why = "there is no such file" if here.conf.missing else here.conf.why or "nobody looked"
        for entry in _IDS:
            yield answer(entry, SYSTEM_FILE, why)
        return
    known = here.asked.library.value.names if here.asked.library.value else None
    found = lint.problems(text, here.release, known)
    says = _says(text, here.release or NEWEST)
    found += named_files.problems(says, here.named)
    yield from _told(_LINES, [problem for problem in found if problem.severity == ERROR], text, _unlooked(here, says))
    doubts = [problem for problem in found if problem.severity == WARNING and not _asked_for(here, problem)]
    doubts = [*_of_here(here, text, doubts), *_by_copies(here, text, found), *_detours(here, text)]
    doubts += _left(here, text, {problem.name for problem in found})
    wanted = recommended(here.vendor)
    doubts = [doubt for doubt in doubts if f"{doubt.name}={says.get(doubt.name, (0, ''))[1]}" not in wanted]
    yield from _told(_DOUBTS, doubts, text, _unlooked(here, says, WARNING))
    yield from _taken(here, text)


def _unread(here: HostFacts) -> Iterator[Check]:
    """A folder in place of the file, or a link to nowhere: NCCL takes nothing and says nothing."""
    why = here.conf.why
    for entry in (_LINES, _DOUBTS):
        yield skipped(entry, SYSTEM_FILE, why)
    observed = "NCCL took nothing of it"
    yield failed(_TAKEN, SYSTEM_FILE, observed, "every setting of the file", CAPABILITY, cause=why)


def _asked_for(here: HostFacts, problem: Problem) -> bool:
    """Whether the inventory itself names a variable that somebody else than NCCL reads, or a number that few want."""
    return problem.kind in _OTHERS and problem.name in here.wish.policy.variables


def _of_here(here: HostFacts, text: str, doubts: list[Problem]) -> Iterator[Problem]:
    """The same, without what this host gives no reason for: names that it does not have, a plugin that it has."""
    says = _says(text, here.release or NEWEST)
    for problem in doubts:
        line, value = says.get(problem.name, (0, ""))
        present = _present(here, problem.name)
        mine: Problem | None = problem
        if problem.kind in (lint_value.BEGINNING, lint_value.EXCLUSION) and present is not None:
            if line == problem.line:
                mine = lint_value.of_host(problem, value.rstrip("\r"), here.release, present)
        elif problem.kind == registry.ELSEWHERE and _has_plugin(here, problem.name, says):
            mine = None
        if mine is not None:
            yield mine


def _present(here: HostFacts, name: str) -> Collection[str] | None:
    """What a list of this variable may name; None where that is not known."""
    if name == HCA:
        return here.host.ports.map(lambda ports: {port.device for port in ports}).value
    if name == SOCKET:
        return here.host.interfaces.map(lambda found: {interface.name for interface in found}).value
    return None


def _has_plugin(here: HostFacts, name: str, says: Mapping[str, tuple[int, str]]) -> bool:
    """Whether a plugin that may read the variable is seen: the linker knows it, or a line leads to it."""
    reader = registry.plugin(name)
    if reader is None:
        return False
    leads = [
        says[setting][1] for setting, known in nccl_files.PLUGINS.items() if setting in says and reader.library in known
    ]
    led = any(word in here.named.there and here.named.there[word].value for value in leads for word in value.split(","))
    return led or any(known.startswith(reader.library) for known in here.named.linked.value or ())


def _detours(here: HostFacts, text: str) -> Iterator[Problem]:
    says = _says(text, here.release or NEWEST)
    settings = {name: value for name, (_line, value) in says.items()}
    for detour in check_harm.detours(settings, here.host, here.wish.policy):
        line, value = says[detour.name]
        step = "take the line out, or put it into nccl_conf_variables if it is needed"
        yield Problem(line, detour.name, f"{detour.name}={short(value)}", detour.means, step, WARNING, "detour")


def _left(here: HostFacts, text: str, judged: set[str]) -> Iterator[Problem]:
    """What NVIDIA lists under debugging or nowhere, and nobody asks for: neither the inventory nor this host."""
    policy, says = here.wish.policy, _says(text, here.release or NEWEST)
    asked = {*judged, *policy.variables, *(setting.name for setting in derive(here.host, policy, None).settings)}
    step = "take the line out, or put it into nccl_conf_variables if it is needed"
    for name, (line, value) in says.items():
        means = _debugging(name, value, here.release) if value and name not in asked else ""
        if means:
            yield Problem(line, name, f"{name}={short(value)}", means, step, WARNING, "debugging")


def _debugging(name: str, value: str, release: Release | None) -> str:
    """What follows where this value stays; "" for a variable of the guide's, or a value that may stay."""
    made = values.made(name, value, release).effective
    effective = value if made is None else made
    if name in _LEFT:
        return "" if _LEFT[name].stays(effective) else _LEFT[name].means
    if name not in _UNDOCUMENTED or registry.is_default(name, effective, release or NEWEST):
        return ""
    default = registry.default_at(name, release or NEWEST) or "nothing"
    held = "NCCL chooses by itself" if default in _BY_ITSELF else f"{default} holds"
    return f"NVIDIA's guide does not have it, so that nobody promises what it does; without it {held}"


def _unlooked(here: HostFacts, says: Mapping[str, tuple[int, str]], severity: str = ERROR) -> list[tuple[int, str]]:
    return list(named_files.unlooked(says, here.named, severity))


def _told(check_id: str, problems: list[Problem], text: str, unlooked: list[tuple[int, str]]) -> Iterator[Check]:
    for problem in problems[:_MOST]:
        subject = f"{SYSTEM_FILE}:{problem.line}"
        name = f"{short(problem.name)}: " if problem.name else ""
        yield failed(
            check_id,
            subject,
            masked(f"{name}{problem.found}"),
            _MEANT,
            CAPABILITY,
            cause=masked(problem.nccl_makes),
            remedy=masked(problem.next_step),
        )
    if len(problems) > _MOST:
        yield failed(check_id, SYSTEM_FILE, f"{len(problems) - _MOST} more of its lines", _MEANT, CAPABILITY)
    for line, why in unlooked[:_MOST]:
        yield unknown(check_id, f"{SYSTEM_FILE}:{line}", masked(why))
    if not problems and not unlooked:
        yield passed(check_id, SYSTEM_FILE, f"{len(text.splitlines())} lines", _MEANT, CAPABILITY)


def _by_copies(here: HostFacts, text: str, found: list[Problem]) -> Iterator[Problem]:
    """What another release of NCCL on this host reads otherwise."""
    known = {(item.line, item.kind) for item in found}
    others: dict[Release, str] = {}
    for copy in here.copies.copies.value or ():
        try:
            others.setdefault(release(copy.version), copy.path)
        except ValueError:
            continue
    for version, path in sorted(others.items()):
        if version == here.release:
            continue
        for problem in lint.problems(text, version):
            if problem.severity == ERROR and (problem.line, problem.kind) not in known:
                known.add((problem.line, problem.kind))
                who = f"NCCL {shown(version)} ({short(path)})"
                yield Problem(
                    problem.line,
                    problem.name,
                    problem.found,
                    f"{who}: {problem.nccl_makes}",
                    problem.next_step,
                    WARNING,
                    problem.kind,
                )


def _taken(here: HostFacts, text: str) -> Iterator[Check]:
    proof = here.asked.proof
    if proof.value is None:
        if here.asked.library.missing:
            yield skipped(_TAKEN, SYSTEM_FILE, NO_LIBRARY)
        else:
            yield unknown(_TAKEN, SYSTEM_FILE, proof.why or "nobody asked the library")
        return
    if here.mode.value is None:
        yield unknown(_TAKEN, SYSTEM_FILE, here.mode.why or "nobody looked at its permissions")
        return
    if not here.mode.value & _FOR_ALL:
        observed = f"mode {here.mode.value:04o}"
        cause = Cause("jobs of other users cannot read it, and NCCL says nothing of that", f"chmod 0644 {SYSTEM_FILE}")
        yield failed(_TAKEN, SYSTEM_FILE, observed, "readable for all", CAPABILITY, cause=cause)
        return
    wrong = list(_mistaken(here, text, proof.value))
    yield from wrong[:_MOST]
    if len(wrong) > _MOST:
        yield failed(_TAKEN, SYSTEM_FILE, f"{len(wrong) - _MOST} more of its lines", _MEANT, CAPABILITY)
    if not wrong:
        count = len(_says(text, here.release or NEWEST))
        observed = f"{count} settings, as NCCL {proof.value.version} took them"
        yield passed(_TAKEN, SYSTEM_FILE, observed, "every setting of the file", CAPABILITY)


def _says(text: str, version: Release) -> dict[str, tuple[int, str]]:
    return {
        name: (entry.place.line, entry.value)
        for name, entry in effective({}, [(SYSTEM_FILE, text)], version).items()
        if entry.place.source != ENVIRONMENT
    }


def _mistaken(here: HostFacts, text: str, proof: Proof) -> Iterator[Check]:
    taken = {name: as_text(value) for name, value in proof.taken.items()}
    for name, (line, value) in _says(text, here.release or NEWEST).items():
        if taken.get(name) == value:
            continue
        observed = masked(f"NCCL took {short(name)}={short(taken[name])}") if name in taken else ""
        yield failed(
            _TAKEN,
            f"{SYSTEM_FILE}:{line}",
            observed or f"NCCL {proof.version} did not set {short(name)}",
            masked(f"{short(name)}={short(value)}"),
            CAPABILITY,
        )
