# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches held against each other: the odd one out by its name, a silent one never alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from tests.unit import switch_texts as made
from tests.unit.switch_texts import ROCE, Db, bad, changed, cumulus, host, judged, rail, sonic


def fleet(odd: Db | None = None, switches: int = 3) -> tuple[dict[str, Db], list[Any]]:
    told = {f"leaf{at}": sonic(f"leaf{at}") for at in range(1, switches + 1)}
    if odd is not None:
        told[f"leaf{switches}"] = odd
    return told, [host(f"node{at}", rail(heard=(f"leaf{at}", "Ethernet0"))) for at in range(1, switches + 1)]


def test_the_odd_switch_out_is_named_on_its_hosts_alone(tmp_path: Path) -> None:
    told, hosts = fleet(changed(sonic("leaf3"), "PORT", "Ethernet0", mtu="9216"))
    found = judged(made.write(tmp_path, told), *hosts)
    assert [bad(found[name]) for name in ("node1", "node2")] == [{}, {}]
    odd = bad(found["node3"])
    assert set(odd) == {"roce.switch.alike"}
    assert (odd["roce.switch.alike"].observed, odd["roce.switch.alike"].expected) == ("leaf3: MTU 9216", "MTU 9100")
    assert odd["roce.switch.alike"].expected_from == "equals 2/3"


def test_two_switches_that_differ_are_unknown(tmp_path: Path) -> None:
    told, hosts = fleet(changed(sonic("leaf2"), "PORT", "Ethernet0", mtu="9216"), switches=2)
    found = judged(made.write(tmp_path, told), *hosts)
    assert {bad(checks)["roce.switch.alike"].result for checks in found.values()} == {"unknown"}


def alike(told: dict[str, Any], folder: Path, **bent: Any) -> dict[str, Check]:
    """Of Cumulus Linux, a host behind each switch; ``bent``: of the last host's rail."""
    names = sorted(told)
    hosts = [host(f"node-{name}", rail(heard=(name, "swp1"), **(bent if name == names[-1] else {}))) for name in names]
    found = judged(made.write(folder, told), *hosts)
    return {name: {check.id: check for check in found[f"node-{name}"]}["roce.switch.alike"] for name in names}


@pytest.mark.parametrize("line", ["pfc-priority", "trust-mode", "congestion-mode", "RoCE SP->TC mapping"])
@pytest.mark.parametrize("silent", [1, 2, 3])
def test_a_switch_that_does_not_tell_is_not_alike(tmp_path: Path, line: str, silent: int) -> None:
    """Nor is the only switch that tells something like others."""
    kept = "".join(one for one in ROCE.splitlines(keepends=True) if line not in one)
    told = {f"leaf{at}": cumulus(roce=kept) if at <= silent else cumulus() for at in range(1, 4)}
    results = {name: check.result for name, check in alike(told, tmp_path).items()}
    assert {results[f"leaf{at}"] for at in range(1, silent + 1)} == {"unknown"}
    assert {results[f"leaf{at}"] for at in range(silent + 1, 4)} == (
        {"pass"} if silent == 1 else {"unknown"} if silent == 2 else set()
    )


def test_an_odd_class_and_odd_marks_are_named(tmp_path: Path) -> None:
    text = ROCE.replace("24,25,26,27,28,29,30,31  3", "24,25,26,27,28,29,30,31  7").replace(
        "tc        0,3", "tc        3"
    )
    odd = cumulus(roce=text)
    check = alike({"leaf1": cumulus(), "leaf2": cumulus(), "leaf3": odd}, tmp_path)["leaf3"]
    assert check.observed == "leaf3: DSCP 26 in priority 7; ECN for DSCP 26 off"
    assert check.expected == "DSCP 26 in priority 3; ECN for DSCP 26 on"


def test_hosts_that_mark_otherwise_make_no_switch_odd(tmp_path: Path) -> None:
    told = {f"leaf{at}": cumulus() for at in range(1, 4)}
    found = alike(told, tmp_path, traffic_class=Reading(138))
    assert {(check.result, check.expected) for check in found.values()} == {("pass", "as 2 other switches")}


def test_switches_of_two_systems_are_not_compared(tmp_path: Path) -> None:
    made.write(tmp_path, {"leaf1": sonic(), "leaf2": cumulus()})
    hosts = [host("node1", rail()), host("node2", rail(heard=("leaf2", "swp1")))]
    assert [bad(checks) for checks in judged(tmp_path, *hosts).values()] == [{}, {}]
