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
        "reseat or replace the HCA. If three or more hosts have a different platform, they are compared as a group",
    ),
    warning(
        "fleet.hca.order",
        "The rails are named in the same PCI order as on equal hosts",
        "Rails are identified by name. If two have swapped names on a host, each cable seems to be on the leaf of "
        "the other rail although no cable is wrong, and addresses and NCCL_IB_HCA name the wrong device. The finding "
        "lists the rails by PCI address, each with its place in the order of names.",
        ("a udev rule or `rdma dev set` renamed devices, or drivers were loaded in another order",),
        "do not move cables; give the devices the names that they have on other hosts, then reboot",
    ),
    error(
        "fleet.hca.firmware",
        "The HCA runs the firmware of its equals",
        "Compares HCAs of the same model and board id. One HCA with different firmware is a classic "
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
        "Traffic for a LID that two ports claim reaches only one of them.",
        ("two subnet managers on one fabric, or a stale LID after a merge of fabrics",),
        "leave one master subnet manager and let it sweep with LID reassignment",
    ),
    error(
        "fleet.sm.single",
        "One master subnet manager serves each rail",
        "Hosts that see different masters, or subnet prefixes, are on different, or split, fabrics. Planes that are "
        "fabrics of their own are well: the same rail of every host is compared.",
        (
            "the fabric is split, or two subnet managers both believe that they are master",
            "the cable of one rail leads to another fabric, or to the switch of another rail",
        ),
        "compare `sminfo` on the named hosts; stop the wrong master, or reconnect the fabric",
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
        "Its release must match the driver's.",
        ("the driver was updated without it, or an update was missed on this host",),
        "bring the host to the planned stack (site.yml)",
    ),
    error(
        "fleet.imex.version",
        "The hosts of a rack run one IMEX",
        "Its release must match the driver's, and it does not communicate with other releases.",
        ("the driver was updated without it, or an update was missed on this host",),
        "bring the host to the planned stack (site.yml)",
    ),
    error(
        "fleet.imex.nodes",
        "The hosts of an NVLink domain have one list of IMEX nodes",
        "nodes_config.cfg must list the same hosts, and all of them, on every host: IMEX refuses "
        "hosts with a different list.",
        ("the file was changed on one host, or hosts were added and the file was not updated everywhere",),
        "set nvidia_driver_imex_domain on all hosts of the rack and run site.yml; restart nvidia-imex",
    ),
    error(
        "fleet.imex.domain",
        "The hosts of an IMEX list are of one NVLink domain",
        "Memory is shared only within one NVLink cluster and clique (partition).",
        ("the list holds a host of another rack, or the rack's manager put it into another partition",),
        "compare ClusterUUID and CliqueId in `nvidia-smi -q` on the named hosts; correct the list or the partition",
    ),
    warning(
        "fleet.rdma.version",
        "The host has its equals' RDMA stack",
        "A different release has different modules, different defaults and a different peer-memory path.",
        ("an update was missed on this host, or a distribution upgrade replaced the vendor's",),
        "bring the host to the planned stack (site.yml)",
    ),
    warning(
        "fleet.nccl.version",
        "The host has its equals' NCCL",
        "NCCL releases do not work with each other. Jobs that bring their own library do not use the host's.",
        ("an update was missed on this host, or an unattended one was not",),
        "bring the host to the planned NCCL (site.yml)",
    ),
    warning(
        "fleet.nccl.settings",
        "The host has its equals' NCCL settings",
        "Compares what NCCL reads from /etc/nccl.conf, by digest and line by line, except what "
        "names the host's own devices, interfaces and files. Ranks with different settings choose "
        "different algorithms, and hang or fall back together.",
        ("nccl.conf was edited by hand on this host, or not written by the last converge",),
        "compare /etc/nccl.conf with an equal host's; remove the line, or put it into nccl_conf_variables for all "
        "hosts. converge.yml --tags nccl_conf keeps such lines; with nccl_conf_exclusive=true it removes them",
    ),
    error(
        "fleet.gpu.model",
        "The host has its equals' GPUs",
        "A collective runs at the pace of its slowest GPU, and a host that has lost a GPU starts one rank short.",
        ("a GPU was replaced or is missing",),
        "repair or replace the GPU. If three or more hosts have a different platform, they are compared as a group",
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
        "A different BIOS may train PCIe links, manage CPU sleep states and set ACS differently.",
        ("the mainboard was replaced, or an update was missed on this host",),
        "update the BIOS in a maintenance window, and restore your BIOS settings",
    ),
    warning(
        "fleet.host.memory",
        "The host has its equals' memory",
        "Small differences are allowed, because kernel and firmware reserve some memory. A missing memory module is "
        "more than that.",
        ("a memory module is no longer detected, or the host was bought with different modules",),
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
        "fleet.equals.setting",
        "No part has other settings that jobs wait for than the same part of equal hosts",
        "All that tools and files tell of GPUs, rails and the host itself is compared with the same GPU, rail and host "
        "of at least three equal hosts. Reported here is what nearly all have in common and this host has not, where "
        "that is known to harm jobs.",
        ("somebody set this host alone, or a cable ends elsewhere",),
        "set it as on the others; in what hosts are meant to differ, ibready_expect.differs says",
    ),
    warning(
        "fleet.equals.other",
        "No part differs from the same part of equal hosts in anything else that is told of them",
        "What nearly all of at least three equal hosts have in common and this one has not, in the words of its "
        "source, except identities, measurements, states of the moment and what other checks judge. Where driver, "
        "RDMA stack or kernel of the host are not those of its equals, only what has a meaning of its own here is "
        "told of what they report.",
        ("somebody set this host alone, or an update or a reboot was missed",),
        "set it as on the others; in what hosts are meant to differ, ibready_expect.differs says",
    ),
    error(
        "fleet.rail.address",
        "No rail of another host has the same address",
        "Two hosts with one address take each other's packets: connections hang, or reach the wrong host. Each host "
        "reports its own addresses, so that both are named.",
        ("the configuration of an interface was copied from one host to the other",),
        "find which of them is meant to have the address (`ip address`, inventory), and give the other its own",
    ),
    warning(
        "fleet.host.identity",
        "Nothing that each host has for itself is on another as well",
        "Serial numbers, UUIDs and the machine-id: what nearly every part has for itself. The machine-id is shown as "
        "a digest. Each host reports its own, so that both are named.",
        ("a cloned image, or firmware that was copied with its numbers",),
        "find which of them is the copy. machine-id: empty /etc/machine-id (`truncate -s 0`), remove "
        "/var/lib/dbus/machine-id if it is a file, and reboot; DHCP leases that are kept by it may change. Numbers of "
        "a card: have its maker program them",
    ),
    error(
        "fleet.host.name",
        "No other host has the same host name",
        "MPI, Slurm and the frameworks' launchers identify nodes by host name: if two hosts share a name, their ranks "
        "believe that they run on the same machine.",
        ("a cloned image, or one machine under two names in the inventory",),
        "run `hostnamectl set-hostname NAME` on one of them, and restart services that keep the old name; a clone "
        "also needs its own /etc/machine-id",
    ),
    warning(
        "fleet.host.args",
        "The kernel was booted with the arguments of its equals",
        "Arguments that name the host's own disks and addresses are ignored. IOMMU, isolated CPUs and "
        "huge pages are set here.",
        ("the boot loader was changed on this host, or it was not rebooted since",),
        "compare /proc/cmdline with an equal host's; host_tuning_kernel_args sets them on all",
    ),
    warning(
        "fleet.host.limits",
        "Jobs get the limits of its equals",
        "How much memory a job may lock and how many files it may open, by systemd's default and by each "
        "service that starts jobs.",
        ("a systemd drop-in is missing or differs, or a service was started before it was written",),
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
        "Compared on Active ports. Both ends of a connection use the smaller MTU, and a RoCE switch "
        "drops packets that are larger than its own.",
        ("the interface is configured differently on this host, or its partition has another MTU",),
        "set the interface's MTU as on the others (InfiniBand: the partition's, in opensm)",
    ),
    warning(
        "fleet.roce.gid",
        "The RoCE v2 address has the same GID index as on equal hosts",
        "Index and family of the first routable entry of the port's GID table. A job that names an "
        "index, or a family, needs it on all hosts.",
        ("an address was added or lost, or the interface came up in another order",),
        "compare `ip address` and the GID tables with an equal host's",
    ),
    warning(
        "fleet.roce.qos",
        "The port treats priorities as its equals do",
        "Trust, flow control, DSCP, ECN and traffic class. A host that marks or pauses differently "
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
        "The host's clock agrees with the other hosts",
        "The times of the query and of the answer limit how far off the host's clock can be. A "
        "host fails if these limits exclude the time that most hosts can share. It passes with the "
        "largest error that is still possible. `host.clock.synchronised` shows what its own daemon "
        "says.",
        ("the clock on this host is not synchronised, or is synchronised to another source",),
        "compare `chronyc sources` (or timedatectl) with another host's; then `chronyc makestep`",
    ),
    warning(
        "fleet.pci.link",
        "The host's PCIe links are those of its equals",
        "Judged by playbooks/diagnose.yml. Hosts of one product and board have the same links at "
        "the same addresses. For links that may be idle, only the number of lanes is compared.",
        ("a card is in a different slot, or the firmware configures this slot differently",),
        "compare `lspci -vv -s ADDRESS` (LnkCap, LnkSta) with an equal host; reseat the card, or "
        "set the BIOS as on the others",
    ),
    warning(
        "fleet.ping.rtt",
        "The host answers as fast as the others",
        "Judged by playbooks/diagnose.yml, from the round-trip times of the pings between all hosts. "
        "An outlier is slow to reach, busy, or has sleeping CPUs.",
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
        "the loss stays 0 %, the mean hardly moves, and only the longest round trip shows it. A single late answer is "
        "shown but does not count.",
        (
            "single datagrams are lost and sent again on the way to this host",
            "the host freezes for moments: it is busy, or its firmware takes the CPUs (SMI)",
        ),
        "repeat with `ibping -c 10000 -f`; read the counters on the way with `ibqueryerrors`",
    ),
)
