# SPDX-License-Identifier: GPL-3.0-or-later
"""The RDMA devices of a simulated node: ibstat, sminfo and /sys/class/infiniband."""

from __future__ import annotations

from tests.gauntlet.node import Hca, Node
from tests.gauntlet.nodes.pci import place
from tests.gauntlet.tree import Tree

_COUNTERS = (
    "VL15_dropped",
    "excessive_buffer_overrun_errors",
    "link_downed",
    "link_error_recovery",
    "local_link_integrity_errors",
    "port_rcv_constraint_errors",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_xmit_constraint_errors",
    "port_xmit_discards",
    "symbol_error",
)
# As mlx5 has them of a port with congestion control.
_HW_COUNTERS = (
    *("duplicate_request", "implied_nak_seq_err", "local_ack_timeout_err", "np_cnp_sent", "np_ecn_marked_roce_packets"),
    *("out_of_buffer", "out_of_sequence", "packet_seq_err", "req_transport_retries_exceeded", "rnr_nak_retry_err"),
    *("roce_adp_retrans", "roce_adp_retrans_to", "roce_slow_restart", "roce_slow_restart_cnps", "rp_cnp_handled"),
    *("rp_cnp_ignored", "rx_icrc_encapsulated"),
)
_VERBS = {
    "Down": "DOWN (1)",
    "Initializing": "INIT (2)",
    "Armed": "ARMED (3)",
    "Active": "ACTIVE (4)",
}
_MTU = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
_NETLINK = {
    "Sleep": "SLEEP",
    "Polling": "POLLING",
    "Disabled": "DISABLED",
    "PortConfigurationTraining": "PORT_CONFIGURATION_TRAINING",
    "LinkUp": "LINK_UP",
    "LinkErrorRecovery": "LINK_ERROR_RECOVER",
}
_STATE = {"Down": "1: DOWN", "Initializing": "2: INIT", "Armed": "3: ARMED", "Active": "4: ACTIVE"}
_PHYSICAL = {
    "Sleep": 1,
    "Polling": 2,
    "Disabled": 3,
    "PortConfigurationTraining": 4,
    "LinkUp": 5,
    "LinkErrorRecovery": 6,
}
_NAMES = {100: "EDR", 200: "HDR", 400: "NDR", 800: "XDR"}
_SM = "sminfo: sm lid {lid} sm guid 0x{guid:x}, activity count 5568705 priority 15 state 3 SMINFO_MASTER"


def add(tree: Tree, node: Node) -> None:
    """Everything that the ib area reads of a host with these HCAs.

    ``more``: `unbound` names HCAs without an RDMA driver, `ib_panics` the one at which ibstat gives
    up, `ib_later` the counters at the second look by HCA, for example {mlx5_3: {symbol_error: 40}}.
    """
    hcas = [one for one in node.hcas if one.name not in node.more.get("unbound", ())]
    tree.folder("/sys/class/infiniband")
    _ask_ibstat(tree, sorted(hcas, key=_by_text), node.more.get("ib_panics", ""))
    for hca in hcas:
        _sysfs(tree, hca)
        later = node.more.get("ib_later", {}).get(hca.name, {})
        for name, value in later.items():
            home = "hw_counters" if name in _HW_COUNTERS else "counters"
            counters = f"{place(hca.path)}/infiniband/{hca.name}/ports/1/{home}"
            tree.later[f"{counters}/{name}"] = f"{value}\n".encode()
        if hca.layer == "InfiniBand" and hca.state == "Active":
            said = _SM.format(lid=hca.sm_lid, guid=0xB8599F0300A10000 + hca.sm_lid)
            tree.command(f"sminfo@{hca.name}-1", said + "\n")
        if node.rdma == "doca" and hca.role != "nvswitch" and not hca.virtual:
            tree.command(f"mlxlink@{hca.name}-1", _mlxlink(hca))
    if not hcas:
        tree.command("ibv_devinfo", "No IB devices found\n", 255)
        return
    tree.command("ibv_devinfo", "".join(_verbs(one) for one in hcas))
    tree.command("ibstatus", "".join(_ibstatus(one) for one in hcas))
    tree.command("rdma_link", "".join(_rdma_link(one) for one in hcas))


def _ask_ibstat(tree: Tree, hcas: list[Hca], panics: str) -> None:
    reported = []
    for hca in hcas:
        if hca.name == panics:
            said = f"ibpanic: [812] main: stat of IB device '{panics}' failed: No such file"
            tree.command("ibstat", "".join(reported), 255, f"{said} or directory\n")
            return
        reported.append(_ibstat(hca))
    tree.command("ibstat", "".join(reported))


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
    for name, text in {
        "state": _STATE[hca.state],
        "phys_state": f"{_PHYSICAL[hca.physical]}: {hca.physical}",
        "rate": _rate(hca),
        "lid": f"0x{hca.lid:x}",
        "lid_mask_count": "0",
        "sm_lid": f"0x{hca.sm_lid:x}",
        "cap_mask": "0xa751e848",
        "link_layer": hca.layer,
        "gids/0": f"fe80:0000:0000:0000:{_words(_port_guid(hca))}",
    }.items():
        tree.file(f"{port}/{name}", text)
    if hca.layer == "InfiniBand":
        for index, key in enumerate([*hca.pkeys, "0x0000"]):
            tree.file(f"{port}/pkeys/{index}", key)
    for name in _COUNTERS:
        # Every link went down once: at the last boot of its switch.
        tree.file(f"{port}/counters/{name}", "1" if name == "link_downed" else "0")
    for name in _HW_COUNTERS:
        tree.file(f"{port}/hw_counters/{name}", "0")


def _rate(hca: Hca) -> str:
    lanes = 2 if hca.width == 2 else 4
    return f"{hca.rate} Gb/sec ({lanes}X {_NAMES.get(hca.rate, 'NDR')})"


def _verbs(hca: Hca) -> str:
    active = hca.active_mtu if hca.layer == "InfiniBand" else 1024
    return f"""hca_id:\t{hca.name}
\ttransport:\t\t\tInfiniBand (0)
\tfw_ver:\t\t\t\t{hca.firmware}
\tnode_guid:\t\t\t{_words(hca.guid)}
\tsys_image_guid:\t\t\t{_words(hca.guid)}
\tvendor_id:\t\t\t0x02c9
\tvendor_part_id:\t\t\t{int(hca.device, 16)}
\thw_ver:\t\t\t\t0x0
\tboard_id:\t\t\tMT_0000000838
\tphys_port_cnt:\t\t\t1
\t\tport:\t1
\t\t\tstate:\t\t\tPORT_{_VERBS[hca.state]}
\t\t\tmax_mtu:\t\t4096 (5)
\t\t\tactive_mtu:\t\t{active} ({_MTU[active]})
\t\t\tsm_lid:\t\t\t{hca.sm_lid}
\t\t\tport_lid:\t\t{hca.lid}
\t\t\tport_lmc:\t\t0x00
\t\t\tlink_layer:\t\t{hca.layer}

"""


def _ibstatus(hca: Hca) -> str:
    return f"""Infiniband device '{hca.name}' port 1 status:
\tdefault gid:\t fe80:0000:0000:0000:{_words(_port_guid(hca))}
\tbase lid:\t 0x{hca.lid:x}
\tsm lid:\t\t 0x{hca.sm_lid:x}
\tstate:\t\t {_STATE[hca.state]}
\tphys state:\t {_PHYSICAL[hca.physical]}: {hca.physical}
\trate:\t\t {_rate(hca)}
\tlink_layer:\t {hca.layer}

"""


def _rdma_link(hca: Hca) -> str:
    subnet = ""
    if hca.layer == "InfiniBand":
        subnet = f"subnet_prefix fe80:0000:0000:0000 lid {hca.lid} sm_lid {hca.sm_lid} lmc 0 "
    state = {"Initializing": "INIT"}.get(hca.state, hca.state.upper())
    return f"link {hca.name}/1 {subnet}state {state} physical_state {_NETLINK[hca.physical]} netdev {hca.netdev}\n"


def _speed(hca: Hca) -> str:
    return f"IB-{_NAMES.get(hca.rate, 'NDR')}" if hca.layer == "InfiniBand" else f"{hca.rate}G"


def _mlxlink(hca: Hca) -> str:
    return f"""
Operational Info
----------------
State                              : Active
Physical state                     : LinkUp
Speed                              : {_speed(hca)}
Width                              : 4x
FEC                                : Standard_RS-FEC - (544,514)
Loopback Mode                      : No Loopback
Auto Negotiation                   : ON

Troubleshooting Info
--------------------
Status Opcode                      : 0
Group Opcode                       : N/A
Recommendation                     : No issue was observed

Module Info
-----------
Temperature [C]                    : 54 [-5..75]
Voltage [mV]                       : 3261.2 [2970..3630]
Bias Current [mA]                  : 8.380,8.380,8.380,8.380 [2..15]
Rx Power Current [dBm]             : 1.886,1.989,2.281,1.976 [-10.41..6]
Tx Power Current [dBm]             : 1.562,1.427,1.559,1.761 [-8.508..5]
Identifier                         : OSFP
Cable Type                         : Optical Module (separated)
Tx Fault [per lane]                : 0,0,0,0
Rx LOS [per lane]                  : 0,0,0,0

Physical Counters and BER Info
------------------------------
Time Since Last Clear [Min]        : 348349.5
Symbol Errors                      : 0
Symbol BER                         : 15E-255
Effective Physical Errors          : 0
Effective Physical BER             : 15E-255
Raw Physical Errors Per Lane       : 3946476397,5120336064,7692183445,3026261414
Link Down Counter                  : 0
Link Error Recovery Counter        : 0
Raw Physical BER                   : 2E-9
"""
