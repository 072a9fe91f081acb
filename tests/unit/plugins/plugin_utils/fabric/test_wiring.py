# SPDX-License-Identifier: GPL-3.0-or-later
"""Who asks, what a site says, and what comes of it in the report."""

from __future__ import annotations

import dataclasses
import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric import observe_look
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.ping import Ping
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import gather, judge, plan, report
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts, summary
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import fabric_plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import shape, valid
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_fabric
from tests.unit.fabrics import Fabric
from tests.unit.samples import node

CSV = "to,to_port,from,from_port,note\n# a comment\nleaf1,1,node1 mlx5_0,1,\n0xa0,2,0x2c00,1,x\n"
TODAY = datetime.datetime(2026, 11, 22, tzinfo=datetime.UTC)


def host(index: int, **more: Any) -> dict[str, Any]:
    """The variables of a host that took part."""
    return {
        "ibready_node": {"node": {"kernel": "6.8.0", "root": True, "simulated": ""}},
        "ibready_ibverify": {"checks": [], "facts": {"ib": node(index).to_dict()}},
        "ibready_expect": {"hcas": 2, "link_layer": "InfiniBand", "rate_gbps": 400},
        **more,
    }


def fabric() -> Fabric:
    """One switch a rail and a spine, with the HCAs of samples.node(1) to (3)."""
    made = Fabric()
    leaves = [made.switch(f"a{rail}0", f"leaf{rail + 1}") for rail in range(2)]
    made.switch("b00", "spine1")
    for index in (1, 2, 3):
        for ca in node(index).cas:
            rail = int(ca.name[-1])
            guid = made.hca(f"{int(ca.node_guid, 16):x}", f"n{index}", ca.name, rail)
            made.plug((guid, 1), (leaves[rail], index))
    for rail, leaf in enumerate(leaves):
        made.plug((leaf, 33), ("b00", rail + 1))
    made.asks = f"{int(node(1).cas[0].node_guid, 16):x}"
    return made


def run(made: Fabric, others: dict[str, Fabric] | None = None, **site: Any) -> dict[str, dict[str, Any]]:
    """What the playbooks have registered of three hosts, the first of which asked; ``others`` asked as well."""
    seen = {"n1": made, **(others or {})}
    asks = {name: [{"device": "mlx5_0", "port": 1}] for name in seen}
    look = {"device": "mlx5_0", "port": 1, "seconds": 5.0}
    known = {f"n{index}": host(index, ibready_fabric_asks=asks, **site) for index in (1, 2, 3)}
    # All hear one manager.
    manager = {tool: made.answers()[tool] for tool in ("sminfo", "saquery_sm")}
    for name, one in seen.items():
        packed = observe_look.pack({**one.answers(), **manager})
        known[name]["ibready_fabric_looks"] = {"looks": [{**look, "packed": packed}]}
    return known


def judged(known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return cluster.report(
        _hosts.gather(known, list(known)),
        size=len(known),
        created=TODAY,
        version="1",
        asked=report.asked(known, list(known)),
    )


def bad(fabrics: dict[str, Any]) -> list[tuple[str, str]]:
    checks = [one for each in fabrics["fabrics"] for one in each["checks"]]
    return [(one["id"], one["subject"]) for one in checks if one["result"] in ("fail", "unknown")]


UP = ("mlx5_0", 1, "s1", "Active")


@pytest.mark.parametrize("lot", range(8))
def test_each_fabric_is_asked_by_two_hosts_where_it_has_two_and_by_as_few_as_can_be(lot: int) -> None:
    two = ("mlx5_1", 1, "s2", "Active")
    found = gather.askers({"a": [UP, two], "b": [UP, two], "c": [UP, two], "d": [("mlx5_0", 1, "s3", "Active")]}, lot)
    alone = found.pop("d")
    assert alone == [("mlx5_0", 1)]
    assert len(found) == 2
    assert all(asked == [("mlx5_0", 1), ("mlx5_1", 1)] for asked in found.values())


def test_the_lot_alone_says_who_asks() -> None:
    hosts = {name: [UP] for name in "abcdefgh"}
    drawn = [gather.askers(hosts, lot) for lot in range(40)]
    assert drawn == [gather.askers(hosts, lot) for lot in range(40)]
    assert {host for found in drawn for host in found} == set(hosts)


@pytest.mark.parametrize("lot", range(8))
def test_ports_and_managers_that_a_host_invents_do_not_make_it_the_one_who_asks(lot: int) -> None:
    honest = {name: [UP] for name in "abcdefgh"}
    lies = [("mlx5_9", 1, "deadbeef", "Active"), ("mlx5_8", 1, "cafe", "Active")]
    found = gather.askers({**honest, "h": [UP, *lies]}, lot)
    asked = {host: [port for port in ports if port[0] == "mlx5_0"] for host, ports in found.items()}
    assert {host: ports for host, ports in asked.items() if ports} == gather.askers(honest, lot)
    # A fabric that nobody else names is asked of it, after the others.
    assert list(found)[-1] == "h" or "h" in gather.askers(honest, lot)


def test_without_a_subnet_manager_rails_are_told_apart_by_their_name() -> None:
    down = [("mlx5_0", 1, "", "Initializing"), ("mlx5_1", 1, "", "Initializing")]
    both = [("mlx5_0", 1), ("mlx5_1", 1)]
    assert gather.askers({"a": down, "b": down}, 1) == {"a": both, "b": both}


def test_a_port_that_is_up_is_asked_before_one_that_is_not() -> None:
    ports = [("mlx5_0", 1, "s", "Initializing"), ("mlx5_1", 1, "s", "Active")]
    assert gather.askers({"a": ports}, 1) == {"a": [("mlx5_1", 1)]}


def test_the_filter_plans_over_what_hosts_told() -> None:
    known = {"n1": host(1), "n2": host(2), "n3": {"ibready_node": {"unreachable": True}}}
    found = fabric_plan(known, list(known), "7")
    assert set(found) == {"n1", "n2"}
    assert found["n1"][0] == {"device": "mlx5_0", "port": 1}


def test_a_csv_plan_has_its_columns_by_name() -> None:
    first, second = plan.read(CSV)
    assert (str(first.one), str(first.other), first.line) == ("node1 mlx5_0/1", "leaf1/1", 3)
    assert (second.one.guid, second.other.guid) == ("2c00", "a0")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no cable"),
        ("from,to\na,b\n", "line 1: no column from_port"),
        (CSV + "leaf1,x,node2,1,\n", "line 5: 'leaf1' port 'x'"),
        (CSV + "leaf1,1,node2 mlx5_0,1,\n", "line 5: leaf1/1 has a cable in line 3"),
        (CSV + "leaf1\n", "line 5: 1 columns"),
        (fabric().discovery().rsplit("\n\n", 1)[0], "the file is cut"),
    ],
)
def test_a_plan_that_cannot_be_read_names_the_line(text: str, says: str) -> None:
    with pytest.raises(plan.PlanError, match=says):
        plan.read(text)


def test_a_healthy_fabric_is_in_the_report() -> None:
    found = judged(run(fabric()))
    assert bad(found["fabric"]) == []
    assert (found["fabric"]["error"], found["fabric"]["skipped"]) == ("", "")
    assert [one["verdict"] for one in found["fabric"]["fabrics"]] == ["ready"]
    assert list(valid.wrong(found["fabric"], shape.RUN["properties"]["fabric"])) == []
    rails = [one["rail"] for one in found["fabric"]["fabrics"][0]["nodes"] if one["host"]]
    assert sorted(rails) == [1, 1, 1, 2, 2, 2]
    lines = render_fabric.lines(found)
    assert lines[2].split()[:5] == ["fabric", "ready", "n1", "mlx5_0/1", "3"]


def test_a_run_that_did_not_ask_has_no_fabric() -> None:
    known = {"n1": host(1), "n2": host(2)}
    assert "fabric" not in judged(known)
    assert render_fabric.lines(judged(known)) == []


def test_a_bad_fabric_fails_the_run_at_the_host_that_asked() -> None:
    made = fabric()
    made.plug(("a00", 33), ("b00", 1), "1xNDR", "Could be 4X ")
    found = judged(run(made))
    assert bad(found["fabric"]) == [("fabric.cable.width", "leaf1/33 - spine1/1")]
    assert "the fabric is not_ready: fabric.cable.width" in summary.bad(found)["n1"]
    assert "the fabric is not_ready:" in "\n".join(render_fabric.lines(found))


def test_what_is_wrong_with_a_host_is_told_there_too_and_waived_once() -> None:
    made = fabric()
    end = next(end for end in made.cables if end[0] == made.rails[3].node_guid)
    made.pull(end)
    name = made.rails[3].name
    known = run(made, {"n3": made})
    found = judged(known)
    assert bad(found["fabric"]) == [("fabric.hca.present", f"n2 {name}")]
    mine = [one for one in found["hosts"]["n2"]["checks"] if one["id"] == "fabric.hca.present"]
    assert [(one["subject"], one["result"]) for one in mine] == [(name, "fail")]
    waiver = {"check": "fabric.hca.present", "host": "n2", "subject": name}
    for one in known.values():
        one["ibready_waivers"] = [{**waiver, "until": "2030-01-01", "reason": "RMA"}]
    waived = judged(known)
    assert waived["fabric"]["fabrics"][0]["verdict"] == "ready"
    mine = [one for one in waived["hosts"]["n2"]["checks"] if one["id"] == "fabric.hca.present"]
    assert mine[0]["waived"]


def without(*hosts: str) -> Fabric:
    """The fabric as n3 tells it, who leaves these out."""
    made = fabric()
    for hca in made.rails:
        if hca.host in hosts:
            made.pull((hca.node_guid, 1))
    made.asks = next(hca.node_guid for hca in made.rails if hca.host == "n3")
    return made


def of_hosts(found: dict[str, Any], id_: str = "fabric.hca.present") -> dict[str, set[str]]:
    return {
        name: {one["result"] for one in told["checks"] if one["id"] == id_} for name, told in found["hosts"].items()
    }


@pytest.mark.parametrize("honest", ["n1", "n2"])
@pytest.mark.parametrize("lies_first", [False, True])
def test_a_host_that_one_asker_alone_misses_is_unknown_with_both_words(honest: str, lies_first: bool) -> None:
    known = run(fabric(), {"n3": without("n1", "n2")})
    known[honest]["ibready_fabric_looks"] = known["n1"]["ibready_fabric_looks"]
    asks = {name: [] for name in (("n3", honest) if lies_first else (honest, "n3"))}
    for one in known.values():
        one["ibready_fabric_asks"] = asks
    found = judged(known)
    assert of_hosts(found) == {"n1": {"unknown"}, "n2": {"unknown"}, "n3": {"pass"}}
    assert {found["hosts"][name]["verdict"] for name in ("n1", "n2")} <= {"unknown"}
    (fabrics,) = found["fabric"]["fabrics"]
    assert fabrics["verdict"] == "unknown"
    said = [one["cause"] for one in fabrics["checks"] if one["id"] == "fabric.hca.present"]
    assert all(f"n3 says so, {honest} denies it" in one for one in said)
    assert len(said) == 2


def test_a_host_that_the_only_asker_misses_denies_it_by_its_own_word() -> None:
    known = run(fabric())
    known["n3"]["ibready_fabric_looks"] = {
        "looks": [{"device": "mlx5_0", "port": 1, "seconds": 5.0, "packed": observe_look.pack(without("n1").answers())}]
    }
    for one in known.values():
        one["ibready_fabric_asks"] = {"n3": []}
    found = judged(known)
    assert of_hosts(found)["n1"] == {"unknown"}
    cause = next(one["cause"] for one in found["hosts"]["n1"]["checks"] if one["id"] == "fabric.hca.present")
    assert "n3 says so, n1 denies it: its port mlx5_0/1 is Active" in cause
    # It bears it out itself: its ports are not Active.
    down = known["n1"]["ibready_ibverify"]["facts"]["ib"]
    for ca in down["cas"]:
        for port in ca["ports"]:
            port["state"] = "Down"
    assert of_hosts(judged(known))["n1"] == {"fail"}


def test_two_who_miss_a_host_are_believed() -> None:
    found = judged(run(without("n2"), {"n3": without("n2")}))
    assert of_hosts(found) == {"n1": {"pass"}, "n2": {"fail"}, "n3": {"pass"}}


def test_pings_that_were_answered_deny_that_a_host_is_missing() -> None:
    known = run(fabric(), {"n3": without("n1")})
    asked = report.asked(known, list(known))
    assert asked is not None
    alone = dataclasses.replace(asked, looks=[look for look in asked.looks if look.host == "n3"])
    ports = known["n1"]["ibready_ibverify"]["facts"]["ib"]["cas"]
    for port in (port for ca in ports for port in ca["ports"]):
        port["state"] = "Down"
    hosts = _hosts.gather(known, list(known))
    answered = [Ping("n2", "n1", "mlx5_0/1", 3, 3), Ping("n3", "n1", "mlx5_0/1", 3, 0)]
    results = [
        [check.result for check in report.judged(hosts, alone, TODAY.date(), pings)[1]["n1"]]
        for pings in ((), answered, answered[1:])
    ]
    assert results == [["fail"], ["unknown"], ["fail"]]


def test_two_who_see_other_cables_leave_no_map_of_them() -> None:
    known = run(fabric(), {"n3": without("n1")})
    asked = report.asked(known, list(known))
    assert asked is not None
    whole = report.inventory(_hosts.gather(known, list(known)), asked)
    assert judge.models(asked.looks, whole)[1].startswith("n1 and n3 see 2 cables differently, such as n1 mlx5_0/1")
    assert judge.models([*asked.looks[:1] * 2], whole)[1] == ""


def test_the_lot_is_kept_in_the_report() -> None:
    known = run(fabric(), ibready_fabric_lot="1234")
    assert judged(known)["fabric"]["lot"] == 1234
    assert list(valid.wrong(judged(known)["fabric"], shape.RUN["properties"]["fabric"])) == []


def test_of_a_host_whose_leaf_two_see_differently_no_leaf_is_told() -> None:
    other = fabric()
    end = next(hca.node_guid for hca in other.rails if (hca.host, hca.rail) == ("n2", 0))
    other.pull((end, 1))
    other.plug((end, 1), ("a10", 9))
    (told,) = judged(run(fabric(), {"n3": other}))["fabric"]["fabrics"]
    leaves = {(one["host"], one["rail"]): one["leaf"] for one in told["nodes"] if one["host"]}
    assert [who for who, leaf in leaves.items() if not leaf] == [("n2", 1)]
    assert {one["result"] for one in told["checks"] if one["id"] == "fabric.rail.leaf"} == {"unknown"}


def test_a_fabric_is_waived_by_its_name() -> None:
    made = fabric()
    made.plug(("a00", 33), ("b00", 1), "1xNDR", "Could be 4X ")
    waiver = {
        "check": "fabric.cable.width",
        "host": "fabric",
        "subject": "leaf1/33 - spine1/1",
        "until": "2030-01-01",
        "reason": "cable ordered",
    }
    found = judged(run(made, ibready_waivers=[waiver]))
    assert found["fabric"]["fabrics"][0]["verdict"] == "ready"
    assert "(waived until 2030-01-01: cable ordered)" in "\n".join(render_fabric.lines(found))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ({"ibready_fabric_looks": {"msg": "no root"}}, "n1: no root"),
        ({"ibready_fabric_looks": None}, "n1: it was to ask the fabric and did not"),
        ({"ibready_fabric_error": "Ask the fabric: boom"}, "n1: Ask the fabric: boom"),
        ({"ibready_fabric_looks": {"looks": [{"packed": "%"}]}}, "cannot be read"),
        ({"ibready_fabric_plan": "/nonexistent.csv"}, "ibready_fabric_plan: /nonexistent.csv"),
    ],
)
def test_whoever_could_not_ask_fails_the_run(spoil: dict[str, Any], says: str) -> None:
    known = run(fabric())
    known["n1"].update(spoil)
    found = judged(known)
    assert says in found["fabric"]["error"]
    assert says in summary.bad(found)["n1"]
    assert says in "\n".join(render_fabric.lines(found))


def test_hosts_without_a_rail_are_skipped_and_those_without_a_link_are_not() -> None:
    known = {"n1": host(1, ibready_fabric_asks={})}
    assert "has a link" in judged(known)["fabric"]["error"]
    bare = node(1).to_dict()
    bare["cas"] = []
    known["n1"]["ibready_ibverify"] = {"checks": [], "facts": {"ib": bare}}
    found = judged(known)["fabric"]
    assert (found["error"], found["skipped"]) == ("", "no host has an InfiniBand rail")


def test_a_relative_plan_lies_beside_the_inventory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    (tmp_path / "cabling.csv").write_text(CSV)
    site = {"ibready_fabric_plan": "cabling.csv", "inventory_dir": str(tmp_path)}
    cables = gather.wishes(site).plan
    assert cables is not None
    assert len(cables) == 2


def test_hosts_that_a_limit_left_out_are_no_strangers() -> None:
    known = run(fabric())
    some = ["n1", "n2"]
    found = cluster.report(
        _hosts.gather(known, some),
        size=3,
        created=TODAY,
        version="1",
        asked=report.asked(known, some, inventory=list(known)),
    )
    assert bad(found["fabric"]) == []
    made = fabric()
    made.nodes["ff0"] = ("H", "storage7 mlx5_0")
    made.plug(("ff0", 1), ("a00", 9))
    known = run(made)
    found = cluster.report(
        _hosts.gather(known, some),
        size=3,
        created=TODAY,
        version="1",
        asked=report.asked(known, some, inventory=list(known)),
    )
    checks = found["fabric"]["fabrics"][0]["checks"]
    (stranger,) = [one for one in checks if one["id"] == "fabric.hca.known"]
    assert (stranger["result"], "n3, which told nothing" in stranger["cause"]) == ("unknown", True)


def test_a_limit_to_hosts_without_infiniband_asks_for_no_fabric() -> None:
    bare = node(1).to_dict()
    bare["cas"] = []
    known = {"n1": host(1, ibready_fabric_asks={}), "n2": host(2)}
    known["n1"]["ibready_ibverify"] = {"checks": [], "facts": {"ib": bare}}
    reported = report.asked(known, ["n1"], inventory=list(known))
    assert reported is not None
    found, _hosts_too = report.judged(_hosts.gather(known, ["n1"]), reported, TODAY.date())
    assert (found["error"], found["skipped"]) == ("", "no host has an InfiniBand rail")


def test_a_plan_of_no_cable_is_none() -> None:
    alone = Fabric(nodes={"1c00": ("H", "node1 mlx5_0")}, asks="1c00")
    with pytest.raises(plan.PlanError, match="no cable"):
        plan.read(alone.discovery())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ibready_fabric_oversubscription", "nan"),
        ("ibready_fabric_oversubscription", 0),
        ("ibready_fabric_standbys", -1),
        ("ibready_fabric_standbys", "two"),
        ("ibready_fabric_known", "storage*"),
        ("ibready_fabric_design", {"design": "superpod-h100", "nodes": 127}),
        ("ibready_fabric_design", {"leafs": 4}),
        ("ibready_fabric_sharp", "perhaps"),
    ],
)
def test_a_wish_that_no_fabric_could_miss_is_refused(name: str, value: Any) -> None:
    found = judged(run(fabric(), **{name: value}))
    assert name in found["fabric"]["error"]
    assert name in summary.bad(found)["n1"]


def test_a_site_s_design_is_held_against_the_fabric_of_a_run() -> None:
    made = fabric()
    assert bad(judged(run(made, ibready_fabric_design={"leaves": 2, "spines": 1, "uplinks": 1}))["fabric"]) == []
    found = judged(run(made, ibready_fabric_design={"leaves": 2, "spines": 2}))["fabric"]
    assert bad(found) == [("fabric.design.switches", "fabric")]
    assert found["fabrics"][0]["verdict"] == "not_ready"


@pytest.mark.parametrize(("who", "rest"), [("fabric", "n2 "), ("n2", "")])
def test_a_host_s_cable_is_waived_by_either_name(who: str, rest: str) -> None:
    made = fabric()
    hca = next(one for one in made.rails if one.host == "n2")
    far = made.cables[hca.node_guid, 1][0]
    made.plug((hca.node_guid, 1), far, "1xNDR", "Could be 4X ")
    ((id_, subject),) = bad(judged(run(made))["fabric"])
    assert (id_, subject.split(" ")[0]) == ("fabric.cable.width", "n2")
    waiver = {
        "check": id_,
        "host": who,
        "subject": rest + subject.partition(" ")[2],
        "until": "2030-01-01",
        "reason": "cable ordered",
    }
    found = judged(run(made, ibready_waivers=[waiver]))
    assert found["fabric"]["fabrics"][0]["verdict"] == "ready"


@pytest.mark.parametrize(
    ("bent", "why"),
    [
        ({"seconds": "soon"}, "looks[0].seconds: text, and not a number"),
        ({"packed": 5}, "looks[0].packed: a number, and not text"),
        ({"packed": "x"}, "not what fabric_look packed"),
        (
            {"packed": observe_look.pack({"sminfo": {"rc": [], "stdout": "", "stderr": ""}})},
            "TypeError",
        ),
        ({"packed": observe_look.pack({}) + "=" * 8}, "not what fabric_look packed"),
    ],
)
def test_what_a_host_cannot_have_heard_leaves_the_other_fabrics(bent: dict[str, Any], why: str) -> None:
    known = run(fabric())
    known["n2"]["ibready_fabric_looks"] = {"looks": [{**known["n1"]["ibready_fabric_looks"]["looks"][0], **bent}]}
    for one in known.values():
        one["ibready_fabric_asks"] = {"n2": [], "n1": []}
    reported = judged(known)["fabric"]
    assert [one["verdict"] for one in reported["fabrics"]] == ["ready"]
    assert reported["error"].startswith("n2: what fabric_look returned cannot be ")
    assert why in reported["error"]


@pytest.mark.parametrize(
    ("name", "most", "why"),
    [("_LOOKS", 1, "2 looks, and 1 are taken"), ("_MOST", 7500, "too large")],
)
def test_looks_are_bounded_in_number_and_together(
    monkeypatch: pytest.MonkeyPatch, name: str, most: int, why: str
) -> None:
    known = run(fabric())
    look = known["n1"]["ibready_fabric_looks"]["looks"][0]
    assert 5000 < len(json.dumps(fabric().answers())) < 7500
    known["n2"]["ibready_fabric_looks"] = {"looks": [look, look]}
    for one in known.values():
        one["ibready_fabric_asks"] = {"n2": [], "n1": []}
    monkeypatch.setattr(observe_look, name, most)
    reported = judged(known)["fabric"]
    assert [one["verdict"] for one in reported["fabrics"]] == ["ready"]
    assert reported["error"].startswith("n2: what fabric_look returned cannot be ")
    assert why in reported["error"]


def test_a_look_with_which_nothing_can_be_judged_is_named_and_no_other_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = run(fabric())
    known["n2"]["ibready_fabric_looks"] = known["n1"]["ibready_fabric_looks"]
    for one in known.values():
        one["ibready_fabric_asks"] = {"n1": [], "n2": []}
    sound = judge.judge

    def raising(looks: Any, *others: Any) -> Any:
        if any(one.asked.startswith("n2") and one.discovery.known for one in looks):
            raise RecursionError("of n2")
        return sound(looks, *others)

    monkeypatch.setattr(judge, "judge", raising)
    reported = judged(known)["fabric"]
    passed = [sum(one["result"] == "pass" for one in each["checks"]) for each in reported["fabrics"]]
    assert passed[0] > 5
    assert "RecursionError of n2" in str(reported["fabrics"][1])
    assert {one["verdict"] for one in reported["fabrics"]} == {"unknown"}
