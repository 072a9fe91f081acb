# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of NVLink and the fabric manager."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Callable, TypeVar

from ..._data import nvlink as data, nvlink_errors as thresholds, stack_components
from ..._data.drivers import USABLE
from ..._data.ib_counters import PAUSE_S
from ..._evidence import ask as _ask
from ..._evidence.sources import Evidence, Unavailable
from ..._ground.reading import Reading
from ..._ground.text import clean_lines, last_word, printable, to_int
from ..._parse import (
    dmesg,
    fabricmanager_log,
    fabricmanager_status,
    ip_addr,
    nvlink_caps,
    nvlink_errors,
    nvlink_status,
    nvsmi_q,
    nvsmi_q_fabric,
    nvsmi_xml,
    systemctl_show,
    topo as topo_parser,
)
from ..._parse._nvsmi import Nvsmi
from ..._parse.fabricmanager_log import FmLog
from ..._parse.fabricmanager_status import FmStatus
from ..._parse.nvlink_errors import NvlinkErrors
from ..._parse.packages import Package
from ..._parse.topo import Topo
from ..gpu.observe import IN_PROC, MODULE, PROC, VERSION
from ..host import packages
from ..machine.facts import Machine
from .facts import Imex, Later, NvlinkFacts, SwitchPort

T = TypeVar("T")

PCI = "/sys/bus/pci/devices"
LOG = "/var/log/fabricmanager.log"
_IN_PACKAGE = re.compile(r"(?:[0-9]{1,9}:)?" + VERSION)
_NODES_FILE = re.compile(rf"^{data.IMEX_NODES_KEY}=(/[^\s\"']+)$", re.MULTILINE)
# Exit statuses with which systemctl has told the state of a unit: it runs, or it does not.
_TOLD = (0, 3)
_PROPERTIES = "Id,LoadState,ActiveState,SubState"


def observe(evidence: Evidence, machine: Machine) -> NvlinkFacts:
    """Ask nvidia-smi, the services and the kernel; nothing of a host without GPUs."""
    if machine.has_gpus is False or machine.without_hardware:
        return NvlinkFacts()
    smi = _smi(evidence)
    kernel = _ask.command(evidence, "dmesg", _whole(dmesg.parse))
    facts = NvlinkFacts(
        smi=smi,
        driver=_driver(evidence, smi),
        manager=_manager(evidence),
        log=_log(evidence),
        sxids=kernel.map(lambda log: log.sxids),
        log_lost=kernel.value is not None and bool(kernel.value.beginning_lost),
        ports={
            switch_manager: _ports(evidence, switch_manager) for switch_manager in machine.switch_managers.value or ()
        },
        imex=_imex(evidence) if machine.board is not None and machine.board.imex else Imex(),
    )
    if not may_have_nvlink(machine):
        return facts
    errors = _ask.command(evidence, "nvlink_errors", nvlink_errors.parse)
    return replace(
        facts,
        status=_ask.command(evidence, "nvlink_status", nvlink_status.parse),
        errors=errors,
        errors_later=_later(evidence, errors),
        caps=_ask.command(evidence, "nvlink_caps", nvlink_caps.parse),
        topo=_ask.command(evidence, "topo", _matrix),
        package=_package(evidence),
    )


def may_have_nvlink(machine: Machine) -> bool:
    """False only where every GPU is of a model that is known to have none."""
    gpus = machine.gpus.value or ()
    return not gpus or any(gpu is None or gpu.links != (0,) for gpu in gpus)


def _whole(parse: Callable[[str], T]) -> Callable[[str], T]:
    """A parser that refuses a text which ends within a line: the rest of it is missing."""

    def parse_whole(text: str) -> T:
        parsed = parse(text)
        rest = clean_lines(text.replace("\r", "\n").rpartition("\n")[2])
        if rest:
            raise ValueError(f"the output is cut: it ends within the line '{printable(rest[-1])}'")
        return parsed

    return parse_whole


def _later(evidence: Evidence, errors: Reading[NvlinkErrors]) -> Reading[Later]:
    """The second look at the error counters; nobody waits where none of them counted an error."""
    counted = (counter for gpu in (errors.value.gpus if errors.value else ()) for counter in gpu.nonzero)
    if not any(thresholds.threshold(counter.counter) for counter in counted):
        return Reading(None, "no error was counted")
    try:
        after, seconds = evidence.again(PAUSE_S)
    except Unavailable as exc:
        return Reading(None, f"no second look at the counters: {exc}")
    return _ask.command(after, "nvlink_errors", nvlink_errors.parse).map(lambda told: Later(told, seconds))


def _matrix(text: str) -> Topo:
    found = topo_parser.parse(text)
    if found.error:
        raise ValueError(f"topo: {found.error}")
    return found


def _smi(evidence: Evidence) -> Reading[Nvsmi]:
    """From the XML; else from the text, of which somebody may have kept the fabric alone."""
    xml = _ask.command(evidence, "nvsmi_xml", nvsmi_xml.parse, ok=USABLE)
    if xml.value is not None and xml.value.gpus:
        return xml
    text = _ask.command(evidence, "nvsmi_q", nvsmi_q.parse)
    if text.value is not None and text.value.gpus:
        return text
    for name in ("nvsmi_q", "nvsmi_q_fabric"):
        excerpt = _ask.command(evidence, name, nvsmi_q_fabric.parse)
        if excerpt.value is not None:
            return excerpt
    return Reading(None, xml.why or text.why or "nvidia-smi -q tells of no GPU")


def _driver(evidence: Evidence, smi: Reading[Nvsmi]) -> Reading[str]:
    """The version of the loaded driver."""
    module = _ask.file(evidence, MODULE, _version)
    if module.value is not None:
        return module
    proc = _ask.file(evidence, PROC, _loaded)
    if proc.value is not None:
        return proc
    if smi.value is not None and smi.value.driver:
        return Reading(smi.value.driver)
    return Reading(None, module.why)


def _version(text: str) -> str:
    match = _IN_PACKAGE.match(text)
    if match is None:
        raise ValueError("no version in it")
    return match.group(1)


def _loaded(text: str) -> str:
    match = IN_PROC.search(text[:2000])
    if match is None:
        raise ValueError("no version in it")
    return match.group(1)


def _manager(evidence: Evidence) -> Reading[FmStatus]:
    """systemctl ends with 3 for what does not run; of an unknown unit it speaks on stderr."""
    try:
        output = evidence.run("fabricmanager_status")
    except Unavailable as exc:
        return Reading(None, str(exc))
    try:
        reported = output.stdout if output.stdout.strip() else output.stderr
        status = _whole(fabricmanager_status.parse)(reported)
    except ValueError as exc:
        return Reading(None, f"{exc} (exit status {output.rc})")
    if output.rc not in _TOLD and not status.missing:
        said = last_word(output.stdout, output.stderr)
        return Reading(None, f"fabricmanager_status ended with status {output.rc}: {said}")
    return Reading(status)


def _package(evidence: Evidence) -> Reading[str]:
    """The installed version of the fabric manager, from whichever database knows it."""
    whys = []
    for ask in (packages.dpkg, packages.rpm):
        reported = ask(evidence)
        whys.append(reported.why)
        for package in reported.value or ():
            version = _IN_PACKAGE.match(package.version)
            if _is_manager(package) and version is not None:
                return Reading(version.group(1))
    return Reading(None, "; ".join(why for why in whys if why) or "no package of it")


def _is_manager(package: Package) -> bool:
    """By its name, or its name and a driver branch."""
    return any(
        package.name == name or (package.name.startswith(name + "-") and package.name[len(name) + 1 :].isdigit())
        for name in stack_components.PACKAGES["fabric_manager"]
    )


def _log(evidence: Evidence) -> Reading[FmLog]:
    # Turned over a moment ago, it is empty.
    return _ask.file(evidence, LOG, lambda text: fabricmanager_log.parse(text) if text else FmLog())


def _ports(evidence: Evidence, address: str) -> Reading[tuple[SwitchPort, ...]]:
    base = f"{PCI}/{address}/infiniband"
    devices = _ask.names(evidence, base)
    if devices.value is None:
        return Reading(()) if devices.missing else Reading(None, devices.why)
    found = []
    for device in devices.value:
        numbers = _ask.names(evidence, f"{base}/{device}/ports")
        if numbers.value is None:
            return Reading(None, numbers.why)
        for number in numbers.value:
            port = f"{base}/{device}/ports/{number}"
            mask = _ask.file(evidence, f"{port}/cap_mask", to_int).value or 0
            state = _ask.text(evidence, f"{port}/state")
            found.append(SwitchPort(device, number, state, not mask & data.SM_DISABLED))
    return Reading(tuple(found))


def _imex(evidence: Evidence) -> Imex:
    parse = _whole(systemctl_show.parse)
    show = _ask.command(evidence, "systemctl_show", parse, "-p", _PROPERTIES, data.IMEX_UNIT)
    config = _ask.text(evidence, data.IMEX_CONFIG).value or ""
    named = [match.group(1) for match in _NODES_FILE.finditer(config)]
    file = named[-1] if named else data.IMEX_NODES
    return Imex(
        file=file,
        service=show.map(lambda told: told.all),
        nodes=_ask.file(evidence, file, _nodes),
        channels=_ask.names(evidence, data.IMEX_CHANNELS).map(tuple),
        own=_ask.command(evidence, "ip_addr", ip_addr.parse).map(_addresses),
    )


def _addresses(interfaces: tuple[ip_addr.Interface, ...]) -> tuple[str, ...]:
    """Those by which other hosts may know this one."""
    outward = (interface for interface in interfaces if interface.kind != ip_addr.LOOPBACK)
    return tuple(address.local for interface in outward for address in interface.addresses)


def _nodes(text: str) -> tuple[str, ...]:
    lines = (line.partition("#")[0].strip() for line in text.split("\n"))
    return tuple(line for line in lines if line)
