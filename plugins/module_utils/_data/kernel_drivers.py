# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose failures in the kernel's log count though no rule knows them, and which lines are harmless. Data only.

A row of ``DRIVERS`` names a driver that jobs depend on. Its lines at error or worse count, and those at ``least`` or
worse with a word of failure (``FAILS``); where the driver keeps warnings for what is wrong, one of ``WARNS`` is enough.
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


# The first that matches counts.
DRIVERS = (
    Driver("interrupts", r"^irq \d{1,6}: |^Disabling IRQ #", "kernel/irq/spurious.c"),
    Driver("memory", r"\bpage allocation (?:failure|stalls)\b", "mm/page_alloc.c"),
    Driver(
        "a crash within a driver",
        r"^WARNING: .{0,60} at (?:drivers/(?:net/ethernet/mellanox|infiniband|nvme)|net/sunrpc|fs/(?:nfs|xfs|ext4))",
        "kernel/panic.c",
    ),
    Driver(
        "RDMA",
        # Modules: programs are named ib_ and rdma_ as well.
        r"^infiniband \w|^ib_(?:core|cm|mad|sa|umad|uverbs|ucm|srpt?|iser|isert|qib)\b|^rdma_(?:u?cm|rxe)\b|^iw_cm\b"
        r"|^user_(?:mad|verbs)\b|^__ib_\w|^(?:rpc|xprt)rdma|\bRDMA/"
        r"|^(?:rxe|siw|iser|bnxt_re|irdma|efa|erdma|mana_ib)\b",
        "drivers/infiniband",
    ),
    Driver("mlx5 and mlx4", r"^mlx(?:_compat|[45])", "drivers/net/ethernet/mellanox"),
    Driver("IPoIB", r"^ib\w{0,15}\d(?:\.\w{4})?: |\bipoib", "drivers/infiniband/ulp/ipoib"),
    Driver(
        "NVIDIA",
        r"^NVRM\b|^nvidia(?:[-_](?:uvm|modeset|drm|nvlink|nvswitch\d{0,3}|peermem|fs|caps))?(?:: | )"
        r"|^nv_peer_mem|^gdrdrv",
        "NVIDIA/open-gpu-kernel-modules: kernel-open",
        loud=True,
    ),
    # The one loss that a driver tells as news.
    Driver("bonding", r"\(slave \w{1,16}\): link status definitely down\b", "drivers/net/bonding/bond_main.c", INFO),
    Driver("bonding", r"^bond[\w.-]{0,12}: |^bonding: |\(slave \w{1,16}\): ", "drivers/net/bonding"),
    Driver("NVMe", r"^nvme\d{0,3}\b|^nvme_\w{1,10}\b|^nvmet\b", "drivers/nvme"),
    Driver("Lustre", r"^Lustre(?:Error)?: |^LNet(?:Error)?: ", "lustre-release: libcfs/libcfs/debug.c"),
    Driver(
        "file systems",
        r"^(?:XFS|EXT4-fs|BTRFS|NFS4?|nfs4?|lockd|RPC|sunrpc|ceph|libceph|mmfs|GPFS|wekafs\w{0,10}|md|dm-\d{1,4}"
        r"|device-mapper|ZFS|FS-Cache|fuse|overlayfs)\b",
        "fs, drivers/md",
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
# What a warning says of a failure besides. What is not supported, or meant, is none.
WARNS = (
    r"\b(?:wrong|bogus|faulty|un(?:known|recogni[sz]ed|handled|supported|aligned|usual|initiali[sz]ed)|inconsistent"
    r"|incompatible|incorrect\w*|illegal|missing|duplicate|deplet\w+|expir\w+|exceed\w*|conflict\w*|prohibited"
    r"|resett?(?:s|ing)?|timing out|dropped|packet drop|needs repair|too (?:many|few|big|small|large|long|short)"
    r"|(?:returned|ret|rc|status)[ =:(]{1,3}-\d{1,4})\b"
    r"|(?:\b(?:not?|never)\b|n't\b)(?!.{0,24}\b(?:support|offload|recommend|allowed|capab))"
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
OVER = r"\b(?:re-?connected|restored|recovered|recovery (?:complete|succeeded)|back online|firmware version: \d)"
LINK_UP = r"\b(?:link status (?:definitely )?up|active interface up|link (?:is |becomes )?(?:up|active|ready))\b"
LINK = r"\b(?:link|carrier|slave)\b"
# Of the boot, or of the last day (kernel_faults.PASSING_S); what lies between is history. source: inferred.
BOOT_S = 900.0

HARMLESS = (
    Harmless(
        r"\bmodule verification failed: signature and/or required key missing\b",
        "kernel/module: said of every module that the distribution did not sign; the module works",
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
        r"\bfailed to get link speed/duplex\b",
        "drivers/net/bonding/bond_main.c: the link is not up yet, and is asked again",
    ),
)
