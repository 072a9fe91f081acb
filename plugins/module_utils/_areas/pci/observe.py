# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of links, BARs and bridges of GPUs and HCAs."""

from __future__ import annotations

import posixpath
import re

from ..._data.drivers import INFOROM_CORRUPTED
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._ground.text import to_int, to_rate, to_uptime
from ..._parse import nvsmi_error, nvsmi_xml, pci_config, pci_resource
from ..._parse.nvsmi_xml import Nvsmi
from ..machine.facts import Machine, PciFunction
from ..machine.observe import PCI
from .facts import End, Errors, PciFacts, Rdma, links, on_the_way

_NET = "/sys/class/net"
_INFINIBAND = "/sys/class/infiniband"
_NODES = "/sys/devices/system/node"
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_SLOT = re.compile(r"^PCI_SLOT_NAME=(\S{1,40})$", re.MULTILINE)
_NODE = re.compile(r"node([0-9]{1,4})")


def observe(evidence: Evidence, machine: Machine) -> PciFacts:
    """Read GPUs, HCAs, NVSwitches and the bridges above them; nothing of any other function."""
    if machine.without_hardware:
        return PciFacts()
    gpus, hcas = machine.cards, machine.hcas
    switches = tuple(function for function in machine.functions if function.is_nvswitch)
    ends = (*gpus, *hcas, *switches)
    ours = on_the_way(ends)
    lower = {pair[1] for end in ends for pair in links(end.path)}
    lower |= {end.address for end in ends}
    rdma = _rdma(evidence)
    # nvidia-smi wakes the GPUs, whose links are slow while they sleep: it goes first.
    smi, anyhow = _smi(evidence) if gpus else (Reading(), Reading())
    return PciFacts(
        ends={entry: _end(evidence, f"{PCI}/{entry}", entry in lower) for entry in ours},
        configs={entry: ask.data(evidence, f"{PCI}/{entry}/config").map(pci_config.parse) for entry in ours},
        bars={gpu.address: ask.file(evidence, f"{PCI}/{gpu.address}/resource", pci_resource.parse) for gpu in gpus},
        errors={entry: _errors(evidence, f"{PCI}/{entry}") for entry in ours},
        vfs={hca.address: ask.file(evidence, f"{PCI}/{hca.address}/sriov_numvfs", to_int) for hca in hcas},
        rdma=rdma,
        bonds=_bonds(evidence, hcas, rdma.value or ()),
        smi=smi,
        smi_anyhow=anyhow,
        nodes=_nodes(evidence),
        distances=_distances(evidence, gpus, hcas),
        uptime_s=ask.file(evidence, "/proc/uptime", to_uptime),
    )


def _smi(evidence: Evidence) -> tuple[Reading[Nvsmi], Reading[Nvsmi]]:
    """A GPU that is lost makes it end with an error after it listed the others; a worn one, too."""
    anyhow = ask.command(evidence, "nvsmi_xml", nvsmi_xml.parse, ok=None)
    none = Reading[Nvsmi]() if anyhow.known else ask.command(evidence, "nvsmi_xml", _no_device, ok=None)
    if none.known:
        return none, none
    return ask.command(evidence, "nvsmi_xml", nvsmi_xml.parse, ok=(0, INFOROM_CORRUPTED)), anyhow


def _no_device(text: str) -> Nvsmi:
    """An answer, though no XML: the driver is loaded and could start none of the GPUs that it found."""
    error = nvsmi_error.parse(text)
    if error.error != nvsmi_error.NO_DEVICE:
        raise ValueError(error.line)
    return Nvsmi(attached_gpus=0, unreachable=error.unreachable)


def _end(evidence: Evidence, base: str, lower: bool) -> End:
    speed, width = f"{base}/current_link_speed", f"{base}/current_link_width"
    return End(
        speed=ask.file(evidence, speed, pci_resource.speed) if lower else Reading(),
        width=ask.file(evidence, width, pci_resource.width) if lower else Reading(),
        max_speed=ask.file(evidence, f"{base}/max_link_speed", pci_resource.speed),
        max_width=ask.file(evidence, f"{base}/max_link_width", pci_resource.width),
    )


def _errors(evidence: Evidence, base: str) -> Errors:
    return Errors(
        fatal=ask.file(evidence, f"{base}/aer_dev_fatal", pci_resource.errors),
        nonfatal=ask.file(evidence, f"{base}/aer_dev_nonfatal", pci_resource.errors),
        correctable=ask.file(evidence, f"{base}/aer_dev_correctable", pci_resource.errors),
    )


def _rdma(evidence: Evidence) -> Reading[tuple[Rdma, ...]]:
    names = ask.names(evidence, _INFINIBAND)
    if names.value is None:
        return Reading(None, names.why, names.missing)
    return Reading(tuple(_device(evidence, name) for name in names.value))


def _device(evidence: Evidence, name: str) -> Rdma:
    base = f"{_INFINIBAND}/{name}"
    ports = ask.names(evidence, f"{base}/ports")
    rates = [_port_gbps(evidence, f"{base}/ports/{port}") for port in ports.value or ()]
    known = [rate for rate in rates if rate is not None]
    return Rdma(
        name,
        _behind(evidence, f"{base}/device"),
        ask.text(evidence, f"{base}/sys_image_guid").value or "",
        max(known, default=0.0) if ports.known and len(known) == len(rates) else None,
    )


def _port_gbps(evidence: Evidence, base: str) -> float | None:
    state = ask.text(evidence, f"{base}/state").value
    if state is None or "ACTIVE" in state:
        return ask.file(evidence, f"{base}/rate", to_rate).value if state else None
    return 0.0


def _behind(evidence: Evidence, path: str) -> str | None:
    """The PCI address in the device's link, "" for one that is not on PCI (rxe, siw)."""
    target = ask.link(evidence, path)
    if target.missing:
        return ""
    if target.value is not None:
        name = posixpath.basename(target.value)
        return name if _ADDRESS.fullmatch(name) else ""
    # A stranger's bundle may hold a copy of the directory where the host had a link to it.
    found = _SLOT.search(ask.text(evidence, f"{path}/uevent").value or "")
    return found.group(1) if found else None


def _bonds(evidence: Evidence, hcas: tuple[PciFunction, ...], rdma: tuple[Rdma, ...]) -> dict[str, Reading[str]]:
    """Asked of cards of which one Ethernet function is an RDMA device and another is not."""
    with_rdma = {entry.address for entry in rdma}
    ports = [hca.address for hca in hcas if hca.class_code[:4] == "0200"]
    whole = {port[:-1] for port in ports if port in with_rdma}
    half = {port[:-1] for port in ports if port not in with_rdma} & whole
    return {port: _bond(evidence, port) for port in ports if port[:-1] in half}


def _bond(evidence: Evidence, address: str) -> Reading[str]:
    """A bond is a master with bonding's own directory; bridges are masters, too."""
    names = ask.names(evidence, f"{PCI}/{address}/net")
    for name in names.value or ():
        master = ask.link(evidence, f"{_NET}/{name}/master")
        if master.value is not None:
            bond = posixpath.basename(master.value)
            bonding = ask.names(evidence, f"{_NET}/{bond}/bonding")
            if bonding.known or not bonding.missing:
                return Reading(bond) if bonding.known else Reading(None, bonding.why)
        elif not master.missing:
            return Reading(None, master.why)
    return Reading("") if names.known or names.missing else Reading(None, names.why)


def _nodes(evidence: Evidence) -> Reading[tuple[int, ...]]:
    names = ask.names(evidence, _NODES)
    matches = [_NODE.fullmatch(name) for name in names.value or ()]
    found = tuple(sorted(int(match.group(1)) for match in matches if match))
    if names.value is not None and not found:
        return Reading(None, f"{_NODES}: no node in it")
    return Reading(found) if found else Reading(None, names.why, names.missing)


def _distances(
    evidence: Evidence, gpus: tuple[PciFunction, ...], hcas: tuple[PciFunction, ...]
) -> dict[int, Reading[tuple[int, ...]]]:
    far = {hca.numa_node for hca in hcas} - {gpu.numa_node for gpu in gpus} - {-1}
    return {entry: ask.file(evidence, f"{_NODES}/node{entry}/distance", _numbers) for entry in sorted(far)}


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(to_int(word) for word in text.split())
