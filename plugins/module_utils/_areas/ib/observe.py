# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the InfiniBand facts of one host from its evidence, live or bundled."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from ..._evidence import ask
from ..._evidence.sources import Evidence, Unavailable
from ..._ground.link import INFINIBAND
from ..._ground.reading import Reading
from ..._ground.text import ParseError, clean_lines, few, is_warning, last_word, to_uptime
from ..._parse import ibstat, sminfo
from ..._parse.ibstat import Ca, Port
from ..._rails.ib_ports import IBSTAT, LAST_UNICAST_LID, IbFacts, SmAnswer, is_infiniband, port_name
from ..machine.facts import MELLANOX, Machine
from . import (
    driver_log,
    observe_counters,
    observe_device,
    observe_history,
    observe_port,
    observe_reported,
    observe_roce,
    sysfs as sysfs_ib,
)

_NO_ANSWER = "failed: query"
_SYSFS = "sysfs"
_SHOWN = 6
# InfiniHost to ConnectX-2: hosts with these may run an ibstat from before RoCE.
_OLD_TYPE = re.compile(r"MT2[0-9]{4}\b")


class _Ibstat(NamedTuple):
    """Devices, complaints, why nothing can be told, the word before each device's name, what was not
    told whole, and the first line that cannot be read."""

    cas: tuple[Ca, ...] = ()
    errors: tuple[str, ...] = ()
    unknown: str = ""
    kinds: tuple[tuple[str, str], ...] = ()
    partial: tuple[str, ...] = ()
    strange: str = ""

    @property
    def gave_up(self) -> bool:
        return bool(self.unknown or (self.errors and not self.cas))


class _Kernel(NamedTuple):
    """Devices in sysfs, and why they cannot be told; ``missing``: there is no such directory."""

    cas: tuple[Ca, ...] = ()
    unknown: str = ""
    missing: bool = False


def observe(evidence: Evidence, machine: Machine) -> IbFacts:
    """Ask ibstat, the kernel, the other tools and, from every live port, the subnet manager."""
    said = _ask_ibstat(evidence)
    kernel = _ask_kernel(evidence)
    apart = _left_out(evidence, said, kernel)
    silent = said == _Ibstat() and any(ca.ports for ca in kernel.cas if ca not in apart)
    if silent:
        listed = few([ca.name for ca in kernel.cas], _SHOWN)
        said = _Ibstat(unknown=f"ibstat: it printed nothing and ended with status 0, and the kernel lists {listed}")
    elif not said.gave_up:
        said = said._replace(cas=said.cas + apart)
    reported = observe_reported.Reported() if machine.surely_simulated else observe_reported.ask(evidence)
    source, cas, filled = _best(said, kernel, reported)
    devices = observe_device.devices(evidence, machine, cas, dict(said.kinds), reported)
    ports = [(ca, port) for ca in cas for port in ca.ports]
    live = [(ca, port) for ca, port in ports if is_infiniband(port) and port.state == "Active"]
    carrying = [(ca, port) for ca, port in ports if port.state == "Active"]
    # Before the pause: afterwards area roce finds its first look here, and its second with ours.
    observe_roce.first(evidence, observe_roce.counting(evidence, ports))
    counters = observe_counters.read(evidence, [port_name(ca, port) for ca, port in carrying])
    first = {name: counted.first for name, counted in counters.items()}
    up_s = int(ask.file(evidence, "/proc/uptime", to_uptime).value or 0)
    absent = reported.absent
    if kernel.missing:
        absent = (kernel.unknown, *absent)
    return IbFacts(
        cas=cas,
        error_lines=said.errors,
        ibstat_unknown=said.unknown,
        sysfs=kernel.cas,
        sysfs_unknown=kernel.unknown,
        sm={port_name(ca, port): ask_sm(evidence, ca.name, port.num) for ca, port in live},
        source=source,
        partial=said.partial,
        strange=said.strange,
        silent=silent,
        filled=filled,
        unlisted=tuple(ca.name for ca in apart),
        told=reported.cas,
        absent=absent,
        garbled=reported.garbled,
        cut=reported.cut,
        bus=_bus(machine),
        devices=devices,
        details={
            port_name(ca, port): observe_port.details(
                evidence,
                ca,
                port,
                devices[ca.name],
                reported,
                counters.get(port_name(ca, port)),
                bool(machine.surely_simulated),
            )
            for ca, port in ports
        },
        perfquery=reported.perfquery,
        perfquery_unknown=reported.perfquery_unknown,
        uptime_s=up_s,
        simulated=machine.surely_simulated,
        driver_says=driver_log.read(evidence, machine, ports, devices, up_s),
        history=observe_history.read(evidence, machine, carrying, devices, first, reported.netdevs, up_s),
    )


def _best(
    said: _Ibstat, kernel: _Kernel, told: observe_reported.Reported
) -> tuple[str, tuple[Ca, ...], tuple[str, ...]]:
    """Who tells of the devices, the devices, and those that ibstat stopped before."""
    if not said.gave_up:
        # One that stopped part way, or was cut, leaves the rest to the kernel.
        partial = {name.partition("/")[0] for name in said.partial}
        known = {ca.name for ca in said.cas if said.errors or ca.name not in partial}
        more = tuple(ca for ca in kernel.cas if said.cas and ca.name not in known and (ca.ports or said.errors))
        filled = tuple(ca.name for ca in more)
        return IBSTAT, tuple(ca for ca in said.cas if ca.name not in filled) + more, filled
    for source, cas in ((_SYSFS, kernel.cas), *told.cas.items()):
        if any(ca.ports for ca in cas):
            return source, cas, ()
    return IBSTAT, (), ()


def _ask_ibstat(evidence: Evidence) -> _Ibstat:
    try:
        output = evidence.run("ibstat")
    except Unavailable as exc:
        return _Ibstat(unknown=str(exc))
    if not output.stdout.strip() and output.rc == 0 and not output.stderr.strip():
        return _Ibstat()
    try:
        # No fact is ever taken from stderr; what it complains of counts.
        parsed = ibstat.parse(output.stdout if output.stdout.strip() else output.stderr)
    except ParseError as exc:
        return _Ibstat(unknown=f"{exc} (exit status {output.rc})")
    if parsed.cas and not output.stdout.strip():
        return _Ibstat(unknown="ibstat: it printed devices to stderr only")
    errors = parsed.error_lines + (_complaints(output.stderr) if output.stdout.strip() else ())
    if output.rc != 0 and not errors:
        errors = (f"ibstat ended with status {output.rc}",)
    return _Ibstat(_with_layers(parsed.cas), errors, "", parsed.kinds, parsed.partial, parsed.strange)


def _left_out(evidence: Evidence, said: _Ibstat, kernel: _Kernel) -> tuple[Ca, ...]:
    """The kernel's devices that ibstat never lists, as it asks for InfiniBand's node types: iWARP, EFA, usNIC."""
    told = {ca.name for ca in said.cas}
    types = {ca.name: ask.text(evidence, f"{sysfs_ib.BASE}/{ca.name}/node_type").value or "" for ca in kernel.cas}
    return tuple(
        ca for ca in kernel.cas if ca.name not in told and types[ca.name].partition(":")[0] in observe_device.NODE_TYPES
    )


def _with_layers(cas: tuple[Ca, ...]) -> tuple[Ca, ...]:
    """The same; where ibstat is too old to show any link layer, those that the LIDs give away."""
    old = all(_OLD_TYPE.match(ca.type) for ca in cas)
    if not old or any(port.link_layer for ca in cas for port in ca.ports):
        return cas
    return tuple(replace(ca, ports=tuple(_with_layer(port) for port in ca.ports)) for ca in cas)


def _with_layer(port: Port) -> Port:
    """Only a subnet manager hands out LIDs, its own among them, and only on InfiniBand."""
    given = all(lid is not None and 0 < lid <= LAST_UNICAST_LID for lid in (port.lid, port.sm_lid))
    return replace(port, link_layer=INFINIBAND) if given else port


def _ask_kernel(evidence: Evidence) -> _Kernel:
    listed = sysfs_ib.names(evidence, sysfs_ib.BASE)
    if listed.value is None:
        return _Kernel((), listed.why, listed.missing)
    try:
        return _Kernel(sysfs_ib.read_cas(evidence))
    except (Unavailable, ParseError) as exc:
        return _Kernel((), str(exc))


def ask_sm(evidence: Evidence, device: str, port: int, *lid: str) -> SmAnswer:
    """Ask the subnet's manager through a port, or the one at this LID."""
    try:
        output = evidence.run("sminfo", "-C", device, "-P", str(port), *lid)
    except Unavailable as exc:
        return SmAnswer(unavailable=str(exc))
    try:
        parsed = sminfo.parse(output.stdout)
    except ParseError as exc:
        said = last_word(output.stdout, output.stderr) or str(exc)
        # "failed: query": it asked and nobody answered. Anything else: it could not ask.
        unheard = _NO_ANSWER in output.stdout or _NO_ANSWER in output.stderr
        return SmAnswer(error=said) if unheard else SmAnswer(unavailable=said)
    if output.rc != 0:
        return SmAnswer(error=f"sminfo ended with status {output.rc}: {last_word(output.stdout, output.stderr)}")
    return SmAnswer(sm=parsed)


def _bus(machine: Machine) -> Reading[tuple[str, ...]]:
    """What must be an HCA: InfiniBand controllers, and every network function of Mellanox."""
    if not machine.pci.known:
        return Reading(None, machine.pci.why, machine.pci.missing)
    return Reading(
        tuple(hca.address for hca in machine.hcas if hca.vendor == MELLANOX or hca.class_code[:4] in ("0207", "0c06"))
    )


def _complaints(stderr: str) -> tuple[str, ...]:
    """Every line but ibwarn's, which the tools print when all is well, too."""
    lines = [line.strip() for line in clean_lines(stderr)]
    return tuple(line for line in lines if line and not is_warning(line))
