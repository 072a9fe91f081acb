# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.template import trust_as_template
from ansible.vars.hostvars import HostVars
from ansible.vars.manager import VariableManager

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.hosts import Host, participant
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.rounds import Rail
from tests.unit.samples import facts, hca, node, port

INFINIBAND = {"link_layer": "InfiniBand"}


def one_port(expect: dict[str, Any], **bent: Any) -> Host:
    return Host("n1", ib=facts(hca("mlx5_0", port(**bent))), expect=from_inventory(expect))


def test_a_live_port_is_a_rail_at_its_own_lid() -> None:
    who = participant(one_port(INFINIBAND, num=2, lid=12))
    assert who.rails == {"mlx5_0/2": Rail("mlx5_0/2", "mlx5_0", 2, 12)}
    assert who.missing == {}


@pytest.mark.parametrize(
    ("bent", "why"),
    [
        pytest.param({"state": "Down"}, "the port is Down", id="Down, with an old LID"),
        pytest.param({"state": "Armed"}, "the port is Armed", id="not yet set up"),
        pytest.param({"state": ""}, "the port is in no known state", id="no state shown"),
        pytest.param({"lid": 0}, "the port has no LID", id="LID zero"),
        pytest.param({"lid": None}, "the port has no LID", id="no LID shown"),
    ],
)
def test_a_port_that_nobody_can_reach_is_missing_with_its_reason(bent: dict[str, Any], why: str) -> None:
    who = participant(one_port(INFINIBAND, **bent))
    assert who.rails == {}
    assert who.missing == {"mlx5_0/1": why}


@pytest.mark.parametrize("expect", [{}, {"link_layer": "Ethernet"}])
def test_an_ethernet_port_is_no_rail_whoever_expects_it(expect: dict[str, Any]) -> None:
    who = participant(one_port(expect, link_layer="Ethernet"))
    assert (who.rails, who.missing) == ({}, {})


@pytest.mark.parametrize(
    ("host", "why"),
    [
        pytest.param(Host("n1", absent="unreachable by ssh"), "unreachable by ssh", id="absent"),
        pytest.param(Host("n1", ib_error="no ibstat"), "no ibstat", id="not judged"),
    ],
)
def test_a_host_of_which_nothing_is_known_misses_every_rail(host: Host, why: str) -> None:
    assert participant(host).missing == {"*": why}


@pytest.mark.parametrize(
    "clock",
    [
        None,
        "late",
        {},
        {"began": 1.0, "ended": 2.0},
        {"asked": 1.0, "answered": 2.0, "began": "1", "ended": 2.0},
        {"asked": 1.0, "answered": 2.0, "began": True, "ended": 2.0},
        {"asked": 1.0, "answered": 2.0, "began": float("nan"), "ended": 2.0},
    ],
)
def test_a_visit_without_a_clock_is_none(clock: object) -> None:
    judged = {"checks": [], "facts": {"ib": node(1).to_dict()}, "clock": clock}
    reported = {"ibready_node": {"node": {}}, "ibready_ibverify": judged}
    assert _hosts.gather({"n1": reported}, ["n1"])[0].visit is None


def test_a_visit_tells_the_clock() -> None:
    clock = {"asked": 10, "answered": 20.0, "began": 1e9, "ended": 1e9 + 8}
    judged = {"checks": [], "facts": {"ib": node(1).to_dict()}, "clock": clock}
    reported = {"ibready_node": {"node": {}}, "ibready_ibverify": judged}
    visit = _hosts.gather({"n1": reported}, ["n1"])[0].visit
    assert visit is not None
    assert visit.bounds == (1e9 + 8 - 20, 1e9 - 10)


def test_ansible_templates_what_the_site_says_and_not_what_hosts_returned() -> None:
    loader = DataLoader()
    inventory = InventoryManager(loader, ["n1,"])
    manager = VariableManager(loader, inventory)
    judged = {"checks": [], "facts": {"ib": node(1).to_dict(), "told": ["{{ 6 * 7 }}"]}}
    said = {"hcas": trust_as_template("{{ 6 * 7 }}")}
    registered = {"ibready_node": {"node": {}}, "ibready_ibverify": judged, "ibready_expect": said}
    manager.set_nonpersistent_facts("n1", registered)
    (host,) = _hosts.gather(HostVars(inventory, manager, loader), ["n1"])
    assert host.facts is judged["facts"]
    assert host.expect.values["hcas"].value == 42
