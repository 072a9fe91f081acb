# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a kernel would show below /sys/class/infiniband for a simulated HCA."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sandbox.fabric.dump import Node, Port

_STATES = {"Down": "1: DOWN", "Init": "2: INIT", "Armed": "3: ARMED", "Active": "4: ACTIVE"}
_PHYSICAL = {
    "Sleep": "1: Sleep",
    "Polling": "2: Polling",
    "Disabled": "3: Disabled",
    "Training": "4: PortConfigurationTraining",
    "LinkUp": "5: LinkUp",
}
# ibsim's speed of one lane -> (the kernel's tenths of Gb/s for one lane, its name).
_SPEEDS = {
    2.5: (25, "SDR"),
    5.0: (50, "DDR"),
    10.0: (100, "QDR"),
    14.0: (140, "FDR"),
    25.0: (250, "EDR"),
    50.0: (500, "HDR"),
    100.0: (1000, "NDR"),
    200.0: (2000, "XDR"),
}
# What mlx5 shows for an InfiniBand port without a link.
_DOWN_RATE = "10 Gb/sec (4X SDR)"
_NO_LID = 0xFFFF


def rate(width: int, lane_gbps: float) -> str:
    """Return the kernel's words for a link, for example ``400 Gb/sec (4X NDR)``."""
    tenths, name = _SPEEDS[lane_gbps]
    total = tenths * width
    fraction = ".5" if total % 10 else ""
    return f"{total // 10}{fraction} Gb/sec ({width}X {name})"


def guid(value: int) -> str:
    """Return a GUID as sysfs writes it, for example ``0200:0000:0001:0000``."""
    digits = f"{value:016x}"
    return ":".join(digits[at : at + 4] for at in range(0, 16, 4))


def files(
    node: Node, names: Mapping[str, str], hardware: Mapping[str, str], override: Mapping[str, str]
) -> dict[str, str]:
    """Return relative path -> content of one HCA.

    ``names`` fills the node_desc of ``hardware``; ``override`` replaces single files.
    """
    tree = {
        "node_type": hardware["node_type"],
        "fw_ver": hardware["fw_ver"],
        "hw_rev": hardware["hw_rev"],
        "hca_type": hardware["hca_type"],
        "board_id": hardware["board_id"],
        "node_guid": guid(node.guid),
        "sys_image_guid": guid(node.system_guid),
        "node_desc": hardware["node_desc"].format(**names),
    }
    for port in node.ports:
        for name, content in _port_files(port, hardware).items():
            tree[f"ports/{port.num}/{name}"] = content
    tree.update(override)
    return {path: content + "\n" for path, content in tree.items()}


def _port_files(port: Port, hardware: Mapping[str, str]) -> dict[str, str]:
    down = port.state == "Down"
    return {
        "state": _STATES[port.state],
        "phys_state": _PHYSICAL[port.physical],
        "rate": _DOWN_RATE if down else rate(port.width, port.lane_gbps),
        "lid": hex(_NO_LID if down else port.lid),
        "lid_mask_count": str(port.lmc),
        "sm_lid": hex(0 if down else port.sm_lid),
        "sm_sl": "0",
        "cap_mask": hardware["cap_mask"],
        "link_layer": hardware["link_layer"],
        "gids/0": "fe80:0000:0000:0000:" + guid(port.guid),
        "pkeys/0": hardware["pkey"],
    }


def write(home: Path, tree: Mapping[str, str], scratch: Path) -> int:
    """Bring the files below ``home`` to ``tree``, each in one step; return how many changed.

    ``scratch`` is on the same file system and not seen by the nodes' tools: whoever lists
    ports/1/gids must never meet a half-made file.
    """
    changed = 0
    for path, content in tree.items():
        target = home / path
        try:
            if target.read_text() == content:
                continue
        except FileNotFoundError:
            target.parent.mkdir(parents=True, exist_ok=True)
        fresh = scratch / f"new-{os.getpid()}"
        fresh.write_text(content)
        fresh.chmod(0o444)
        fresh.rename(target)
        changed += 1
    return changed


def link(place: Path, target: str) -> None:
    """Make `place` a link to the PCI function that the HCA is, unless it is one already."""
    if not place.is_symlink():
        place.symlink_to(target)
