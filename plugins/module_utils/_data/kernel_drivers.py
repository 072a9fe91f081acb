# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose failures in the kernel's log count though no rule knows them, and which lines are harmless. Data only.

A row of ``DRIVERS`` names a driver that jobs depend on. Its lines at error or worse count, and those at ``least`` or
worse with a word of failure (``FAILS``); where the driver keeps warnings for what is wrong, all that are no ``NEWS``.
A row of ``HARMLESS`` takes out a line that healthy hosts have; its source says so.
Confidence: medium; the formats were read in the sources, and only a part was seen on hosts.
"""

from __future__ import annotations

from typing import NamedTuple

CRITICAL, ERROR, WARN, INFO = 2, 3, 4, 6  # as of syslog


class Driver(NamedTuple):
    """``least``: the mildest level at which it tells that it failed. ``loud``: it says nearly all at warning."""

    name: str
    pattern: str
    source: str
    least: int = WARN
    loud: bool = False


class Harmless(NamedTuple):
    """A line of a healthy host: what it looks like, and who says that it is harmless."""

    pattern: str
    source: str


# The first that matches a line's beginning counts.
DRIVERS = (
    Driver("interrupts", r"irq \d{1,6}: |Disabling IRQ #", "kernel/irq/spurious.c"),
    Driver("memory", r".{0,40}\bpage allocation (?:failure|stalls)\b", "mm/page_alloc.c"),
    Driver(
        "a crash within a driver",
        r"WARNING: .{0,60} at (?:drivers/(?:net/ethernet/mellanox|infiniband|nvme)|net/sunrpc|fs/(?:nfs|xfs|ext4))",
        "kernel/panic.c",
    ),
    Driver(
        "RDMA",
        # Modules: programs are named ib_ and rdma_ as well.
        r"infiniband \w|ib_(?:core|cm|mad|sa|umad|uverbs|ucm|srpt?|iser|isert|qib)\b|rdma_(?:u?cm|rxe)\b|iw_cm\b"
        r"|user_(?:mad|verbs)\b|__ib_\w|(?:rpc|xprt)rdma|RDMA\b|(?:rxe|siw|isert?|bnxt_re|irdma|efa|erdma|mana_ib)\b",
        "drivers/infiniband",
    ),
    Driver("mlx5 and mlx4", r"<?mlx(?:_compat|[45])", "drivers/net/ethernet/mellanox"),
    Driver("bnxt_en", r"bnxt_en\b", "drivers/net/ethernet/broadcom/bnxt"),
    Driver("ice", r"ice(?:: | [0-9a-f]{4}:)", "drivers/net/ethernet/intel/ice"),
    Driver("ena", r"ena(?:: | [0-9a-f]{4}:)", "drivers/net/ethernet/amazon/ena"),
    Driver("gve", r"gv(?:e|nic)\b", "drivers/net/ethernet/google/gve"),
    Driver("mana", r"mana\b", "drivers/net/ethernet/microsoft/mana"),
    Driver("IPoIB", r"ib\w{0,15}\d(?:\.\w{4})?: |ipoib", "drivers/infiniband/ulp/ipoib"),
    Driver(
        "NVIDIA",
        r"NVRM\b|nvidia(?:[-_](?:uvm|modeset|drm|nvlink|nvswitch\d{0,3}|peermem|fs|caps))?[: ]|nv_peer_mem|gdrdrv",
        "NVIDIA/open-gpu-kernel-modules: kernel-open",
        loud=True,
    ),
    # The one loss that a driver tells as news.
    Driver(
        "bonding",
        r"[\w.-]{1,15}: \(slave \w{1,16}\): link status definitely down\b",
        "drivers/net/bonding/bond_main.c",
        INFO,
    ),
    Driver("bonding", r"bond[\w.-]{0,12}: |bonding: |[\w.-]{1,15}: \(slave ", "drivers/net/bonding"),
    Driver("NVMe", r"nvme", "drivers/nvme"),
    Driver("Lustre", r"(?:Lustre|LNet)(?:Error)?: ", "lustre-release: libcfs/libcfs/debug.c", loud=True),
    Driver("file systems", r"mmfs|GPFS|wekafs|ZFS", "modules of their own", loud=True),
    Driver(
        "file systems",
        r"XFS|EXT4|(?i:btrfs)|p?NFS(?!D)|Root-NFS|nfs(?!d)|lockd|RPC|SUNRPC|svc: |(?:lib)?ceph: |md[\d:/_-]|dm-\d"
        r"|device-mapper|FS-Cache|fuse\b|CUSE",
        "fs, net/sunrpc, net/ceph, drivers/md",
    ),
)
# What says failure where the level does not. Words, so that "insufficient" is no "sufficient".
FAILS = (
    r"\b(?:fail(?:s|ed|ures?|ing)?|err(?:ors?)?|tim(?:ed|e)[- ]?out|timeouts?|can ?not|can't|could ?n[o']t|could not"
    r"|unable|unsuccessful|not respond\w*|lost|evicted|corrupt\w*|invalid|refus\w+|reject\w+|abort\w*|stuck|hung|dead"
    r"|nobody cared|exhaust\w*|overflow\w*|overrun|out of|no (?:space|memory)|fatal|panic|unknown symbol|disagrees"
    r"|mismatch|denied|stopped|stall\w*|leak\w*|not (?:found|enough|ready|supported by)|insufficient|unexpected\w*"
    r"|WARNING|BUG|bad|broken|degraded|disabling|link status (?:definitely )?down)\b"
)
# A warning that is none, by its form: something is not supported or grows old, or the driver announces what it does.
NEWS = (
    r"(?:\b(?:not?|never|only)\b|n't\b).{0,24}\b(?:support|offload|capab)"
    r"|\bsupport (?:is )?missing\b|\b(?:deprecated|obsolete|experimental)\b"
    # The first word behind who says it; or a value that fits none is set to one that does.
    r"|^(?:\S*[^\s:] ){0,4}\S{1,60}: (?:\S{1,60}(?: \w{1,16}\))?: )?"
    r"(?:us|load|start|enabl|sett|mount|ignor|skipp|resiz)ing\b"
    r"|, (?:changing it to|clamping down)\b"
)
# What leaves the host without something, whoever says it: an error; so is whatever is critical or worse.
_LOSES = r"(?:re)?(?:load|reg(?:ist(?:er|ration))?|alloc(?:at)?|enabl|initiali[sz]|prob|start|brought up|bring)"
GRAVE = (
    rf"\b(?:fail(?:s|ed)?(?: to)?|can ?not|can't|could ?n[o']t|could not|unable to) (?:[\w-]{{1,20}} )?"
    rf"{_LOSES}\w{{0,5}}\b"
    rf"|\b{_LOSES}\w{{0,5}}\b[^.;]{{0,40}}\bfail(?:s|ed)\b"
    r"|\bdisagrees about version\b|\bunknown symbol\b|\bAPI mismatch\b|(?<!\bbe )\b(?:disabl|remov)(?:ed|ing)\b"
)
# What says that it is over, of the same device. A link that is up ends only what was said of links.
OVER = (
    r"\b(?:re-?connected|restored|recovered(?! after|.\d)|recovery (?:complete|succeeded)|back online"
    r"|firmware version: \d)"
)
LINK_UP = r"\b(?:link status (?:definitely )?up|active interface up|link (?:is |becomes )?(?:up|active|ready))\b"
LINK = r"\b(?:link|carrier|slave)\b"
# Of the boot, or of the last day (kernel_faults.PASSING_S); what lies between is history. source: inferred.
BOOT_S = 900.0

HARMLESS = (
    Harmless(
        r"\bmodule verification failed: signature and/or required key missing\b|\btaints kernel\b",
        "kernel/module: said of every module that the distribution did not build or sign; the module works",
    ),
    Harmless(
        r"^NVRM: loading NVIDIA UNIX |^NVRM: Persistence mode is deprecated\b",
        "kernel-open/nvidia/nv.c: NV_DBG_ERRORS, said of every load, and of every nvidia-smi -pm 1",
    ),
    Harmless(
        r"\bCONFIG_\w{1,40} is disabled\b",
        "drivers/md/dm.c: how the kernel was built",
    ),
    Harmless(
        r"\bACCESS_REG\(0x805\) op_mod\(0x[01]\) failed, status bad (?:operation|parameter|resource)\(",
        "leptonai/gpud issue 1164: a register that firmware keeps from monitors, without effect",
    ),
    Harmless(
        r"\bnv(?:Assert|Check)(?:Ok)?Failed(?:NoLog)?: (?:Assertion|Check) failed: (?:0 @"
        r"|[\w ]{1,40} \[NV_ERR_(?:NOT_SUPPORTED|INVALID_DATA|OBJECT_NOT_FOUND)\])",
        "NVIDIA/open-gpu-kernel-modules issues 402 and 748, NVIDIA/nvtrust issue 54: the GPUs went on working",
    ),
    Harmless(
        r"\bCannot find any crtc or sizes\b",
        "drivers/gpu/drm/drm_client_modeset.c: no screen is connected, and no server has one",
    ),
    Harmless(
        r"\bmissing or invalid SUBNQN field\b|\bShutdown timeout set to \d{1,4} seconds\b"
        r"|\bfailed to set APST feature\b",
        "drivers/nvme/host/core.c: the disk lacks what is optional, and is used",
    ),
    Harmless(
        r"\berrors=(?:remount-ro|continue|panic)\b|\bcouldn't mount as ext[23] due to feature incompatibilities\b",
        "fs/ext4/super.c: an option of a mount, and a try before the right one",
    ),
    Harmless(
        r"\bMissing SyncE capability\b|\b[Dd]isabling [\w -]{1,40}, not supported\b",
        "Linux commit 507472ed0e37, drivers/net/ethernet/mellanox/mlx5/core/en_main.c: what the setting rules out",
    ),
    Harmless(
        r"\bDevice requests max timeout of \d{1,4} seconds\b",
        "drivers/net/ethernet/broadcom/bnxt/bnxt.c: how long a command of the firmware may take",
    ),
    Harmless(
        r"\bfailed to get link speed/duplex\b",
        "drivers/net/bonding/bond_main.c: the link is not up yet, and is asked again",
    ),
    Harmless(
        r"\b[Tt]he permanent HWaddr of slave - [\w:]{1,60} - is still in use by bond\b",
        "drivers/net/bonding/bond_main.c: a member was taken out whose address the bond goes on with",
    ),
    Harmless(
        r"\bDropping C-tag vlan stripping offload due to S-tag vlan\b",
        "drivers/net/ethernet/mellanox/mlx5/core/en_main.c: the setting rules out the offload",
    ),
    Harmless(
        r"^svc: failed to register \w{1,20} RPC service \(errno 97\)",
        "net/sunrpc/svc.c: EAFNOSUPPORT, IPv6 is off; the service is there by IPv4",
    ),
)
