# SPDX-License-Identifier: GPL-3.0-or-later
"""The causes of the page on cases of which the answer is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import diagnosis, finding, render
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import compare
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import causes
from tests.unit import pages, runs

FAIL, UNKNOWN, WARNING = "fail", "unknown", "warning"
DOWN = runs.check(FAIL, "ib.port.state", "mlx5_0/1")
GOVERNOR = runs.check(FAIL, "host.cpu.governor", "host", severity=WARNING, cause="saves power", remedy="performance")
BLIND = runs.check(UNKNOWN, "gpu.device.count", "host", cause="no nvidia-smi", remedy="install it")


def found(hosts: dict[str, Any], **more: Any) -> list[causes.Cause]:
    return causes.causes(runs.run(hosts, **more))


def test_the_ranking_is_that_of_the_diagnosis() -> None:
    slow = runs.check(FAIL, "ib.port.rate", "mlx5_1/1", observed="100 Gb/s", expected="at least 400 Gb/s")
    run = runs.run({"n1": runs.judged(GOVERNOR, DOWN), "n2": runs.judged(slow), "n3": runs.judged(DOWN, BLIND)})
    ranked = list(dict.fromkeys(item.id for item in diagnosis.diagnose(run).causes))
    assert [item.id for item in causes.causes(run) if item.id] == ranked
    assert ranked == ["rail.down", "rail.slow", "host.governor"]


def test_errors_stand_before_what_could_not_be_looked_at_and_that_before_warnings() -> None:
    hosts = {"n1": runs.judged(GOVERNOR, DOWN, BLIND)}
    assert [(item.result, item.error) for item in found(hosts)] == [(FAIL, True), (UNKNOWN, True), (FAIL, False)]


def test_equal_causes_of_several_hosts_are_one_with_its_nodes_folded_and_one_command() -> None:
    hosts = {f"node{number:02}": runs.judged(DOWN) for number in (3, 1, 2, 9)}
    (item,) = found(hosts)
    assert (item.nodes, item.others) == ("node[01-03,09]", [])
    (command,) = item.commands
    assert command.startswith("ansible node01,node02,node03,node09 -i INVENTORY")
    assert item.readies == 4


def test_the_commands_name_the_inventory_of_the_run() -> None:
    run = runs.run({"n1": runs.judged(DOWN)})
    run["run"]["inventory"] = ["my hosts.yml"]
    (item,) = causes.causes(run)
    assert item.commands[0].startswith("ansible n1 -i 'my hosts.yml' ")


def out_of_reach(name: str, address: str) -> dict[str, Any]:
    why, remedy = f"unreachable: no route to {address}", f"try `ssh {address}`; `ansible {name} -m ping`"
    check = runs.check(UNKNOWN, "host.access.reachable", "host", cause=why, remedy=remedy)
    return runs.judged(replace(check, evidence={"address": address}))


def test_what_differs_by_the_hosts_own_names_alone_is_one_in_the_words_of_the_first() -> None:
    hosts = {f"node{number}": out_of_reach(f"node{number}", f"10.0.0.{number}") for number in (1, 2)}
    (item,) = found(hosts)
    assert (item.nodes, item.words_of, item.seeks) == ("node[1-2]", "node1", 'unreachable: no route to "')
    (item,) = found({"node1": hosts["node1"]})
    assert item.words_of == ""
    terminal = render.render(diagnosis.diagnose(runs.run(hosts)))
    assert "   because:  unreachable: no route to 10.0.0.1\n" in terminal
    assert "   by hand:  try `ssh 10.0.0.1`; `ansible node1 -m ping` (so for node1)" in terminal
    slow = [runs.judged(replace(DOWN, cause=f"the port of {name} is off")) for name in hosts]
    (item,) = found(dict(zip(hosts, slow, strict=True)))
    assert (item.nodes, item.words_of, item.why) == ("node[1-2]", "node1", "the port of node1 is off")


def test_a_name_that_no_list_can_hold_is_told_beside_it_and_stands_in_no_command() -> None:
    (item,) = found({"a b;c": runs.judged(DOWN), "n1": runs.judged(DOWN)})
    assert (item.nodes, item.others, list(item.found)) == ("n1", ["a b;c"], ["a b;c", "n1"])
    assert [command.split()[1] for command in item.commands] == ["n1"]
    assert "no command can hold it" not in item.act
    (item,) = found({"a b;c": runs.judged(DOWN)})
    assert (item.nodes, item.commands) == ("", [])
    assert "no command can hold it" in item.act


def test_a_lost_gpu_is_one_cause_with_one_action_and_what_follows_from_it() -> None:
    hosts = {
        "n1": runs.judged(
            runs.check(
                FAIL, "gpu.device.count", "host", observed="7 on the PCI bus", expected="8", cause="it fell off"
            ),
            runs.check(FAIL, "fleet.gpu.model", "host", observed="7x H100", expected="8x H100"),
            runs.check(FAIL, "nccl.gdr.level", "host", remedy="nccl_gdr_level: SYS"),
        )
    }
    bent = hosts["n1"]["checks"][0]
    bent["cause"] = "a GPU is not even on the PCI bus: it fell off, or has no power"
    bent["observed"] = "7 on the PCI bus: one is gone"
    (item,) = found(hosts)
    assert (item.id, item.nodes, len(item.commands)) == ("gpu.off_bus", "n1", 1)
    assert set(item.behind) == {"fleet.gpu.model", "nccl.gdr.level"}
    assert "GPU" in item.act
    assert "nccl_gdr_level" not in item.act + item.remedy


def test_what_passed_or_is_waived_has_no_cause() -> None:
    assert found({"n1": runs.judged(runs.check(), runs.check("skip"), runs.check(FAIL, waived="until x: y"))}) == []


def test_a_host_is_made_ready_by_the_last_cause_that_it_has() -> None:
    first, last = found({"n1": runs.judged(DOWN, GOVERNOR), "n2": runs.judged(GOVERNOR)})
    assert (first.readies, last.readies) == (0, 2)


def fabric(linked: bool = True, **more: Any) -> dict[str, Any]:
    """Two hosts on a leaf; ``linked``: whether n1 is."""
    nodes = [{"guid": "0x1", "name": "leaf-1-6", "type": "switch", "host": "", "hca": ""}]
    nodes += [{"guid": f"0x{at}", "name": "", "type": "ca", "host": f"n{at}", "hca": "mlx5_0/1"} for at in (1, 2)]
    nodes[1]["guid"], nodes[2]["guid"] = "0xa", "0xb"
    links = [{"a": "0x1", "a_port": 17, "b": "0xa", "b_port": 1, "state": "ok", "why": ""}] if linked else []
    links += [{"a": "0xb", "a_port": 1, "b": "0x1", "b_port": 18, "state": "ok", "why": ""}]
    (one,) = runs.fabric(runs.check())["fabrics"]
    return {**runs.fabric(), "fabrics": [{**one, "nodes": nodes, "links": links, **more}]}


def test_both_ends_of_a_cable_are_told_also_of_one_that_only_an_earlier_run_saw() -> None:
    hosts = {"n1": runs.judged(DOWN), "n2": runs.judged(runs.check())}
    (item,) = found(hosts, fabric=fabric())
    assert item.cables == [("n1", "mlx5_0/1", "leaf-1-6/17", False)]
    run = runs.run(hosts, fabric=fabric(linked=False))
    (item,) = causes.causes(run)
    assert item.cables == [("n1", "mlx5_0/1", "", False)]
    before = runs.run(hosts, fabric=fabric())
    run["since"] = compare.compare(before, run)
    (item,) = causes.causes(run)
    assert item.cables == [("n1", "mlx5_0/1", "leaf-1-6/17", True)]
    # And still after a third run that does not see it.
    later = runs.run(hosts, fabric=fabric(linked=False))
    later["since"] = compare.compare(run, later)
    assert causes.causes(later)[0].cables == item.cables
    assert "n1 mlx5_0/1 ⟷ leaf-1-6/17 (from an earlier run)" in pages.words(later)


def test_what_a_fabric_says_of_a_host_s_port_is_the_host_s_cause() -> None:
    absent = runs.check(FAIL, "fabric.hca.present", "n1 mlx5_0/1", cause="gone", remedy="fix it")
    run = runs.run({"n1": runs.judged(DOWN)}, fabric=runs.fabric(absent))
    run["hosts"]["n1"]["facts"]["ib"] = {"cas": [{"name": "mlx5_0", "ports": []}]}
    (item,) = causes.causes(run)
    assert (item.id, list(item.found), list(item.behind)) == ("rail.down", ["n1"], ["fabric.hca.present"])


UNCLAIMED = runs.check(UNKNOWN, "fabric.hca.known", "n1 mlx5_9 (0x1)", cause="n2 did not answer", remedy="ask n2")


def test_what_could_not_be_told_of_a_host_s_hca_in_a_fabric_is_told_of_the_host() -> None:
    run = runs.run({"n1": runs.judged(runs.check())}, fabric=runs.fabric(UNCLAIMED))
    (item,) = causes.causes(run)
    assert {place: [check.id for check in some] for place, some in item.found.items()} == {"n1": ["fabric.hca.known"]}
    assert "n2 did not answer" in pages.words(run)


def test_what_a_cause_explains_is_not_told_again_with_what_was_not_looked_at_for_the_same_reason() -> None:
    mute = runs.check(FAIL, "gpu.driver.answers", "host")
    blind = [runs.check(UNKNOWN, id_, "host", cause="timeout") for id_ in ("nvlink.link.state", "ib.port.mtu")]
    first, second = found({"n1": runs.judged(mute, *blind)})
    assert (set(first.behind), second.checks) == ({"nvlink.link.state"}, ["ib.port.mtu"])


@pytest.mark.parametrize(
    ("own", "told"),
    [
        pytest.param(runs.check(FAIL, "fabric.sm.answers"), [FAIL], id="the same, once"),
        pytest.param(runs.check(UNKNOWN, "fabric.sm.answers"), [UNKNOWN, FAIL], id="not looked at by the host"),
        pytest.param(runs.check(FAIL, "fabric.sm.answers", waived="until x: y"), [FAIL], id="waived of the host"),
    ],
)
def test_what_fails_in_a_fabric_is_told_unless_the_host_says_the_same(own: Check, told: list[str]) -> None:
    bad = runs.check(FAIL, "fabric.sm.answers", "n1 mlx5_0/1")
    report = runs.run({"n1": runs.judged(own)}, fabric=runs.fabric(bad))
    found, waived = finding.of_report(report)
    assert [(item.host, item.check.result) for item in found] == [("n1", result) for result in told]
    assert [item.check for item in waived] == ([own] if own.waived else [])


def test_what_is_wrong_with_a_fabric_alone_is_told_of_it_and_asked_where_it_was_asked() -> None:
    bad = runs.check(FAIL, "fabric.cable.errors", "spine-1/3 - leaf-1/4", cause="a cable", remedy="swap it")
    run = runs.run({"n1": runs.judged(runs.check())}, fabric=runs.fabric(bad))
    (item,) = causes.causes(run)
    assert [name for name in item.found if name.startswith("fabric")] == list(item.found)
    assert all(" n1 " in command for command in item.commands)
    assert item.commands
    assert item.readies == 0
