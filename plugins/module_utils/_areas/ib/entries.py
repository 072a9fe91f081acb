# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for HCAs and InfiniBand ports (ib.*)."""

from __future__ import annotations

from ..._ground.catalog import declare, error, warning
from .entries_sm import START_ONE

_BASE = "/sys/class/infiniband"
_PORT = f"{_BASE}/*/ports/*"
_CARRIER = "/sys/class/net/*/carrier"
# Where ibstat cannot be used, each of the others tells what it can.
_DEVICES = (f"{_BASE}|ibstat|ibstatus|ibv_devinfo|rdma_link",)
_STATES = (f"{_PORT}/state|ibstat|ibstatus|ibv_devinfo|rdma_link",)

ENTRIES = declare(
    error(
        "ib.tool.ibstat",
        "ibstat runs and its output is understood",
        "ibstat is the first source of all port facts; the kernel's sysfs files are the second. "
        "Without it the ports are judged by the next best source, as far as that goes.",
        (
            "infiniband-diags is not installed",
            "ibstat found no device, or stopped before the first",
        ),
        "run playbooks/converge.yml (role ibready.cluster.rdma), then `ibstat` by hand on the host",
        ("ibstat",),
    ),
    warning(
        "ib.tool.complete",
        "ibstat came to its end",
        "ibstat stops at the first device that it cannot read, and tells nothing of those after "
        "it. Old versions stop at Ethernet functions that have no management device.",
        (
            "a device without a management device (ib_umad), such as an Ethernet function of a cloud host, stopped it",
            "a device vanished while ibstat ran",
        ),
        "run `ibstat -l` and `ibstat DEVICE` for each; update infiniband-diags",
        ("ibstat",),
    ),
    error(
        "ib.hca.present",
        "The host has at least one RDMA device",
        "ibstat ends with status 0 and prints nothing where the kernel knows no RDMA device.",
        ("no RDMA driver is bound to the HCA", "the HCA is not seated or is disabled in the BIOS"),
        "compare `lspci -d 15b3:` with `ls /sys/class/infiniband`; load mlx5_ib; look at dmesg",
        _DEVICES,
    ),
    error(
        "ib.hca.count",
        "The host has as many HCAs as expected",
        "A missing HCA is a missing rail: collectives run at the pace of those that are left. "
        "Only HCAs that can be rails count: those of the rails' link layer and of at least their "
        "rate, no virtual functions, no way to NVLink switches, no EFA, iWARP or software devices.",
        ("an HCA fell off the bus or its driver did not bind", "a VPI HCA is in the other mode"),
        "compare `lspci -d 15b3:` with the list; where one is not on the bus, reseat or replace it",
        _DEVICES,
    ),
    error(
        "ib.hca.ports",
        "Every port that an HCA announces was reported",
        "An HCA whose port block is cut off was not seen whole.",
        ("the output was cut",),
        "run `ibstat` by hand on the host and compare",
        (f"{_BASE}/*/ports|ibstat|ibv_devinfo",),
    ),
    error(
        "ib.hca.guid",
        "The HCA has a node GUID",
        "An all-zero node GUID makes the subnet manager ignore the HCA.",
        ("firmware without GUIDs, or an unconfigured virtual function",),
        "read the GUIDs with `mstflint -d PCI q`; set a GUID for a virtual function",
        (f"{_BASE}/*/node_guid|ibstat|ibv_devinfo",),
    ),
    warning(
        "ib.hca.firmware",
        "The HCA runs the expected firmware",
        "Compared with the inventory's version, by board id where it names images (rdma_firmware); fleet.hca.firmware "
        "compares hosts.",
        ("the HCA was replaced, or an update was skipped", "what was written waits for a boot (`mstflint -d PCI q`)"),
        "role rdma (tag rdma_firmware) with rdma_firmware and ibready_firmware_ok, and the reboot that it asks for",
        (f"{_BASE}/*/fw_ver|ibstat|ibv_devinfo",),
    ),
    warning(
        "ib.hca.firmware_equal",
        "Equal HCAs of the host run the same firmware",
        "Compared among HCAs of one model and one board id; other boards may need other versions.",
        ("an HCA was replaced, or an update stopped half way",),
        "query with `mstflint -d PCI q`, and bring it to the version of the others (role rdma: rdma_firmware) in a "
        "maintenance window",
        (f"{_BASE}/*/fw_ver|ibstat|ibv_devinfo",),
    ),
    warning(
        "ib.hca.generation",
        "All rails of the host are HCAs of one model",
        "Collectives run at the pace of the slowest rail, and tuning files suit one model only.",
        ("an HCA was replaced by another model",),
        "compare `lspci -d 15b3:`; name HCAs that are no rails in ibready_expect.ignore",
        (f"{_BASE}/*/hca_type|ibstat|ibv_devinfo",),
    ),
    error(
        "ib.sources.agree",
        "ibstat and the kernel's sysfs say the same",
        "Two sources that disagree mean that one of them is stale or was cut. ibstatus, rdma and "
        "ibv_devinfo are compared as well where they are there: an HCA that libibverbs does not "
        "list is out of NCCL's reach.",
        (
            "a port changed state between the two looks",
            "a tool is from another RDMA stack than the kernel's modules",
        ),
        "run again; if it stays, compare `ibstat` and `ibv_devinfo` with /sys/class/infiniband",
        ("ibstat", f"{_BASE}/*/ports", f"{_PORT}/state"),
    ),
    error(
        "ib.port.link_layer",
        "The port runs the expected link layer",
        "A VPI port in Ethernet mode is no InfiniBand rail, whatever its rate says.",
        ("the port type of a VPI HCA is set to the other protocol",),
        "set LINK_TYPE_P1/P2 with mstconfig and reset the HCA in a maintenance window",
        (f"{_PORT}/link_layer|ibstat|ibstatus|ibv_devinfo|rdma_link",),
    ),
    error(
        "ib.port.state",
        "The port is Active",
        "Only an Active port carries data. Initializing means that no subnet manager set it up. "
        "Judged are the ports that are expected. If nothing is expected of a host, its ports are judged only if "
        "none of them has a link.",
        ("the cable is pulled, the transceiver is dead or the switch port is disabled",),
        "look at `ibstat` and the switch port; reseat the cable, then swap cable and transceiver",
        _STATES,
    ),
    warning(
        "ib.port.idle",
        "On a host without expectations, no port is down while others are up",
        "Nothing says how many rails this host has, so a port that is down may be a broken rail, or "
        "one that was never cabled.",
        ("the port is not cabled, or its cable, transceiver or switch port is dead",),
        "set ibready_expect.hcas (or name the port in ibready_expect.ignore), then verify again",
        _STATES,
    ),
    error(
        "ib.port.physical_state",
        "The port's physical link is up",
        "Polling: nothing at the other end. Disabled: switched off by an administrator. "
        "PortConfigurationTraining, LinkErrorRecovery: a signal that is too bad.",
        ("the cable is pulled or broken, or the other end is switched off",),
        "reseat the cable at both ends; check the switch port with `iblinkinfo`",
        (f"{_PORT}/phys_state|ibstat|ibstatus|rdma_link",),
    ),
    error(
        "ib.port.rate",
        "The port runs at the expected rate",
        "One slow rail slows every collective that crosses it. An inventory's rate is exact, a "
        "hardware profile's is the least that will do.",
        ("the link trained with fewer lanes or at a lower speed: cable, dirt or transceiver",),
        "compare both ends with `iblinkinfo`; reseat, clean or swap the cable; reset the port",
        (f"{_PORT}/rate|ibstat|ibstatus",),
    ),
    warning(
        "ib.port.even",
        "Equal HCAs in one subnet run at the same rate",
        "Checked if no exact rate is expected: a port that does not count as a rail may be one that fell back.",
        ("the link fell back to a lower speed or fewer lanes",),
        "compare both ends with `iblinkinfo`; if it is meant so, name it in ibready_expect.ignore",
        (f"{_PORT}/rate|ibstat|ibstatus", "sminfo"),
    ),
    error(
        "ib.port.lid",
        "The port has a unicast LID",
        "Without a LID between 1 and 49151 the fabric cannot route to the port.",
        ("no subnet manager has swept the port yet",),
        "check that a subnet manager runs (`sminfo`) and let it sweep",
        (f"{_PORT}/lid|ibstat|ibstatus|ibv_devinfo|rdma_link",),
    ),
    error(
        "ib.port.sm",
        "The port knows its subnet manager",
        "SM lid 0 on an InfiniBand port means that no subnet manager ever set it up.",
        ("no subnet manager runs on this fabric",),
        START_ONE,
        (f"{_PORT}/sm_lid|ibstat|ibstatus|ibv_devinfo|rdma_link",),
    ),
    error(
        "ib.port.guid",
        "The port has a port GUID",
        "The subnet manager knows the port by its GUID.",
        ("firmware without GUIDs, or an unconfigured virtual function",),
        "read the GUIDs with `mstflint -d PCI q`; set a GUID for a virtual function",
        (f"{_PORT}/gids/*|ibstat|ibstatus",),
    ),
    error(
        "ib.port.pkey",
        "The port is a member of its partition",
        "Two ports talk only if they share a partition and one of them is a full member. Without "
        "ibready_expect.pkeys a full membership in any partition will do.",
        ("the subnet manager's partitions do not name this port",),
        "compare `cat /sys/class/infiniband/DEVICE/ports/1/pkeys/*` with partitions.conf of opensm",
        (f"{_PORT}/pkeys/*",),
    ),
    warning(
        "ib.port.mtu",
        "The port runs the largest MTU that it can, or the expected one",
        "A small InfiniBand MTU costs bandwidth in every message.",
        ("the subnet manager's partition limits the MTU (mtu= in partitions.conf)",),
        "compare `ibv_devinfo` with partitions.conf; 4096 is mtu=5 there",
        ("ibv_devinfo",),
    ),
    warning(
        "ib.port.errors",
        "No error counter of the port rises",
        "Counted between two looks some seconds apart, and, where the health agent runs, over the hours that it "
        "remembers. What a counter holds from earlier is shown and is no fault.",
        ("a dirty, bent or damaged cable, or a transceiver that is about to fail",),
        "clean and reseat the cable; swap cable, then transceiver, and see which end it follows",
        (f"{_PORT}/counters/*|{_PORT}/hw_counters/*",),
    ),
    error(
        "ib.port.error_storm",
        "No error counter of the port rises so fast that jobs wait",
        "Counted between the same two looks: what is lost at this rate is sent again all the time.",
        ("a damaged cable or transceiver, or a link further away that loses packets",),
        "drain the host; clean and reseat the cable, then swap cable and transceiver; see `ibqueryerrors`",
        (f"{_PORT}/counters/*|{_PORT}/hw_counters/*",),
    ),
    error(
        "ib.port.flaps",
        "The link does not go down while it is watched",
        "A link that comes and goes breaks jobs, although it looks Active most of the time.",
        ("a loose or damaged cable, or a transceiver that is about to fail",),
        "look for link changes in `dmesg -T`; reseat, then swap cable and transceiver",
        (f"{_PORT}/counters/*",),
    ),
    error(
        "ib.port.flapping",
        "The link does not go down again and again",
        "Link-downs of the last hour and day, by the kernel's log and what the health agent remembers; by counters, "
        "which have no times, on average since the boot. A few that come with a boot or a moved cable do not count.",
        ("a loose or damaged cable, a transceiver that is about to fail, or the switch port",),
        "drain the host; look for link changes in `dmesg -T`; reseat, then swap cable and transceiver",
        (f"{_PORT}/counters/*|{_CARRIER}_down_count|{_CARRIER}_changes",),
    ),
    warning(
        "ib.port.unsteady",
        "The link did not go down again and again in earlier days",
        "It is quiet now, or goes down about once a day. What was more than 30 days ago does not count.",
        ("a cable or transceiver that is about to fail, or work on the cabling or the switch",),
        "if the cable has not been replaced since, swap it in the next maintenance; a reboot resets the counts",
        (f"{_PORT}/counters/*|{_CARRIER}_down_count|{_CARRIER}_changes",),
    ),
    warning(
        "ib.port.saturated",
        "New errors of the port would be seen",
        "A counter that is full cannot rise. It matters where all counters of damaged bits and packets are full: "
        "a single one is shown and is no fault.",
        ("many errors since the counters were last cleared, long ago or just now",),
        "clear with `perfquery -R` and watch whether it fills again",
        (f"{_PORT}/counters/*|{_PORT}/hw_counters/*|perfquery",),
    ),
    warning(
        "ib.port.ber",
        "The link's bit error rate is low, and mlxlink has nothing to say against it",
        "Looked at where mlxlink, which is optional, is installed. Residual errors are those that "
        "forward error correction left over; 15E-255 is mlxlink's word for none.",
        ("a dirty or damaged cable, or a transceiver that is about to fail",),
        "clean and reseat; look again with `mlxlink -d DEVICE -c`; swap cable, then transceiver",
        ("mlxlink",),
    ),
    warning(
        "ib.port.optics",
        "The cable's module is within its own limits",
        "Temperature, light and currents as the module measures them, where mlxlink is installed.",
        ("dirt on the connector, a bent fibre, or a module that is about to fail",),
        "clean both ends; look again with `mlxlink -d DEVICE -m`; swap the module",
        ("mlxlink",),
    ),
    error(
        "ib.equals.setting",
        "No InfiniBand port has other settings that jobs wait for than the equal ports of its host",
        "All that mlxlink, mlnx_qos and a port's files tell of at least four equal ports is compared. Told here is "
        "what nearly all have alike and a port has not, where that is known to harm jobs.",
        ("somebody set this port alone, or its cable ends elsewhere",),
        "compare `mlxlink -d DEVICE -p PORT -c -m` of the ports; set it as on the others",
        ("mlxlink",),
    ),
    warning(
        "ib.equals.other",
        "No InfiniBand port differs from the equal ports of its host in anything else that is told of them",
        "What nearly all of at least four equal ports have alike and one has not, in the words of its source, but "
        "for who each is, what is measured, states of the moment and what other checks judge. In what they are "
        "meant to differ, ibready_expect.differs says.",
        ("somebody set this port alone, or it broke",),
        "compare `mlxlink -d DEVICE -p PORT -c -m` of the ports; set it as on the others",
        ("mlxlink",),
    ),
)
