# SPDX-License-Identifier: GPL-3.0-or-later
"""What the nvlink area reads of a simulated node: NVLinks, fabric manager, IMEX.

``node.more["nvlink"]`` understands, GPUs by index as text:

- ``down``, like {"3": [5, 7]}: inactive links; ``dark``, like [3]: GPUs of which no link is up;
  ``off``, like [3]: GPUs without NVLink, as the driver has it;
- ``rate``, like {"3": 13.281}; ``errors``, like {"3": {"5": {"Replay Errors": 7}}}, and
  ``errors_later``, the same at the second look;
- ``pairs``, like {"0-3": "SYS", "5-*": "NODE"}; ``caps``, like {"3": ["P2P"]}: what it cannot do.

``node.more["manager"]``: ``state``, ``boot``, ``journal`` (its last lines), ``processes``, ``log``
(more lines of its log file). ``node.more["imex"]``: ``state``, ``nodes``, ``channels``.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import entry_name
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from tests.gauntlet.node import Card, Node
from tests.gauntlet.nodes.nccl import ADDRESS
from tests.gauntlet.tree import Tree

_MIG = "Nvlink queries are not supported for Devices in MIG mode"
_DARK = "NVML: Unable to retrieve NVLink information as all links are inActive"
_OFF = "Device does not have or support Nvlink"
_OLD = ("Replay Errors", "Recovery Errors", "CRC Errors")
# Blackwell: traffic, errors, events, corrected code words, rates.
_NEW = (
    *("Tx packets", "Tx bytes", "Rx packets", "Rx bytes"),
    *("Malformed packet Errors", "Buffer overrun Errors", "Rx Errors", "Rx remote Errors"),
    *("Rx General Errors", "Local link integrity Errors", "Tx discards"),
    *("Link recovery successful events", "Link recovery failed events"),
    *("Total link recovery events", "Effective Errors", "Effective BER"),
    *(f"FEC Errors - {bin_}" for bin_ in range(3)),
    *("Symbol Errors", "Symbol BER"),
)
_BUSY = {
    **dict.fromkeys(("Tx packets", "Rx packets"), 7518241),
    **dict.fromkeys(("Tx bytes", "Rx bytes"), 962334848),
    "FEC Errors - 0": 36140700112,
    "FEC Errors - 1": 21,
}
# How the GPUs of a DGX-1 are cabled.
_CUBE = {
    **{(0, 1): 1, (0, 2): 1, (0, 3): 2, (0, 4): 2, (1, 2): 2, (1, 3): 1, (1, 5): 2},
    **{(2, 3): 2, (2, 6): 1, (3, 7): 1, (4, 5): 1, (4, 6): 1, (4, 7): 2, (5, 6): 2},
    **{(5, 7): 1, (6, 7): 2},
}
_LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
"""


def add(tree: Tree, node: Node) -> None:
    """Everything that the nvlink area reads of a host with these GPUs."""
    if not node.cards:
        return
    bent: dict[str, Any] = node.more.get("nvlink", {})
    tree.file("/sys/module/nvidia/version", node.driver)
    tree.command("nvlink_status", "".join(_status(node, one, bent) for one in node.cards))
    tree.command("nvlink_errors", "".join(_errors(node, one, bent) for one in node.cards))
    if "errors_later" in bent:
        text = "".join(_errors(node, one, {**bent, "errors": bent["errors_later"]}) for one in node.cards)
        tree.later_commands["nvlink_errors"] = Output(0, text, "")
    tree.command("nvlink_caps", "".join(_caps(node, one, bent) for one in node.cards))
    tree.command("topo", _topo(node, bent.get("pairs", {})))
    if node.fabric_manager:
        _manager(tree, node)
    else:
        tree.command("fabricmanager_status", "", 4, "Unit nvidia-fabricmanager.service could not be found.\n")
    if node.imex:
        _imex(tree, node)


def _head(node: Node, card: Card) -> str:
    return f"GPU {card.index}: {node.gpu_name} (UUID: {card.uuid})\n"


def _remark(node: Node, card: Card, bent: dict[str, Any]) -> str:
    """What nvidia-smi says in place of links, "" where it lists them."""
    if node.mig:
        return _MIG
    if not node.links or card.index in bent.get("off", ()):
        return _OFF
    return _DARK if card.index in bent.get("dark", ()) else ""


def _shown(node: Node) -> int:
    """An H100 PCIe lists all 18 links, of which its bridges use 12."""
    return 18 if node.gpu == "H100 PCIe" else node.links


def _down(node: Node, card: Card, bent: dict[str, Any]) -> list[int]:
    down: list[int] = list(bent.get("down", {}).get(str(card.index), ()))
    return down + list(range(node.links, _shown(node)))


def _status(node: Node, card: Card, bent: dict[str, Any]) -> str:
    remark = _remark(node, card, bent)
    if remark:
        return f"{_head(node, card)}{remark}\n"
    rate = bent.get("rate", {}).get(str(card.index), node.link_gbps)
    down = _down(node, card, bent)
    return _head(node, card) + "".join(
        f"\t Link {link}: {'<inactive>' if link in down else f'{rate:g} GB/s'}\n" for link in range(_shown(node))
    )


def _errors(node: Node, card: Card, bent: dict[str, Any]) -> str:
    remark = _remark(node, card, bent)
    if remark:
        return f"{_head(node, card)}{remark}\n"
    new = node.gpu.startswith(("B", "GB"))
    counted = bent.get("errors", {}).get(str(card.index), {})
    lines = []
    for link in range(_shown(node)):
        mine = {**(_BUSY if new else {}), **counted.get(str(link), {})}
        for name in _NEW if new else _OLD:
            value = "15e-255" if name.endswith("BER") else mine.get(name, 0)
            lines.append(f"\t Link {link}: {name}: {value}\n")
    return _head(node, card) + "".join(lines)


def _caps(node: Node, card: Card, bent: dict[str, Any]) -> str:
    remark = _remark(node, card, bent)
    if remark:
        return f"{_head(node, card)}{remark}\n"
    lacks = bent.get("caps", {}).get(str(card.index), ())
    names = ("P2P is", "Access to system memory", "P2P atomics", "System memory atomics", "SLI is")
    return _head(node, card) + "".join(
        f"\t Link {link}, {name} supported: {str(name.replace(' is', '') not in lacks).lower()}\n"
        for link in range(_shown(node))
        for name in names
    )


def _relation(node: Node, one: Card, other: Card) -> str:
    pair = (one.index, other.index)
    if node.mig or not node.links:
        count = 0
    elif node.gpu == "V100 SXM2":
        count = _CUBE.get((min(pair), max(pair)), 0)
    elif node.mesh:
        count = node.links // 3
    elif node.bridged and pair[0] // 2 != pair[1] // 2:
        count = 0
    else:
        count = node.links
    if count:
        return f"NV{count}"
    return "NODE" if one.numa == other.numa else "SYS"


def _topo(node: Node, bent: dict[str, str]) -> str:
    """GPUs and HCAs, of which a pair shares one PCIe switch."""
    ends: list[tuple[str, Any]] = [(f"GPU{number}", one) for number, one in enumerate(node.cards)]
    ends += [(f"NIC{number}", one) for number, one in enumerate(node.hcas)]
    head = [name for name, _ in ends] + ["CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]
    lines = ["\t\x1b[4m" + "\t".join(head) + "\x1b[0m"]
    for name, one in ends:
        cells = [_cell(node, one, other, bent) for _, other in ends]
        more = [f"{56 * one.numa}-{56 * one.numa + 55}", f"{one.numa}\t", "N/A"]
        lines.append("\t".join([name, *cells, *(more if isinstance(one, Card) else ())]))
    legend = "".join(f"  NIC{number}: {one.name}\n" for number, one in enumerate(node.hcas))
    return "\n".join(lines) + "\n" + _LEGEND + (f"\nNIC Legend:\n\n{legend}\n" if legend else "")


def _cell(node: Node, one: Any, other: Any, bent: dict[str, str]) -> str:
    if one is other:
        return " X "
    if isinstance(one, Card) and isinstance(other, Card):
        low, high = sorted((one.index, other.index))
        for key in (f"{low}-{high}", f"{one.index}-*", f"{other.index}-*"):
            if key in bent:
                return bent[key]
        return _relation(node, one, other)
    if one.path[0] == other.path[0]:
        return "PIX"
    return "NODE" if one.numa == other.numa else "SYS"


def _manager(tree: Tree, node: Node) -> None:
    bent = node.more.get("manager", {})
    state = bent.get("state", "active (running)")
    unit = "nvidia-fabricmanager.service"
    processes = ["31082 /usr/bin/nv-fabricmanager -c /usr/share/nvidia/nvswitch/fabricmanager.cfg"]
    if node.nvlsm:
        processes.insert(0, "31060 /opt/nvidia/nvlsm/sbin/nvlsm -F /usr/share/nvidia/nvlsm/nvlsm.conf -B")
    processes = bent.get("processes", processes if state.startswith("active") else [])
    mark = "*" if state.startswith("active") else "x"
    lines = [
        f"{mark} {unit} - NVIDIA fabric manager service",
        f"     Loaded: loaded (/usr/lib/systemd/system/{unit}; {bent.get('boot', 'enabled')}; preset: enabled)",
        f"     Active: {state} since Thu 2025-11-13 07:13:21 UTC; 7 days ago",
    ]
    if processes:
        lines.append("   Main PID: 31082 (nv-fabricmanage)")
        lines.append("      Tasks: 90 (limit: 629145)")
        lines.append(f"     CGroup: /system.slice/{unit}")
        lines += [f"             |-{one}" for one in processes]
    lines.append("")
    lines += [
        f"Nov 13 07:13:21 node {one}"
        for one in bent.get("journal", ["systemd[1]: Started NVIDIA fabric manager service."])
    ]
    rc = 0 if state.startswith("active") else 3
    tree.command("fabricmanager_status", "\n".join(lines) + "\n", rc)
    start = [
        "Fabric Manager Log initializing at: 11/13/2025 07:13:21.100",
        f"[Nov 13 2025 07:13:21] [INFO] [tid 1570] Fabric Manager version {node.driver} is running"
        " with the following configuration options",
        "[Nov 13 2025 07:13:22] [INFO] [tid 1570] start NVSwitch 0/0 routing configuration",
        "[Nov 13 2025 07:13:22] [INFO] [tid 1584] multicast group 0 is allocated.",
    ]
    tree.file("/var/log/fabricmanager.log", "\n".join([*start, *bent.get("log", ())]))


def _imex(tree: Tree, node: Node) -> None:
    bent = node.more.get("imex", {})
    state = bent.get("state", "active")
    unit = "nvidia-imex.service"
    reported = (
        f"Id={unit}\nLoadState=loaded\nActiveState={state}\nSubState={'running' if state == 'active' else 'dead'}\n"
    )
    tree.command(entry_name("systemctl_show", "-p", "Id,LoadState,ActiveState,SubState", unit), reported)
    nodes = bent.get("nodes", [ADDRESS, *(f"10.0.0.{number}" for number in range(2, 19))])
    tree.file("/etc/nvidia-imex/nodes_config.cfg", "\n".join(nodes))
    tree.folder("/dev/nvidia-caps-imex-channels")
    for name in bent.get("channels", ["channel0"]):
        tree.file(f"/dev/nvidia-caps-imex-channels/{name}", b"")
