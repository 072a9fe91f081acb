# SPDX-License-Identifier: GPL-3.0-or-later
"""The Ethernet RDMA ports of a simulated node: interfaces, GID tables, priorities."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._data import spectrum_x
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from tests.gauntlet.node import Hca, Node
from tests.gauntlet.nodes.pci import place
from tests.gauntlet.tree import Tree

# As mlx5 names them; those of a priority in whole only where flow control is on.
_PHY = (
    *("rx_out_of_buffer", "rx_crc_errors_phy", "rx_symbol_err_phy", "rx_discards_phy", "tx_discards_phy"),
    *(f"rx_prio{at}_discards" for at in range(8)),
    *("rx_prio3_pause", "rx_prio3_pause_duration", "tx_prio3_pause", "tx_prio3_pause_duration"),
    *("tx_pause_storm_warning_events", "tx_pause_storm_error_events"),
)
_PART = "900-9D3D4-00EN-HA0_Ax"
_DIFFERENT = "The '*' shows parameters with next value different from default/current value."


def add(tree: Tree, node: Node) -> None:
    """Everything that the roce area reads of the HCAs with an Ethernet link layer.

    ``more``: `roce_trust`, `roce_pfc` and `roce_ecn` of every rail (a word, priorities, on or off), and
    `roce_unset` for rails that nobody set up since the reboot. `roce_before` and `roce_rise` by HCA (or
    `all`): counters at the first look, and by how much they have risen at the second:
    {mlx5_3: {packet_seq_err: 800, ethtool: {rx_prio3_discards: 90}}}. `roce_vlan` by HCA (or `all`): the MTU of
    a VLAN that has the rail's address. `roce_dcbx`: the priorities that the rails' switches advertise, those of
    the rails unless it says otherwise. `roce_heard`: the switch port that each rail hears, in place of Ethernet0.
    `roce_map`: DSCPs that the rails put into another priority than that of their first three bits, {26: 4}.
    """
    for index, hca in enumerate(one for one in node.hcas if one.layer == "Ethernet"):
        rail = hca.role == "rail"
        _interface(tree, hca, ecn=node.more.get("roce_ecn", True))
        vlan = node.more.get("roce_vlan", {})
        mtu = vlan.get(hca.name, vlan.get("all", "")) if rail else ""
        _gids(tree, hca, (index, node.more.get("number", 1)), _vlan(tree, hca, mtu) if mtu else "")
        trust, lossless = _priorities(node) if rail else ("pcp", ())
        tree.command(f"mlnx_qos@{hca.netdev}", _qos(trust, lossless, node.more.get("roce_map", {})))
        _counters(tree, node, hca)
        cm = f"/sys/kernel/config/rdma_cm/{hca.name}/ports/1"
        tree.file(f"{cm}/default_roce_mode", "RoCE v2")
        if node.rdma != "inbox":
            base = f"{place(hca.path)}/infiniband/{hca.name}"
            tree.file(
                f"{base}/tc/1/traffic_class", "Global tclass=106" if rail and not node.more.get("roce_unset") else ""
            )
    _neighbours(tree, node)
    if "spectrum_x" in node.expect:
        _spectrum_x(tree, node)


def _spectrum_x(tree: Tree, node: Node) -> None:
    """What the tools of firmware print of each rail's HCA, and who serves its congestion control.

    ``more``: `spectrum_x` by HCA (or `all`): parameters and fields that are otherwise, a number or [now, next].
    """
    profile = spectrum_x.PROFILES[node.expect["spectrum_x"]]
    planes = node.expect.get("spectrum_x_planes", spectrum_x.NONE)
    programs = ["1 /sbin/init splash", "3120 /lib/systemd/systemd --user"]
    for at, hca in enumerate(one for one in node.rails if one.layer == "Ethernet"):
        programs.append(f"{41820 + at} /opt/mellanox/doca/tools/doca_spcx_cc --device {hca.name}")
        if hca.device not in profile.hcas:
            continue
        told = node.more.get("spectrum_x", {})
        told = {**told.get("all", {}), **told.get(hca.name, {})}
        lines = [
            *("", "Device #1:", "----------", "", f"Device type:        {hca.model.replace('-', '')}"),
            *(
                f"Name:               {_PART}",
                f"Description:        NVIDIA {hca.model} SuperNIC",
                f"Device:             {hca.address}",
                "",
            ),
            f"{'Configurations:':<57}{'Default':<21}{'Current':<21}Next Boot",
            f"        {'MEMIC_SIZE_LIMIT':<44}" + f"{'_256KB(1)':<21}" * 3,
        ]
        for name, value in profile.wanted(hca.device, planes).items():
            now, later = told[name] if isinstance(told.get(name), list) else [told.get(name, value)] * 2
            lines.append(f"*       {name:<44}{'0':<21}{now:<21}{later:<21}")
        tree.command(f"mstconfig@{hca.address}-query", "\n".join([*lines, _DIFFERENT]) + "\n")
        fields = {**dict.fromkeys((f"{name}_field_select" for name in spectrum_x.REGISTER), 1), **spectrum_x.REGISTER}
        rows = [f"{name:<47}| 0x{told.get(name, value):08x}" for name, value in fields.items()]
        rule = "=" * 60
        text = ["Sending access register...", "", f"{'Field Name':<47}| Data", rule, *rows, rule]
        tree.command(f"mstreg@{hca.address}-ROCE_ACCL", "\n".join(text) + "\n")
    tree.command("spcx_cc", "\n".join(programs) + "\n")


def _neighbours(tree: Tree, node: Node) -> None:
    """What lldpd hears on each rail: a leaf of its own, which sends DCBX."""
    rails = [hca for hca in node.hcas if hca.layer == "Ethernet" and hca.role == "rail" and hca.state == "Active"]
    if not rails:
        return
    heard = node.more.get("roce_heard", "Ethernet0")
    bits = sum(1 << at for at in node.more.get("roce_dcbx", _priorities(node)[1]))
    told = [
        {
            hca.netdev: {
                "via": "LLDP",
                "chassis": {f"leaf{at}": {"id": {"type": "mac", "value": f"70:06:92:6e:33:{at:02x}"}}},
                "port": {"id": {"type": "local", "value": heard}, "descr": heard, "ttl": "120"},
                "unknown-tlvs": {
                    "unknown-tlv": {"oui": "00,80,C2", "subtype": "11", "len": "2", "value": f"08,{bits:02X}"}
                },
            }
        }
        for at, hca in enumerate(rails)
    ]
    tree.command("lldpctl", json.dumps({"lldp": {"interface": told}}, indent=2) + "\n")


def _counters(tree: Tree, node: Node, hca: Hca) -> None:
    before, rise = _told(node, "roce_before", hca), _told(node, "roce_rise", hca)
    base = f"{place(hca.path)}/infiniband/{hca.name}/ports/1/hw_counters"
    for name in sorted({*before, *rise} - {"ethtool"}):
        was = before.get(name, 0)
        tree.file(f"{base}/{name}", str(was))
        tree.later[f"{base}/{name}"] = f"{was + rise.get(name, 0)}\n".encode()
    shown = {**dict.fromkeys(_PHY, 0), **before.get("ethtool", {})}
    risen = {name: value + rise.get("ethtool", {}).get(name, 0) for name, value in shown.items()}
    tree.command(f"ethtool_stats@{hca.netdev}", _ethtool(shown))
    tree.later_commands[f"ethtool_stats@{hca.netdev}"] = Output(0, _ethtool(risen), "")


def _told(node: Node, key: str, hca: Hca) -> dict[str, Any]:
    told = node.more.get(key, {})
    return {**(told.get("all", {}) if hca.role == "rail" else {}), **told.get(hca.name, {})}


def _ethtool(shown: dict[str, int]) -> str:
    lines = [f"     {name}: {value}\n" for name, value in shown.items()]
    channels = [f"     ch{at}_events: 4127\n     rx{at}_packets: 88124\n" for at in range(2)]
    return "".join(["NIC statistics:\n     rx_packets: 1202934\n", *lines, *channels])


def _interface(tree: Tree, hca: Hca, *, ecn: bool) -> None:
    base = f"{place(hca.path)}/net/{hca.netdev}"
    tree.symlink(f"/sys/class/net/{hca.netdev}", "../../" + base[len("/sys/") :])
    up = hca.state == "Active"
    tree.file(f"{base}/operstate", "up" if up else "down")
    tree.file(f"{base}/carrier", "1" if up else "0")
    # Up once: at the last boot.
    tree.file(f"{base}/carrier_changes", "2")
    tree.file(f"{base}/carrier_down_count", "1")
    tree.file(f"{base}/mtu", "9000")
    tree.file(f"{base}/dev_port", "0")
    for side in ("roce_np", "roce_rp"):
        for priority in range(8):
            tree.file(f"{base}/ecn/{side}/enable/{priority}", "1" if ecn else "0")
    tree.file(f"{base}/ecn/roce_np/cnp_dscp", "48")


def _vlan(tree: Tree, hca: Hca, mtu: int) -> str:
    """An interface for tagged packets above the rail's own; its name."""
    name = f"{hca.netdev}.100"
    tree.symlink(f"/sys/class/net/{name}", f"../../devices/virtual/net/{name}")
    shown = {"operstate": "up", "carrier": "1", "mtu": str(mtu), "dev_port": "0"}
    for file, text in {**shown, "carrier_changes": "2", "carrier_down_count": "1"}.items():
        tree.file(f"/sys/devices/virtual/net/{name}/{file}", text)
    return name


def _gids(tree: Tree, hca: Hca, numbers: tuple[int, int], vlan: str) -> None:
    """Link-local and IPv4, each for RoCE v1 and v2, as mlx5 fills its table; then empty ones.

    With a VLAN that has the IPv4 address, the rail's own interface has a link-local one alone.
    """
    port = f"{place(hca.path)}/infiniband/{hca.name}/ports/1"
    rail, host = numbers
    local = f"fe80:0000:0000:0000:0ac0:ebff:fe{rail:02x}:0001"
    mapped = f"0000:0000:0000:0000:0000:ffff:0a{rail:02x}:{host:02x}05"
    used = (local, local, *((local, local) if vlan else ()), mapped, mapped) if hca.state == "Active" else ()
    for at in range(64):
        there = at < len(used)
        tree.file(f"{port}/gids/{at}", used[at] if there else ":".join(["0000"] * 8))
        if there:
            tree.file(f"{port}/gid_attrs/types/{at}", "RoCE v2" if at % 2 else "IB/RoCE v1")
            tree.file(f"{port}/gid_attrs/ndevs/{at}", vlan if vlan and at > 1 else hca.netdev)


def _priorities(node: Node) -> tuple[str, Sequence[int]]:
    if node.more.get("roce_unset"):
        return "pcp", ()
    return node.more.get("roce_trust", "dscp"), node.more.get("roce_pfc", (3,))


def _qos(trust: str, lossless: Sequence[int], moved: Mapping[int, int]) -> str:
    flags = "   ".join("1" if at in lossless else "0" for at in range(8))
    rows = {prio: [at for at in range(63, -1, -1) if moved.get(at, at // 8) == prio] for prio in range(8)}
    mapped = "".join(f"\tprio:{prio} dscp:{''.join(f'{at:02d},' for at in row)}\n" for prio, row in rows.items())
    mapping = f"dscp2prio mapping:\n{mapped}" if trust == "dscp" else ""
    classes = "".join(f"tc: {at} ratelimit: unlimited, tsa: vendor\n\t priority:  {at}\n" for at in range(8))
    return (
        f"DCBX mode: OS controlled\nPriority trust state: {trust}\n{mapping}default priority:\n"
        "Receive buffer size (bytes): 20016,156096,0,0,0,0,0,0,total_size=1027728\n"
        "Cable len: 7\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
        f"\tenabled     {flags}   \n\tbuffer      0   0   0   1   0   0   0   0   \n{classes}"
    )
