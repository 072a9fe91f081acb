# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine, PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._areas.roce import ENTRIES, area as roce
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import (
    Expected,
    from_inventory,
    with_fleet,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.lldpctl import Neighbour
from ansible_collections.ibready.cluster.plugins.module_utils._parse.mlxlink import Mlxlink
from ansible_collections.ibready.cluster.plugins.module_utils._rails.roce_ports import (
    UNSET,
    Counted,
    GidEntry,
    Qos,
    RoceFacts,
    RocePort,
)

HCA = PciFunction("0000:18:00.0", "020000", "15b3", "1021", driver="mlx5_core")
MACHINE = Machine(pci=Reading((HCA,)))
ABSENT: Reading[Any] = Reading(None, "no such file", missing=True)
DENIED: Reading[Any] = Reading(None, "permission denied")
EXPECT = {
    "link_layer": "Ethernet",
    "rate_gbps": 400,
    "roce_mode": "v2",
    "roce_trust": "dscp",
    "roce_pfc": [3],
    "roce_tos": 106,
    "roce_gid_index": 3,
}
# What equal rails differ in beside this, _equals/ judges of what was read.
OURS = [one for one in ENTRIES if not one.id.startswith(("roce.spectrum.", "roce.equals."))]
GIDS = (
    GidEntry(0, "fe80::1", "link-local", "IB/RoCE v1", "eth0"),
    GidEntry(1, "fe80::1", "link-local", "RoCE v2", "eth0"),
    GidEntry(2, "10.0.0.1", "IPv4", "IB/RoCE v1", "eth0"),
    GidEntry(3, "10.0.0.1", "IPv4", "RoCE v2", "eth0"),
)
SWITCHES = tuple((f"{side}/{n}", True) for side in ("roce_np", "roce_rp") for n in range(8))
QOS = Qos(
    Reading("dscp"),
    Reading((3,)),
    Reading(tuple((dscp, dscp // 8) for dscp in range(64))),
    Reading(SWITCHES),
)


# What every port shows: one counter of loss, one of congestion.
STILL = {"packet_seq_err": 0, "np_cnp_sent": 0}


def counted(before: int = 0, rise: int = 0, name: str = "packet_seq_err", seconds: float = 5.0) -> Counted:
    return Counted(Reading({**STILL, name: before}), Reading({**STILL, name: before + rise}), seconds)


def port(name: str = "mlx5_0", **bent: Any) -> RocePort:
    """A 400 Gb/s rail on a ConnectX-7."""
    healthy = RocePort(
        device=name,
        num=1,
        model="MT4129",
        address="0000:18:00.0",
        driver="mlx5_core",
        protocol="RoCE",
        state="Active",
        physical_state="LinkUp",
        rate=400.0,
        netdev=Reading("eth0"),
        operstate=Reading("up"),
        carrier=Reading(True),
        mtu=Reading(9000),
        gids=Reading(GIDS),
        gids_read=64,
        qos=QOS,
        traffic_class=Reading(106),
        cm_tos=ABSENT,
        cm_mode=Reading("RoCE v2"),
        counters=counted(),
        neighbours=Reading((Neighbour("eth0", "leaf1", "70:06:92:6e:33:18", "Ethernet0"),)),
    )
    return replace(healthy, **bent)


def facts(*ports: RocePort, **bent: Any) -> RoceFacts:
    mine = ports or (port(),)
    healthy = RoceFacts(Reading(tuple(one.device for one in mine)), Reading(mine), ABSENT)
    return replace(healthy, **bent)


def judge(seen: RoceFacts, expect: dict[str, Any] | None = None, host: Machine = MACHINE) -> list[Check]:
    """Without those of Spectrum-X, which are skipped here: test_checks_spectrum_x.py has them."""
    found = roce.judge(seen, host, from_inventory(EXPECT if expect is None else expect))
    return [one for one in found if not one.id.startswith("roce.spectrum.")]


def bad(seen: RoceFacts, expect: dict[str, Any] | None = None) -> dict[str, str]:
    return {f"{one.id} {one.subject}": one.result for one in judge(seen, expect) if one.result in ("fail", "unknown")}


def one_check(seen: RoceFacts, check_id: str, expect: dict[str, Any] | None = None) -> Check:
    return next(one for one in judge(seen, expect) if one.id == check_id)


def test_a_healthy_rail_passes_everything() -> None:
    checks = judge(facts(port(neighbours=heard((3,)))))
    assert {one.result for one in checks} == {"pass"}
    assert {one.id for one in checks} == {one.id for one in OURS}


def test_equal_rails_pass_as_one_and_fail_each_for_itself() -> None:
    rails = [port(f"mlx5_{n}") for n in range(8)]
    checks = judge(facts(*rails))
    assert len(checks) == len(OURS)
    assert {one.subject for one in checks} == {"host"}
    rails[3] = port("mlx5_3", mtu=Reading(1500))
    rails[5] = port("mlx5_5", mtu=Reading(1500))
    found = [one for one in judge(facts(*rails)) if one.id == "roce.netdev.mtu"]
    assert [(one.subject, one.result) for one in found] == [
        ("mlx5_3/1", "fail"),
        ("mlx5_5/1", "fail"),
        ("host", "pass"),
    ]
    assert "mlx5_3" not in found[2].observed


DOWN = {
    "state": "Down",
    "physical_state": "Polling",
    "carrier": Reading(False),
    "gids": Reading(()),
}
UNPLUGGED = {**DOWN, "physical_state": "Disabled", "operstate": Reading("down")}
RULES = tuple((dscp, 0) for dscp in range(64))
FAULTS = [
    pytest.param(
        {**DOWN, "operstate": Reading("down")},
        {
            "roce.port.state": "fail",
            "roce.port.physical_state": "fail",
            "roce.port.rate": "unknown",
            "roce.netdev.carrier": "fail",
            "roce.gid.address": "unknown",
            "roce.gid.index": "unknown",
        },
        id="a pulled cable",
    ),
    pytest.param(
        {"state": ""},
        {"roce.port.state": "unknown", "roce.port.loss": "unknown", "roce.port.congestion": "unknown"},
        id="no state shown",
    ),
    pytest.param({"physical_state": ""}, {"roce.port.physical_state": "unknown"}, id="nor a link"),
    pytest.param({"rate": 100.0}, {"roce.port.rate": "fail"}, id="slow"),
    pytest.param({"rate": 800.0}, {"roce.port.rate": "fail"}, id="faster than expected"),
    pytest.param({"rate": None}, {"roce.port.rate": "unknown"}, id="no rate shown"),
    pytest.param({"carrier": Reading(False)}, {"roce.netdev.carrier": "fail"}, id="no carrier"),
    pytest.param({"operstate": Reading("dormant")}, {"roce.netdev.carrier": "fail"}, id="dormant"),
    pytest.param({"operstate": DENIED}, {"roce.netdev.carrier": "unknown"}, id="no operstate"),
    pytest.param({"carrier": DENIED}, {"roce.netdev.carrier": "unknown"}, id="carrier unreadable"),
    pytest.param({"mtu": Reading(4191)}, {"roce.netdev.mtu": "fail"}, id="one byte too little"),
    pytest.param({"mtu": DENIED}, {"roce.netdev.mtu": "unknown"}, id="MTU unreadable"),
    pytest.param(
        {"gids": Reading(GIDS[:2])},
        {"roce.gid.address": "fail", "roce.gid.index": "fail"},
        id="link-local addresses only",
    ),
    pytest.param(
        {"gids": Reading(GIDS[:3])},
        {"roce.gid.address": "fail", "roce.gid.index": "fail"},
        id="the address for RoCE v1 only",
    ),
    pytest.param(
        {"gids": Reading((*GIDS[:3], replace(GIDS[3], index=5)))},
        {"roce.gid.index": "fail"},
        id="the address at another index",
    ),
    pytest.param(
        {"gids": DENIED},
        {"roce.gid.address": "unknown", "roce.gid.index": "unknown"},
        id="the GID table cannot be read",
    ),
    pytest.param({"qos": replace(QOS, trust=Reading("pcp"))}, {"roce.qos.trust": "fail"}, id="trust"),
    pytest.param({"qos": replace(QOS, trust=DENIED)}, {"roce.qos.trust": "unknown"}, id="trust unreadable"),
    pytest.param({"qos": replace(QOS, pfc=Reading(()))}, {"roce.qos.pfc": "fail"}, id="no PFC"),
    pytest.param({"qos": replace(QOS, pfc=Reading((3, 4)))}, {"roce.qos.pfc": "fail"}, id="too much PFC"),
    pytest.param({"qos": replace(QOS, pfc=DENIED)}, {"roce.qos.pfc": "unknown"}, id="PFC unreadable"),
    pytest.param({"qos": replace(QOS, priority=Reading(RULES))}, {"roce.qos.priority": "fail"}, id="mapping"),
    pytest.param(
        {"qos": replace(QOS, priority=Reading(((0, 0),)))},
        {"roce.qos.priority": "unknown"},
        id="no rule for this DSCP",
    ),
    pytest.param({"qos": replace(QOS, priority=DENIED)}, {"roce.qos.priority": "unknown"}, id="no mapping"),
    pytest.param(
        {"qos": replace(QOS, ecn=Reading((*SWITCHES, ("roce_rp/3", False))))},
        {"roce.qos.ecn": "fail"},
        id="ECN off on one side",
    ),
    pytest.param({"qos": replace(QOS, ecn=DENIED)}, {"roce.qos.ecn": "unknown"}, id="ECN unread"),
    pytest.param({"traffic_class": Reading(104)}, {"roce.qos.tos": "fail"}, id="another ToS"),
    pytest.param({"traffic_class": Reading(UNSET)}, {"roce.qos.tos": "fail"}, id="no ToS"),
    pytest.param({"traffic_class": DENIED}, {"roce.qos.tos": "unknown"}, id="ToS unreadable"),
    pytest.param(
        {"protocol": "software RDMA", "address": "", "driver": ""},
        {"roce.rail.kind": "fail"},
        id="software RDMA",
    ),
    pytest.param({"protocol": "", "driver": "new"}, {"roce.rail.kind": "unknown"}, id="a new kind"),
]


@pytest.mark.parametrize(("bent", "expected"), FAULTS)
def test_a_fault_is_found_and_nothing_else(bent: dict[str, Any], expected: dict[str, str]) -> None:
    assert bad(facts(port(**bent))) == {f"{name} mlx5_0/1": one for name, one in expected.items()}


@pytest.mark.parametrize(
    ("gids", "told"),
    [
        pytest.param((), "eth0 has no IP address", id="an empty table"),
        pytest.param(GIDS[:2], "eth0 has no IP address", id="link-local only"),
        pytest.param(GIDS[:3], "is in the table for IB/RoCE v1 only", id="v1 beside v2 link-local"),
        pytest.param((GIDS[0], GIDS[2]), "speaks IB/RoCE v1 only", id="a port set to v1"),
    ],
)
def test_the_cause_of_a_missing_address_is_told(gids: tuple[GidEntry, ...], told: str) -> None:
    assert told in one_check(facts(port(gids=Reading(gids))), "roce.gid.address").cause


def test_an_index_beyond_what_is_in_use_holds_nothing() -> None:
    check = one_check(facts(), "roce.gid.index", {**EXPECT, "roce_gid_index": 99})
    assert check.result == "fail"
    assert "nothing up to index 63" in check.observed
    assert "index 3" in check.cause


def test_without_an_expected_index_nccl_picks_one() -> None:
    check = one_check(facts(), "roce.gid.index", {"link_layer": "Ethernet"})
    assert check.result == "skip"


def test_of_one_rail_nobody_can_tell_the_rate() -> None:
    assert bad(facts(), {"link_layer": "Ethernet"}) == {"roce.port.rate mlx5_0/1": "unknown"}


def four(**bent: Any) -> list[RocePort]:
    """Four rails, each with an address of its own; the third is bent."""
    made = []
    for n in range(4):
        gids = tuple(replace(one, address=f"10.0.{n}.1", netdev=f"eth{n}") for one in GIDS)
        made.append(port(f"mlx5_{n}", gids=Reading(gids), netdev=Reading(f"eth{n}"), uplink=f"eth{n}"))
    made[2] = replace(made[2], **bent)
    return made


SAID = {"link_layer": "Ethernet"}
ODD = [
    ({"rate": 100.0}, "roce.port.rate"),
    ({"mtu": Reading(4200)}, "roce.netdev.mtu"),
    ({"gids": Reading((*GIDS[:2], *(replace(one, index=one.index + 2) for one in GIDS[2:])))}, "roce.gid.index"),
    ({"qos": replace(QOS, trust=Reading("pcp"))}, "roce.qos.trust"),
    ({"qos": replace(QOS, pfc=Reading(()))}, "roce.qos.pfc"),
    ({"qos": replace(QOS, pfc=Reading((5,)))}, "roce.qos.pfc"),
    ({"traffic_class": Reading(UNSET)}, "roce.qos.tos"),
    ({"traffic_class": Reading(104)}, "roce.qos.tos"),
    ({"cm_mode": Reading("IB/RoCE v1")}, "roce.cm.mode"),
]


@pytest.mark.parametrize(("bent", "check_id"), ODD)
def test_without_a_word_the_odd_rail_is_found(bent: dict[str, Any], check_id: str) -> None:
    assert bad(facts(*four()), SAID) == {}
    found = bad(facts(*four(**bent)), SAID)
    assert found[f"{check_id} mlx5_2/1"] == "fail"
    assert {name.split()[1] for name in found} == {"mlx5_2/1"}


ALIKE = [
    pytest.param({"qos": replace(QOS, pfc=Reading(())), "traffic_class": Reading(UNSET)}, {"roce.qos.pfc": "fail"}),
    pytest.param({"qos": replace(QOS, pfc=Reading(())), "traffic_class": Reading(104)}, {"roce.qos.pfc": "fail"}),
    pytest.param({"qos": replace(QOS, pfc=Reading(tuple(range(8))))}, {"roce.qos.pfc": "fail"}),
    pytest.param({"qos": replace(QOS, trust=Reading("pcp"))}, {"roce.qos.trust": "fail"}),
    pytest.param({"traffic_class": Reading(UNSET)}, {"roce.qos.tos": "unknown"}),
    pytest.param({"traffic_class": Reading(162)}, {"roce.qos.priority": "fail"}),
    pytest.param(
        {"qos": replace(QOS, ecn=Reading(tuple((name, False) for name, _ in SWITCHES)))}, {"roce.qos.ecn": "fail"}
    ),
    pytest.param({"cm_mode": Reading("IB/RoCE v1")}, {"roce.cm.mode": "fail"}),
    pytest.param({"mtu": Reading(1500)}, {"roce.netdev.mtu": "fail"}),
]


@pytest.mark.parametrize(("bent", "found"), ALIKE)
def test_without_a_word_a_fault_that_all_rails_share_is_found(bent: dict[str, Any], found: dict[str, str]) -> None:
    seen = facts(*(replace(rail, **bent) for rail in four()))
    assert bad(seen, SAID) == {f"{name} mlx5_{n}/1": result for name, result in found.items() for n in range(4)}


FINE = [
    pytest.param({"qos": replace(QOS, pfc=Reading(()))}, id="congestion control alone, marked for ECN"),
    pytest.param({"qos": replace(QOS, trust=Reading("pcp")), "netdev": Reading("eth0.100")}, id="priorities of a VLAN"),
    pytest.param({"qos": replace(QOS, pfc=Reading((0,))), "traffic_class": Reading(UNSET)}, id="all in priority 0"),
    pytest.param({"cm_mode": ABSENT}, id="no configfs"),
    pytest.param({"traffic_class": ABSENT, "driver": "bnxt_en"}, id="a driver that marks by itself"),
    pytest.param({"virtual": True, "qos": Qos(DENIED, DENIED, DENIED, DENIED), "traffic_class": ABSENT}, id="a guest"),
]


@pytest.mark.parametrize("bent", FINE)
def test_without_a_word_other_ways_to_lose_nothing_are_fine(bent: dict[str, Any]) -> None:
    assert bad(facts(*(replace(rail, **bent) for rail in four())), SAID) == {}


def test_a_site_can_expect_a_fabric_that_may_lose_packets() -> None:
    expect = {**EXPECT, "roce_trust": "pcp", "roce_pfc": [], "roce_tos": 0}
    qos = replace(QOS, trust=Reading("pcp"), pfc=Reading(()))
    seen = facts(port(qos=qos, traffic_class=ABSENT))
    assert bad(seen, expect) == {}


@pytest.mark.parametrize(
    ("traffic_class", "nccl", "result"),
    [
        pytest.param(ABSENT, Reading(106), "pass", id="NCCL is told, the driver has no file"),
        pytest.param(Reading(UNSET), Reading(106), "pass", id="NCCL is told"),
        pytest.param(Reading(UNSET), Reading(96), "fail", id="NCCL is told otherwise"),
        pytest.param(Reading(106), Reading(96), "pass", id="the driver's word counts more"),
        pytest.param(Reading(96), Reading(106), "fail", id="in either direction"),
        pytest.param(Reading(UNSET), DENIED, "unknown", id="nccl.conf cannot be read"),
        pytest.param(ABSENT, Reading(UNSET), "fail", id="nobody sets one"),
    ],
)
def test_the_mark_comes_from_the_driver_or_from_nccl(
    traffic_class: Reading[int], nccl: Reading[int], result: str
) -> None:
    seen = facts(port(traffic_class=traffic_class), nccl_tc=nccl)
    assert one_check(seen, "roce.qos.tos").result == result


def test_a_mark_that_only_rdma_cm_sets_does_not_reach_nccl() -> None:
    check = one_check(facts(port(traffic_class=ABSENT, cm_tos=Reading(106))), "roce.qos.tos")
    assert check.result == "fail"
    assert "RDMA CM" in check.cause


def test_a_driver_without_ecn_switches_is_skipped() -> None:
    assert one_check(facts(port(qos=replace(QOS, ecn=ABSENT))), "roce.qos.ecn").result == "skip"
    plain = {**EXPECT, "roce_tos": 104}
    seen = facts(port(qos=replace(QOS, ecn=DENIED), traffic_class=Reading(104)))
    assert one_check(seen, "roce.qos.ecn", plain).result == "skip"


def test_the_site_may_expect_an_mtu() -> None:
    assert bad(facts(), {**EXPECT, "roce_mtu": 9000}) == {}
    assert bad(facts(), {**EXPECT, "roce_mtu": 4200}) == {"roce.netdev.mtu mlx5_0/1": "fail"}


@pytest.mark.parametrize("layer", [None, "InfiniBand"])
def test_ethernet_ports_of_a_host_without_roce_rails_are_not_judged(layer: str | None) -> None:
    expect = {} if layer is None else {"link_layer": layer}
    broken = facts(port(**DOWN, mtu=DENIED, qos=Qos()))
    assert {one.result for one in judge(broken, expect)} == {"skip"}


def test_a_host_without_hca_and_device_is_skipped() -> None:
    nothing = RoceFacts(ABSENT, ABSENT, ABSENT)
    assert {one.result for one in judge(nothing, host=Machine(pci=Reading(())))} == {"skip"}


def test_a_host_without_ethernet_ports_has_no_rails() -> None:
    only_infiniband = RoceFacts(Reading(("mlx5_0",)), Reading(()), ABSENT)
    assert bad(only_infiniband) == {"roce.rail.present host": "fail"}
    no_driver = RoceFacts(ABSENT, ABSENT, ABSENT)
    assert bad(no_driver) == {"roce.rail.present host": "fail"}


def test_what_cannot_be_looked_at_is_unknown() -> None:
    blind = RoceFacts(DENIED, DENIED, ABSENT)
    assert {one.result for one in judge(blind)} == {"unknown"}
    assert {one.id for one in judge(blind)} == {one.id for one in OURS} | {"roce.equals.setting", "roce.equals.other"}


def rails(seen: RoceFacts, expect: dict[str, Any]) -> set[str]:
    """The ports that a fault in all of them would be found in."""
    broken = tuple(replace(one, mtu=DENIED) for one in seen.ports.value or ())
    found = bad(replace(seen, ports=Reading(broken)), {**EXPECT, **expect})
    return {name.split()[1] for name in found if name.startswith("roce.netdev.mtu")}


def test_management_ports_beside_the_rails_are_none() -> None:
    slow = port("mlx5_8", model="MT4127", rate=25.0)  # a ConnectX-6 Lx
    seen = facts(port("mlx5_0"), port("mlx5_1"), slow)
    assert rails(seen, {"hcas": 2}) == {"mlx5_0/1", "mlx5_1/1"}
    other = port("mlx5_8", model="MT41692", rate=200.0)  # a BlueField-3 could do 400
    seen = facts(port("mlx5_0"), port("mlx5_1"), other)
    assert rails(seen, {"hcas": 2}) == {"mlx5_0/1", "mlx5_1/1"}
    assert rails(seen, {"hcas": 3}) == {"mlx5_0/1", "mlx5_1/1", "mlx5_8/1"}
    assert rails(seen, {"hcas": 3, "ignore": ["mlx5_8"]}) == {"mlx5_0/1", "mlx5_1/1"}
    assert rails(seen, {}) == {"mlx5_0/1", "mlx5_1/1", "mlx5_8/1"}


def test_a_rail_that_is_down_is_not_taken_for_a_spare_port() -> None:
    down = port("mlx5_2", state="Down")
    seen = facts(port("mlx5_0"), port("mlx5_1"), down)
    assert rails(seen, {"hcas": 2}) == {"mlx5_0/1", "mlx5_1/1"}
    assert "mlx5_2/1" in rails(seen, {"hcas": 3})
    two = facts(port("mlx5_0"), replace(down, device="mlx5_1"), down)
    assert rails(two, {"hcas": 2}) == {"mlx5_0/1", "mlx5_1/1", "mlx5_2/1"}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(port("mlx5_9", virtual=True), id="a virtual function"),
        pytest.param(port("rxe0", protocol="software RDMA", address="", model=""), id="rxe"),
        pytest.param(port("irdma0", protocol="iWARP", driver="i40e", model="X722"), id="iWARP"),
    ],
)
def test_devices_of_another_kind_beside_hcas_are_no_rails(other: RocePort) -> None:
    assert rails(facts(port("mlx5_0"), other), {"hcas": 1}) == {"mlx5_0/1"}


E810 = port("iwp0", protocol="iWARP", driver="ice", model="", address="0000:18:00.0")


@pytest.mark.parametrize(
    ("adapter", "remedy"),
    [
        pytest.param(E810, "pci/0000:18:00.0 name enable_iwarp value false", id="speaks RoCE as well"),
        pytest.param(replace(E810, device="siw0", driver="", address=""), "NCCL_NET=Socket", id="iWARP alone"),
    ],
)
def test_where_roce_is_wanted_iwarp_is_named_as_what_nccl_cannot_use(adapter: RocePort, remedy: str) -> None:
    (found,) = (one for one in judge(facts(adapter)) if one.id == "roce.rail.present")
    assert found.result == "fail"
    assert f"{adapter.name}: speaks iWARP, over which NCCL cannot connect" in found.cause
    assert remedy in found.remedy


def test_an_onboard_adapter_is_not_blamed_for_hcas_that_are_in_the_other_mode() -> None:
    seen = replace(facts(E810), devices=Reading(("iwp0", "mlx5_0")))
    (found,) = (one for one in judge(seen) if one.id == "roce.rail.present")
    assert (found.result, found.cause) == ("fail", "iwp0, mlx5_0 have other ports only")


def test_a_gpu_host_with_iwarp_alone_is_not_ready_in_silence() -> None:
    card = PciFunction("0000:19:00.0", "030200", "10de", "2330", driver="nvidia")
    host = Machine(pci=Reading((HCA, card)), network=Reading(""))
    first = judge(facts(E810), {}, host)[0]
    assert (first.id, first.result) == ("roce.rail.present", "unknown")
    assert "iwp0/1: speaks iWARP" in first.cause
    beside = judge(facts(E810, port("efa0", protocol="no RoCE", driver="efa")), {}, host)
    assert {one.result for one in beside} == {"skip"}
    soft = port("rxe0", protocol="software RDMA", address="", driver="", model="")
    ignored = {"ignore": ["mlx5_0"]}
    for seen, wish in ((facts(E810, soft), {}), (facts(E810, port("mlx5_0")), ignored)):
        assert judge(seen, wish, host)[0].result == "unknown"
    assert "may be RoCE rails" in judge(facts(E810, port("mlx5_0")), {}, host)[0].cause
    without = judge(facts(E810), {}, replace(MACHINE, network=Reading("")))
    assert {one.result for one in without} == {"skip"}


def test_in_a_virtual_machine_the_virtual_functions_are_the_rails() -> None:
    guests = (port("mlx5_0", virtual=True), port("mlx5_1", virtual=True))
    assert rails(facts(*guests), {"hcas": 2}) == {"mlx5_0/1", "mlx5_1/1"}


def test_software_rdma_is_all_that_a_sandbox_has() -> None:
    soft = facts(port("rxe0", protocol="software RDMA", address="", driver="", model=""))
    host = replace(MACHINE, simulated="RoCE by rdma_rxe")
    found = {one.id: one.result for one in judge(soft, host=host)}
    assert found["roce.rail.kind"] == "skip"
    assert found["roce.port.state"] == "pass"


def test_the_profiles_rate_is_the_least_that_is_expected() -> None:
    profile = {"rate_min_gbps": Expected(200.0, "profile hgx-a100-8")}
    own = from_inventory({key: EXPECT[key] for key in EXPECT if key != "rate_gbps"})
    checks = roce.judge(facts(), MACHINE, with_fleet(own, profile))
    rate = next(one for one in checks if one.id == "roce.port.rate")
    assert (rate.result, rate.expected_from) == ("pass", "profile hgx-a100-8")


def test_every_failure_says_what_why_and_what_next() -> None:
    for param in FAULTS:
        for check in judge(facts(port(**param.values[0]))):
            if check.result == "fail":
                assert all((check.observed, check.expected, check.expected_from)), check
            if check.result in ("fail", "unknown"):
                assert check.cause, check
                assert check.remedy, check


def test_the_report_names_the_index_that_a_fleet_can_share() -> None:
    reported = facts(port("mlx5_0"), port("mlx5_1", gids=Reading(()))).to_dict()
    assert reported["gid_index"] == {"mlx5_0/1": 3, "mlx5_1/1": None}


def moved(*, ip: str = "10.0.0.1", netdev: str = "eth1") -> RocePort:
    gids = tuple(replace(one, netdev=netdev, address=ip if one.kind == "IPv4" else one.address) for one in GIDS)
    return port("mlx5_1", gids=Reading(gids), netdev=Reading(netdev))


def test_two_rails_share_no_address() -> None:
    found = [one for one in judge(facts(port(), moved())) if one.id == "roce.gid.address"]
    assert [(one.subject, one.result) for one in found] == [
        ("mlx5_0/1", "fail"),
        ("mlx5_1/1", "fail"),
    ]
    assert all("mlx5_0/1" in one.cause and "mlx5_1/1" in one.cause for one in found)
    assert bad(facts(port(), moved(ip="10.0.1.1"))) == {}
    assert bad(facts(port(), moved(netdev="eth0"))) == {}  # one bond


def test_without_dscp_no_priority_of_a_dscp_is_judged() -> None:
    assert one_check(facts(), "roce.qos.priority", {**EXPECT, "roce_trust": "pcp"}).result == "skip"


def test_without_flow_control_no_priority_is_judged() -> None:
    none = {**EXPECT, "roce_pfc": []}
    assert one_check(facts(), "roce.qos.priority", none).result == "skip"


COUNTS = [
    (counted(rise=50), "pass", "pass"),
    (counted(rise=51), "fail", "pass"),
    (counted(rise=9, seconds=0.1), "pass", "pass"),
    (counted(before=10**9), "pass", "pass"),
    (counted(rise=50_000, name="np_cnp_sent"), "pass", "pass"),
    (counted(rise=50_001, name="np_cnp_sent"), "pass", "fail"),
    (counted(rise=1, name="max_retry_exceeded"), "fail", "pass"),
    (counted(rise=60, name="ip4InDiscards"), "fail", "pass"),
    (counted(rise=60, name="ethtool -S rx_prio3_discards"), "fail", "pass"),
    (counted(rise=60, name="ethtool -S rx_prio0_discards"), "pass", "pass"),
    (counted(before=9, rise=-9), "unknown", "pass"),
    (Counted(Reading(STILL), Reading({"np_cnp_sent": 0}), 5.0), "unknown", "pass"),
    (Counted(Reading(STILL), DENIED), "unknown", "unknown"),
    # Who shows no counter of a harm is not said to be free of it.
    (Counted(Reading({"packet_seq_err": 0}), Reading({"packet_seq_err": 0}), 5.0), "pass", "skip"),
    (Counted(Reading({"np_cnp_sent": 0}), Reading({"np_cnp_sent": 0}), 5.0), "skip", "pass"),
    (Counted(Reading({}), Reading({}), 5.0), "skip", "skip"),
    (Counted(DENIED, DENIED), "unknown", "unknown"),
    (Counted(ABSENT, ABSENT), "skip", "skip"),
]


@pytest.mark.parametrize(("counters", "loss", "congestion"), COUNTS)
def test_counters_are_judged_by_their_rise(counters: Counted, loss: str, congestion: str) -> None:
    seen = facts(port(counters=counters))
    assert one_check(seen, "roce.port.loss").result == loss
    assert one_check(seen, "roce.port.congestion").result == congestion


def test_rails_that_differ_without_a_majority_are_no_pass() -> None:
    halves = [replace(one, qos=replace(QOS, pfc=Reading((3 + at % 2,)))) for at, one in enumerate(four())]
    found = {name: result for name, result in bad(facts(*halves), SAID).items() if name.startswith("roce.qos.pfc")}
    assert found == {f"roce.qos.pfc mlx5_{n}/1": "unknown" for n in range(4)}


def test_what_all_rails_run_at_is_right_only_where_the_model_can_do_no_more() -> None:
    slow = [replace(one, rate=100.0) for one in four()]
    assert {check.result for check in judge(facts(*slow), SAID) if check.id == "roce.port.rate"} == {"unknown"}
    assert {check.result for check in judge(facts(*four()), SAID) if check.id == "roce.port.rate"} == {"pass"}


def test_a_driver_that_marks_in_its_own_way_is_not_said_to_have_no_ecn() -> None:
    other = port(driver="bnxt_en", qos=replace(QOS, pfc=Reading(())))
    assert bad(facts(other), {**SAID, "rate_gbps": 400})["roce.qos.pfc mlx5_0/1"] == "unknown"


def heard(*pfc: tuple[int, ...] | None) -> Reading[tuple[Neighbour, ...]]:
    return Reading(tuple(Neighbour("eth0", f"leaf{at}", "a", "Ethernet0", pfc=one) for at, one in enumerate(pfc)))


@pytest.mark.parametrize(
    ("bent", "result", "words"),
    [
        pytest.param({"neighbours": heard((3,))}, "pass", "leaf0 Ethernet0 advertises", id="alike"),
        pytest.param({"neighbours": heard((3, 4))}, "fail", "priorities 3, 4, as leaf0", id="another priority"),
        pytest.param({"neighbours": heard(())}, "fail", "priorities none, as leaf0", id="none"),
        pytest.param({"neighbours": heard((3,), (4,))}, "fail", "priorities 4, as leaf1", id="two neighbours"),
        pytest.param({"neighbours": heard(None)}, "skip", "by DCBX of IEEE 802.1Qaz", id="no DCBX"),
        pytest.param({"neighbours": heard()}, "skip", "no neighbour advertises", id="nobody"),
        pytest.param({"neighbours": ABSENT}, "skip", "nobody listens", id="no lldpd"),
        pytest.param({"neighbours": DENIED}, "unknown", "permission denied", id="denied"),
        pytest.param(
            {"neighbours": heard((3,)), "qos": replace(QOS, pfc=DENIED)},
            "unknown",
            "permission denied",
            id="own flow control",
        ),
        pytest.param({"virtual": True}, "skip", "no flow control of its own", id="virtual"),
    ],
)
def test_what_a_switch_advertises_is_held_against_the_rail(bent: dict[str, Any], result: str, words: str) -> None:
    (check,) = [one for one in judge(facts(port(**bent))) if one.id == "roce.dcbx.pfc"]
    assert (check.result, words in check.expected + check.cause) == (result, True)


WHY = ("roce.port.state", "roce.port.physical_state", "roce.netdev.carrier")


@pytest.mark.parametrize(
    ("bent", "words"),
    [
        pytest.param(UNPLUGGED, "no cable is in", id="the kernel tells that there is no carrier"),
        pytest.param({**UNPLUGGED, "carrier": DENIED}, "is switched off", id="it tells of no carrier at all"),
    ],
)
def test_only_an_interface_without_a_word_of_its_carrier_is_switched_off(bent: dict[str, Any], words: str) -> None:
    found = {check.id: check.cause for check in judge(facts(port(**bent)))}
    assert all(words in found[check_id] for check_id in WHY)


def test_what_the_firmware_found_goes_before_the_interface() -> None:
    off = port(**{**UNPLUGGED, "carrier": DENIED}, link=Reading(Mlxlink(recommendation="Bad EEPROM")))
    found = {check.id: check.cause for check in judge(facts(off))}
    assert all(found[check_id] == "mlxlink found: Bad EEPROM" for check_id in WHY[:2])
