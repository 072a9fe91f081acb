# SPDX-License-Identifier: GPL-3.0-or-later
"""Outputs about the whole fabric, which only the one host holds that was asked for all of them."""

from __future__ import annotations

from tests.gauntlet.node import Hca, Node
from tests.gauntlet.tree import Tree

_SPEEDS = {100: "25.78125", 200: "53.125", 400: "106.25", 800: "212.5"}
_NAMES = {100: "EDR", 200: "HDR", 400: "NDR", 800: "XDR"}
_LEAF, _LEAF_LID, _LEAF_GUID = "MF0;leaf-1:MQM9700/U1", 70, 0xFC6A1C0300A1B2C0
_EMPTY_PORTS = 3


def add(tree: Tree, node: Node) -> None:
    """With ``more: {whole_fabric: true}``: this node's rails, another node's, and one leaf."""
    if not node.more.get("whole_fabric"):
        return
    tree.recorded = True
    ends = [_End(1 + at, hca, "node-a") for at, hca in enumerate(node.rails)]
    ends += [_End(1 + len(ends) + at, one.hca, "node-b", 1 << 20) for at, one in enumerate(ends)]
    tree.command("iblinkinfo", _iblinkinfo(ends))
    tree.command("ibnetdiscover", _ibnetdiscover(ends))
    tree.command("ibqueryerrors", _ibqueryerrors(ends))
    tree.command("ibhosts", "".join(_ibhosts(one) for one in ends))
    tree.command("sminfo", _SM)
    tree.command("ibping", _PING)


class _End:
    """One HCA's link to the leaf switch."""

    def __init__(self, port: int, hca: Hca, host: str, more: int = 0) -> None:
        self.port = port
        self.hca = hca
        self.name = f"{host} {hca.name}"
        self.guid = hca.guid + more
        self.lid = hca.lid + (100 if more else 0)
        self.speed = _SPEEDS[hca.rate]
        self.width = "4x" + _NAMES[hca.rate]


def _iblinkinfo(ends: list[_End]) -> str:
    def up(one: _End) -> str:
        return f"==( 4X {one.speed:>14} Gbps Active/  LinkUp)==>"

    text = ""
    for one in ends:
        text += f"CA: {one.name}:\n      0x{one.guid:016x} {one.lid:6}    1[  ] {up(one)}  "
        text += f'{_LEAF_LID:6} {one.port:4}[  ] "{_LEAF}" ( )\n'
    text += f"Switch: 0x{_LEAF_GUID:016x} {_LEAF}:\n"
    for one in ends:
        text += f"      {_LEAF_LID:6} {one.port:4}[  ] {up(one)}  "
        text += f'{one.lid:6}    1[  ] "{one.name}" ( )\n'
    for port in range(len(ends) + 1, len(ends) + 1 + _EMPTY_PORTS):
        text += f"      {_LEAF_LID:6} {port:4}[  ] ==(                Down/ Polling)==>"
        text += '             [  ] "" ( )\n'
    return text


def _ibnetdiscover(ends: list[_End]) -> str:
    first = f"{ends[0].guid:016x}"
    text = "#\n# Topology file: generated on Mon Mar  2 09:10:11 2026\n#\n"
    text += f"# Initiated from node {first} port {first}\n\n"
    text += f"vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x{_LEAF_GUID:x}\n"
    ports = len(ends) + _EMPTY_PORTS
    text += f"switchguid=0x{_LEAF_GUID:x}({_LEAF_GUID:x})\n"
    text += f'Switch\t{ports} "S-{_LEAF_GUID:016x}"\t\t# "{_LEAF}" enhanced port 0 '
    text += f"lid {_LEAF_LID} lmc 0\n"
    for one in ends:
        text += f'[{one.port}]\t"H-{one.guid:016x}"[1]({one.guid:x}) \t\t# "{one.name}" '
        text += f"lid {one.lid} {one.width}\n"
    for one in ends:
        text += f"\nvendid=0x2c9\ndevid=0x{one.hca.device}\nsysimgguid=0x{one.guid:x}\n"
        text += f'caguid=0x{one.guid:x}\nCa\t1 "H-{one.guid:016x}"\t\t# "{one.name}"\n'
        text += f'[1]({one.guid:x}) \t"S-{_LEAF_GUID:016x}"[{one.port}]\t\t# lid {one.lid} lmc 0 '
        text += f'"{_LEAF}" lid {_LEAF_LID} {one.width}\n'
    return text


def _ibqueryerrors(ends: list[_End]) -> str:
    ports = 2 * len(ends) + _EMPTY_PORTS
    text = f'Errors for 0x{_LEAF_GUID:x} "{_LEAF}"\n'
    for port in ("ALL", "1"):
        text += f"   GUID 0x{_LEAF_GUID:x} port {port}: [LinkDownedCounter == 2] "
        text += "[PortRcvSwitchRelayErrors == 41] [PortXmitWait == 8512077]\n"
    text += f"\n## Summary: {1 + len(ends)} nodes checked, 1 bad nodes found\n##          {ports} "
    return text + "ports checked, 1 ports have errors beyond threshold\n## Thresholds: \n"


def _ibhosts(one: _End) -> str:
    return f'Ca\t: 0x{one.guid:016x} ports 1 "{one.name}"\n'


_SM = "sminfo: sm lid 1 sm guid 0xb8599f0300a10001, activity count 5568705 priority 15 state 3 SMINFO_MASTER\n"
_PING = """
--- node-b.(none) (Lid 120) ibping statistics ---
1000 packets transmitted, 1000 received, 0% packet loss, time 41 ms
rtt min/avg/max = 0.012/0.019/0.071 ms
"""
