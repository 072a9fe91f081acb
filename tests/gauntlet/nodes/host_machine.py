# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory, CPUs, disks, BMC and name of a simulated node, in the formats of Linux, df and ipmitool.

`node.more` understands: hostname, sensors (more lines of `ipmitool sdr elist`), events (of
`ipmitool sel list`, without their numbers).
"""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import entry_name
from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree

_CPU, _NODE = "/sys/devices/system/cpu", "/sys/devices/system/node"
_GIB = 1024 * 1024  # KiB
_DISK = "/dev/nvme0n1p2"
_MOUNTS = f"""\
{_DISK} / ext4 rw,relatime,errors=remount-ro 0 0
proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0
sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0
tmpfs /run tmpfs rw,nosuid,nodev,size=211312640k,mode=755 0 0
tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0
/dev/nvme0n1p1 /boot/efi vfat rw,relatime,fmask=0077,errors=remount-ro 0 0
/dev/loop0 /snap/core22/1748 squashfs ro,nodev,relatime,errors=continue 0 0
/dev/md0 /scratch xfs rw,relatime,attr2,inode64,logbufs=8 0 0
storage:/home /home nfs4 rw,relatime,vers=4.2,hard,proto=tcp 0 0
"""
_FSTAB = """\
# <file system> <mount point> <type> <options> <dump> <pass>
UUID=5b1f0f3e-4a36-4d8f-a8a8-2f6f4a8d2f11 / ext4 errors=remount-ro 0 1
UUID=7A2C-91E0 /boot/efi vfat umask=0077 0 1
/dev/md0 /scratch xfs defaults,nofail 0 2
storage:/home /home nfs4 defaults,_netdev 0 0
"""
_SUPERMICRO = """\
CPU1 Temp        | 01h | ok  |  3.1 | 46 degrees C
CPU2 Temp        | 02h | ok  |  3.2 | 48 degrees C
System Temp      | 0Bh | ok  |  7.11 | 27 degrees C
FAN1             | 41h | ok  | 29.1 | 8260 RPM
FAN2             | 42h | ok  | 29.2 | 8190 RPM
FAN3             | 43h | ok  | 29.3 | 8260 RPM
FANA             | 47h | ns  | 29.7 | No Reading
12V              | 30h | ok  |  7.17 | 12.13 Volts
VBAT             | 33h | ok  |  7.20 | Presence Detected
PS1 Status       | C8h | ok  | 10.1 | Presence detected
PS2 Status       | C9h | ok  | 10.2 | Presence detected
PS3 Status       | CAh | ok  | 10.3 | Presence detected
PS4 Status       | CBh | ok  | 10.4 | Presence detected
Chassis Intru    | AAh | ok  | 23.1 |
"""
_DELL = """\
Fan1A            | 30h | ok  |  7.1 | 7440 RPM
Fan1B            | 31h | ok  |  7.1 | 7080 RPM
Inlet Temp       | 04h | ok  |  7.1 | 22 degrees C
Exhaust Temp     | 01h | ok  |  7.1 | 39 degrees C
Temp             | 0Eh | ok  |  3.1 | 51 degrees C
Presence         | 75h | ok  | 10.1 | Present
Presence         | 76h | ok  | 10.2 | Present
Status           | 85h | ok  | 10.1 | Presence detected
Status           | 86h | ok  | 10.2 | Presence detected
Status           | 87h | ns  | 10.3 | Disabled
PS Redundancy    | 77h | ok  |  7.1 | Fully Redundant
Fan Redundancy   | 78h | ok  |  7.1 | Fully Redundant
Intrusion        | 73h | ok  |  7.1 |
CMOS Battery     | 6Fh | ok  |  7.1 |
ECC Uncorr Err   | 03h | ok  | 34.1 |
"""
_EVENTS = (
    "09/02/2025 | 08:11:40 | Event Logging Disabled #0x51 | Log area reset/cleared | Asserted",
    "09/02/2025 | 08:20:03 | System Event #0x83 | Timestamp Clock Sync | Asserted",
    "11/10/2025 | 12:58:51 | System Boot Initiated #0xe0 | Initiated by power up | Asserted",
)


def add(tree: Tree, node: Node) -> None:
    """Everything that the checks of memory, CPUs, disks, BMC and name read."""
    _memory(tree, node)
    _cpus(tree, node)
    _disks(tree, node)
    _name(tree, node)
    if not node.virtual:
        _errors(tree, node)
        _bmc(tree, node)


def _cores(node: Node) -> int:
    """Of each of the two sockets; x86 has two threads a core."""
    return 72 if node.machine == "aarch64" else 48 if node.virtual else 56


def _memory(tree: Tree, node: Node) -> None:
    """Two sockets with the same; on Grace the GPUs' memory is memory of the kernel's as well."""
    each = 480 * _GIB if node.machine == "aarch64" else 1024 * _GIB if node.cards else 128 * _GIB
    sizes = [each - 6 * _GIB, each]
    if node.machine == "aarch64":
        sizes += [node.memory_mib * 1024 for _card in node.cards]
    for number, size in enumerate(sizes):
        tree.file(f"{_NODE}/node{number}/meminfo", f"Node {number} MemTotal: {size:>14} kB\n")
    total = sum(sizes)
    lines = {"MemTotal": total, "MemFree": total // 20, "MemAvailable": total // 10 * 9, "Cached": total // 10 * 8}
    lines |= {"AnonPages": total // 50, "Slab": total // 90, "SUnreclaim": total // 100, "PageTables": total // 1000}
    lines |= {"CommitLimit": total // 2, "Committed_AS": total // 25, "Percpu": total // 4000, "HardwareCorrupted": 0}
    lines |= {"SwapTotal": 8 * _GIB, "SwapFree": 8 * _GIB - 2048, "HugePages_Total": 0, "Hugepagesize": 2048}
    units = {name: "" if name.startswith("HugePages") else " kB" for name in lines}
    tree.file("/proc/meminfo", "".join(f"{name + ':':<16}{size:>10}{units[name]}\n" for name, size in lines.items()))
    for name, some in (("cpu", "0.42"), ("memory", "0.00")):
        line = f"avg10={some} avg60={some} avg300={some} total=16402518"
        tree.file(f"/proc/pressure/{name}", f"some {line}\nfull {line}\n")
    tree.file("/proc/loadavg", "4.21 3.98 3.75 3/2913 418221")


def _cpus(tree: Tree, node: Node) -> None:
    cores = _cores(node)
    threads = 1 if node.machine == "aarch64" else 2
    every = f"0-{2 * cores * threads - 1}"
    tree.file(f"{_CPU}/present", every)
    tree.file(f"{_CPU}/online", every)
    tree.file(f"{_CPU}/smt/control", "on" if threads == 2 else "notsupported")
    for socket in (0, 1):
        lists = [(socket * cores, cores), (2 * cores + socket * cores, cores)][:threads]
        text = ",".join(f"{first}-{first + count - 1}" for first, count in lists)
        tree.file(f"{_NODE}/node{socket}/cpulist", text)
        if threads == 2 and not node.virtual:
            base = f"{_CPU}/cpu{socket * cores}/thermal_throttle"
            tree.file(f"{base}/package_throttle_count", "0")
    if node.machine == "aarch64":
        for number in range(len(node.cards)):
            tree.file(f"{_NODE}/node{2 + number}/cpulist", b"\n")
    clock = "arch_sys_counter" if node.machine == "aarch64" else "tsc"
    if node.virtual:
        clock = "hyperv_clocksource_tsc_page"
    tree.file("/sys/devices/system/clocksource/clocksource0/current_clocksource", clock)


def _errors(tree: Tree, node: Node) -> None:
    """EDAC: a controller with two modules a socket tells as much as eight of them."""
    for number in (0, 1):
        base = f"/sys/devices/system/edac/mc/mc{number}"
        tree.file(f"{base}/ce_count", "0")
        tree.file(f"{base}/ue_count", "0")
        tree.file(f"{base}/seconds_since_reset", "864000")
        for module in (0, 1):
            tree.file(f"{base}/dimm{module}/dimm_label", f"CPU_SrcID#{number}_MC#0_Chan#{module}_DIMM#0")
            tree.file(f"{base}/dimm{module}/dimm_ce_count", "0")
            tree.file(f"{base}/dimm{module}/dimm_ue_count", "0")


def _disks(tree: Tree, node: Node) -> None:
    tree.file("/proc/self/mounts", _MOUNTS)
    tree.file("/etc/fstab", _FSTAB)
    rows = [
        *(("ext4", 936 * _GIB, 702 * _GIB, 62472192, 61010322, "/") for _path in range(4)),
        ("ext4", 936 * _GIB, 702 * _GIB, 62472192, 61010322, "/"),
        ("tmpfs", 200 * _GIB, 199 * _GIB, 26414080, 26412011, "/run"),
        ("tmpfs", 1000 * _GIB, 1000 * _GIB, 132070400, 132070399, "/dev/shm"),
    ]
    text = "Type   1K-blocks      Avail    Inodes     IFree Mounted on\n"
    text += "".join(
        f"{kind:<5} {size:>10} {left:>10} {inodes:>9} {free:>9} {at}\n" for kind, size, left, inodes, free, at in rows
    )
    text += "-     6116765696 4881168384 470850560 463467520 total\n"
    said = "df: /var/lib/containers: No such file or directory\n"
    tree.command("df", text, 1, said)
    for number in range(0 if node.virtual else 4):
        tree.file(f"/sys/class/nvme/nvme{number}/state", "live")


def _name(tree: Tree, node: Node) -> None:
    """Nodes that are told apart by their GUIDs have names of their own."""
    number = node.hcas[0].guid >> 8 & 0xFF if node.hcas else 0
    name = node.more.get("hostname", f"{node.name}-{number}")
    tree.file("/proc/sys/kernel/hostname", name)
    answer = f"192.0.2.10      STREAM {name}\n192.0.2.10      DGRAM\n192.0.2.10      RAW\n"
    tree.command(entry_name("getent_ahosts", name), answer)


def _bmc(tree: Tree, node: Node) -> None:
    tree.file("/dev/ipmi0", b"", mode=0o600)
    sensors = (_DELL if node.vendor == "Dell Inc." else _SUPERMICRO).splitlines()
    sensors += node.more.get("sensors", ())
    tree.command("ipmi_sdr", "".join(f"{line}\n" for line in sensors))
    events = [*_EVENTS, *node.more.get("events", ())]
    lines = (f"{number:>4x} | {line}\n" for number, line in enumerate(events, 1))
    tree.command("ipmi_sel", "".join(lines))
