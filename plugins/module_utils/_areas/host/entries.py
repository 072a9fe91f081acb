# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for the host itself: access, kernel, limits, services (host.*)."""

from __future__ import annotations

from ..._ground.catalog import declare, error, warning

ENTRIES = declare(
    error(
        "host.access.reachable",
        "The host can be reached and administered",
        "Ansible logged in, became root and ran a module there. Without that nothing is known.",
        ("the host is down, or its ssh service does not answer",),
        "log in by hand with `ssh -v` as the same user, then run `ansible HOST -m ping`",
    ),
    error(
        "host.converge.complete",
        "The host took every change of this run",
        "A role stopped on this host, so it is not what the inventory describes.",
        ("a task failed; its own message is in `observed`",),
        "fix what the message names and run the playbook again: finished steps are not redone",
    ),
    error(
        "host.kernel.iommu",
        "The IOMMU is off or passes through",
        "GPUDirect sends data from HCA to GPU without the CPU. An IOMMU that translates sends it "
        "by way of the root port, much slower, or breaks it. Bare metal only.",
        ("the kernel command line switches the IOMMU on without iommu=pt",),
        "add `iommu=pt` (arm64: `iommu.passthrough=1`) to the kernel command line and reboot, "
        "or switch the IOMMU off in the firmware; then look at `cat /proc/cmdline`",
        ("/sys/kernel/iommu_groups|/proc/cmdline|dmesg",),
    ),
    warning(
        "host.kernel.arguments",
        "No argument of the kernel's command line holds back what the machine has",
        "Fewer CPUs, less memory, no NUMA, no interrupts of their own for queues: what was tried at a boot costs "
        "speed at every boot after it.",
        ("the argument was left from a test",),
        "take it out of the boot loader's configuration (`grep -r ARGUMENT /etc/default/grub*`), and reboot",
        ("/proc/cmdline",),
    ),
    warning(
        "host.cpu.governor",
        "The CPUs run under the governor performance",
        "A CPU that first has to speed up adds to the latency of every collective.",
        ("the distribution's default governor saves power",),
        "`cpupower frequency-set -g performance`, and a tuned profile or unit that keeps it",
        (
            "/sys/devices/system/cpu/cpufreq",
            "/sys/devices/system/cpu/cpufreq/*/scaling_governor",
        ),
    ),
    warning(
        "host.memory.numa_balancing",
        "The kernel does not move pages between NUMA nodes",
        "Ranks are bound and their memory is pinned: the page faults of NUMA balancing only make steps uneven.",
        ("the kernel's default on hosts with several NUMA nodes",),
        "run role ibready.cluster.host_tuning, or `sysctl -w kernel.numa_balancing=0`",
        ("/proc/sys/kernel/numa_balancing",),
    ),
    warning(
        "host.memory.zone_reclaim",
        "The kernel uses free memory of the other NUMA node first",
        "With zone reclaim it drops page cache, which data loaders need again, instead.",
        ("an image or a tuning profile switched it on",),
        "run role ibready.cluster.host_tuning, or `sysctl -w vm.zone_reclaim_mode=0`",
        ("/proc/sys/vm/zone_reclaim_mode",),
    ),
    error(
        "host.boot.secure_boot",
        "Secure Boot keeps no driver out",
        "With Secure Boot the kernel loads signed modules only. Modules that DKMS built on the "
        "host are signed with a key that the firmware has to know.",
        ("the key that signed the modules is not enrolled",),
        "enrol the key with `mokutil --import` and reboot, or switch Secure Boot off",
        (
            "/sys/firmware/efi",
            "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
        ),
    ),
    error(
        "host.module.nouveau",
        "No other driver holds the GPUs",
        "NVIDIA's driver cannot bind a GPU that nouveau (or nova_core) holds.",
        ("nouveau is not blacklisted, or is still in the initramfs",),
        "write `blacklist nouveau` and `options nouveau modeset=0` to /etc/modprobe.d, build the "
        "initramfs again, reboot",
        ("/sys/module|lsmod",),
    ),
    error(
        "host.module.rdma",
        "The kernel has the RDMA modules and the HCA's driver",
        "Without them no program sees an RDMA device.",
        ("no RDMA stack is installed, or its modules were not built for this kernel",),
        "`modprobe -a mlx5_ib ib_uverbs` and read dmesg; run role ibready.cluster.rdma",
        ("/sys/module|lsmod",),
    ),
    warning(
        "host.module.rdma_user",
        "The kernel has ib_umad and rdma_cm",
        "Diagnostics and the subnet manager need the first, connections by address the second.",
        ("they are not among the modules that are loaded at boot",),
        "`modprobe -a ib_umad rdma_ucm`; name them in /etc/rdma/modules or /etc/modules-load.d",
        ("/sys/module|lsmod",),
    ),
    warning(
        "host.module.ipoib",
        "The kernel has ib_ipoib where an InfiniBand interface is configured",
        "IP over InfiniBand is a module of its own.",
        ("ib_ipoib is not loaded at boot (IPOIB_LOAD=no, or no rdma-load-modules)",),
        "`modprobe ib_ipoib`; have it loaded at boot (/etc/modules-load.d, IPOIB_LOAD=yes)",
        (
            "/sys/module|lsmod",
            "/etc/NetworkManager/system-connections|/etc/sysconfig/network-scripts"
            "|/etc/sysconfig/network|/etc/network/interfaces.d",
        ),
    ),
    error(
        "host.rdma.devices",
        "Every user may open the RDMA device files",
        "Jobs open /dev/infiniband/uverbs* and rdma_cm as ordinary users.",
        ("udev made no file for the device, or ib_uverbs came up without it",),
        "compare `ls -l /dev/infiniband` with rdma-core's udev rules; `udevadm trigger`",
        (
            "/sys/class/infiniband",
            "/sys/class/infiniband_verbs",
            "/dev/infiniband/*",
        ),
    ),
    error(
        "host.dmesg.mlx5",
        "The kernel's log tells of no HCA that failed",
        "A failed start, a firmware that stopped, a slot without link: until the HCA is started "
        "again its ports are gone. A failure that it recovered from counts as a warning.",
        ("the HCA, its firmware or its slot",),
        "read `dmesg | grep -E 'mlx[45]|infiniband'` around it; reset the HCA (`mlxfwreset`), "
        "power cycle the host, then reseat or replace the HCA",
        ("dmesg",),
    ),
    warning(
        "host.dmesg.mlx5_warnings",
        "The kernel's log has no early sign of a failing HCA",
        "Send queues that stood still, transceivers that the driver complains of, too little "
        "power, and failures that the HCA recovered from.",
        ("the HCA, its transceiver or its slot",),
        "read `dmesg | grep -E 'mlx[45]|infiniband'` around it; it counts until the next boot",
        ("dmesg",),
    ),
    warning(
        "host.dmesg.peermem",
        "The kernel's log has no error of nvidia-peermem",
        "GPUDirect by nvidia-peermem loses memory regions, or does not work at all.",
        (
            "nvidia-peermem lost track of a process's memory (an old driver)",
            "it was built without the symbols of the RDMA stack",
        ),
        "use DMA-BUF where driver and kernel can, else update the driver and build its modules "
        "again after the RDMA stack; `modprobe nvidia-peermem` shows what is missing",
        ("dmesg",),
    ),
    error(
        "host.dmesg.kernel",
        "The kernel's log has no crash, hang or machine error",
        "After a crash or a hang the host keeps running with something broken until it is rebooted. The same goes "
        "for a failed file system, disk or PCI Express link, and for an uncorrectable memory error.",
        ("a driver, a disk or the machine's memory",),
        "read dmesg around it, drain the host and reboot it, look at the BMC's event log",
        ("dmesg",),
    ),
    warning(
        "host.dmesg.kernel_warnings",
        "The kernel's log has no early sign of a failing machine",
        "Disks with read errors, accesses that the IOMMU refused and, in the last day, processes that "
        "hung in the kernel or were killed because memory ran out. Older ones are shown but do not count.",
        ("a disk, a file server, or more processes than memory",),
        "read dmesg around it",
        ("dmesg",),
    ),
    error(
        "host.dmesg.drivers",
        "The kernel's log has no driver that lost something",
        "A driver that jobs depend on could not load, register, allocate or enable what it needs, or something of it "
        "was disabled or removed, and no check knows more of the message. It counts in the first 15 minutes after the "
        "boot and for a day; a later line that says that it is over ends it.",
        ("what the driver says: a module of another build, a device without memory or interrupts, a lost link",),
        "read `dmesg -x` around it, and the driver's own state; load the driver anew or boot the drained host",
        ("dmesg",),
    ),
    warning(
        "host.dmesg.drivers_warnings",
        "The kernel's log has no failure of a driver that no check knows",
        "A driver that jobs depend on reports an error, or warns of a failure, in words that no check knows. It counts "
        "in the first 15 minutes after the boot and for a day; a later line that says that it is over ends it.",
        ("what the driver says: nobody has told yet what it means for jobs",),
        "read `dmesg -x` around it; look the message up in the driver's source or its vendor's notes",
        ("dmesg",),
    ),
    error(
        "host.limit.memlock",
        "Jobs may lock as much memory as they want",
        "RDMA pins memory. Registration fails (Cannot allocate memory) at any limit that a job "
        "reaches. Jobs have the limit of the service that starts them, not a login's.",
        ("systemd's default limit is small, and was not raised",),
        "run role ibready.cluster.host_tuning, then restart the named service; "
        "`grep locked /proc/PID/limits` shows what it has",
        ("systemctl_show", "/proc/*/limits"),
    ),
    warning(
        "host.limit.memlock_login",
        "Logins by ssh may lock as much memory as they want",
        "mpirun starts its daemons by ssh, and people try things out: both have the limit of the "
        "login, which pam_limits sets, or sshd's own where it does not.",
        (
            "no file of pam_limits raises the limit, and sshd has systemd's default",
            "a later file of /etc/security/limits.d lowers it again, or only its hard limit",
            "sshd goes without PAM (no line UsePAM yes), and has systemd's default",
        ),
        "run role ibready.cluster.host_tuning, restart sshd and log in anew; `ulimit -l` shows what a login has",
        ("systemctl_show", "/proc/*/limits", "/etc/pam.d/sshd", "/etc/ssh/sshd_config"),
    ),
    warning(
        "host.limit.nofile",
        "Jobs may open enough files",
        "A rank holds several sockets for each peer, and data loaders their own files.",
        ("an old or lowered default of systemd",),
        "run role ibready.cluster.host_tuning, then restart the named service",
        ("systemctl_show", "/proc/*/limits"),
    ),
    error(
        "host.service.openibd",
        "openibd has started the RDMA stack",
        "Where a vendor's stack is installed, openibd loads its modules at boot.",
        ("a module could not be loaded, or one of the stack before it could not be unloaded",),
        "`systemctl status openibd` and `journalctl -u openibd -b`; then start it by hand",
        ("systemctl_show",),
    ),
    warning(
        "host.service.ibacm",
        "ibacm does not run",
        "Stale entries in its cache break connections by rdma_cm, and training needs no ibacm.",
        ("the RDMA stack's packages enabled it",),
        "`systemctl disable --now ibacm.service ibacm.socket`",
        ("systemctl_show",),
    ),
    error(
        "host.service.sharp_am",
        "SHARP's aggregation manager runs on its host",
        "Judged on the host that the inventory names for it (expect.sharp_manager). Without it no job gets a tree of "
        "the switches' aggregation nodes, and NCCL continues without SHARP. It does not start by itself, neither at "
        "boot nor after a fault.",
        ("the host was rebooted, and it was not started", "it has ended: see its own log"),
        "`systemctl status sharp_am`, and /var/log/sharp_am.log; it has to run on the port that opensm has. Starting "
        "it resets the trees, which harms jobs that use SHARP; then `sharp_hello` on a GPU host",
        ("systemctl_show",),
    ),
    warning(
        "host.service.failed",
        "No service of RDMA, jobs or time has failed",
        "Only units that this project knows are looked at.",
        ("its own log says why",),
        "`systemctl status UNIT` and `journalctl -u UNIT -b`",
        ("systemctl_show",),
    ),
    warning(
        "host.clock.synchronised",
        "The clock is synchronised",
        "Logs of hosts whose clocks differ cannot be compared; certificates and Slurm's munge "
        "refuse a clock that is far off.",
        ("no time service runs, or it reaches no server",),
        "install chrony, name the site's time servers; `chronyc tracking`, `timedatectl`",
        ("timedatectl_show",),
    ),
    warning(
        "host.boot.sysctl",
        "The next boot keeps the kernel settings",
        "systemd reads the files of sysctl.d in the order of their names, and of lines that set the "
        "same the last counts: a later file undoes what role host_tuning wrote, and what somebody "
        "set by hand is lost.",
        ("a package or the site put a later file there",),
        "put the setting into the file that is read last, then `sysctl --system`",
        ("/etc/sysctl.d",),
    ),
    warning(
        "host.boot.modules",
        "The next boot loads the modules that are loaded now",
        "ib_umad, rdma_ucm, ib_ipoib and nvidia_peermem come with no device: a file has to name them "
        "(modules-load.d, /etc/rdma/modules, openib.conf), or they are gone after a reboot. So is what modprobe.d "
        "keeps out by then, and a rival of NVIDIA's driver that nothing keeps out takes the GPUs.",
        (
            "somebody loaded it by hand, or took the line out of the file",
            "a file of modprobe.d was written or emptied after the module was loaded",
        ),
        "name the module in a file of /etc/modules-load.d (role ibready.cluster.rdma)",
        ("lsmod", "/etc/modules-load.d|/etc/rdma/modules"),
    ),
    warning(
        "host.boot.services",
        "The next boot starts the services that run now",
        "A service that somebody started by hand, or that is masked, is gone after a reboot: no RDMA "
        "stack, GPUs that take seconds to answer, no memory shared within a rack. One whose files have it start "
        "another program, or take a limit of ours back, is not what runs now. All of their drop-ins are read but those "
        "of `systemctl set-property`, which can do neither.",
        ("it was started and never enabled", "a drop-in was written after the service was started"),
        "`systemctl enable UNIT`",
        ("systemctl_show",),
    ),
    warning(
        "host.updates.held",
        "Automatic updates leave driver and RDMA packages alone",
        "A driver that is replaced under running jobs no longer fits what they have loaded "
        "(Driver/library version mismatch), until the next reboot.",
        ("unattended-upgrades or dnf-automatic is on without exceptions",),
        "`apt-mark hold` the packages or name them in Unattended-Upgrade::Package-Blacklist; with "
        "dnf in excludepkgs or `dnf versionlock`; or switch automatic updates off",
        (
            "/etc/apt/apt.conf.d|/etc/dnf/automatic.conf",
            "/etc/apt/apt.conf.d/*|/etc/dnf/automatic.conf",
        ),
    ),
)
