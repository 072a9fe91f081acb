# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of GPUs and their driver."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Callable

from ..._data import drivers
from ..._data.ib_counters import PAUSE_S
from ..._evidence import ask
from ..._evidence.sources import Evidence, Unavailable
from ..._ground.command import Output
from ..._ground.reading import Reading
from ..._ground.text import ParseError, last_word, to_uptime
from ..._parse import dmesg, nvsmi_error, nvsmi_q, nvsmi_q_fabric, nvsmi_table, nvsmi_xml, systemctl_show
from ..._parse._nvsmi import Nvsmi
from ..._parse.dmesg import Dmesg, Xid
from ..._parse.nvsmi_error import NvsmiError
from ..machine.facts import Machine
from .facts import GpuFacts, Module, is_for_group, is_orphaned

PROC = "/proc/driver/nvidia/version"
MODULE = "/sys/module/nvidia/version"
PARAMS = "/proc/driver/nvidia/params"
_GROUP = re.compile(r"^DeviceFileGID: ([0-9]{1,10})$", re.MULTILINE)
# As `find` prints it: the number and name of a file's group, and its path.
_OWNED = re.compile(r"^([0-9]{1,10}) (\S{1,64}) (/dev/\S{1,40})\n", re.MULTILINE)
# The best source first. Bundles of other makers may hold an excerpt or an error alone.
_SOURCES: tuple[tuple[str, Callable[[str], Nvsmi]], ...] = (
    ("nvsmi_xml", nvsmi_xml.parse),
    ("nvsmi_q", nvsmi_q.parse),
    ("nvsmi_q_fabric", nvsmi_q_fabric.parse),
    ("nvsmi_table", nvsmi_table.parse),
)
_ERROR = "nvsmi_error"
# A driver that does not answer one question will not answer the next: do not wait for it again.
_TIMED_OUT = "no complete answer"
VERSION = r"([0-9]{1,5}(?:\.[0-9]{1,5}){1,3})"
IN_PROC = re.compile(r"Kernel Module +(?:for +\S{1,20} +)?" + VERSION)
_ALONE = re.compile(VERSION)
_OPEN = "Open Kernel Module"


@dataclass(frozen=True)
class Answer:
    """What nvidia-smi said: facts, or an error, or neither with the reason in ``smi``."""

    smi: Reading[Nvsmi] = field(default_factory=Reading)
    source: str = ""
    status: int = 0
    error: NvsmiError | None = None


def observe(evidence: Evidence, machine: Machine) -> GpuFacts:
    """Ask nvidia-smi, the kernel's log and the loaded module; nothing of a host without GPUs."""
    if machine.without_hardware or no_gpu_on_bus(machine):
        return GpuFacts()
    answer = ask_nvidia_smi(evidence)
    log = ask.command(evidence, "dmesg", dmesg.parse)
    gpus = answer.smi.value.gpus if answer.smi.value else ()
    paths = [
        *(f"/dev/nvidia{gpu.minor}" for gpu in gpus if gpu.minor.isdecimal()),
        *(drivers.DEVICE_FILES if gpus else ()),
    ]
    files = {path: ask.mode(evidence, path) for path in paths}
    return GpuFacts(
        smi=answer.smi,
        source=answer.source,
        status=answer.status,
        error=answer.error,
        module=_module(evidence),
        persistenced=_persistenced(evidence, answer.smi),
        xids=log.map(_xids),
        log_cut=log.value is not None and log.value.cut,
        uptime_s=ask.file(evidence, "/proc/uptime", to_uptime),
        log_lost=log.value is not None and bool(log.value.beginning_lost),
        files=files,
        group=ask.file(evidence, PARAMS, _group),
        groups=ask.command(evidence, "device_groups", _groups) if any(map(is_for_group, files.values())) else Reading(),
        later=_again(evidence) if any(is_orphaned(gpu) for gpu in gpus) else Reading(),
    )


def _again(evidence: Evidence) -> Reading[Nvsmi]:
    """What has just ended is still counted: a moment later it is not."""
    try:
        later, _seconds = evidence.again(PAUSE_S)
    except Unavailable as exc:
        return Reading(None, str(exc))
    return ask_nvidia_smi(later).smi


def _group(text: str) -> int:
    found = _GROUP.search(text)
    if found is None:
        raise ValueError("no line DeviceFileGID")
    return int(found.group(1))


def _groups(text: str) -> dict[str, tuple[int, str]]:
    return {path: (int(number), name) for number, name, path in _OWNED.findall(text)}


def no_gpu_on_bus(machine: Machine) -> bool:
    """Whether the bus itself was looked at, and no NVIDIA GPU is on it."""
    return machine.has_gpus is False and (machine.pci.known or machine.pci.missing)


def ask_nvidia_smi(evidence: Evidence) -> Answer:
    """The first source that tells of GPUs, or that says why it cannot."""
    whys = []
    for name, parse in _SOURCES:
        try:
            output = evidence.run(name)
        except Unavailable as exc:
            whys.append(str(exc))
            if _TIMED_OUT in exc.reason:
                break
            continue
        answer = _read(name, parse, output)
        if answer.smi.known or answer.error is not None:
            return answer
        whys.append(answer.smi.why)
    else:
        alone = _error_alone(evidence)
        if alone is not None:
            return alone
    return Answer(Reading(None, whys[0]))


def _read(name: str, parse: Callable[[str], Nvsmi], output: Output) -> Answer:
    try:
        found = parse(output.stdout)
    except ParseError as exc:
        error = _error(output)
        why = f"{exc} (exit status {output.rc})"
        return Answer(Reading(None, error.line if error else why), name, output.rc, error)
    if output.rc not in drivers.USABLE:
        said = last_word(output.stdout, output.stderr)
        return Answer(Reading(None, f"{name} ended with status {output.rc}: {said}"), name, output.rc, _error(output))
    return Answer(Reading(found), name, output.rc)


def _error(output: Output) -> NvsmiError | None:
    # nvidia-smi complains on stdout, the shell that does not find it on stderr.
    for text in (output.stdout, output.stderr):
        try:
            return nvsmi_error.parse(text)
        except ParseError:
            continue
    if output.rc in nvsmi_error.STATUS:
        return NvsmiError(nvsmi_error.STATUS[output.rc], f"nvidia-smi ended with status {output.rc}")
    return None


def _error_alone(evidence: Evidence) -> Answer | None:
    try:
        output = evidence.run(_ERROR)
    except Unavailable:
        return None
    error = _error(output)
    return Answer(Reading(None, error.line), _ERROR, output.rc, error) if error else None


def _module(evidence: Evidence) -> Reading[Module]:
    """From the driver's own file, which also tells of which kind it is; else from the kernel's."""
    proc = ask.file(evidence, PROC, _from_proc)
    if proc.known:
        return proc
    alone = ask.file(evidence, MODULE, _from_sys)
    if alone.known:
        return alone
    return Reading(None, proc.why, proc.missing and alone.missing)


def _from_proc(text: str) -> Module:
    first = text.split("\n", 1)[0][:400]
    match = IN_PROC.search(first)
    if match is None:
        raise ValueError("names no version of the driver")
    return Module(match.group(1), _OPEN in first)


def _from_sys(text: str) -> Module:
    match = _ALONE.fullmatch(text[:100])
    if match is None:
        raise ValueError("not a version")
    return Module(match.group(1))


def _persistenced(evidence: Evidence, smi: Reading[Nvsmi]) -> Reading[str]:
    if smi.value is None or all(gpu.persistence != "Disabled" for gpu in smi.value.gpus):
        return Reading(None, "not asked: no GPU's persistence mode is off")
    show = ask.command(
        evidence,
        "systemctl_show",
        systemctl_show.parse,
        "--property=Id,LoadState,ActiveState",
        drivers.PERSISTENCE_UNIT,
    )
    return show.map(_state)


def _state(show: systemctl_show.Show) -> str:
    state = show.all.get("ActiveState", "")
    if not state:
        raise ValueError("systemctl_show: no ActiveState in it")
    return {"not-found": "not installed", "masked": "masked"}.get(show.all.get("LoadState", ""), state)


def _xids(log: Dmesg) -> tuple[Xid, ...]:
    if log.cut and not log.xids:
        raise ValueError("dmesg: the output ends within a line")
    return log.xids
