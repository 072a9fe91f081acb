# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for the machine around the GPUs: memory, CPUs, disks, BMC, name (host.*)."""

from __future__ import annotations

from ..._ground.catalog import declare, error, warning

_EDAC = ("/sys/devices/system/edac/mc",)
_CPUS = "/sys/devices/system/cpu"

ENTRIES = declare(
    error(
        "host.memory.available",
        "There is memory for a job",
        "What the kernel can give without swapping (MemAvailable), page cache included. With almost "
        "none left the OOM killer ends the next job, or a service of the host.",
        (
            "processes outside of any job, or of a job that did not end, hold it",
            "huge pages or a file system in memory (tmpfs) hold it",
        ),
        "`ps -eo rss,pid,user,args --sort=-rss | head`, `df -h -t tmpfs`, `grep -i huge /proc/meminfo`; "
        "end what does not belong there",
        ("/proc/meminfo",),
    ),
    warning(
        "host.memory.pressure",
        "The host does not swap for want of memory",
        "Pages of ranks that are read back from a disk make steps uneven. Swap that is in use while "
        "there is memory is history.",
        ("more processes than memory: data loaders, or what is left of an earlier job",),
        "`vmstat 1`, `ps -eo rss,pid,user,args --sort=-rss | head`; end what does not belong there",
        ("/proc/meminfo",),
    ),
    error(
        "host.memory.uncorrected",
        "No memory module has uncorrected errors",
        "What was in it is lost: the process that had it is killed, or the host stops.",
        ("a memory module, its slot or its processor's memory controller",),
        "drain the host; reseat or replace the named module (`dmidecode -t memory` tells its slot)",
        _EDAC,
    ),
    warning(
        "host.memory.corrected",
        "No memory module corrects errors all the time",
        "A corrected error now and then is what ECC is for. Many of one module come before an uncorrected one.",
        ("a memory module that begins to fail, or sits badly in its slot",),
        "plan its replacement (`dmidecode -t memory` tells its slot)",
        _EDAC,
    ),
    warning(
        "host.memory.nodes",
        "The NUMA nodes with CPUs have as much memory as each other",
        "Memory of GPUs and of CXL, which comes as nodes without CPUs, is not compared.",
        ("a memory module is not seen any more: the firmware switched it off at boot, or it was taken out",),
        "`dmidecode -t memory`, the BMC's event log; reseat or replace the module",
        ("/sys/devices/system/node", "/sys/devices/system/node/*/meminfo"),
    ),
    warning(
        "host.cpu.load",
        "The CPUs are not overrun",
        "Each GPU has threads that feed it and the network. Where several times as many tasks want to "
        "run as there are CPUs, those wait.",
        ("processes outside of any job, or of a job that did not end, take the CPUs",),
        "`top -b -n1 | head -20`; end what does not belong there",
        ("/proc/loadavg", f"{_CPUS}/online"),
    ),
    warning(
        "host.cpu.online",
        "All CPUs are online, as many on each NUMA node",
        "Ranks are bound to CPUs; those of a processor with fewer share what is left.",
        ("somebody took CPUs offline, or the kernel did after a machine check",),
        "`lscpu -e`, `cat /sys/devices/system/cpu/offline`; bring them online again, or look at the "
        "kernel's log and the BIOS for why they are not",
        (f"{_CPUS}/present", f"{_CPUS}/online"),
    ),
    warning(
        "host.cpu.throttled",
        "No CPU slows down for heat",
        "Compared is what the processors count, before and after a pause. What they counted earlier is shown.",
        ("a fan, a heat sink or the air of the room", "the BMC holds the power down (PROCHOT)"),
        "look at fans and temperatures (`ipmitool sdr elist`, the BMC), then at the heat sink",
        ("/sys/devices/system/node", f"{_CPUS}/*/thermal_throttle/package_throttle_count"),
    ),
    error(
        "host.cpu.clock",
        "The kernel's clock is quick to read",
        "Frameworks and NCCL read the time constantly. Over a bus each read costs a microsecond or "
        "more, and CPUs wait for each other: steps take several times as long.",
        ("the kernel found the processors' clock (tsc) unstable, or was told to use another",),
        "`dmesg | grep -i -e clocksource -e tsc`; take clocksource= from the kernel command line, update "
        "the BIOS, power cycle the host",
        ("/sys/devices/system/clocksource/clocksource0/current_clocksource",),
    ),
    error(
        "host.floor.needed",
        "No limit or clock of the host is so low that jobs fail or crawl",
        "Limits and control groups of the services that start jobs, and the clock that the CPUs really have, are held "
        "against a table (_data/floors.py): the lowest value that is no fault, and what fails below it.",
        ("somebody lowered it, or a default that is too low was never raised",),
        "raise the named value to what is expected",
        ("/proc/*/limits", "systemctl_show"),
    ),
    warning(
        "host.floor.usual",
        "No setting of the host is lower than the kernel's own default or than large jobs need",
        "Sysctls, memory that the kernel keeps, clocks, power saving, the network of logins and storage, and control "
        "groups are held against a table (_data/floors.py): the value past which something fails, and what.",
        ("a file of sysctl.d, a unit or a tuned profile lowers it",),
        "raise the named value to what is expected",
        ("/proc/sys/kernel/pid_max", "/proc/meminfo"),
    ),
    error(
        "host.disk.writable",
        "Services and jobs can write where they have to",
        "On /, /var, /tmp, /run, /dev/shm, where engines keep images, and what /etc/fstab mounts from disks. File "
        "systems that are read-only by design are not checked.",
        (
            "a disk failed or its file system is damaged, and the kernel mounted it read-only",
            "the file system is full",
        ),
        "`dmesg | grep -i -e error -e remount` and `df -h`; where a disk fails, replace it or run fsck from a rescue "
        "system; if it is full, `du -xh --max-depth=2 DIRECTORY | sort -h | tail`",
        ("/proc/self/mounts", "df"),
    ),
    warning(
        "host.disk.space",
        "The file systems that services and jobs write to have room",
        "A full one stops logs, packages, images and jobs.",
        ("logs, images of containers or what jobs left behind",),
        "`du -xh --max-depth=2 DIRECTORY | sort -h | tail`; `journalctl --vacuum-size=1G`, `docker system prune`",
        ("df",),
    ),
    error(
        "host.disk.nvme",
        "No NVMe disk has died",
        "The kernel gives up a disk that no longer answers; whatever is mounted from it fails.",
        ("the disk, its slot or its firmware",),
        "`dmesg | grep nvme`, `nvme list`; power cycle the host, then replace the disk",
        ("/sys/class/nvme", "/sys/class/nvme/*/state"),
    ),
    warning(
        "host.disk.hidden",
        "Nothing is mounted over the host's settings",
        "Programs read what is mounted there, and not the files of the host, which ibready and packages write.",
        ("a line of /etc/fstab, a mount unit or somebody's hand",),
        "`findmnt DIRECTORY`; `umount DIRECTORY`, and take it out of /etc/fstab",
        ("/proc/self/mounts",),
    ),
    warning(
        "host.name.resolves",
        "The host finds itself by its name",
        "MPI, Slurm and the frameworks' rendezvous look up the host's own name, and wait or give up "
        "if it does not resolve. Ranks that listen on 127.0.1.1, or on an address of another host, are not reached.",
        (
            "neither /etc/hosts nor DNS has the host's name, or DNS does not answer",
            "the installer's line 127.0.1.1 in /etc/hosts, or an address that the host had before",
        ),
        "`getent ahosts $(hostname)`, `cat /etc/resolv.conf /etc/hosts`; name the host in DNS or /etc/hosts",
        ("/proc/sys/kernel/hostname", "getent_ahosts"),
    ),
    warning(
        "host.bmc.sensors",
        "The BMC sees no fault of fans, power supplies and temperatures",
        "Bare metal with ipmitool. What a bundle holds of Redfish counts as well (redfish_thermal, redfish_power).",
        ("the part that the finding names",),
        "`ipmitool sdr elist`, then the BMC's own pages; replace the part",
        ("/dev/ipmi0", "ipmi_sdr"),
    ),
    warning(
        "host.bmc.log",
        "The BMC's event log has no recent fault that still persists",
        "Older faults, faults marked as over, and faults of a sensor that now reads well are shown but do not count.",
        ("the part that the finding names",),
        "`ipmitool sel elist`; replace the part, then `ipmitool sel clear`",
        ("/dev/ipmi0", "ipmi_sel"),
    ),
)
