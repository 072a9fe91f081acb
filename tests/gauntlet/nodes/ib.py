# SPDX-License-Identifier: GPL-3.0-or-later
"""The RDMA devices of a simulated node: ibstat, sminfo and /sys/class/infiniband."""

from __future__ import annotations

from tests.gauntlet.node import Hca, Node
from tests.gauntlet.nodes.pci import place
from tests.gauntlet.tree import Tree

_STATE = {"Down": "1: DOWN", "Initializing": "2: INIT", "Armed": "3: ARMED", "Active": "4: ACTIVE"}
_PHYSICAL = {"Sleep": 1, "Polling": 2, "Disabled": 3, "PortConfigurationTraining": 4, "LinkUp": 5}
_NAMES = {100: "EDR", 200: "HDR", 400: "NDR", 800: "XDR"}
_SM = (
    "sminfo: sm lid {lid} sm guid 0x{guid:x}, "
    "activity count 5568705 priority 15 state 3 SMINFO_MASTER"
)


def add(tree: Tree, node: Node) -> None:
    """Everything that the ib area reads of a host with these HCAs."""
    tree.folder("/sys/class/infiniband")
    tree.command("ibstat", "".join(_ibstat(one) for one in sorted(node.hcas, key=_by_text)))
    for hca in node.hcas:
        _sysfs(tree, hca)
        if hca.layer == "InfiniBand" and hca.state == "Active":
            said = _SM.format(lid=hca.sm_lid, guid=0xB8599F0300A10000 + hca.sm_lid)
            tree.command(f"sminfo@{hca.name}-1", said + "\n")


def _by_text(hca: Hca) -> str:
    return hca.name  # mlx5_10 comes before mlx5_2, as ibstat has it


def _port_guid(hca: Hca) -> int:
    return hca.guid if hca.layer == "InfiniBand" else 0


def _ibstat(hca: Hca) -> str:
    return f"""CA '{hca.name}'
\tCA type: {hca.ca_type}
\tNumber of ports: 1
\tFirmware version: {hca.firmware}
\tHardware version: 0
\tNode GUID: 0x{hca.guid:016x}
\tSystem image GUID: 0x{hca.guid:016x}
\tPort 1:
\t\tState: {hca.state}
\t\tPhysical state: {hca.physical}
\t\tRate: {hca.rate}
\t\tBase lid: {hca.lid}
\t\tLMC: 0
\t\tSM lid: {hca.sm_lid}
\t\tCapability mask: 0xa751e848
\t\tPort GUID: 0x{_port_guid(hca):016x}
\t\tLink layer: {hca.layer}
"""


def _words(guid: int) -> str:
    text = f"{guid:016x}"
    return ":".join(text[at : at + 4] for at in range(0, 16, 4))


def _sysfs(tree: Tree, hca: Hca) -> None:
    base = f"{place(hca.path)}/infiniband/{hca.name}"
    tree.symlink(f"/sys/class/infiniband/{hca.name}", "../../" + base[len("/sys/") :])
    tree.symlink(f"{base}/device", f"../../../{hca.address}")
    for name, text in {
        "node_type": "1: CA",
        "hca_type": hca.ca_type,
        "fw_ver": hca.firmware,
        "hw_rev": "0",
        "board_id": "MT_0000000838",
        "node_desc": f"sim {hca.name}",
        "node_guid": _words(hca.guid),
        "sys_image_guid": _words(hca.guid),
    }.items():
        tree.file(f"{base}/{name}", text)
    port = f"{base}/ports/1"
    lanes = 2 if hca.width == 2 else 4
    for name, text in {
        "state": _STATE[hca.state],
        "phys_state": f"{_PHYSICAL[hca.physical]}: {hca.physical}",
        "rate": f"{hca.rate} Gb/sec ({lanes}X {_NAMES.get(hca.rate, 'NDR')})",
        "lid": f"0x{hca.lid:x}",
        "lid_mask_count": "0",
        "sm_lid": f"0x{hca.sm_lid:x}",
        "cap_mask": "0xa751e848",
        "link_layer": hca.layer,
        "gids/0": f"fe80:0000:0000:0000:{_words(_port_guid(hca))}",
    }.items():
        tree.file(f"{port}/{name}", text)
