# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for what must agree across hosts (fleet.*)."""

from __future__ import annotations

from .._ground.catalog import declare, error, warning

ENTRIES = declare(
    warning(
        "fleet.host.kernel",
        "The host runs its equals' kernel",
        "Another kernel means other RDMA modules and other behaviour on one host of many.",
        ("an update or a reboot was missed",),
        "bring the host to the fleet's kernel and reboot it in a maintenance window",
    ),
    error(
        "fleet.hca.model",
        "The host has its equals' HCA models",
        "A rail of another generation runs at another rate and with other features.",
        ("another HCA was fitted, or one is gone",),
        "exchange or reseat the HCA; three hosts of another platform are compared by themselves",
    ),
    warning(
        "fleet.hca.order",
        "The rails have their names in the order of PCI addresses that they have on its equals",
        "Rails are told by their names: a host on which two have exchanged them has each cable on the leaf of "
        "another rail, though none was plugged wrongly, and addresses and NCCL_IB_HCA name the wrong device. "
        "Shown are the rails by PCI address, each by its place in the order of names.",
        ("a udev rule or `rdma dev set` renamed devices, or drivers were loaded in another order",),
        "leave the cables; give the devices the names that they have on other hosts, then boot anew",
    ),
    error(
        "fleet.hca.firmware",
        "The HCA runs the firmware of its equals",
        "Compared are HCAs of one model and board id. One HCA with another firmware is a classic "
        "reason for one slow or failing host.",
        ("the HCA was replaced, or an update was skipped on this host",),
        "update this HCA's firmware to the fleet's version in a maintenance window",
    ),
    error(
        "fleet.hca.guid_unique",
        "No other HCA has the same GUID",
        "Two HCAs with one GUID knock each other off the fabric.",
        ("a firmware image with GUIDs was copied from another HCA",),
        "give the HCA its own GUIDs with mstflint (they are on its label)",
    ),
    error(
        "fleet.port.lid_unique",
        "No other port of the subnet has the same LID",
        "Traffic for a LID that two ports claim reaches one of them.",
        ("two subnet managers on one fabric, or a stale LID after a merge of fabrics",),
        "leave one master subnet manager and let it sweep with LID reassignment",
    ),
    error(
        "fleet.sm.single",
        "One master subnet manager serves each rail",
        "Hosts that see different masters are on different, or split, fabrics.",
        ("the fabric is split, or two subnet managers both believe to be master",),
        "compare `sminfo` on the named hosts; stop the wrong master or fix the split",
    ),
    error(
        "fleet.driver.version",
        "The host runs its equals' NVIDIA driver",
        "Hosts with two drivers run the same job with two sets of kernels and defaults; whatever "
        "differs then is hard to tell from a fault. Open and proprietary modules are two drivers.",
        ("an update or a reboot was missed on this host",),
        "bring the host to the planned driver (site.yml) and reboot it in a maintenance window",
    ),
    warning(
        "fleet.fabric_manager.version",
        "The host has its equals' fabric manager",
        "It goes with the driver, release by release.",
        ("the driver was updated without it, or an update was missed on this host",),
        "bring the host to the planned stack (site.yml)",
    ),
    error(
        "fleet.imex.version",
        "The hosts of a rack run one IMEX",
        "It goes with the driver, release by release, and does not speak with another one.",
        ("the driver was updated without it, or an update was missed on this host",),
        "bring the host to the planned stack (site.yml)",
    ),
    error(
        "fleet.imex.nodes",
        "The hosts of an NVLink domain have one list of IMEX nodes",
        "nodes_config.cfg has to name the same hosts on all of them, none left out: IMEX refuses "
        "hosts that have another list.",
        ("the file was changed on one host, or hosts were added and not all were told",),
        "set nvidia_driver_imex_domain on all hosts of the rack and run site.yml; restart nvidia-imex",
    ),
    error(
        "fleet.imex.domain",
        "The hosts of an IMEX list are of one NVLink domain",
        "Memory is shared only within one NVLink cluster and clique (partition).",
        ("the list holds a host of another rack, or the rack's manager put it into another partition",),
        "compare ClusterUUID and CliqueId in `nvidia-smi -q` of the named hosts; fix list or partition",
    ),
    warning(
        "fleet.rdma.version",
        "The host has its equals' RDMA stack",
        "Another release brings other modules, other defaults and another way of peer memory.",
        ("an update was missed on this host, or a distribution upgrade replaced the vendor's",),
        "bring the host to the planned stack (site.yml)",
    ),
    warning(
        "fleet.nccl.version",
        "The host has its equals' NCCL",
        "Releases of NCCL do not speak with each other. Jobs that bring their own library do not use the host's.",
        ("an update was missed on this host, or an unattended one was not",),
        "bring the host to the planned NCCL (site.yml)",
    ),
    warning(
        "fleet.nccl.settings",
        "Jobs find the settings of NCCL that they find on its equals",
        "Compared is what NCCL takes from /etc/nccl.conf, by digest and line by line, without what "
        "names the host's own devices, interfaces and files. Ranks with other settings choose "
        "other algorithms, and hang or fall back together.",
        ("nccl.conf was edited by hand on this host, or not written by the last converge",),
        "compare /etc/nccl.conf with an equal host's: take the line out, or name it in nccl_conf_variables of all "
        "hosts; converge.yml --tags nccl_conf keeps such lines, and with nccl_conf_exclusive=true takes them out",
    ),
    error(
        "fleet.gpu.model",
        "The host has its equals' GPUs",
        "A collective runs at the pace of its slowest GPU, and a host that has lost one starts with a rank too few.",
        ("a GPU was replaced or is gone",),
        "fix the GPU; three hosts of another platform are compared by themselves",
    ),
    warning(
        "fleet.gpu.vbios",
        "The GPUs have the VBIOS of its equals",
        "A different VBIOS has different clock and power limits, and different bugs fixed.",
        ("a GPU or baseboard was replaced, or a firmware bundle was not applied to all hosts",),
        "update the baseboard's firmware with the machine maker's bundle, in a maintenance window",
    ),
    warning(
        "fleet.host.bios",
        "The machine has the BIOS of its equals",
        "Another BIOS trains PCIe links, sleeps its CPUs and sets ACS in another way.",
        ("the mainboard was replaced, or an update was missed on this host",),
        "update the BIOS in a maintenance window, and load the site's settings again",
    ),
    warning(
        "fleet.host.memory",
        "The host has its equals' memory",
        "Within what kernel and firmware keep for themselves: a memory module is more than that.",
        ("a memory module is not seen any more, or the host was bought with others",),
        "`dmidecode -t memory` on both; reseat or replace what is missing",
    ),
    warning(
        "fleet.host.cpus",
        "The host has as many CPUs online as its equals",
        "Ranks are bound to CPUs: with fewer of them, or without second threads, one host is slower.",
        ("cores or second threads are switched off in this host's BIOS, or CPUs were taken offline",),
        "compare `lscpu` and the BIOS settings with an equal host's",
    ),
    error(
        "fleet.host.name",
        "No other host gives itself the same name",
        "MPI, Slurm and the frameworks' launchers tell nodes by their host names: ranks of two hosts with "
        "one name take each other for neighbours on one machine.",
        ("a cloned image, or one machine under two names of the inventory",),
        "`hostnamectl set-hostname NAME` on one of them, and restart what keeps the old name; a clone also "
        "needs its own /etc/machine-id",
    ),
    warning(
        "fleet.host.args",
        "The kernel was booted with the arguments of its equals",
        "Without what tells where the host's own disks and addresses are. IOMMU, isolated CPUs and "
        "huge pages are set there.",
        ("the boot loader was changed on this host, or it was not rebooted since",),
        "compare /proc/cmdline with an equal host's; host_tuning_kernel_args sets them on all",
    ),
    warning(
        "fleet.host.limits",
        "Jobs get the limits of its equals",
        "How much memory may be locked and how many files opened, by systemd's default and by each "
        "service that starts jobs.",
        ("a drop-in of systemd is missing or differs, or a service runs since before it",),
        "run site.yml (host_tuning), then restart the named service when the host is drained",
    ),
    warning(
        "fleet.host.sysctl",
        "The kernel has the settings of its equals",
        "Those that matter to jobs between nodes: memory policy, buffers of sockets, ARP with several rails.",
        ("a file below /etc/sysctl.d differs, or somebody set it by hand",),
        "run site.yml (host_tuning), or compare `sysctl -a` with an equal host's",
    ),
    warning(
        "fleet.port.mtu",
        "The port has the MTU of the same port of its equals",
        "Compared on Active ports. The smaller one counts for both ends of a connection, and "
        "larger packets than a RoCE switch takes are lost.",
        ("the interface was set otherwise on this host, or its partition has another MTU",),
        "set the interface's MTU as on the others (InfiniBand: the partition's, in opensm)",
    ),
    warning(
        "fleet.roce.gid",
        "RoCE v2 finds its address where it does on its equals",
        "Index and family of the first routable entry of the port's GID table. A job that names an "
        "index, or a family, needs it on all hosts.",
        ("an address was added or lost, or the interface came up in another order",),
        "compare `ip address` and the GID tables with an equal host's",
    ),
    warning(
        "fleet.roce.qos",
        "The port treats priorities as its equals do",
        "Trust, flow control, DSCP, ECN and traffic class. One host that marks or pauses otherwise "
        "loses packets under load, or makes others lose them.",
        ("the settings were lost with a reboot, or changed by hand",),
        "run site.yml with the site's RoCE settings, or compare `mlnx_qos -i` with an equal host's",
    ),
    warning(
        "fleet.container.engine",
        "The host has its equals' container engines and toolkit",
        "Another engine starts jobs with other limits and other devices.",
        ("an update was missed on this host, or an engine was installed beside the plan",),
        "bring the host to the planned stack (site.yml)",
    ),
    warning(
        "fleet.time.skew",
        "The host's clock may show the time of the others",
        "Each visit bounds how far the host's clock is off, by when it was asked and answered. A "
        "host fails where its bounds cannot hold the time that most hosts may share, and passes "
        "with how far it may still be off; `host.clock.synchronised` tells what its own daemon "
        "says.",
        ("the clock is not synchronised on this host, or by another source",),
        "compare `chronyc sources` (or timedatectl) with another host's; then `chronyc makestep`",
    ),
    warning(
        "fleet.pci.link",
        "The host's PCIe links are those of its equals",
        "Judged by playbooks/diagnose.yml. Hosts of one product and board have the same links at "
        "the same addresses; of what may rest, lanes alone are compared.",
        ("a card is in another slot, or the firmware sets this slot otherwise",),
        "compare `lspci -vv -s ADDRESS` (LnkCap, LnkSta) with an equal host; reseat the card, or "
        "set the BIOS as on the others",
    ),
    warning(
        "fleet.ping.rtt",
        "The host answers as fast as the others",
        "Judged by playbooks/diagnose.yml, from the round trips of the pings between all hosts. "
        "What stands out is the way to this host, or a host that is busy or whose CPUs sleep.",
        (
            "datagrams are lost and sent again on this link",
            "the host is busy, or its CPUs save power",
        ),
        "read the port's counters, look at `host.cpu.governor` and at what runs there, then repeat",
    ),
    warning(
        "fleet.ping.longest",
        "No answer to this host's pings comes late",
        "Judged by playbooks/diagnose.yml, from the longest round trip of each pair. A lost datagram is sent again: "
        "the loss stays 0 %, the mean hardly moves, and only the longest round trip shows it. One late answer is "
        "told and counts for nothing.",
        (
            "single datagrams are lost and sent again on the way to this host",
            "the host stands still for moments: it is busy, or its firmware takes the CPUs (SMI)",
        ),
        "repeat with `ibping -c 10000 -f`; read the counters on the way with `ibqueryerrors`",
    ),
)
