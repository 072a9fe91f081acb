# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for RoCE ports (roce.*)."""

from __future__ import annotations

from ..._ground.catalog import declare, error, warning

_PORT = "/sys/class/infiniband/*/ports/*"
_QOS = "mlnx_qos|dcb"
_RELEASE = "Judged where the inventory names the site's release of Spectrum-X (expect.spectrum_x)."
# Without these nobody knows which ports are rails.
_RAILS = ("/sys/class/infiniband/*/ports", f"{_PORT}/link_layer")

ENTRIES = declare(
    error(
        "roce.rail.present",
        "The host has Ethernet RDMA ports to make rails of",
        "The inventory expects RoCE (link_layer Ethernet) of this host, or soft RoCE devices (rdma_soft_roce).",
        ("the HCA's ports are in InfiniBand mode", "no RDMA driver is bound to the HCA"),
        "compare `lspci -d 15b3:` with `rdma link`; load mlx5_ib; set LINK_TYPE_P1 with mstconfig "
        "where the port is in the other mode",
        ("/sys/class/infiniband", *_RAILS),
    ),
    error(
        "roce.rail.kind",
        "The rail is an HCA that speaks RoCE, or the soft RoCE that was asked for",
        "Software RDMA (rxe, siw) looks like an HCA and moves a hundredth of what one does; iWARP "
        "and others are no RoCE. Where the site asks for soft RoCE (rdma_soft_roce), it has to sit "
        "on the interface that is named.",
        ("software RDMA was set up on an interface", "the HCA is of a kind that is not known here"),
        "look at `rdma link` and `ls -l /sys/class/infiniband/*/device/driver`; remove software "
        "devices with `rdma link delete NAME`",
        (*_RAILS, "/sys/class/infiniband/*/device"),
    ),
    error(
        "roce.port.state",
        "The RoCE port is Active",
        "A RoCE port is Active as long as its network interface is up and has a link.",
        ("the cable is pulled, the transceiver is dead or the switch port is disabled",),
        "look at `ip link show` and the switch port; reseat the cable, then swap cable and transceiver",
        (*_RAILS, f"{_PORT}/state"),
    ),
    error(
        "roce.port.physical_state",
        "The RoCE port's physical link is up",
        "Polling: nothing at the other end. Disabled: the interface has no carrier, or is switched off.",
        ("the cable is pulled or broken, or the other end is switched off",),
        "`ip link set IF up` where it is switched off; else reseat the cable at both ends and compare "
        "speed and FEC with the switch (`mlxlink -d DEVICE`)",
        (*_RAILS, f"{_PORT}/phys_state"),
    ),
    error(
        "roce.port.rate",
        "The RoCE port runs at the expected rate",
        "One slow rail slows every collective that crosses it.",
        ("the link came up with fewer lanes or slower ones: cable, transceiver or switch port",),
        "compare `ethtool IF` with the switch port's speed; reseat or swap the cable",
        (*_RAILS, f"{_PORT}/rate"),
    ),
    error(
        "roce.netdev.carrier",
        "The rail's network interface is up and has a link",
        "RoCE takes its addresses from this interface and stops with it.",
        ("the interface is switched off or has no link",),
        "`ip link set IF up`; make it start at boot in the host's network configuration; then "
        "look at cable and switch port",
        (*_RAILS, "/sys/class/net/*/operstate", "/sys/class/net/*/carrier"),
    ),
    warning(
        "roce.netdev.mtu",
        "The interface's MTU carries full RDMA packets",
        "RoCE packets are as large as the interface's MTU allows, rounded down to an RDMA MTU: "
        "with 1500 it is 1024, a quarter of what HCAs can do. Switches must carry the same.",
        ("the interface was left at its default MTU",),
        "set the MTU in the host's network configuration (`ip link set IF mtu 9000` until the next "
        "boot), and the same on the switches",
        (*_RAILS, "/sys/class/net/*/mtu"),
    ),
    error(
        "roce.port.loss",
        "The rail loses no packets and no connections",
        "RoCE sends a whole window again for a packet that is lost, so that few of them slow a job by "
        "half. Counters of the driver (hw_counters) and, where ethtool is installed, of the interface "
        "are read twice: what stands still is history. Adaptive routing without an HCA that puts "
        "packets in order again shows as out_of_sequence, too.",
        (
            "flow control is off somewhere on the way, or a switch's buffers are too small",
            "a cable or transceiver on the way is bad",
        ),
        "fix roce.qos.* and ib.port.* first; then look at drops and PFC of every switch port on the way",
        (*_RAILS, f"{_PORT}/hw_counters/*"),
    ),
    warning(
        "roce.port.congestion",
        "The rail is not held back by congestion",
        "CNPs, ECN marks and pauses are how a lossless network slows senders, and some of them under "
        "load are as they should be. So many that flows are held back or that the port stands paused "
        "for a tenth of the time slow every job.",
        (
            "more traffic goes to one place than its link takes: routing, or jobs that share links",
            "the host cannot take what arrives: a slow PCIe link, or no GPUDirect",
        ),
        "look at ECN marks and pauses of the switch ports on the way; compare pci.link.* and pci.path.* here",
        (*_RAILS, f"{_PORT}/hw_counters/*"),
    ),
    error(
        "roce.gid.address",
        "The rail has a RoCE v2 address that other hosts can reach",
        "RoCE v2 packets are routed by IP. An interface without an IP address has link-local "
        "entries only, and RoCE v1 leaves no subnet.",
        ("the interface has no IP address", "the port is set to RoCE v1"),
        "give the interface an IP address; look at `show_gids` (or `rdma link`) again",
        (*_RAILS, f"{_PORT}/gids/*", f"{_PORT}/gid_attrs/types/*"),
    ),
    error(
        "roce.gid.index",
        "The expected GID index holds a RoCE v2 address",
        "Jobs that name an index (NCCL_IB_GID_INDEX) use whatever is there: a link-local or RoCE "
        "v1 entry reaches nobody, or takes another way through the switches.",
        ("an address was added or removed, which moved the others",),
        "compare `show_gids` of a good host; let NCCL pick the index (no NCCL_IB_GID_INDEX), or "
        "give every host its addresses in the same order",
        (*_RAILS, f"{_PORT}/gids/*", f"{_PORT}/gid_attrs/types/*"),
    ),
    error(
        "roce.qos.trust",
        "The interface sorts packets as expected, by DSCP or by VLAN priority",
        "With the wrong trust RoCE packets fall into the default priority, where they are dropped under load.",
        ("trust was never set: it does not outlive a reboot",),
        "`mlnx_qos -i IF --trust dscp`, and at every boot: role roce (roce_trust) does both",
        (*_RAILS, _QOS),
    ),
    error(
        "roce.qos.pfc",
        "Priority flow control is on for the expected priorities, and for no others",
        "Without it RoCE loses packets under load and resends whole windows; with it on too many "
        "priorities, pauses spread to all traffic.",
        ("flow control was never set: it does not outlive a reboot",),
        "`mlnx_qos -i IF --pfc 0,0,0,1,0,0,0,0` (priority 3), and at every boot: role roce "
        "(roce_pfc) does both; the switches must have the same",
        (*_RAILS, _QOS),
    ),
    error(
        "roce.qos.tos",
        "RoCE traffic is marked with the expected ToS",
        "Switches sort by this mark. The driver's traffic class is above everything, NCCL_IB_TC of "
        "nccl.conf is what NCCL sets; RDMA CM's default does not reach NCCL.",
        ("another traffic class was set, or none after a reboot",),
        "`echo N > /sys/class/infiniband/DEVICE/tc/1/traffic_class` at every boot (role roce: "
        "roce_tos), or NCCL_IB_TC=N in /etc/nccl.conf",
        (*_RAILS, "/sys/class/infiniband/*/tc/*/traffic_class|/etc/nccl.conf"),
    ),
    error(
        "roce.qos.priority",
        "The mark of RoCE traffic leads into a priority with flow control",
        "The interface maps the DSCP of what it receives to a priority.",
        ("the DSCP was mapped to another priority",),
        "`mlnx_qos -i IF --dscp2prio set,26,3` (DSCP 26 into priority 3), or correct roce_tos or "
        "roce_pfc in the inventory",
        (*_RAILS, _QOS),
    ),
    warning(
        "roce.qos.ecn",
        "Congestion control (ECN) is on in the priority of RoCE",
        "Without it only flow control keeps packets from being lost, and pauses spread through the fabric.",
        ("ECN was switched off for this priority",),
        "`echo 1 > /sys/class/net/IF/ecn/roce_np/enable/3` and the same for roce_rp",
        (*_RAILS, "/sys/class/net/*/ecn/roce_np/enable/*", "/sys/class/net/*/ecn/roce_rp/enable/*"),
    ),
    warning(
        "roce.dcbx.pfc",
        "The rail pauses the priorities that its switch advertises",
        "Where lldpd listens on the host, and the switch sends DCBX, it tells for which priorities its port has flow "
        "control. It is the switch's word; roce.switch.pfc goes by its configuration.",
        ("the host's flow control, or that of the switch port, was set for other priorities",),
        "compare `lldpctl` and `mlnx_qos -i IF` with the switch port; agree on the priorities of roce_pfc on both",
        (*_RAILS, _QOS, "lldpctl"),
    ),
    error(
        "roce.cm.mode",
        "RDMA CM connects by the expected RoCE mode",
        "Programs that connect by RDMA CM (rping, storage, UCX) take this port's default. Two "
        "hosts of different modes do not reach each other, and RoCE v1 leaves no subnet.",
        ("the mode was set by hand, or is the driver's own again after a reboot",),
        "run role roce with roce_mode, or `cma_roce_mode -d DEVICE -p PORT -m 2` (RoCE v2; "
        "mlnx-tools of NVIDIA's stack), and again at every boot",
        (*_RAILS, "/sys/kernel/config/rdma_cm/*/ports/*/default_roce_mode"),
    ),
    error(
        "roce.spectrum.hca",
        "The rail is an HCA that the site's release of Spectrum-X has a profile for",
        "Adaptive routing of RoCE needs an HCA that puts packets in order again, and the congestion control a "
        f"processor in it. A BlueField-3 is refused where its board calls itself a DPU. {_RELEASE}",
        ("an HCA of another model was built in", "the inventory names another release than the site has"),
        "compare the part with NVIDIA's list for the release; correct expect.spectrum_x where it names another",
        (*_RAILS, "/sys/bus/pci/devices/*/vpd"),
    ),
    error(
        "roce.spectrum.firmware",
        "The HCA's firmware is configured as the site's release of Spectrum-X has it",
        "Adaptive routing and a congestion control that can be exchanged are off in an HCA as it is sold. What is "
        f"configured counts from the next reset of the firmware on. {_RELEASE}",
        (
            "nobody has configured this HCA, or its configuration was set back with an update or a swap",
            "it was configured, and the host was not switched off and on since",
        ),
        "compare `mstconfig -d ADDRESS -e query` with a good host; have what configures the site's HCAs (NVIDIA's NIC "
        "configuration operator, or its installer) do it, then switch the host off and on; nothing here writes it",
        (*_RAILS, "mstconfig"),
    ),
    error(
        "roce.spectrum.routing",
        "The HCA sends RoCE so that switches may route it adaptively",
        "The register ROCE_ACCL: adaptive routing for all, retransmission and window that bear packets out of order. "
        f"Every boot forgets it. {_RELEASE}",
        ("what sets it at boot did not run, or ran before the HCA was there",),
        "`mstreg -d ADDRESS --reg_name ROCE_ACCL --get`, and look at the unit or operator that sets it at boot; "
        "nothing here writes it",
        (*_RAILS, "mstreg"),
    ),
    error(
        "roce.spectrum.congestion",
        "Spectrum-X's congestion control runs for every rail",
        "doca_spcx_cc puts the algorithm into the HCA, and serves it as long as it runs: one process for each RDMA "
        f"device. Without it senders are slowed by the firmware's own way or not at all. {_RELEASE}",
        ("it was not started, or has ended", "it was started twice: by a unit and by an operator"),
        "`pgrep -a doca_spcx_cc`, and look at the log of the unit or operator that starts it; it ends where "
        "USER_PROGRAMMABLE_CC is off (roce.spectrum.firmware)",
        (*_RAILS, "spcx_cc"),
    ),
    error(
        "roce.equals.setting",
        "No RoCE port has other settings that jobs wait for than the equal ports of its host",
        "All that mlxlink, mlnx_qos and a port's files tell of at least four equal ports is compared. Told here is "
        "what nearly all have alike and a port has not, where that is known to harm jobs.",
        ("somebody set this port alone, or its cable ends elsewhere",),
        "compare `mlnx_qos -i INTERFACE` of the ports; set it as on the others",
        ("mlnx_qos|mlxlink",),
    ),
    warning(
        "roce.equals.other",
        "No RoCE port differs from the equal ports of its host in anything else that is told of them",
        "What nearly all of at least four equal ports have alike and one has not, in the words of its source, but "
        "for who each is, what is measured, states of the moment and what other checks judge. In what they are "
        "meant to differ, ibready_expect.differs says.",
        ("somebody set this port alone, or it broke",),
        "compare `mlnx_qos -i INTERFACE` of the ports; set it as on the others",
        ("mlnx_qos|mlxlink",),
    ),
)
