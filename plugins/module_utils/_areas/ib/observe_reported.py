# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tools beside ibstat tell of HCAs and ports, in the words of ``ibstat``."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any, Callable

from ..._evidence.sources import Evidence, Unavailable
from ..._ground.link import INFINIBAND
from ..._ground.reading import Reading
from ..._ground.text import ParseError, last_word
from ..._parse import ibstatus, ibv_devinfo, perfquery, rdma_link
from ..._parse.ibstat import Ca, Port
from ..._parse.ibv_devinfo import IbvDevinfo, Verbs
from ..._parse.perfquery import Block
from . import sysfs

# What the tools say where the kernel has no RDMA device, or cannot have any.
_NO_DEVICE = (
    "No IB devices found",
    "No devices",
    "No such device",
    "No such file or directory",
    "Function not implemented",
    "NETLINK_RDMA socket",
)
_VERBS_STATES = {
    "PORT_DOWN": "Down",
    "PORT_INIT": "Initializing",
    "PORT_ARMED": "Armed",
    "PORT_ACTIVE": "Active",
}
_LINK_STATES = {"DOWN": "Down", "INIT": "Initializing", "ARMED": "Armed", "ACTIVE": "Active"}
_LINK_PHYSICAL = {
    "SLEEP": "Sleep",
    "POLLING": "Polling",
    "DISABLED": "Disabled",
    "PORT_CONFIGURATION_TRAINING": "PortConfigurationTraining",
    "LINK_UP": "LinkUp",
    "LINK_ERROR_RECOVER": "LinkErrorRecovery",
    "PHY_TEST": "PhyTest",
}
# Mellanox' own id among the vendors of InfiniBand.
_MELLANOX = ("0x02c9", "0x2c9")


@dataclass(frozen=True)
class Reported:
    """``cas`` by source, of the sources that told of a device.

    ``absent``: "source: its words" of those that say there is none; ``garbled``: why the words of
    others say nothing. ``cut``: sources of which lines cannot be read. ``links``: width and speed by
    port, as ibstatus has them; ``netdevs``: interfaces by port, as `rdma link` has them. ``verbs_rc``: the
    status that ibv_devinfo ended with.
    """

    cas: dict[str, tuple[Ca, ...]] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    garbled: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    verbs: Reading[IbvDevinfo] = field(default_factory=Reading)
    verbs_rc: int = 0
    perfquery: tuple[Block, ...] = ()
    perfquery_unknown: str = ""
    links: dict[str, str] = field(default_factory=dict)
    netdevs: dict[str, str] = field(default_factory=dict)


def ask(evidence: Evidence) -> Reported:
    """Run those tools; one that cannot be used tells nothing."""
    status, _rc = _run(evidence, "ibstatus", ibstatus.parse)
    verbs, verbs_rc = _run(evidence, "ibv_devinfo", ibv_devinfo.parse)
    links, _rc = _run(evidence, "rdma_link", rdma_link.parse)
    counted: Reading[perfquery.Perfquery] = Reading()
    if evidence.recorded:  # a live host's counters are read from sysfs
        counted, _rc = _run(evidence, "perfquery", perfquery.parse)
    said: list[tuple[str, tuple[str, ...]]] = []
    cas: dict[str, tuple[Ca, ...]] = {}
    if status.value is not None:
        cas["ibstatus"] = _from_ibstatus(status.value)
        said.append(("ibstatus", (status.value.error,)))
    if verbs.value is not None:
        cas["ibv_devinfo"] = tuple(_from_verbs(hca) for hca in verbs.value.hcas)
        refused = "".join(f" ({warning})" for warning in verbs.value.warnings[:1])
        said.append(("ibv_devinfo", tuple(f"{line}{refused}" for line in verbs.value.error_lines)))
    if links.value is not None:
        cas["rdma link"] = _from_links(links.value)
        said.append(("rdma link", (links.value.error,)))
    cas = {source: found for source, found in cas.items() if found}
    if counted.value is not None and not counted.value.blocks:
        said.append(("perfquery", counted.value.error_lines))
    return Reported(
        cas=cas,
        absent=tuple(
            f"{source}: {line}"
            for source, lines in said
            for line in lines[:8]
            if source not in cas and any(word in line for word in _NO_DEVICE)
        ),
        garbled=tuple(entry.why for entry in (status, verbs, links) if entry.why and not entry.missing),
        cut=tuple(
            source
            for source, reading in (("ibstatus", status), ("ibv_devinfo", verbs), ("rdma link", links))
            if reading.value is not None and reading.value.unread
        ),
        verbs=verbs,
        verbs_rc=verbs_rc,
        perfquery_unknown="" if counted.missing else counted.why,
        perfquery=counted.value.blocks if counted.value else (),
        links=_widths(status.value),
        netdevs={f"{link.name}/{link.port}": link.netdev for link in (links.value.links if links.value else ())},
    )


def _run(evidence: Evidence, name: str, parse: Callable[[str], Any]) -> tuple[Reading[Any], int]:
    """What it printed, and its status; of stderr, only what it complains of is taken.

    Missing where it printed nothing that could be read, because it did not run.
    """
    try:
        output = evidence.run(name)
    except Unavailable as exc:
        return Reading(None, str(exc), True), 0
    text = output.stdout if output.stdout.strip() else output.stderr
    try:
        parsed = parse(text)
    except ParseError as exc:
        said = last_word(output.stderr)
        more = f" ({said})" if said and said not in str(exc) else ""
        return Reading(None, f"{exc} (exit status {output.rc}){more}"), output.rc
    return Reading(parsed), output.rc


def _from_ibstatus(status: ibstatus.Ibstatus) -> tuple[Ca, ...]:
    ports: dict[str, list[Port]] = {}
    for port in status.ports:
        guid = ""
        with contextlib.suppress(ValueError):
            guid = sysfs.gid_guid(port.gid or "")
        ports.setdefault(port.name, []).append(
            _port(
                port.port,
                state=_sysfs_word(sysfs.state_word, port.state),
                physical_state=_sysfs_word(sysfs.physical_word, port.phys_state),
                rate=port.rate,
                lid=port.lid,
                sm_lid=port.sm_lid,
                port_guid=guid,
                link_layer=port.link_layer or "",
            )
        )
    return tuple(_ca(name, found) for name, found in ports.items())


def _sysfs_word(convert: Callable[[str], str], text: str | None) -> str:
    try:
        return convert(text or "")
    except ValueError:
        return ""


def _widths(status: ibstatus.Ibstatus | None) -> dict[str, str]:
    return {
        f"{port.name}/{port.port}": sysfs.width_and_speed(dict(port.raw).get("rate", ""))
        for port in (status.ports if status else ())
    }


def _from_verbs(verbs: Verbs) -> Ca:
    part = verbs.get("vendor_part_id")
    ports = [
        _port(
            port.num,
            state=_VERBS_STATES.get(port.get("state").split(" ")[0], ""),
            lid=port.number("port_lid"),
            sm_lid=port.number("sm_lid"),
            link_layer=port.get("link_layer"),
        )
        for port in verbs.ports
    ]
    count = verbs.get("phys_port_cnt")
    return _ca(
        verbs.name,
        ports,
        type=f"MT{part}" if part and verbs.get("vendor_id").lower() in _MELLANOX else "",
        n_ports=int(count) if count else None,
        fw=verbs.get("fw_ver"),
        node_guid=_guid(verbs.get("node_guid")),
        system_guid=_guid(verbs.get("sys_image_guid")),
    )


def _guid(text: str) -> str:
    digits = text.replace(":", "")
    return f"0x{digits}" if digits else ""


def _from_links(links: rdma_link.RdmaLink) -> tuple[Ca, ...]:
    ports: dict[str, list[Port]] = {}
    for link in links.links:
        ports.setdefault(link.name, []).append(
            _port(
                link.port,
                state=_LINK_STATES.get(link.state, ""),
                physical_state=_LINK_PHYSICAL.get(link.physical_state, ""),
                lid=link.lid,
                lmc=link.lmc,
                sm_lid=link.sm_lid,
                # The kernel gives a subnet prefix to InfiniBand ports only.
                link_layer=INFINIBAND if link.subnet_prefix else "",
            )
        )
    return tuple(_ca(name, found) for name, found in ports.items())


def _port(num: int, **known: Any) -> Port:
    nothing: dict[str, Any] = {
        "state": "",
        "physical_state": "",
        "rate": None,
        "lid": None,
        "lmc": None,
        "sm_lid": None,
        "capability_mask": "",
        "port_guid": "",
        "link_layer": "",
    }
    return Port(num=num, **{**nothing, **known})


def _ca(name: str, ports: list[Port], **known: Any) -> Ca:
    nothing: dict[str, Any] = {
        "type": "",
        "n_ports": None,
        "fw": "",
        "hw": "",
        "node_guid": "",
        "system_guid": "",
    }
    return Ca(name=name, ports=tuple(ports), **{**nothing, **known})
