# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ports are judged as rails, by whose word, and what is set apart."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.ib import area as ib
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import (
    Expectations,
    Expected,
    from_inventory,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as _model
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibstat import Ca, Port
from ansible_collections.ibready.cluster.plugins.module_utils._rails.ib_ports import Device, IbFacts, SmAnswer
from tests.unit.samples import facts, hca, master, port

PROFILE = "profile hgx-h100-8"
DOWN: dict[str, Any] = {
    "state": "Down",
    "physical_state": "Polling",
    "rate": 10.0,
    "lid": 65535,
    "sm_lid": 0,
}
ETHERNET: dict[str, Any] = {"link_layer": "Ethernet", "lid": 0, "sm_lid": 0}


def promised(least: int = 2, rate: float = 400, **inventory: Any) -> Expectations:
    """A hardware profile's word, beside that of the inventory."""
    values = {"hcas_min": Expected(least, PROFILE), "rate_min_gbps": Expected(rate, PROFILE)}
    own = from_inventory(inventory)
    return Expectations({**values, **own.values}, own.ignore)


def rail(index: int, **bent: Any) -> Ca:
    return hca(
        f"mlx5_{index}",
        port(**{"lid": 10 + index, "port_guid": f"0x1{index}", **bent}),
        node_guid=f"0x{index + 1}",
    )


def judge(seen: IbFacts, expect: Expectations) -> dict[str, _model.Check]:
    return {f"{one.id} {one.subject}": one for one in ib.judge(seen, expect)}


def bad(seen: IbFacts, expect: Expectations) -> dict[str, str]:
    return {name: one.result for name, one in judge(seen, expect).items() if one.result in ("fail", "unknown")}


def test_a_profile_s_rails_are_enough_with_whatever_is_beside_them() -> None:
    seen = facts(
        rail(0),
        rail(1),
        rail(2, **DOWN),  # never cabled
        hca("mlx5_3", port(rate=200.0, **ETHERNET), type="MT41692"),
        hca("mlx5_4", port(rate=200.0), type="MT4123"),
    )
    assert bad(seen, promised()) == {}
    reported = judge(seen, promised())
    assert (reported["ib.hca.count host"].observed, reported["ib.hca.count host"].expected) == (
        "3",
        "at least 2",
    )
    assert reported["ib.hca.count host"].expected_from == PROFILE
    assert reported["ib.port.rate mlx5_0/1"].expected == "at least 400 Gb/s"
    assert reported["ib.port.state mlx5_2/1"].cause.startswith("beside the 2 rails of profile")
    assert "gives 200 Gb/s at most" in reported["ib.port.state mlx5_4/1"].cause
    assert reported["ib.port.link_layer mlx5_0/1"].expected_from == PROFILE


def test_a_rail_that_is_down_is_missed_where_a_profile_counts_on_it() -> None:
    found = bad(facts(rail(0), rail(1, **DOWN)), promised())
    assert found["ib.port.state mlx5_1/1"] == "fail"
    assert "ib.hca.count host" not in found
    assert _model.verdict(judge(facts(rail(0), rail(1, **DOWN)), promised()).values()) == "not_ready"


def test_a_missing_rail_is_missed_whatever_stands_beside_it() -> None:
    storage = hca("mlx5_4", port(rate=200.0), type="MT4123")
    seen = facts(rail(0), storage, bus=Reading(("0000:1a:00.0", "0000:2a:00.0")))
    assert bad(seen, promised()) == {"ib.hca.count host": "fail"}
    assert "a ConnectX-6 gives 200 Gb/s" in judge(seen, promised())["ib.hca.count host"].cause


def test_a_slow_rail_is_to_blame_and_storage_in_another_subnet_is_not() -> None:
    storage = hca("mlx5_8", port(rate=200.0))
    seen = facts(rail(0), rail(1, rate=100.0), storage)
    seen.sm["mlx5_8/1"] = master(guid="0xbeef")
    assert bad(seen, promised()) == {"ib.port.rate mlx5_1/1": "fail"}
    assert "storage" in judge(seen, promised())["ib.port.state mlx5_8/1"].cause


def test_the_second_port_of_a_rail_s_hca_is_a_spare() -> None:
    seen = facts(hca("mlx5_0", port(), port(2, **DOWN)), rail(1))
    assert bad(seen, promised()) == {}
    assert bad(facts(hca("mlx5_0", port(), port(2, **DOWN))), promised()) == {"ib.hca.count host": "fail"}


def test_the_inventory_s_count_is_exact_and_goes_before_a_profile_s() -> None:
    seen = facts(rail(0), rail(1), rail(2))
    assert bad(seen, promised()) == {}
    assert bad(seen, promised(hcas=2)) == {"ib.hca.count host": "fail"}
    beside = facts(rail(0), rail(1), hca("mlx5_9", port(**ETHERNET), type="MT4125"))
    assert bad(beside, promised(hcas=2)) == {}
    fleet = Expectations({**promised().values, "hcas": Expected(3, "fleet 3/4")})
    assert judge(seen, fleet)["ib.hca.count host"].expected_from == PROFILE


def test_the_rails_of_a_profile_may_be_ethernet_but_all_of_them() -> None:
    seen = facts(rail(0, **ETHERNET), rail(1, **ETHERNET))
    # Nothing here tells that they sit beside GPUs, so nobody knows whether they are RoCE rails.
    assert set(bad(seen, promised()).items()) == {
        ("ib.port.link_layer mlx5_0/1", "unknown"),
        ("ib.port.link_layer mlx5_1/1", "unknown"),
    }
    said = Expectations({**promised().values, "link_layer": Expected("Ethernet", "capability")})
    assert bad(seen, said) == {}
    mixed = facts(rail(0), rail(1), rail(2, **ETHERNET))
    assert bad(mixed, promised(3)) == {
        "ib.hca.count host": "fail",
        "ib.port.link_layer mlx5_2/1": "fail",
    }


@pytest.mark.parametrize(
    ("ports", "found"),
    [
        pytest.param([{}, DOWN], {"ib.port.idle": "fail"}, id="one of two is down"),
        pytest.param(
            [{"state": "Initializing", "sm_lid": 0, "lid": 65535}],
            {"ib.port.idle": "fail"},
            id="the link is up, but nobody has set it up",
        ),
        pytest.param([DOWN, DOWN], {"ib.port.state": "fail"}, id="no link at all"),
        pytest.param([{}, {}], {}, id="all is well"),
        pytest.param(
            [{}, {"state": "???", "physical_state": "???"}],
            {"ib.port.state": "unknown"},
            id="no known state",
        ),
    ],
)
def test_what_nobody_expects_is_a_warning_beside_a_link_that_is_up(
    ports: list[dict[str, Any]], found: dict[str, str]
) -> None:
    seen = facts(*(rail(index, **bent) for index, bent in enumerate(ports)))
    got = bad(seen, Expectations())
    kinds = {name.split(" ")[0]: result for name, result in got.items()}
    shown = {one: kinds[one] for one in ("ib.port.idle", "ib.port.state") if one in kinds}
    assert shown == found
    assert judge(seen, promised(len(ports))).get("ib.port.idle mlx5_1/1") is None


@pytest.mark.parametrize(
    "device",
    [
        pytest.param(Device(kind="EFA device"), id="EFA"),
        pytest.param(Device(kind="iWARP adapter"), id="iWARP"),
        pytest.param(Device(manages_switches=True), id="NVLink switch management"),
        pytest.param(Device(virtual=True, physical="0000:1a:00.0"), id="virtual function"),
    ],
)
def test_what_is_no_hca_is_never_a_rail(device: Device) -> None:
    strange = hca("other_0", port(**DOWN), node_guid="0x0")
    seen = facts(rail(0), strange, devices={"other_0": device})
    expect = from_inventory({"hcas": 1, "link_layer": "InfiniBand", "rate_gbps": 400})
    assert bad(seen, expect) == {}
    assert judge(seen, expect)["ib.port.state other_0/1"].result == "skip"
    assert [ca.name for ca, _port in ib.rails(seen, expect)] == ["mlx5_0"]


def test_virtual_functions_are_the_rails_of_a_virtual_machine() -> None:
    seen = facts(hca("mlx5_0", port(), type="MT4126"), hca("mlx5_1", port(**ETHERNET), type="MT4129"))
    assert bad(seen, promised(1)) == {}


def test_an_hca_that_cannot_do_the_expected_rate_is_named() -> None:
    seen = facts(rail(0), hca("mlx5_1", port(rate=200.0), type="MT4123"))
    expect = from_inventory({"hcas": 2, "link_layer": "InfiniBand", "rate_gbps": 400})
    assert bad(seen, expect) == {"ib.hca.count host": "fail"}
    assert "mlx5_1/1: a ConnectX-6" in judge(seen, expect)["ib.hca.count host"].cause


@pytest.mark.parametrize(
    ("other", "mends"),
    [
        pytest.param(hca("mlx5_9", port(**ETHERNET)), "else set LINK_TYPE", id="a link layer of storage"),
        pytest.param(hca("mlx5_9", port(rate=200.0), type="MT4123"), "else fit one of the rails' model", id="a model"),
    ],
)
def test_what_else_there_is_does_not_hide_that_an_hca_is_gone(other: Ca, mends: str) -> None:
    expect = from_inventory({"hcas": 2, "link_layer": "InfiniBand", "rate_gbps": 400})
    remedy = judge(facts(rail(0), other), expect)["ib.hca.count host"].remedy
    assert remedy.startswith("where `lspci -d 15b3:` lacks an HCA, reseat or replace it; ")
    assert mends in remedy


def test_mixed_generations_and_firmware_are_warnings() -> None:
    old = hca("mlx5_1", port(), type="MT4123", fw="20.43.2566")
    seen = facts(rail(0), old)
    assert bad(seen, from_inventory({"hcas": 2, "link_layer": "InfiniBand"})) == {
        "ib.port.rate mlx5_0/1": "unknown",
        "ib.port.rate mlx5_1/1": "unknown",
        "ib.hca.generation host": "fail",
    }
    odd = [hca(f"mlx5_{index}", fw="28.39.1002" if index else "28.1.1") for index in range(3)]
    found = judge(facts(*odd), promised(3))
    assert found["ib.hca.firmware_equal mlx5_0"].expected.endswith("28.39.1002 on 2")
    two = judge(facts(*odd[:2]), promised(2))
    assert {f"ib.hca.firmware_equal mlx5_{n}" for n in (0, 1)} <= set(two)
    boards = {"mlx5_0": Device(board="MT_0000000838"), "mlx5_1": Device(board="DEL0000000001")}
    assert bad(facts(*odd[:2], devices=boards), promised(2)) == {}


def test_equal_hcas_of_one_subnet_run_at_one_rate() -> None:
    seen = facts(rail(0), rail(1, rate=200.0))
    found = bad(seen, Expectations())
    assert found["ib.port.even mlx5_1/1"] == "fail"
    assert "ib.port.even mlx5_0/1" not in found
    dead = {**seen.sm, "mlx5_1/1": SmAnswer(unavailable="sminfo: timeout")}
    assert bad(facts(*seen.cas, sm=dead), Expectations())["ib.port.even host"] == "unknown"
    apart = {**seen.sm, "mlx5_1/1": master(guid="0xbeef")}
    assert "ib.port.even mlx5_1/1" not in bad(facts(*seen.cas, sm=apart), Expectations())


@pytest.mark.parametrize(
    ("bent", "word"),
    [
        pytest.param({"physical_state": "Polling"}, "cable", id="no partner"),
        pytest.param({"physical_state": "Disabled"}, "administrator", id="switched off"),
        pytest.param({"physical_state": "Disabled", "link_layer": "Ethernet"}, "interface", id="Ethernet"),
        pytest.param({"physical_state": "PortConfigurationTraining"}, "marginal", id="trains for ever"),
        pytest.param({"physical_state": "LinkErrorRecovery"}, "recover", id="recovers"),
        pytest.param({"physical_state": "LinkUp"}, "virt_enabled", id="held down"),
        pytest.param({"state": "Initializing", "physical_state": "LinkUp"}, "no subnet manager", id="no SM"),
        pytest.param(
            {"state": "Initializing", "physical_state": "LinkUp", "sm_lid": 4},
            "not swept",
            id="not swept yet",
        ),
        pytest.param({"state": "Armed", "physical_state": "LinkUp"}, "not ended", id="half way"),
    ],
)
def test_every_state_has_a_cause_of_its_own(bent: dict[str, Any], word: str) -> None:
    seen = facts(hca("mlx5_0", port(**{**DOWN, **bent})))
    check = judge(seen, from_inventory({"hcas": 1, "rate_gbps": 400}))["ib.port.state mlx5_0/1"]
    assert word in check.cause


@pytest.mark.parametrize(
    ("link", "word"),
    [("1X NDR", "only 1 of 4 lanes"), ("2X NDR", "split"), ("4X HDR", "lower speed"), ("", "")],
)
def test_a_slow_link_says_how_it_trained(link: str, word: str) -> None:
    seen: Port = port(rate=100.0)
    host = facts(hca("mlx5_0", seen))
    host.details["mlx5_0/1"] = type(host.details["mlx5_0/1"])(link=link)
    expect = from_inventory({"hcas": 1, "link_layer": "InfiniBand", "rate_gbps": 400})
    assert word in judge(host, expect)["ib.port.rate mlx5_0/1"].cause


def test_a_host_without_any_link_is_judged_by_its_known_states_only() -> None:
    kinds = {"mlx5_0": Device(kind="iWARP adapter"), "mlx5_1": Device(kind="iWARP adapter")}
    seen = facts(hca("mlx5_0", port(**DOWN)), hca("mlx5_1", port(state="???")), devices=kinds)
    got = {name: one.result for name, one in judge(seen, Expectations()).items()}
    assert got["ib.port.state mlx5_0/1"] == "fail"
    assert got["ib.port.state mlx5_1/1"] == "skip"


def test_two_hcas_of_one_host_share_no_node_guid() -> None:
    twins = [hca("mlx5_0"), hca("mlx5_1", node_guid="0xA088C20300E3142A")]
    expect = promised(2)
    found = judge(facts(*twins), expect)
    for name in ("mlx5_0", "mlx5_1"):
        one = found[f"ib.hca.guid {name}"]
        assert one.result == "fail"
        assert "mlx5_0" in one.cause
        assert "mlx5_1" in one.cause
    soft = facts(*twins, devices={"mlx5_1": Device(kind="software RDMA device")})
    assert judge(soft, expect)["ib.hca.guid mlx5_0"].result == "pass"
    zero = judge(facts(*(hca(f"mlx5_{n}", node_guid="0x0") for n in (0, 1))), expect)
    assert zero["ib.hca.guid mlx5_0"].observed == "0x0"
    assert "have one node GUID" not in zero["ib.hca.guid mlx5_0"].cause


def test_two_ports_of_one_host_and_subnet_share_no_lid() -> None:
    twins = (hca("mlx5_0", port(lid=9)), hca("mlx5_1", port(lid=9)))
    found = judge(facts(*twins), promised(2))
    for name in ("mlx5_0/1", "mlx5_1/1"):
        one = found[f"ib.port.lid {name}"]
        assert one.result == "fail"
        assert "mlx5_0/1" in one.cause
        assert "mlx5_1/1" in one.cause
    apart = facts(*twins, sm={"mlx5_0/1": master(), "mlx5_1/1": master(guid="0x2")})
    assert judge(apart, promised(2))["ib.port.lid mlx5_0/1"].result == "pass"
    part = facts(*twins, devices={"mlx5_1": Device(virtual=True, physical="0000:1a:00.0")})
    assert judge(part, promised(1))["ib.port.lid mlx5_0/1"].result == "pass"
