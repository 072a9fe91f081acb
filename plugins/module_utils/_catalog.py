# SPDX-License-Identifier: GPL-3.0-or-later
"""Every check id once: title, severity, meaning, likely causes, remedy.

docs/checks.md is generated from this file (`./run docs`). Ids are stable once released.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """What is known of one check before any host was looked at. ``causes``: likeliest first."""

    id: str
    severity: str
    title: str
    meaning: str
    causes: tuple[str, ...]
    remedy: str


_ENTRIES = (
    Entry(
        "host.access.reachable",
        "error",
        "The host can be reached and administered",
        "Ansible logged in, became root and ran a module there. Without that nothing is known.",
        ("the host is down, or its ssh service does not answer",),
        "log in by hand with `ssh -v` as the same user, then run `ansible HOST -m ping`",
    ),
    Entry(
        "host.converge.complete",
        "error",
        "The host took every change of this run",
        "A role stopped on this host, so it is not what the inventory describes.",
        ("a task failed; its own message is in `observed`",),
        "mend what the message names and run the playbook again: finished steps are not redone",
    ),
    Entry(
        "ib.tool.ibstat",
        "error",
        "ibstat runs and its output is understood",
        "ibstat is the first source of all port facts; the kernel's sysfs files are the second.",
        ("infiniband-diags is not installed", "ibstat stopped part way through the devices"),
        "run playbooks/converge.yml (role ibready.cluster.rdma), then `ibstat` by hand on the host",
    ),
    Entry(
        "ib.hca.present",
        "error",
        "The host has at least one RDMA device",
        "ibstat ends with status 0 and prints nothing where the kernel knows no RDMA device.",
        ("no RDMA driver is bound to the HCA", "the HCA is not seated or is disabled in the BIOS"),
        "compare `lspci -d 15b3:` with `ls /sys/class/infiniband`; load mlx5_ib; look at dmesg",
    ),
    Entry(
        "ib.hca.count",
        "error",
        "The host has as many HCAs as expected",
        "A missing HCA is a missing rail: collectives run at the pace of those that are left.",
        ("an HCA fell off the bus or its driver did not bind", "a VPI HCA is in the other mode"),
        "compare `lspci -d 15b3:` with the list; reseat or replace the missing HCA",
    ),
    Entry(
        "ib.hca.ports",
        "error",
        "Every port that an HCA announces was reported",
        "An HCA whose port block is cut off was not seen whole.",
        ("the output was cut",),
        "run `ibstat` by hand on the host and compare",
    ),
    Entry(
        "ib.hca.guid",
        "error",
        "The HCA has a node GUID",
        "An all-zero node GUID makes the subnet manager ignore the HCA.",
        ("firmware without GUIDs, or an unconfigured virtual function",),
        "read the GUIDs with `mstflint -d PCI q`; set a GUID for a virtual function",
    ),
    Entry(
        "ib.hca.firmware",
        "warning",
        "The HCA runs the expected firmware",
        "Compared with the inventory's version; fleet.hca.firmware compares hosts.",
        ("the HCA was replaced, or an update was skipped",),
        "update with the vendor's tool in a maintenance window (needs a reset of the HCA)",
    ),
    Entry(
        "ib.sources.agree",
        "error",
        "ibstat and the kernel's sysfs say the same",
        "Two sources that disagree mean that one of them is stale or was cut.",
        ("a port changed state between the two looks", "ibstat is from another RDMA stack"),
        "run again; if it stays, compare `ibstat` with /sys/class/infiniband",
    ),
    Entry(
        "ib.port.link_layer",
        "error",
        "The port runs the expected link layer",
        "A VPI port in Ethernet mode is no InfiniBand rail, whatever its rate says.",
        ("the port type of a VPI HCA is set to the other protocol",),
        "set LINK_TYPE_P1/P2 with mstconfig and reset the HCA in a maintenance window",
    ),
    Entry(
        "ib.port.state",
        "error",
        "The port is Active",
        "Only an Active port carries data. Initializing means that no subnet manager set it up.",
        ("the cable is pulled, the transceiver is dead or the switch port is disabled",),
        "look at `ibstat` and the switch port; reseat the cable, then swap cable and transceiver",
    ),
    Entry(
        "ib.port.physical_state",
        "error",
        "The port's physical link is up",
        "Polling: nothing at the other end. Disabled: switched off by an administrator.",
        ("the cable is pulled or broken, or the other end is switched off",),
        "reseat the cable at both ends; check the switch port with `iblinkinfo`",
    ),
    Entry(
        "ib.port.rate",
        "error",
        "The port runs at the expected rate",
        "One slow rail slows every collective that crosses it.",
        ("the link trained with fewer lanes or at a lower speed: cable, dirt or transceiver",),
        "compare both ends with `iblinkinfo`; reseat, clean or swap the cable; reset the port",
    ),
    Entry(
        "ib.port.lid",
        "error",
        "The port has a unicast LID",
        "Without a LID between 1 and 49151 the fabric cannot route to the port.",
        ("no subnet manager has swept the port yet",),
        "check that a subnet manager runs (`sminfo`) and let it sweep",
    ),
    Entry(
        "ib.port.sm",
        "error",
        "The port knows its subnet manager",
        "SM lid 0 on an InfiniBand port means that no subnet manager ever set it up.",
        ("no subnet manager runs on this fabric",),
        "start opensm or the switch's subnet manager",
    ),
    Entry(
        "ib.port.guid",
        "error",
        "The port has a port GUID",
        "The subnet manager knows the port by its GUID.",
        ("firmware without GUIDs, or an unconfigured virtual function",),
        "read the GUIDs with `mstflint -d PCI q`; set a GUID for a virtual function",
    ),
    Entry(
        "fabric.sm.answers",
        "error",
        "The subnet manager answers from this port",
        "A fabric without a living master keeps its routes until the first link changes.",
        ("the subnet manager has stopped, or its host is cut off",),
        "start opensm (or the switch's subnet manager) and check `sminfo` from this host",
    ),
    Entry(
        "fabric.ping.tested",
        "error",
        "Every pair of this port was tested",
        "A pair that nobody tested says nothing about the fabric.",
        ("the port or the host could not take part",),
        "mend what keeps the port or host from taking part, then verify again",
    ),
    Entry(
        "fabric.ping.reachable",
        "error",
        "Other hosts answer over this rail",
        "ibping over management datagrams; it ends with status 0 even if nobody answers.",
        ("no route between the two ports, or the peer's server did not come up",),
        "trace the path with `ibtracert SRC-LID DST-LID` and look for the dead hop",
    ),
    Entry(
        "fabric.ping.loss",
        "error",
        "No ping is lost over this rail",
        "An InfiniBand fabric does not drop packets; loss means a sick link.",
        ("a sick cable, transceiver or switch port on the way to this host",),
        "read the error counters with `ibqueryerrors`; swap the cable of the named port",
    ),
    Entry(
        "fleet.host.kernel",
        "warning",
        "The host runs the fleet's kernel",
        "Another kernel means other RDMA modules and other behaviour on one host of many.",
        ("an update or a reboot was missed",),
        "bring the host to the fleet's kernel and reboot it in a maintenance window",
    ),
    Entry(
        "fleet.hca.model",
        "error",
        "The host has the fleet's HCA models",
        "A rail of another generation runs at another rate and with other features.",
        ("another HCA was fitted, or the inventory group mixes platforms",),
        "put hosts of another platform into a group of their own, or exchange the HCA",
    ),
    Entry(
        "fleet.hca.firmware",
        "error",
        "The HCA runs the fleet's firmware",
        "One HCA with another firmware is a classic reason for one slow or failing host.",
        ("the HCA was replaced, or an update was skipped on this host",),
        "update this HCA's firmware to the fleet's version in a maintenance window",
    ),
    Entry(
        "fleet.hca.guid_unique",
        "error",
        "No other HCA has the same GUID",
        "Two HCAs with one GUID knock each other off the fabric.",
        ("a firmware image with GUIDs was copied from another HCA",),
        "give the HCA its own GUIDs with mstflint (they are on its label)",
    ),
    Entry(
        "fleet.port.lid_unique",
        "error",
        "No other port of the subnet has the same LID",
        "Traffic for a LID that two ports claim reaches one of them.",
        ("two subnet managers on one fabric, or a stale LID after a merge of fabrics",),
        "leave one master subnet manager and let it sweep with LID reassignment",
    ),
    Entry(
        "fleet.sm.single",
        "error",
        "One master subnet manager serves each rail",
        "Hosts that see different masters are on different, or split, fabrics.",
        ("the fabric is split, or two subnet managers both believe to be master",),
        "compare `sminfo` on the named hosts; stop the wrong master or mend the split",
    ),
)

CATALOG: dict[str, Entry] = {one.id: one for one in _ENTRIES}


def entry(check_id: str) -> Entry:
    """The catalog's entry; an id that is not in it is a programming error (KeyError)."""
    return CATALOG[check_id]
