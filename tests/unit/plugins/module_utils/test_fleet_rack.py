# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts of a rack together: one list, one NVLink domain."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._fleet.rack import DOMAIN, NODES, Tray, judge
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from tests.unit import fleets

ONE, TWO = "ac9b1b1e-2f80-4c1b-9f4e-000000000001.1", "ac9b1b1e-2f80-4c1b-9f4e-000000000001.2"
RACK = tuple(f"10.0.0.{number}" for number in range(1, 19))


def results(trays: dict[str, Tray], check: str) -> dict[str, str]:
    return {name: next(one.result for one in checks if one.id == check) for name, checks in judge(trays).items()}


def rack(count: int, **odd: Tray) -> dict[str, Tray]:
    return {**{f"t{number}": Tray((ONE,), RACK) for number in range(1, count + 1)}, **odd}


@pytest.mark.parametrize("count", [1, 2, 17, 18])
def test_a_rack_of_one_list_is_well_however_much_of_it_is_managed(count: int) -> None:
    trays = rack(count)
    assert set(results(trays, NODES).values()) == set(results(trays, DOMAIN).values()) == {"pass"}


def test_the_order_of_the_lines_is_no_matter() -> None:
    assert set(results(rack(2, t3=Tray((ONE,), RACK[::-1])), NODES).values()) == {"pass"}


def test_the_host_with_another_list_is_named_with_what_differs() -> None:
    trays = rack(3, t9=Tray((ONE,), (*RACK[:-1], "10.0.0.99")))
    assert results(trays, NODES) == {"t1": "pass", "t2": "pass", "t3": "pass", "t9": "fail"}
    (check,) = [one for one in judge(trays)["t9"] if one.id == NODES]
    assert check.observed == "18 nodes; 10.0.0.99 only here, 10.0.0.18 only on t1"


def test_of_two_lists_without_a_majority_both_are_named() -> None:
    assert results(rack(1, t2=Tray((ONE,), RACK[:-1])), NODES) == {"t1": "fail", "t2": "fail"}


def test_a_list_that_leaves_hosts_of_the_domain_out_is_found() -> None:
    trays = {name: Tray((ONE,), RACK[:2]) for name in ("t1", "t2", "t3")}
    assert set(results(trays, NODES).values()) == {"fail"}


def test_a_host_of_another_partition_in_the_list_is_found() -> None:
    assert results(rack(3, t4=Tray((TWO,), RACK)), DOMAIN) == {"t1": "pass", "t2": "pass", "t3": "pass", "t4": "fail"}
    assert results(rack(1, t2=Tray((TWO,), RACK)), DOMAIN) == {"t1": "fail", "t2": "fail"}


def test_two_partitions_with_lists_of_their_own_are_well() -> None:
    trays = {"t1": Tray((ONE,), RACK[:9]), "t2": Tray((TWO,), RACK[9:])}
    assert set(results(trays, NODES).values()) == set(results(trays, DOMAIN).values()) == {"pass"}


@pytest.mark.parametrize("odd", [Tray((), RACK), Tray((ONE, TWO), RACK), Tray((ONE,), None), Tray((ONE,), ())])
def test_what_the_host_s_own_checks_tell_is_not_told_again(odd: Tray) -> None:
    assert results(rack(2, t3=odd), NODES)["t3"] == "skip"
    assert results(rack(2, t3=odd), DOMAIN)["t3"] == "skip"


def report(**odd: Any) -> dict[str, set[str]]:
    board = "gb200-nvl72-node"
    hosts = (*fleets.equals(board), fleets.host(fleets.ODD, *fleets.bent(board, 7, **odd)))
    made = cluster.report(hosts, size=len(hosts), created=fleets.NOW, version="0.1.0")
    return {
        name: {
            check["id"] for check in host["checks"] if check["id"].startswith("fleet.") and check["result"] == "fail"
        }
        for name, host in made["hosts"].items()
    }


@pytest.mark.parametrize(
    ("odd", "check"),
    [
        pytest.param({"node": [{"more": {"imex": {"nodes": ["10.0.0.1", "10.0.0.7"]}}}]}, NODES, id="another list"),
        pytest.param(
            {"evidence": [{"command": "nvsmi_xml", "replace": ["<cliqueId>1<", "<cliqueId>2<"]}]},
            DOMAIN,
            id="another clique",
        ),
        pytest.param(
            {
                "evidence": [
                    {
                        "file": "/var/lib/dpkg/status",
                        "replace": ["Package: nvidia-imex\n", "Package: nvidia-something\n"],
                    }
                ]
            },
            "fleet.imex.version",
            id="no package of it",
        ),
    ],
)
def test_a_report_names_the_tray_that_is_unlike_its_rack(odd: dict[str, Any], check: str) -> None:
    assert report(**odd) == {"node1": set(), "node2": set(), fleets.ODD: {check}}


def test_where_a_scheduler_looks_after_imex_lists_may_differ() -> None:
    found = report(node=[{"more": {"imex": {"nodes": ["10.0.0.1"]}}}], expect={"imex": "job"})
    assert found == {"node1": set(), "node2": set(), fleets.ODD: set()}
