# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches' texts and the hosts behind them, healthy until a test bends them. Made up, in the systems' formats.

SONiC: the tables of sonic-buildimage's Configuration.md. Cumulus Linux: the layout of the NVUE reference.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse.lldpctl import Neighbour
from ansible_collections.ibready.cluster.plugins.module_utils._rails.ib_ports import IbFacts
from ansible_collections.ibready.cluster.plugins.module_utils._rails.roce_ports import (
    GidEntry,
    Qos,
    RoceFacts,
    RocePort,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.hosts import Host
from ansible_collections.ibready.cluster.plugins.plugin_utils._switch import judge, texts

Db = dict[str, dict[str, dict[str, str]]]
_MAP = {str(dscp): str(dscp // 8) for dscp in range(64)}
_SAME = {str(at): str(at) for at in range(8)}
QOS = {
    "dscp_to_tc_map": "AZURE",
    "pfc_enable": "3",
    "pfcwd_sw_enable": "3",
    "tc_to_pg_map": "AZURE",
    "tc_to_queue_map": "AZURE",
}


def sonic(name: str = "leaf1", ports: int = 2) -> Db:
    """A CONFIG_DB: priority 3 is lossless and marks ECN, CNPs go by priority 6."""
    named = [f"Ethernet{8 * at}" for at in range(ports)]
    return {
        "DEVICE_METADATA": {"localhost": {"hostname": name, "hwsku": "ACS-MSN4700", "type": "ToRRouter"}},
        "PORT": {
            port: {"alias": f"etp{at + 1}", "lanes": "0,1,2,3", "mtu": "9100", "speed": "400000"}
            for at, port in enumerate(named)
        },
        "PORT_QOS_MAP": {port: dict(QOS) for port in named},
        "DSCP_TO_TC_MAP": {"AZURE": dict(_MAP)},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {**_SAME, **dict.fromkeys("12456", "0")}},
        "TC_TO_QUEUE_MAP": {"AZURE": dict(_SAME)},
        "QUEUE": {
            f"{port}|{queue}": {
                "scheduler": "scheduler.1",
                **({"wred_profile": "AZURE_LOSSLESS"} if queue == 3 else {}),
            }
            for port in named
            for queue in range(7)
        },
        "WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_all", "wred_green_enable": "true"}},
        "PFC_WD": {
            "GLOBAL": {"POLL_INTERVAL": "200"},
            **{port: {"action": "drop", "detection_time": "400", "restoration_time": "400"} for port in named},
        },
    }


def old(db: Db) -> Db:
    """The same with references as they were up to version 3.0.2."""
    tables = {
        "dscp_to_tc_map": "DSCP_TO_TC_MAP",
        "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
        "tc_to_queue_map": "TC_TO_QUEUE_MAP",
        "wred_profile": "WRED_PROFILE",
    }
    for row in (*db["PORT_QOS_MAP"].values(), *db["QUEUE"].values()):
        row.update({key: f"[{tables[key]}|{value}]" for key, value in row.items() if key in tables})
    return db


ROCE = """\
                    operational            applied
------------------  ---------------------  ---------------------
state                                      enabled
mode                lossless-single-ipool  lossless-single-ipool
pfc
  pfc-priority      3
  rx-enabled        enabled
  tx-enabled        enabled
  cable-length      100
congestion-control
  congestion-mode   ECN
  enabled-tc        0,3
  min-threshold     146.48 KB
  max-threshold     1.43 MB
  probability       100
trust
  trust-mode        pcp,dscp
lldp-app-tlv
  priority          3
  protocol-id       4791
  selector          UDP

RoCE PCP/DSCP->SP mapping configurations
===========================================
       pcp  dscp                     switch-prio
    -  ---  -----------------------  -----------
    0  0    0,1,2,3,4,5,6,7          0
    1  1    8,9,10,11,12,13,14,15    1
    2  2    16,17,18,19,20,21,22,23  2
    3  3    24,25,26,27,28,29,30,31  3
    4  4    32,33,34,35,36,37,38,39  4
    5  5    40,41,42,43,44,45,46,47  5
    6  6    48,49,50,51,52,53,54,55  6
    7  7    56,57,58,59,60,61,62,63  7

RoCE SP->TC mapping and ETS configurations
=============================================
       switch-prio  traffic-class  scheduler-weight
    -  -----------  -------------  ----------------
    0  0            0              DWRR-50%
    1  1            0              DWRR-50%
    2  2            0              DWRR-50%
    3  3            3              DWRR-50%
    4  4            0              DWRR-50%
    5  5            0              DWRR-50%
    6  6            6              strict-priority
    7  7            0              DWRR-50%

RoCE pool config
===================
       name                   mode     size  switch-priorities  traffic-class
    -  ---------------------  -------  ----  -----------------  -------------
    0  lossy-default-ingress  Dynamic  100%  0,1,2,4,5,6,7      -
    1  roce-reserved-ingress  Dynamic  100%  3                  -

Exception List
=================
No Data
"""
OF_PORT = "nv_show_interface_swp1_qos_roce_status.txt"
# Of one port: the values in other places, and only the rows of RoCE and CNPs.
STATUS = """\
                    operational    applied  description
------------------  -------------  -------  ---------------------------------------------------
congestion-control
  congestion-mode   ecn, absolute           Congestion config mode
  enabled-tc        0,3                     Congestion config enabled Traffic Class
  max-threshold     1.43 MB                 Congestion config max-threshold
pfc
  pfc-priority      3                       switch-prio on which PFC is enabled
  rx-enabled        yes                     PFC Rx Enabled status
  tx-enabled        yes                     PFC Tx Enabled status
trust
  trust-mode        pcp,dscp                Trust Setting on the port for packet classification
mode                lossless                Roce Mode

RoCE PCP/DSCP->SP mapping configurations
===========================================
          pcp  dscp  switch-prio
    ----  ---  ----  -----------
    cnp   6    48    6
    roce  3    26    3

RoCE SP->TC mapping and ETS configurations
=============================================
          switch-prio  traffic-class  scheduler-weight
    ----  -----------  -------------  ----------------
    cnp   6            6              strict priority
    roce  3            3              dwrr-50%
"""
INTERFACES = """\
Interface   State  Speed  MTU    Type      Remote Host      Remote Port      Summary
----------  -----  -----  -----  --------  ---------------  --------------…  ---------------…
br_default  up            9216   bridge
eth0        up     1G     1500   eth       oob-mgmt-switch  swp10            IP Address:
                                                                             192.168.200.11/…
swp1        up     400G   9216   swp       node1            eth0
swp2        up     400G   9216   swp       node2            48:b0:2d:36:9e…
"""


def write(folder: Path, switches: Mapping[str, Any]) -> Path:
    """The folder of a site: of each switch a CONFIG_DB, or texts by file name."""
    for name, told in switches.items():
        home = folder / name
        home.mkdir(parents=True, exist_ok=True)
        files = {"config_db.json": json.dumps(told, indent=4)} if "PORT" in told else told
        for file, text in files.items():
            (home / file).write_text(text, encoding="utf-8")
    return folder


def cumulus(**bent: str) -> dict[str, str]:
    return {"nv_show_qos_roce.txt": bent.get("roce", ROCE), "nv_show_interface.txt": bent.get("interfaces", INTERFACES)}


def rail(number: int = 0, heard: tuple[str, str] | None = ("leaf1", "Ethernet0"), **bent: Any) -> RocePort:
    """A healthy rail of an mlx5, on the switch port that it hears; a name of Qos bends that."""
    gid = GidEntry(3, f"10.0.{number}.1", "IPv4", "RoCE v2", f"eth{number}")
    qos = {
        "trust": Reading("dscp"),
        "pfc": Reading((3,)),
        "priority": Reading(tuple((dscp, dscp // 8) for dscp in range(64))),
        "ecn": Reading(()),
        "cnp_dscp": Reading(48),
    }
    qos.update({key: bent.pop(key) for key in list(bent) if key in qos})
    there = (Neighbour(f"eth{number}", heard[0], "aa:bb", heard[1]),) if heard else ()
    good: dict[str, Any] = {
        "address": f"0000:1{number}:00.0",
        "driver": "mlx5_core",
        "protocol": "RoCE",
        "state": "Active",
        "rate": 400.0,
        "netdev": Reading(f"eth{number}"),
        "uplink": f"eth{number}",
        "mtu": Reading(9000),
        "gids": Reading((gid,)),
        "qos": Qos(**qos),
        "traffic_class": Reading(106),
        "neighbours": Reading(there),
    }
    return RocePort(f"mlx5_{number}", 1, "MT4129", **{**good, **bent})


def host(name: str, *rails: RocePort, **expect: Any) -> Host:
    facts = RoceFacts(Reading(tuple(one.device for one in rails)), Reading(rails), Reading(-1))
    told = json.loads(json.dumps(facts.to_dict()))
    said = from_inventory({"link_layer": "Ethernet", **expect})
    return Host(name, facts={"roce": told}, ib=IbFacts(), expect=said)


def judged(folder: Path, *hosts: Host, **site: Any) -> dict[str, list[Check]]:
    """The checks, by the way that a report takes."""
    return judge.judge(hosts, texts.asked({"ibready_switch_texts": str(folder), **site}))


def bad(checks: list[Check]) -> dict[str, Check]:
    """What is not as it should be, by id."""
    return {check.id: check for check in checks if check.result in ("fail", "unknown")}


def changed(db: Db, table: str, key: str, **fields: str | None) -> Db:
    """A row with other fields; None takes one away."""
    row = db.setdefault(table, {}).setdefault(key, {})
    for name, value in fields.items():
        row.pop(name, None)
        if value is not None:
            row[name] = value
    return db


def told(parse: Callable[[str], Any], text: str, *files: str) -> Any:
    """What a parser gives, or None for its error, which names one of these files and a line that there is."""
    try:
        return parse(text)
    except ParseError as exc:
        refused = exc
    assert refused.tool in files
    assert str(refused).startswith(f"{refused.tool}: ")
    assert 0 <= refused.line_no <= text.count("\n") + text.count("\r") + 1
    return None


def holed(data: st.DataObject, text: str) -> str:
    """The text without some of its characters, and with a few others in their place."""
    start = data.draw(st.integers(0, len(text)))
    return text[:start] + data.draw(st.text(max_size=5)) + text[start + data.draw(st.integers(0, 40)) :]
