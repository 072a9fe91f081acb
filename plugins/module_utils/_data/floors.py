# SPDX-License-Identifier: GPL-3.0-or-later
"""The lowest (or highest) value of a host that is no fault, and what fails past it. Data only.

A new row is all that a new floor needs: one check walks the table (_areas/host/check_floors.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from . import host_resources

NEEDED, USUAL = "host.floor.needed", "host.floor.usual"
# What starts jobs (a unit of host_units.JOBS), the control groups of all that starts jobs, those of them that hold the
# jobs themselves, and a network interface with an address: a row with one of these words in braces is a row for each.
UNIT, GROUP, JOB, INTERFACE = "unit", "group", "job", "interface"
CGROUPS, SLICE = "/sys/fs/cgroup", "system.slice"
# By unit, the end of the group beside it that holds its jobs; without such a group its own holds them. Source: Slurm,
# Control Group v2 plugin: slurmstepd.scope, and NODE_slurmstepd.scope where a host runs several slurmd.
HOLD_JOBS = {"slurmd.service": "slurmstepd.scope", "pbs.service": ""}
CPUS = "/sys/devices/system/cpu/online"
_FREQ = "/sys/devices/system/cpu/cpufreq/policy*"
_MEM = "/proc/meminfo"
_TOTAL = f"{_MEM} MemTotal"
# How a number is made of a file with several words; else it is the last of them, or the one in brackets.
SPAN, COUNT, QUOTA = "span", "count", "quota"


@dataclass(frozen=True)
class Floor:
    """``reads``: a file, where ``*`` takes the highest of all, or a field behind a blank (meminfo, limits).

    ``least``, ``most``: a number, or where ``of`` names another value, times that. ``bad``: words that are a fault.
    ``when``: the row counts only where that file holds this word. ``everywhere``: no kernel is without it.
    ``scope``: see check_floors. ``twice``: a value past the floor is read again after a pause.
    """

    reads: str
    fails: str
    least: float | None = None
    most: float | None = None
    of: str = ""
    bad: tuple[str, ...] = ()
    check: str = USUAL
    when: tuple[str, str] = ("", "")
    remedy: str = ""
    take: str = ""
    unit: str = ""
    scope: str = "real"
    everywhere: bool = False
    twice: bool = False
    source: str = ""


_SYSCTL = "Linux, Documentation/admin-guide/sysctl; the kernel's own default, confirmed"
_IP = "Linux, Documentation/networking/ip-sysctl.rst; the kernel's own default, confirmed"
_CGROUP = "Linux, Documentation/admin-guide/cgroup-v2.rst; the share is inferred"
_PROC = "proc(5), /proc/meminfo; the share is inferred"
_FORK = "fork fails (Resource temporarily unavailable), and ranks or data loaders end"
_PEERS = "connections to many ranks at once wait, are tried again or refused"
_RATE = "storage, data loaders and NCCL's bootstrap by TCP are slow"
_PORTS = "set 32768 60999, the kernel's own"
_THIRD = "raise the last of its three numbers to 1048576 or more, and leave the others"
_WATCH = "kubelet, container engines and data loaders fail with Too many open files or No space left on device"
_QUIET = "the CPUs that feed GPUs and network run at a fraction of their speed, and every step waits for them"


def _sysctl(
    name: str,
    fails: str,
    least: float,
    source: str = _SYSCTL,
    *,
    of: str = "",
    take: str = "",
    remedy: str = "",
    everywhere: bool = False,
) -> Floor:
    reads = f"/proc/sys/{name.replace('.', '/')}"
    return Floor(reads, fails, least, of=of, take=take, remedy=remedy, everywhere=everywhere, source=source)


def _limit(line: str, key: str, fails: str, least: float = 2**64 - 1, check: str = NEEDED, *, of: str = "") -> Floor:
    """Of getrlimit(2); numbers of CPUs are inferred: a fair job has some 10 processes a CPU."""
    return Floor(f"{{unit}} {line}", fails, least, of=of, check=check, unit=key, source="getrlimit(2); confirmed")


def _group(
    part: str, name: str, key: str, fails: str, least: float, of: str, *, check: str = USUAL, take: str = ""
) -> Floor:
    """Of cgroup v2; memory is in bytes, and MemTotal in KiB: half of it."""
    remedy = f"`systemctl cat {part}` shows who sets {key}: take it out; `systemctl daemon-reload`"
    return Floor(f"{CGROUPS}/{part}/{name}", fails, least, of=of, check=check, take=take, remedy=remedy, source=_CGROUP)


FLOORS = (
    # Own ids, for they were checks before there was a table.
    Floor(
        "/proc/sys/kernel/numa_balancing",
        "",
        most=0,
        check="host.memory.numa_balancing",
        scope="any",
        source="host_tuning",
    ),
    Floor(
        "/proc/sys/vm/zone_reclaim_mode",
        "",
        most=0,
        check="host.memory.zone_reclaim",
        scope="any",
        source="host_tuning",
    ),
    Floor(
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "",
        bad=host_resources.SLOW_CLOCKS,
        check="host.cpu.clock",
        scope="fabric",
        everywhere=True,
        source="host_resources.SLOW_CLOCKS",
    ),
    # How many there may be of something.
    _sysctl("kernel.pid_max", _FORK, 1024, of=CPUS, everywhere=True),
    _sysctl("kernel.threads-max", _FORK, 512, of=CPUS),
    _sysctl("fs.file-max", "open fails with Too many open files in system", 65536, everywhere=True),
    _sysctl("fs.nr_open", "no service can be given as many open files as a large job needs", 65536, everywhere=True),
    _sysctl("fs.aio-max-nr", "io_setup fails, and storage clients with it", 65536),
    _sysctl("fs.inotify.max_user_instances", _WATCH, 128),
    _sysctl("fs.inotify.max_user_watches", _WATCH, 8192),
    _sysctl("fs.inotify.max_queued_events", _WATCH, 1024),
    _sysctl("kernel.keys.maxkeys", "containers do not start (Disk quota exceeded)", 200),
    _sysctl("kernel.pty.max", "logins and srun --pty get no terminal", 256),
    _sysctl("kernel.shmmax", "programs get no System V shared memory", 2**30),
    _sysctl("kernel.shmall", "programs get no System V shared memory", 2**18),
    _sysctl("kernel.shmmni", "programs get no System V shared memory", 1024),
    _sysctl(
        "vm.max_map_count", "mmap fails (Cannot allocate memory) in CUDA, NCCL and data loaders", 65530, everywhere=True
    ),
    # TCP, by which jobs meet and data comes.
    _sysctl("net.core.somaxconn", _PEERS, 1024, _IP),
    _sysctl("net.ipv4.tcp_max_syn_backlog", _PEERS, 128, _IP),
    _sysctl("net.ipv4.ip_local_port_range", _PEERS, 8192, _IP, take=SPAN, remedy=_PORTS),
    _sysctl("net.netfilter.nf_conntrack_max", "new connections are dropped (nf_conntrack: table full)", 65536, _IP),
    _sysctl("net.ipv4.neigh.default.gc_thresh3", "new neighbours are not reached (table overflow)", 1024, _IP),
    _sysctl("net.ipv6.neigh.default.gc_thresh3", "new neighbours are not reached (table overflow)", 1024, _IP),
    _sysctl("net.core.netdev_max_backlog", _RATE, 1000, _IP),
    _sysctl("net.core.rmem_default", _RATE, 65536, _IP),
    _sysctl("net.core.wmem_default", _RATE, 65536, _IP),
    _sysctl("net.core.rmem_max", _RATE, 212992, _IP),
    _sysctl("net.core.wmem_max", _RATE, 212992, _IP),
    _sysctl("net.ipv4.tcp_rmem", _RATE, 2**20, _IP, remedy=_THIRD),
    _sysctl("net.ipv4.tcp_wmem", _RATE, 2**20, _IP, remedy=_THIRD),
    _sysctl("net.ipv4.tcp_window_scaling", _RATE, 1, _IP),
    _sysctl("net.ipv4.tcp_sack", _RATE, 1, _IP),
    _sysctl("net.ipv4.tcp_moderate_rcvbuf", _RATE, 1, _IP),
    Floor(
        "/sys/class/net/{interface}/speed",
        "the port runs below 1 Gb/s (Mb/s): what NCCL's bootstrap, logins and storage have by it",
        1000,
        remedy="`ethtool {interface}` shows what both ends offer: look at the switch port's setting, then at the cable",
        source="inferred: no board of ours has less than 1 Gb/s",
    ),
    Floor(
        "/sys/class/net/{interface}/duplex",
        "one end did not negotiate: packets collide and are lost under load",
        bad=("half",),
        remedy="have both ends of {interface} negotiate (`ethtool -s {interface} autoneg on`, and the switch port)",
        source="Linux, Documentation/ABI/testing/sysfs-class-net; confirmed",
    ),
    Floor(
        "/sys/class/net/{interface}/mtu",
        "IPv6 does not work below it, and every packet carries little",
        1280,
        remedy="set the MTU of {interface} that its switch has",
        source="RFC 8200; confirmed",
    ),
    # Memory.
    Floor(
        f"{_MEM} Committed_AS",
        "with vm.overcommit_memory=2 the kernel promises no more than CommitLimit, and CUDA, NCCL and every large job "
        "fail to allocate",
        most=0.9,
        of=f"{_MEM} CommitLimit",
        when=("/proc/sys/vm/overcommit_memory", "2"),
        remedy="set vm.overcommit_memory to 0 in a file of /etc/sysctl.d, then `sysctl --system`",
        everywhere=True,
        source=_PROC,
    ),
    Floor(
        f"{_MEM} SUnreclaim",
        "the kernel's own slabs hold memory that no job can have: a leak of a driver or a file system",
        most=0.3,
        of=_TOTAL,
        remedy=host_resources.HOLDERS["SUnreclaim"][1],
        everywhere=True,
        source=_PROC,
    ),
    Floor(
        f"{_MEM} PageTables",
        "page tables hold memory that no job can have: many processes map much in small pages",
        most=0.1,
        of=_TOTAL,
        remedy=host_resources.HOLDERS["PageTables"][1],
        everywhere=True,
        source=_PROC,
    ),
    Floor(
        f"{_MEM} HardwareCorrupted",
        "the kernel took pages out of use after memory errors (KiB)",
        most=0,
        scope="bare",
        remedy="drain the host; replace a memory module only where the BMC's log or EDAC names one with uncorrected "
        "errors",
        source="Linux, mm/memory-failure.c: pages with corrected errors are taken out as well; confirmed",
    ),
    Floor(
        "/proc/sys/vm/min_free_kbytes",
        "the kernel keeps so much free for itself that jobs are killed while there is memory",
        most=0.1,
        of=_TOTAL,
        source=_SYSCTL,
    ),
    # Clocks and power.
    Floor(
        f"{_FREQ}/scaling_cur_freq",
        f"the fastest CPU stays far below its clock (kHz): {_QUIET}",
        0.4,
        of=f"{_FREQ}/cpuinfo_max_freq",
        when=(f"{_FREQ}/scaling_governor", "performance"),
        check=NEEDED,
        scope="bare",
        twice=True,
        remedy="look at power caps and PROCHOT (the BMC's power settings and event log, `turbostat -n 1`); power cycle "
        "the drained host",
        source="Linux, Documentation/admin-guide/pm/cpufreq.rst; inferred: lowest clocks are 0.2 to 0.4 of the highest",
    ),
    Floor(
        f"{_FREQ}/scaling_max_freq",
        f"somebody caps the clock (kHz): {_QUIET}",
        0.5,
        of=f"{_FREQ}/cpuinfo_max_freq",
        scope="bare",
        remedy="`cpupower frequency-set --max` with cpuinfo_max_freq; look for a tuned profile that lowers it",
        source="Linux, Documentation/admin-guide/pm/cpufreq.rst; the share is inferred",
    ),
    Floor(
        "/sys/devices/system/cpu/intel_pstate/max_perf_pct",
        f"somebody caps the clock (per cent): {_QUIET}",
        50,
        scope="bare",
        remedy="write 100 to it; look for a tuned profile that lowers it",
        source="Linux, Documentation/admin-guide/pm/intel_pstate.rst; the share is inferred",
    ),
    Floor(
        "/sys/module/pcie_aspm/parameters/policy",
        "links of GPUs and HCAs sleep between transfers (ASPM), and each transfer waits for them to wake",
        bad=("powersave", "powersupersave"),
        scope="bare",
        remedy="take pcie_aspm from the kernel command line, or write `performance` to it; switch ASPM off in the BIOS",
        source="Linux, Documentation/admin-guide/kernel-parameters.txt (pcie_aspm.policy); confirmed",
    ),
    # What starts jobs: they have its limits (/proc/PID/limits) and its control group.
    _limit("processes", "NPROC", _FORK, 64, of=CPUS),
    _limit("address space", "AS", "CUDA reserves addresses for all memory of the host, and fails (out of memory)"),
    _limit("data size", "DATA", "malloc fails"),
    _limit("cpu time", "CPU", "the kernel ends jobs"),
    _limit("file size", "FSIZE", "checkpoints end with File too large"),
    _limit("stack size", "STACK", "programs crash", 2**23, USUAL),
    _limit("pending signals", "SIGPENDING", "timers cannot be made", 4, USUAL, of=CPUS),
    _limit("msgqueue size", "MSGQUEUE", "message queues cannot be made", 819200, USUAL),
    _group("{group}", "pids.max", "TasksMax", _FORK, 64, CPUS, check=NEEDED),
    _group("{job}", "memory.max", "MemoryMax", "jobs are killed while there is memory", 512, _TOTAL, check=NEEDED),
    _group("{job}", "memory.high", "MemoryHigh", "jobs are slowed down while there is memory", 512, _TOTAL),
    _group("{job}", "cpu.max", "CPUQuota", "jobs get the time of a part of the CPUs", 0.5, CPUS, take=QUOTA),
    _group("{job}", "cpuset.cpus.effective", "AllowedCPUs", "jobs run on a part of the CPUs", 0.5, CPUS, take=COUNT),
)
