# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse cuFile's configuration, JSON with comments (/etc/cufile.json): what is judged of it, and no more.

Keys that nobody judges are read past: each release has more of them. Strings may hold what looks like a comment.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from .._data.gds import POLICIES, POLICY, SIZE_MOST, SIZE_STEP
from .._ground.text import ParseError, clean_lines, to_short_int

_TOOL = "cufile_json"
_LONGEST = 1024 * 1024
# A string, or a comment to the end of its line or of itself; what is no comment stays.
_PIECE = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_FLAGS = ("allow_compat_mode", "force_compat_mode", "use_pci_p2pdma", "use_poll_mode", "rdma_dynamic_routing")
_FLAGS_OF_NVME = ("use_pci_p2pdma",)
_SIZE = "max_direct_io_size_kb"
_ADDRESSES = "rdma_dev_addr_list"


@dataclass(frozen=True)
class CufileAddress:
    """``where``: the key that it is told by."""

    where: str
    address: str


@dataclass(frozen=True)
class CufileJson:
    """``compat``: whether cuFile may copy through host memory. ``p2pdma``: whether it may do without nvidia-fs,
    ``nvme_p2pdma``: and to NVMe, which has a switch of its own. ``wrong``: what is of the wrong type or value."""

    compat: bool
    p2pdma: bool
    nvme_p2pdma: bool
    addresses: tuple[CufileAddress, ...]
    wrong: tuple[str, ...]

    @property
    def changed(self) -> bool:
        """Whether somebody set what the package leaves open, or wrote what no package does."""
        return not self.compat or self.p2pdma or self.nvme_p2pdma or bool(self.addresses or self.wrong)


def parse(text: str) -> CufileJson:
    """Read what is judged; ParseError where the text is no JSON, comments apart."""
    if len(text) > _LONGEST:
        raise ParseError(_TOOL, 0, "", "longer than any configuration")
    lines = clean_lines(text)
    plain = _PIECE.sub(_without_comment, "\n".join(lines))
    try:
        found = json.loads(plain, parse_int=to_short_int, strict=False)
    except json.JSONDecodeError as exc:
        line = lines[exc.lineno - 1] if exc.lineno <= len(lines) else ""
        raise ParseError(_TOOL, exc.lineno, line, f"no JSON from here on: {exc.msg}") from exc
    except (ValueError, RecursionError) as exc:
        raise ParseError(_TOOL, 0, "", "nested too deep, or a number too long") from exc
    if not isinstance(found, dict):
        raise ParseError(_TOOL, 1, lines[0] if lines else "", "no object")
    return _read(found)


def _without_comment(match: re.Match[str]) -> str:
    piece = match.group(0)
    # The lines stay where they are, for whoever is told one.
    return piece if piece.startswith('"') else " " + "\n" * piece.count("\n")


def _read(found: dict[str, Any]) -> CufileJson:
    wrong: list[str] = []
    properties = _object(found, "properties", "", wrong)
    nvme = _object(_object(found, "block", "", wrong), "nvme", "block.", wrong)
    for where, parent, names in (("properties", properties, _FLAGS), ("block.nvme", nvme, _FLAGS_OF_NVME)):
        for name in names:
            if not isinstance(parent.get(name, False), bool):
                wrong.append(f"{where}.{name} is {_shown(parent[name])}, not true or false")
    size, policy = properties.get(_SIZE, SIZE_MOST), properties.get(POLICY, POLICIES[0])
    if isinstance(size, bool) or not isinstance(size, int) or not 0 < size <= SIZE_MOST or size % SIZE_STEP:
        wrong.append(f"properties.{_SIZE} is {_shown(size)}, not a multiple of {SIZE_STEP} up to {SIZE_MOST}")
    if policy not in POLICIES:
        wrong.append(f"properties.{POLICY} is {_shown(policy)}, not one of {', '.join(POLICIES)}")
    addresses = _addresses(properties, "properties", wrong)
    systems = _object(found, "fs", "", wrong)
    for name in systems:
        system = _object(systems, name, "fs.", wrong)
        addresses += _addresses(system, f"fs.{name}", wrong)
        table = _object(system, "mount_table", f"fs.{name}.", wrong)
        for point in table:
            mount = _object(table, point, f"fs.{name}.mount_table.", wrong)
            addresses += _addresses(mount, f"fs.{name}.mount_table.{point}", wrong)
    return CufileJson(
        compat=properties.get("allow_compat_mode", True) is not False,
        p2pdma=properties.get("use_pci_p2pdma", False) is True,
        nvme_p2pdma=nvme.get("use_pci_p2pdma", False) is True,
        addresses=tuple(addresses),
        wrong=tuple(wrong),
    )


def _object(parent: dict[str, Any], name: str, above: str, wrong: list[str]) -> dict[str, Any]:
    found = parent.get(name, {})
    if isinstance(found, dict):
        return found
    wrong.append(f"{above}{name} is {_shown(found)}, not an object")
    return {}


def _addresses(parent: dict[str, Any], where: str, wrong: list[str]) -> list[CufileAddress]:
    found = parent.get(_ADDRESSES, [])
    if not isinstance(found, list) or not all(isinstance(entry, str) for entry in found):
        wrong.append(f"{where}.{_ADDRESSES} is {_shown(found)}, not a list of addresses")
        return []
    return [CufileAddress(f"{where}.{_ADDRESSES}", entry.strip()) for entry in found if entry.strip()]


def _shown(value: Any) -> str:
    return json.dumps(value)[:60]
