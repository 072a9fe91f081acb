# SPDX-License-Identifier: GPL-3.0-or-later
"""Small hosts to judge in tests: every value can be bent with a keyword.

IBSTAT, SYSFS and SMINFO are one healthy host with one HCA, as text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibstat import Ca, Port
from ansible_collections.ibready.cluster.plugins.module_utils._parse.sminfo import Sminfo
from ansible_collections.ibready.cluster.plugins.module_utils._rails.ib_ports import (
    Details,
    IbFacts,
    Later,
    Mtu,
    SmAnswer,
)

IBSTAT = """CA 'mlx5_0'
\tCA type: MT4129
\tNumber of ports: 1
\tFirmware version: 28.39.1002
\tHardware version: 0
\tNode GUID: 0x0000000000100000
\tSystem image GUID: 0x0000000000100000
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tBase lid: 3
\t\tLMC: 0
\t\tSM lid: 1
\t\tCapability mask: 0x0040c048
\t\tPort GUID: 0x0000000000100001
\t\tLink layer: InfiniBand
"""
IBV_DEVINFO = """hca_id:\tmlx5_0
\ttransport:\t\t\tInfiniBand (0)
\tfw_ver:\t\t\t\t28.39.1002
\tnode_guid:\t\t\t0000:0000:0010:0000
\tsys_image_guid:\t\t\t0000:0000:0010:0000
\tvendor_id:\t\t\t0x02c9
\tvendor_part_id:\t\t\t4129
\thw_ver:\t\t\t\t0x0
\tboard_id:\t\t\tMT_0000000838
\tphys_port_cnt:\t\t\t1
\t\tport:\t1
\t\t\tstate:\t\t\tPORT_ACTIVE (4)
\t\t\tmax_mtu:\t\t4096 (5)
\t\t\tactive_mtu:\t\t4096 (5)
\t\t\tsm_lid:\t\t\t1
\t\t\tport_lid:\t\t3
\t\t\tport_lmc:\t\t0x00
\t\t\tlink_layer:\t\tInfiniBand

"""
SMINFO = "sminfo: sm lid 1 sm guid 0x10000d, activity count 242 priority 0 state 3 SMINFO_MASTER\n"
SYSFS = {
    "node_type": "1: CA\n",
    "hca_type": "MT4129\n",
    "fw_ver": "28.39.1002\n",
    "hw_rev": "0\n",
    "node_guid": "0000:0000:0010:0000\n",
    "sys_image_guid": "0000:0000:0010:0000\n",
    "ports/1/state": "4: ACTIVE\n",
    "ports/1/phys_state": "5: LinkUp\n",
    "ports/1/rate": "400 Gb/sec (4X NDR)\n",
    "ports/1/lid": "0x3\n",
    "ports/1/lid_mask_count": "0\n",
    "ports/1/sm_lid": "0x1\n",
    "ports/1/cap_mask": "0x0040c048\n",
    "ports/1/link_layer": "InfiniBand\n",
    "ports/1/gids/0": "fe80:0000:0000:0000:0000:0000:0010:0001\n",
    "ports/1/pkeys/0": "0xffff\n",
    "ports/1/pkeys/1": "0x0000\n",
    "ports/1/counters/symbol_error": "0\n",
    "ports/1/counters/link_downed": "1\n",
}


def port(num: int = 1, **bent: Any) -> Port:
    """An Active NDR InfiniBand port."""
    healthy = Port(
        num=num,
        state="Active",
        physical_state="LinkUp",
        rate=400.0,
        lid=7,
        lmc=0,
        sm_lid=1,
        capability_mask="0x2651e848",
        port_guid="0xa088c20300e3142b",
        link_layer="InfiniBand",
    )
    return replace(healthy, **bent)


def hca(name: str = "mlx5_0", *ports: Port, **bent: Any) -> Ca:
    """An HCA with one healthy port, or with the given ones; GUID and LID go by its number."""
    number = int(re.sub("[^0-9]", "", name.partition("_")[2]) or 0)
    number += 0 if name[5:].isdecimal() else 0x100
    mine = ports or (port(),)
    mine = tuple(replace(one, lid=7 + 0x20 * number) if one.lid == 7 else one for one in mine)
    healthy = Ca(
        name=name,
        type="MT4129",
        n_ports=len(mine),
        fw="28.39.1002",
        hw="0",
        node_guid=f"0x{0xA088C20300E3142A + 0x10 * number:x}",
        system_guid="0xa088c20300e3142a",
        ports=mine,
    )
    return replace(healthy, **bent)


def master(**bent: Any) -> SmAnswer:
    """The answer of a healthy master subnet manager."""
    sm = Sminfo(lid=1, guid="0x10000d", activity=5, priority=0, state=3, state_name="SMINFO_MASTER")
    return SmAnswer(sm=replace(sm, **bent))


def details(**bent: Any) -> Details:
    """What is known of a healthy port beside its state; mlxlink is not installed."""
    healthy = Details(
        link="4X NDR",
        pkeys=Reading((0xFFFF,)),
        nccl_pkey=Reading((0, 0xFFFF)),
        mtu=Reading(Mtu(4096, 4096)),
        counters=Reading({"symbol_error": 0, "link_downed": 1}),
        later=Reading(Later({"symbol_error": 0, "link_downed": 1}, 5.0)),
        optics=Reading(None, "mlxlink: not installed (no such program in PATH)", True),
    )
    return replace(healthy, **bent)


def facts(*cas: Ca, **bent: Any) -> IbFacts:
    """A host on which ibstat, sysfs and the subnet manager all tell of the same HCAs."""
    mine = cas or (hca(),)
    healthy = IbFacts(
        cas=mine,
        sysfs=mine,
        sm={f"{ca.name}/{one.num}": master() for ca in mine for one in ca.ports if one.state == "Active"},
        details={f"{ca.name}/{one.num}": details() for ca in mine for one in ca.ports},
    )
    return replace(healthy, **bent)


def node(index: int, **bent: Any) -> IbFacts:
    """One of several healthy hosts with two rails: GUIDs and LIDs differ from host to host."""
    cas = tuple(
        hca(
            f"mlx5_{rail}",
            port(lid=10 * index + rail, port_guid=f"0x{index:08x}{rail:08x}"),
            node_guid=f"0x{index:08x}{rail:07x}f",
            **bent,
        )
        for rail in (0, 1)
    )
    return facts(*cas)
