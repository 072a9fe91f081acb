# SPDX-License-Identifier: GPL-3.0-or-later
"""From five hosts' answers to what cordon takes out: one host that lies of itself takes out no other."""

from __future__ import annotations

import copy
import datetime
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric import observe_look
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import report as fabrics
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon import plan, told
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon.node import Node
from tests.unit.fabrics import Fabric
from tests.unit.samples import node

NOW = datetime.datetime(2026, 11, 22, tzinfo=datetime.UTC)
NAMES = [f"n{at}" for at in range(1, 6)]
LIAR = "n5"
CLAIMED = ("fleet.hca.guid_unique", "fleet.port.lid_unique", "fleet.host.name")
Known = dict[str, dict[str, Any]]


def told_ports(index: int) -> dict[str, Any]:
    """What a host tells of its HCAs; port GUIDs as they are on the fabric."""
    ib = copy.deepcopy(node(index).to_dict())
    for ca in ib["cas"]:
        ca["ports"][0]["port_guid"] = f"{int(ca['node_guid'], 16) + 1:#018x}"
    return ib


def fabric(asks: str) -> Fabric:
    """One switch a rail and a spine, with what the five hosts really have."""
    made = Fabric()
    leaves = [made.switch(f"a{rail}0", f"leaf{rail + 1}") for rail in range(2)]
    made.switch("b00", "spine1")
    for index in range(1, 6):
        for rail, ca in enumerate(told_ports(index)["cas"]):
            guid = made.hca(f"{int(ca['node_guid'], 16):x}", f"n{index}", ca["name"], rail)
            made.lids[guid] = ca["ports"][0]["lid"]
            made.plug((guid, 1), (leaves[rail], index))
    for rail, leaf in enumerate(leaves):
        made.plug((leaf, 33), ("b00", rail + 1))
    made.asks = next(hca.node_guid for hca in made.rails if hca.host == asks)
    return made


def run(askers: list[str], generic: bool = False) -> Known:
    """What the playbooks have registered. ``generic``: the adapters are called after no host."""
    known: Known = {}
    for index, name in enumerate(NAMES, 1):
        known[name] = {
            "ibready_node": {"node": {"kernel": "6.8.0", "root": True, "simulated": "", "hostname": name}},
            "ibready_ibverify": {"checks": [], "facts": {"ib": told_ports(index)}},
            "ibready_expect": {"hcas": 2, "link_layer": "InfiniBand", "rate_gbps": 400},
            "ibready_fabric_asks": {asker: [{"device": "mlx5_0", "port": 1}] for asker in askers},
        }
    for name in askers:
        made = fabric(name)
        if generic:
            made.nodes = {guid: (kind, said if kind == "S" else "MT4129") for guid, (kind, said) in made.nodes.items()}
        answers = made.answers()
        manager = {"sminfo": answers["sminfo"], "saquery_sm": answers["saquery_sm"]}
        manager["sminfo"] = {
            "rc": 0,
            "stdout": "sminfo: sm lid 1 sm guid 0x10000d, activity count 5 priority 0 state 3 SMINFO_MASTER\n",
            "stderr": "",
        }
        packed = observe_look.pack({**answers, **manager})
        look = {"device": "mlx5_0", "port": 1, "seconds": 5.0, "packed": packed}
        known[name]["ibready_fabric_looks"] = {"looks": [look]}
    return known


def lie(known: Known, *, name: bool = True) -> None:
    """n5 says that n1's GUIDs, LIDs and name are its own."""
    mine, other = (known[host]["ibready_ibverify"]["facts"]["ib"] for host in (LIAR, "n1"))
    mine["cas"] = copy.deepcopy(other["cas"])
    if name:
        known[LIAR]["ibready_node"]["node"]["hostname"] = "n1"


def judged(known: Known) -> dict[str, Any]:
    asked = fabrics.asked(known, list(known), inventory=list(known)) if "ibready_fabric_asks" in known["n1"] else None
    return cluster.report(_hosts.gather(known, NAMES), size=len(known), created=NOW, version="1", asked=asked)


def out(report: dict[str, Any]) -> dict[str, str]:
    """Whom cordon takes out and why, if it may take out all."""
    nodes = {name: Node(name, "1", False, (), ready=True) for name in NAMES}
    limits = plan.Limits(plan.KINDS, len(NAMES))
    steps = plan.plan(told.hosts(report, {}, ["fabric.sm.*"]), nodes, limits, NOW.isoformat()).steps
    return {step.host: step.why for step in steps}


def claims(report: dict[str, Any], host: str) -> set[tuple[str, str]]:
    checks = report["hosts"][host]["checks"]
    return {(check["id"], check["result"]) for check in checks if check["id"] in CLAIMED}


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("askers", [["n2", "n3"], ["n1", "n2"], ["n5", "n2"], ["n2", "n5"], ["n1", "n5"], []])
def test_who_claims_anothers_guid_lid_and_name_takes_out_at_most_itself(askers: list[str], generic: bool) -> None:
    known = run(askers, generic)
    assert out(judged(known)) == {}, "they are sound"
    lie(known)
    report = judged(known)
    assert set(out(report)) == {LIAR}, "its name is n1's by the inventory"
    assert report["hosts"]["n1"]["verdict"] != "not_ready"
    assert {name: report["hosts"][name]["verdict"] for name in ("n2", "n3", "n4")} == dict.fromkeys(
        ("n2", "n3", "n4"), judged(run(askers, generic))["hosts"]["n2"]["verdict"]
    )


def test_a_look_at_the_fabric_tells_whose_the_guids_and_lids_are() -> None:
    known = run(["n2", "n3"])
    lie(known, name=False)
    report = judged(known)
    assert claims(report, "n1") == {(check, "pass") for check in CLAIMED}
    assert claims(report, LIAR) == {(CLAIMED[0], "fail"), (CLAIMED[1], "fail"), (CLAIMED[2], "pass")}
    (why,) = {check["cause"] for check in report["hosts"][LIAR]["checks"] if check["id"] == CLAIMED[1]}
    assert why.startswith("n2 tells that it is n1's, n3 tells that it is n1's; ")


def test_without_a_look_both_are_unknown_with_both_words() -> None:
    known = run([])
    lie(known, name=False)
    report = judged(known)
    for name in ("n1", LIAR):
        assert claims(report, name) == {(CLAIMED[0], "unknown"), (CLAIMED[1], "unknown"), (CLAIMED[2], "pass")}
    assert set(out(report)) <= {LIAR}


def test_an_address_of_the_inventory_is_a_name_of_its_host_as_well() -> None:
    known = run(["n2", "n3"])
    for name in ("n1", LIAR):
        known[name]["ibready_node"]["node"]["hostname"] = "gpu-a"
    both = judged(known)
    assert all((CLAIMED[2], "unknown") in claims(both, name) for name in ("n1", LIAR))
    known["n1"]["ansible_host"] = "gpu-a.cluster.local"
    report = judged(known)
    assert (CLAIMED[2], "pass") in claims(report, "n1")
    assert (CLAIMED[2], "fail") in claims(report, LIAR)
