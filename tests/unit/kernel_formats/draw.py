# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw what Linux's drivers print, with its level, from an unpacked kernel source into formats.tsv. See README.md.

Run by hand: python -m tests.unit.kernel_formats.draw FOLDER
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
FORMATS = HERE / "formats.tsv"
SEED = 44
N_BAD, N_NEWS = 320, 260
LEVELS = ("emerg", "alert", "crit", "err", "warn", "notice", "info")
WARN = LEVELS.index("warn")
_SAME = {"error": "err", "warning": "warn"}
_WHERE = "%s:%d:(pid %d): "
_PCI = "0000:15:00.0"
_RDMA = "drivers/infiniband"
_ETHERNET = "drivers/net/ethernet"

# Folder: what the kernel puts before the words of dev_*, netdev_* and ibdev_*; "" where these are not used.
HEADS = {
    f"{_ETHERNET}/mellanox/mlx5": (f"mlx5_core {_PCI}: ", f"mlx5_core {_PCI} ens1f0np0: ", ""),
    f"{_ETHERNET}/mellanox/mlx4": (f"mlx4_core {_PCI}: ", "mlx4_en: ens1: ", ""),
    f"{_ETHERNET}/broadcom/bnxt": (f"bnxt_en {_PCI}: ", f"bnxt_en {_PCI} ens1f0np0: ", ""),
    f"{_ETHERNET}/intel/ice": (f"ice {_PCI}: ", f"ice {_PCI} ens1f0: ", ""),
    f"{_ETHERNET}/amazon/ena": (f"ena {_PCI}: ", f"ena {_PCI} ens5: ", ""),
    f"{_ETHERNET}/google/gve": (f"gvnic {_PCI}: ", f"gvnic {_PCI} ens5: ", ""),
    f"{_ETHERNET}/microsoft/mana": ("mana 7870:00:00.0: ", "mana 7870:00:00.0 eth0: ", ""),
    "drivers/net/bonding": ("", "bond0: ", ""),
    f"{_RDMA}/core": ("infiniband mlx5_0: ", "", "infiniband mlx5_0: "),
    f"{_RDMA}/hw/mlx5": ("infiniband mlx5_0: ", "", "infiniband mlx5_0: "),
    f"{_RDMA}/hw/mlx4": ("", "", "infiniband mlx4_0: "),
    f"{_RDMA}/hw/bnxt_re": (f"bnxt_re {_PCI}: ", "", "infiniband bnxt_re0: "),
    f"{_RDMA}/hw/efa": (f"efa {_PCI}: ", "", "infiniband rdmap21s0: "),
    f"{_RDMA}/hw/irdma": (f"irdma {_PCI}: ", "", "infiniband irdma0: "),
    f"{_RDMA}/hw/erdma": (f"erdma {_PCI}: ", "", "infiniband erdma_0: "),
    f"{_RDMA}/sw/rxe": ("", "", "infiniband rxe0: "),
    f"{_RDMA}/sw/siw": ("", "", "infiniband siw0: "),
    f"{_RDMA}/ulp/ipoib": ("ib0: ", "ib0: ", ""),
    f"{_RDMA}/ulp/srpt": ("", "", ""),
    f"{_RDMA}/ulp/iser": ("", "", ""),
    f"{_RDMA}/ulp/isert": ("", "", ""),
    "drivers/nvme/host": ("nvme nvme0: ", "", ""),
    "drivers/nvme/target": ("", "", ""),
    **{f"fs/{name}": ("", "", "") for name in ("xfs", "ext4", "btrfs", "nfs", "lockd", "ceph", "fuse", "fscache")},
    **{name: ("", "", "") for name in ("drivers/md", "net/sunrpc", "net/ceph")},
}
_SKIPPED = ("/bcache/", "/tests/")
# A function's first word: what its macro puts before the words.
MACROS = {
    "mlx5_core": f"mlx5_core {_PCI}: {_WHERE}",
    "esw": f"mlx5_core {_PCI}: {_WHERE}E-Switch: ",
    "mlx5dr": f"mlx5_core {_PCI}: {_WHERE}",
    "mlx5_fpga": f"mlx5_core {_PCI}: FPGA: {_WHERE}",
    "mlx5_ib": f"infiniband mlx5_0: {_WHERE}",
    "mlx4": f"mlx4_core {_PCI}: ",
    "mlx4_ib": f"mlx4_core {_PCI}: mlx4_ib: ",
    "en": "mlx4_en: ens1: ",
    "ipoib": "ib0: ",
    "slave": "bond0: (slave ens1f0np0): ",
    "xfs": "XFS (nvme0n1p2): ",
    "iser": "iser: %s: ",
    "isert": "isert: %s: ",
}
# Functions whose name is not all.
TAGGED = {
    "ext4_error": ("crit", "EXT4-fs error (device sda1): %s:%d: "),
    "ext4_warning": ("warn", "EXT4-fs warning (device sda1): %s:%d: "),
    "btrfs_crit": ("crit", "BTRFS critical (device sda1): "),
    "btrfs_err": ("err", "BTRFS error (device sda1): "),
    "btrfs_warn": ("warn", "BTRFS warning (device sda1): "),
    "btrfs_info": ("info", "BTRFS info (device sda1): "),
    "DMERR": ("err", "device-mapper: %s: "),
    "DMWARN": ("warn", "device-mapper: %s: "),
    "DMINFO": ("info", "device-mapper: %s: "),
}
_CALL = re.compile(
    rf"\b(\w+?_(?:{'|'.join((*LEVELS, *_SAME))})|printk|ext4_msg|DM(?:ERR|WARN|INFO))"
    r"(?:_rl|_ratelimited|_once|_LIMIT)?\s*\("
)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_FIRST = re.compile(r'"(?:[^"\\]|\\.)*"(?:\s*(?:PRI\w+\s*)?"(?:[^"\\]|\\.)*")*')
_NAMES_SOMEBODY = re.compile(r"(?!Warning|Error|ERROR|sysfs|multipath|bitmap)[A-Za-z][\w/-]*: ")


class Format(NamedTuple):
    level: str
    file: str
    text: str


def formats(root: Path) -> Iterator[Format]:
    """All formats that name their driver or device: the others are nobody's in a log."""
    for folder, heads in HEADS.items():
        names = _modules(root / folder)
        for path in sorted((root / folder).rglob("*.c")):
            file = str(path.relative_to(root))
            if any(skipped in file for skipped in _SKIPPED):
                continue
            text = re.sub(r"/\*.*?\*/", " ", path.read_text(errors="replace"), flags=re.DOTALL)
            own = _own_prefix(root, path, text, names.get(str(path), path.stem))
            for call in _CALL.finditer(text):
                found = _format(call.group(1), _arguments(text, call.end()), heads, own)
                if found is not None and "#define" not in text[text.rfind("\n", 0, call.start()) : call.start()]:
                    yield Format(found[0], file, found[1])


def _format(function: str, arguments: str, heads: tuple[str, str, str], own: str) -> tuple[str, str] | None:
    words = _FIRST.search(arguments)
    if words is None:
        return None
    said = "".join(_STRING.findall(words.group()))
    first, _, level = function.rpartition("_")
    if function in TAGGED:
        level, before = TAGGED[function]
    elif function in ("printk", "ext4_msg"):
        asked = re.search(r"\bKERN_([A-Z]+)\s", arguments)
        level, before = asked.group(1).lower() if asked else "", "EXT4-fs (sda1): " if function == "ext4_msg" else ""
    elif first in ("dev", "netdev", "netif", "ibdev"):
        before = heads[{"dev": 0, "ibdev": 2}.get(first, 1)]
        if not before:
            return None
    elif first == "pr":
        before = own
    elif first in MACROS:
        before = MACROS[first] if (first, level) != ("mlx5_core", "info") else heads[0]
    else:
        return None
    level = _SAME.get(level, level)
    whole = " ".join(re.sub(r"\\[nt]", " ", before + said).replace('\\"', '"').split())
    named = (bool(before) and not before.startswith("%")) or _NAMES_SOMEBODY.match(whole)
    return (level, whole) if level in LEVELS and named and len(said.strip()) >= 4 else None


def _arguments(text: str, start: int) -> str:
    """What stands in a call's parentheses; a string may hold parentheses."""
    depth = 1
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[()]', text[start : start + 2000]):
        depth += {"(": 1, ")": -1}.get(token.group(), 0)
        if depth == 0:
            return text[start : start + token.start()]
    return ""


def _own_prefix(root: Path, path: Path, text: str, module: str) -> str:
    """What pr_fmt puts before the words of pr_*."""
    headers = [path.parent / name for name in re.findall(r'#include "([\w./]+)"', text)]
    headers += [root / "include" / name for name in re.findall(r"#include <(linux/ceph/[\w./]+)>", text)]
    for one in (text, *(header.read_text(errors="replace") for header in headers if header.is_file())):
        defined = re.search(r"#\s*define\s+pr_fmt\(\w+\)\s*(.*)", one)
        if defined is not None:
            return "".join(
                _STRING.findall(re.sub(r"\b(?:KBUILD_MODNAME|\w*DRV_NAME)\b", f'"{module}"', defined.group(1)))
            )
    return ""


def _modules(folder: Path) -> dict[str, str]:
    """Source file: its module, by the folder's makefiles."""
    found = {}
    for makefile in folder.rglob("Makefile"):
        for line in re.finditer(r"^([\w-]+?)-(?:y|objs|\$\(\w+\))\s*[:+]?=(.*)$", _joined(makefile), re.MULTILINE):
            for name in re.findall(r"([\w/-]+)\.o\b", line.group(2)):
                module = name.rpartition("/")[2] if line.group(1) == "obj" else line.group(1)
                found[str((makefile.parent / name).with_suffix(".c"))] = module.replace("-", "_")
    return found


def _joined(path: Path) -> str:
    return path.read_text(errors="replace").replace("\\\n", " ")


def main(folder: str) -> None:
    every = sorted({(one.level, one.text): one for one in formats(Path(folder))}.values())
    chance = random.Random(SEED)
    bad = chance.sample([one for one in every if LEVELS.index(one.level) <= WARN], N_BAD)
    news = chance.sample([one for one in every if LEVELS.index(one.level) > WARN], N_NEWS)
    FORMATS.write_text("".join("\t".join(one) + "\n" for one in (*bad, *news)))


if __name__ == "__main__":
    main(sys.argv[1])
