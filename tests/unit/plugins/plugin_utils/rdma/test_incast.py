# SPDX-License-Identifier: GPL-3.0-or-later
"""Incasts from the plan to the checks, between simulated hosts on a simulated switch (tests/unit/incast_world.py)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.ibready.cluster.plugins.module_utils._between.bench import perftest
from ansible_collections.ibready.cluster.plugins.module_utils._data.rdma_drivers import SOFTWARE
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.rdma import incast, judge
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import incast_parts, incast_plan
from tests.unit.incast_world import BNXT, NAMES, World, host, hosts, port, sent

BUSY = {"jobs": ["python3[77] computes on a GPU"], "unknown": []}


def judged(known: dict[str, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """By host what the incasts came to."""
    plan = known["n1"]["ibready_incast_plan"]
    checks, _rows = incast.judged(_hosts.gather(known, list(known)), known, plan)
    return {name: [check.to_dict() for check in some] for name, some in checks.items()}


def results(known: dict[str, dict[str, Any]], *kinds: str) -> dict[str, list[dict[str, Any]]]:
    """Those of these results, by id."""
    found: dict[str, list[dict[str, Any]]] = {}
    for some in judged(known).values():
        for check in some:
            if check["result"] in kinds:
                found.setdefault(check["id"], []).append(check)
    return found


HEALTHY = {
    "pauses, marks and CNPs": World(),
    "congestion control alone holds the senders back": World(needed=False),
    "it has no counter of ignored CNPs": World(without=("rp_cnp_ignored",)),
    "Broadcom's names": World(driver="bnxt_en", names=BNXT),
    "a few drops of other traffic in the kernel's own queues": World(more={"n1": {"ethtool -S rx_discards_phy": 20}}),
    "six hosts": World(),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_fabric_stays_ready(name: str) -> None:
    known = sent(hosts(6 if name == "six hosts" else 3), HEALTHY[name])
    assert results(known, "fail", "unknown") == {}
    assert len(results(known, "pass")["roce.incast.load"]) == len(known)
    assert len(results(known, "pass")["roce.incast.loss"]) == 3 * len(known)


FAULTS = {
    "the switch has no flow control and no ECN": (
        World(pauses=None, marks=False),
        {"roce.incast.pfc", "roce.incast.loss", "roce.incast.ecn"},
        "n2 mlx5_0/1: ethtool -S rx_prio3_pause 500 before, 500 after",
        "flow control is not on in the class of RoCE",
    ),
    "the switch marks nothing": (
        World(marks=False),
        {"roce.incast.ecn"},
        "np_ecn_marked_roce_packets 1000 before, 1000 after",
        "marks nothing",
    ),
    "the receiver answers no mark": (
        World(tells=False),
        {"roce.incast.ecn"},
        "np_cnp_sent 1000 before, 1000 after",
        "ecn/roce_np",
    ),
    "the senders ignore CNPs": (
        World(obey=False),
        {"roce.incast.cnp"},
        "rp_cnp_handled 1000 before, 1000 after",
        "ecn/roce_rp",
    ),
    "CNPs are lost on the way": (
        World(reach=False),
        {"roce.incast.cnp"},
        "np_cnp_sent 1000 before, 41000 after",
        "dropped or held up",
    ),
    "the switch pauses a priority that the HCA does not look at": (
        World(pauses=4),
        {"roce.incast.priority"},
        "rx_pause_ctrl_phy 500 before, 3500 after",
        "another priority",
    ),
    "the switch pauses another priority, in which the HCA obeys": (
        World(pauses=4, shows=(3, 4)),
        {"roce.incast.priority"},
        "rx_prio4_pause 500 before, 3500 after",
        "another priority than the one that RoCE has on this host",
    ),
    "the switch pauses the whole link": (
        World(plain=True, pauses=None),
        {"roce.incast.pfc"},
        "rx_global_pause 0 before, 3000 after",
        "802.3x",
    ),
    "RoCE arrives in a priority without flow control": (
        World(priority=0),
        {"roce.incast.priority"},
        "rx_prio0_bytes 10000 before",
        "DSCP",
    ),
    "RoCE leaves in a priority without flow control": (
        World(sent=5),
        {"roce.incast.priority"},
        "tx_prio5_bytes 10000 before",
        "DSCP",
    ),
    "a switch's headroom is too small": (
        World(lost=100),
        {"roce.incast.loss"},
        "out_of_sequence 1000 before, 1100 after",
        "too small a headroom",
    ),
    "a cable is bad": (
        World(more={"n2": {"ethtool -S rx_crc_errors_phy": 60}}),
        {"roce.incast.loss"},
        "n2 mlx5_0/1: ethtool -S rx_crc_errors_phy 1 before, 61 after",
        "damaged packets",
    ),
    "the receiver's HCA drops what arrives": (
        World(more={"n2": {"ethtool -S rx_prio3_discards": 40}}),
        {"roce.incast.loss"},
        "rx_prio3_discards 4 before, 44 after",
        "the HCA drops packets",
    ),
    "answers stay out": (
        World(more={"n3": {"local_ack_timeout_err": 1}}),
        {"roce.incast.loss"},
        "n3 mlx5_0/1: local_ack_timeout_err 2 before, 3 after",
        "answers stay out",
    ),
    "Broadcom: no flow control and no ECN": (
        World(pauses=None, marks=False, driver="bnxt_en", names=BNXT),
        {"roce.incast.pfc", "roce.incast.loss", "roce.incast.ecn"},
        "rx_pfc_ena_frames_pri3 500 before, 500 after",
        "lost",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_by_its_id_with_the_counter(name: str) -> None:
    world, ids, shown, word = FAULTS[name]
    found = results(sent(hosts(), world), "fail")
    assert set(found) == ids
    told = [(check["observed"], check["cause"]) for some in found.values() for check in some]
    assert any(shown in observed for observed, _cause in told), told
    assert any(word in cause for _observed, cause in told), told
    assert all(check["remedy"] and check["expected"] for some in found.values() for check in some)


def test_a_port_that_was_not_full_proves_nothing() -> None:
    found = judged(sent(hosts(), World(share=0.5)))
    for some in found.values():
        assert {check["result"] for check in some} == {"unknown"}
        load = next(check for check in some if check["id"] == "roce.incast.load")
        assert "was not full" in load["cause"]
        assert "full for 0.0 s, 200 of 400 Gb/s at most" in load["observed"]


def test_a_host_that_takes_no_more_is_named() -> None:
    world = World(share=0.5)
    known = sent(hosts(), world)
    for one in known.values():
        for entry in one["ibready_incast_told"]:
            key = "ethtool -S tx_prio3_pause"
            entry["counted"]["before"]["values"][key] = 0
            entry["counted"]["after"]["values"][key] = 900
    load = results(known, "unknown")["roce.incast.load"][0]
    assert "the host itself takes no more" in load["cause"]
    assert "tx_prio3_pause 0 before, 900 after" in load["cause"]


def test_a_full_port_at_which_nobody_was_held_back_proves_nothing() -> None:
    found = results(sent(hosts(), World(needed=False, marks=False)), "pass", "fail")
    assert found == {}


def test_loss_is_loss_though_the_port_was_not_full() -> None:
    found = results(sent(hosts(), World(share=0.5, lost=100)), "fail")
    assert set(found) == {"roce.incast.loss"}


@pytest.mark.parametrize("driver", ["hns3", "irdma"])
def test_a_driver_whose_counters_are_not_known_here_is_unknown(driver: str) -> None:
    known = sent(hosts(), World(driver=driver))
    assert results(known, "pass", "fail") == {}
    words = " ".join(check["cause"] for some in results(known, "unknown").values() for check in some)
    assert f"the driver ({driver}) shows no" in words


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("out_of_sequence", 5, "out_of_sequence 1000 before, 5 after: somebody cleared the counters"),
        ("out_of_sequence", None, "out_of_sequence was there before and not after"),
        ("ethtool -S rx_prio3_pause", 5, "rx_prio3_pause 500 before, 5 after"),
    ],
)
def test_a_counter_that_went_back_or_away_is_unknown(key: str, value: int | None, said: str) -> None:
    known = sent(hosts(), World())
    for one in known.values():
        for entry in one["ibready_incast_told"]:
            after = entry["counted"]["after"]["values"]
            after.pop(key) if value is None else after.update({key: value})
    found = results(known, "unknown")
    assert any(said in check["cause"] for some in found.values() for check in some)
    assert results(known, "fail") == {}


def test_every_host_receives_once_and_nobody_does_two_things() -> None:
    plan = incast_plan(hosts(7), [f"n{at}" for at in range(1, 8)], forks=50)
    groups = [group for some in plan["rounds"] for group in some]
    assert sorted(group["receiver"] for group in groups) == [f"n{at}" for at in range(1, 8)]
    for some in plan["rounds"]:
        busy = [name for group in some for name in (group["receiver"], *group["senders"])]
        assert len(busy) == len(set(busy))
    # Two incasts of three hosts side by side, where Ansible works on so many at once.
    assert max(len(some) for some in plan["rounds"]) == 2
    assert max(len(some) for some in incast_plan(hosts(7), list(hosts(7)))["rounds"]) == 1


def test_every_part_is_what_the_module_takes() -> None:
    known = hosts()
    plan = incast_plan(known, NAMES, receivers=["n1"], seconds="8", port=19000)
    assert plan["rounds"] == [[{"receiver": "n1", "rail": "mlx5_0/1", "senders": ["n2", "n3"]}]]
    assert plan["lease"] == perftest.limit_of("write_bw", 8) + 60
    found = incast_parts(plan, known, 0)
    ends = [perftest.end(end) for end in found["n1"]["ends"]]
    assert ends == [perftest.End("mlx5_0", 1, "write_bw", at, 3, 106) for at in (19000, 19001)]
    asked = [perftest.end(question) for name in ("n2", "n3") for question in found[name]["questions"]]
    assert asked == ends
    assert {found[name]["questions"][0]["address"] for name in ("n2", "n3")} == {"10.0.0.1"}
    assert [found[name]["state"] for name in NAMES] == ["watched", "asked", "asked"]


def test_a_host_with_a_job_is_left_out_and_named() -> None:
    known = hosts(4)
    known["n2"]["ibready_bench_jobs"] = BUSY
    sent(known, World())
    assert set(known["n1"]["ibready_incast_plan"]["hosts"]) == {"n1", "n3", "n4"}
    found = judged(known)
    assert [(check["result"], check["cause"]) for check in found["n2"]] == [
        ("unknown", "left out: python3[77] computes on a GPU")
    ]
    assert len(results(known, "pass")["roce.incast.load"]) == 3


def test_where_a_job_began_since_the_incast_is_left_out() -> None:
    known = hosts(4)
    plan = incast_plan(known, list(known))
    known["n2"]["ibready_bench_jobs"] = BUSY
    sent(known, World(), plan=plan)
    for number, some in enumerate(plan["rounds"]):
        found = incast_parts(plan, known, number)
        for group in some:
            names = (group["receiver"], *group["senders"])
            assert all((found[name]["state"] == "") == ("n2" in names) for name in names)
    causes = [check["cause"] for check in results(known, "unknown")["roce.incast.load"]]
    assert set(causes) == {"left out: n2: python3[77] computes on a GPU"}
    assert len(results(known, "pass")["roce.incast.load"]) == 1


@pytest.mark.parametrize("said", [{"failed": True, "msg": "no root"}, {"skipped": True}, None])
def test_where_nobody_can_tell_whether_a_job_runs_nobody_sends(said: Any) -> None:
    known = hosts()
    known["n3"]["ibready_bench_jobs"] = said
    assert incast_plan(known, NAMES)["rounds"] == []
    plan = incast_plan(hosts(), NAMES)
    for number in range(3):
        assert {part["state"] for part in incast_parts(plan, known, number).values()} == {""}


def test_two_hosts_alone_are_unknown() -> None:
    known = sent({name: one for name, one in hosts().items() if name != "n3"}, World())
    assert known["n1"]["ibready_incast_plan"]["rounds"] == []
    found = judged(known)
    assert {name: [check["result"] for check in some] for name, some in found.items()} == {
        "n1": ["unknown"],
        "n2": ["unknown"],
    }


def test_a_mark_that_is_not_known_keeps_a_rail_out() -> None:
    known = {**hosts(), "n4": host(4, port(4, traffic_class=Reading(None, "permission denied")))}
    sent(known, World())
    assert "n4" not in known["n1"]["ibready_incast_plan"]["hosts"]
    assert "permission denied" in judged(known)["n4"][0]["cause"]


def _two_rails(number: int, **bent: Any) -> dict[str, Any]:
    """A host with two rails, and what is otherwise on the second."""
    return host(number, port(number), replace(port(number), device="mlx5_1", **bent))


def _loads(known: dict[str, dict[str, Any]]) -> dict[str, dict[str, tuple[str, str]]]:
    """By host and rail what became of its load."""
    return {
        name: {
            check["subject"].partition(" ")[0]: (check["result"], check["cause"] or "")
            for check in some
            if check["id"] == "roce.incast.load"
        }
        for name, some in judged(known).items()
    }


def test_a_rail_that_was_never_loaded_is_unknown() -> None:
    dumb = Reading[int](None, "permission denied")
    known = {"n1": _two_rails(1, traffic_class=dumb), "n2": _two_rails(2), "n3": _two_rails(3)}
    plan = incast_plan(known, NAMES)
    assert {(group["receiver"], group["rail"]) for some in plan["rounds"] for group in some} == {
        (name, "mlx5_0/1") for name in NAMES
    }
    assert {name: list(some) for name, some in plan["rails_left"].items()} == {name: ["mlx5_1/1"] for name in NAMES}
    found = _loads(sent(known, World(), plan=plan))
    assert {name: some["mlx5_0/1"][0] for name, some in found.items()} == dict.fromkeys(NAMES, "pass")
    assert {name: some["mlx5_1/1"][0] for name, some in found.items()} == dict.fromkeys(NAMES, "unknown")
    assert "permission denied" in found["n1"]["mlx5_1/1"][1]
    assert found["n2"]["mlx5_1/1"][1] == "of other hosts, 1 can send on this rail, and 2 have to"


def test_a_rail_that_is_down_is_unknown_and_the_others_are_loaded() -> None:
    known = {**{name: _two_rails(at) for at, name in enumerate(NAMES, 1)}, "n4": _two_rails(4, state="Down")}
    found = _loads(sent(known, World()))
    assert found["n4"]["mlx5_0/1"][0] == "pass"
    assert found["n4"]["mlx5_1/1"] == ("unknown", "the port is Down")
    assert {some["mlx5_1/1"][0] for name, some in found.items() if name != "n4"} == {"pass"}


@pytest.mark.parametrize("bent", [{"protocol": SOFTWARE, "driver": ""}, {"virtual": True}])
def test_a_port_on_no_switch_port_is_no_rail_that_was_not_loaded(bent: dict[str, Any]) -> None:
    known = {**hosts(), "n1": _two_rails(1, **bent)}
    found = _loads(sent(known, World()))
    assert {name: list(some) for name, some in found.items()} == {name: ["mlx5_0/1"] for name in NAMES}


def test_a_rail_of_hosts_that_are_not_named_is_skipped() -> None:
    known = {"n1": _two_rails(1), "n2": _two_rails(2), "n3": host(3)}
    found = _loads(sent(known, World(), receivers=["n1"]))
    assert {rail: told[0] for rail, told in found["n1"].items()} == {"mlx5_0/1": "pass", "mlx5_1/1": "unknown"}
    assert {name: [told[0] for told in found[name].values()] for name in ("n2", "n3")} == {
        "n2": ["skip"],
        "n3": ["skip"],
    }


def test_senders_that_come_one_after_the_other_prove_nothing() -> None:
    known = sent(hosts(), World())
    for one in known.values():
        for entry in one["ibready_incast_told"]:
            for answer in entry["answers"]:
                answer.update(gbps=390.0)
    found = results(known, "pass", "unknown")
    assert set(found["roce.incast.load"][0]["cause"].split()) > {"alone:", "same", "time"}
    assert {check["result"] for some in found.values() for check in some} == {"unknown"}


def test_who_does_not_receive_is_skipped_where_others_are_named() -> None:
    known = sent(hosts(), World(), receivers=["n2"])
    found = judged(known)
    assert [check["result"] for check in found["n1"] if check["id"] == "roce.incast.load"] == ["skip"]
    assert [check["result"] for check in found["n2"] if check["id"] == "roce.incast.load"] == ["pass"]


def test_a_sender_that_failed_is_named() -> None:
    known = sent(hosts(), World())
    for entry in known["n3"]["ibready_incast_told"]:
        for answer in entry["answers"]:
            answer.update(untested="ib_write_bw: Couldn't connect", gbps=None)
    causes = [check["cause"] for check in results(known, "unknown")["roce.incast.load"]]
    assert causes == ["n3 mlx5_0/1: ib_write_bw: Couldn't connect"] * 2


def test_a_host_whose_task_failed_is_named_with_its_word() -> None:
    known = sent(hosts(), World())
    known["n3"].update(ibready_incast_told=[], ibready_incast_error="Count, and wait: no systemd")
    causes = {check["cause"] for check in results(known, "unknown")["roce.incast.load"]}
    assert causes == {"n3: Count, and wait: no systemd"}


def test_nonsense_of_a_host_costs_that_host() -> None:
    known = sent(hosts(), World(), receivers=["n1"])
    known["n3"]["ibready_incast_told"] = [{"number": "x"}]
    found = judged(known)
    assert "cannot be read" in next(check["cause"] for check in found["n1"] if check["id"] == "roce.incast.load")


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"receivers": ["n9"]}, "'n9' is no host that this run reached"),
        ({"receivers": "n1"}, "must be a list"),
        ({"senders": 1}, "ibready_incast_senders must be from 2 to 32"),
        ({"seconds": "x"}, "ibready_incast_seconds must be from 5 to 120"),
        ({"senders": 5}, "--forks 6"),
    ],
)
def test_bad_input_is_refused(wish: dict[str, Any], said: str) -> None:
    with pytest.raises(AnsibleFilterError, match=said):
        incast_plan(hosts(), NAMES, **wish)


def test_the_report_has_the_incasts_and_their_checks() -> None:
    known = sent(hosts(), World(marks=False))
    found = _hosts.gather(known, list(known))
    plan = known["n1"]["ibready_incast_plan"]
    loaded = partial(incast.judged, hostvars=known, made=plan)
    report = judge.alone(found, None, 3, datetime(2026, 11, 28, tzinfo=UTC), loaded)
    assert len(report["incasts"]) == 3
    assert report["incasts"][0]["senders"] == ["n2", "n3"]
    assert report["incasts"][0]["full_s"] == 10.0
    assert "roce.incast.ecn" in judge.text(report)
    assert judge.alone(found, None, 3, datetime(2026, 11, 28, tzinfo=UTC))["incasts"] == []
