# SPDX-License-Identifier: GPL-3.0-or-later
"""Partitions, MTU, error counters and optics of a port that is Active."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.ib import area as ib
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as _model
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.mlxlink import Measured, Mlxlink
from ansible_collections.ibready.cluster.plugins.module_utils._parse.perfquery import Block
from ansible_collections.ibready.cluster.plugins.module_utils._rails.ib_ports import IbFacts, Later, Mtu
from tests.unit.samples import details, facts, hca, port

EXPECT = {"hcas": 1, "link_layer": "InfiniBand", "rate_gbps": 400}
DENIED: Reading[Any] = Reading(None, "permission denied")


def host(**bent: Any) -> IbFacts:
    return facts(details={"mlx5_0/1": details(**bent)})


def check(seen: IbFacts, check_id: str, **expect: Any) -> _model.Check:
    checks = ib.judge(seen, from_inventory({**EXPECT, **expect}))
    (found,) = (one for one in checks if one.id == check_id)
    return found


def ask(check_id: str, expect: dict[str, Any] | None = None, **bent: Any) -> tuple[str, str]:
    one = check(host(**bent), check_id, **(expect or {}))
    return one.result, f"{one.observed} {one.cause}"


@pytest.mark.parametrize(
    ("keys", "wanted", "result", "word"),
    [
        pytest.param((0xFFFF,), None, "pass", "0xffff", id="the default partition"),
        pytest.param((0x8012, 0x7FFF), None, "pass", "0x8012", id="a tenant's partition"),
        pytest.param((0x7FFF,), None, "fail", "limited member", id="limited only"),
        pytest.param((), None, "fail", "no partition", id="none"),
        pytest.param((0x8012, 0x7FFF), ["0x8012"], "pass", "", id="as the inventory says"),
        pytest.param((0xFFFF,), ["0x8012"], "fail", "not in the port's table", id="not in it"),
        pytest.param((0x0012,), ["0x8012"], "fail", "only a limited member of it", id="limited"),
        pytest.param((0x8012,), ["0x12"], "pass", "", id="either membership"),
        pytest.param((0xFFFF,), ["blue"], "unknown", "is no P_Key", id="no P_Key"),
    ],
)
def test_partitions(keys: tuple[int, ...], wanted: Any, result: str, word: str) -> None:
    expect = {"pkeys": wanted} if wanted else {}
    got, said = ask("ib.port.pkey", expect, pkeys=Reading(keys))
    assert got == result
    assert word in said


def test_a_partition_table_that_cannot_be_read_is_unknown() -> None:
    assert ask("ib.port.pkey", pkeys=DENIED)[0] == "unknown"
    assert ask("ib.port.pkey", pkeys=Reading())[0] == "unknown"


def test_which_partition_nccl_uses_is_not_taken_for_granted() -> None:
    assert ask("ib.port.pkey", nccl_pkey=DENIED)[0] == "unknown"
    assert ask("ib.port.pkey", nccl_pkey=Reading((1, 0)))[0] == "fail"
    assert ask("ib.port.pkey", nccl_pkey=Reading((1, 0x8012)), pkeys=Reading((0x7FFF, 0x8012)))[0] == "pass"


@pytest.mark.parametrize(
    ("mtu", "wanted", "result", "word"),
    [
        pytest.param(Mtu(4096, 4096), None, "pass", "", id="all it can"),
        pytest.param(Mtu(2048, 4096), None, "fail", "partition", id="less than it can"),
        pytest.param(Mtu(2048, 4096), 2048, "pass", "", id="as the inventory says"),
        pytest.param(Mtu(4096, 4096), 2048, "fail", "less than the port runs", id="more"),
        pytest.param(Mtu(2048, 2048), 4096, "fail", "cannot do more", id="impossible"),
    ],
)
def test_the_mtu(mtu: Mtu, wanted: int | None, result: str, word: str) -> None:
    got, said = ask("ib.port.mtu", {"mtu": wanted} if wanted else {}, mtu=Reading(mtu))
    assert got == result
    assert word in said


def test_an_mtu_that_cannot_be_told_is_unknown_but_on_a_simulated_node() -> None:
    assert ask("ib.port.mtu", mtu=DENIED)[0] == "unknown"
    seen = replace(host(mtu=DENIED), simulated="InfiniBand fabric")
    found = check(seen, "ib.port.mtu")
    assert (found.result, found.cause) == ("skip", "simulated node: InfiniBand fabric")


def counted(before: dict[str, int], after: dict[str, int], seconds: float = 5.0) -> dict[str, Any]:
    return {"counters": Reading(before), "later": Reading(Later(after, seconds))}


@pytest.mark.parametrize(
    ("rise", "seconds", "result"),
    [
        pytest.param({"symbol_error": 2}, 5, "pass", id="a few bit errors happen"),
        pytest.param({"symbol_error": 3}, 5, "fail", id="but not that many at once"),
        pytest.param({"symbol_error": 3}, 7200, "pass", id="nor over hours"),
        pytest.param({"link_error_recovery": 1}, 5, "fail", id="one recovery is one too many"),
        pytest.param({"link_downed": 4}, 5, "pass", id="a flap is another check's"),
        pytest.param({"port_xmit_discards": 9}, 5, "pass", id="some discards"),
        pytest.param({"port_xmit_discards": 90}, 5, "fail", id="many discards"),
    ],
)
def test_counters_may_rise_only_so_fast(rise: dict[str, int], seconds: float, result: str) -> None:
    before = dict.fromkeys(rise, 1000)
    after = {name: 1000 + value for name, value in rise.items()}
    got, said = ask("ib.port.errors", **counted(before, after, seconds))
    assert got == result
    if result == "fail":
        assert f"+{next(iter(rise.values()))}" in said


def test_a_link_that_went_down_while_watched_has_flapped() -> None:
    got, said = ask("ib.port.flaps", **counted({"link_downed": 1}, {"link_downed": 3}))
    assert (got, "1 to 3" in said) == ("fail", True)
    old = check(replace(host(), uptime_s=86400), "ib.port.flaps")
    assert (old.result, old.observed) == ("pass", "1 so far, the host is up for 1.0 days")


@pytest.mark.parametrize("check_id", ["ib.port.errors", "ib.port.flaps"])
def test_without_a_second_look_nothing_is_known_of_a_rise(check_id: str) -> None:
    one = check(host(later=Reading(None, "no second look at the counters")), check_id)
    assert (one.result, one.severity) == ("unknown", "warning")
    cleared = counted({"symbol_error": 9, "link_downed": 9}, {"symbol_error": 0, "link_downed": 0})
    assert ask(check_id, **cleared)[0] == "unknown"


@pytest.mark.parametrize("check_id", ["ib.port.errors", "ib.port.flaps", "ib.port.saturated"])
def test_counters_that_are_not_there_and_those_that_cannot_be_read(check_id: str) -> None:
    gone: Reading[Any] = Reading(None, "no such directory", True)
    assert ask(check_id, counters=gone)[0] == "skip"
    assert ask(check_id, counters=DENIED)[0] == "unknown"
    assert check(replace(host(counters=gone), simulated="x"), check_id).cause == "simulated node: x"


def test_an_old_value_is_told_and_a_full_counter_is_a_warning() -> None:
    got, said = ask("ib.port.saturated", **counted({"symbol_error": 900}, {"symbol_error": 900}))
    assert (got, "symbol_error 900" in said) == ("pass", True)
    full = check(host(counters=Reading({"symbol_error": 65535})), "ib.port.saturated")
    assert (full.result, full.severity) == ("fail", "warning")
    seen = check(host(counters=Reading({"symbol_error": 65535, "port_rcv_errors": 7})), "ib.port.saturated")
    assert (seen.result, "symbol_error 65535 (full)" in seen.observed) == ("pass", True)


@pytest.mark.parametrize(
    ("rise", "result"),
    [
        pytest.param({"local_ack_timeout_err": 800}, "fail", id="answers stay out"),
        pytest.param({"local_ack_timeout_err": 50}, "pass", id="at ten a second"),
        pytest.param({"symbol_error": 51}, "fail", id="more than ten a second"),
        pytest.param({"link_error_recovery": 1}, "fail", id="one recovery within seconds"),
        pytest.param({"excessive_buffer_overrun_errors": 1}, "fail", id="any overrun"),
        pytest.param({"VL15_dropped": 9000}, "pass", id="management packets"),
    ],
)
def test_what_rises_so_fast_that_jobs_wait_is_an_error(rise: dict[str, int], result: str) -> None:
    seen = check(host(**counted(dict.fromkeys(rise, 0), rise)), "ib.port.error_storm")
    assert (seen.result, seen.severity) == (result, "error")


@pytest.mark.parametrize(
    ("kind", "name", "value", "result"),
    [
        pytest.param("Port", "SymbolErrorCounter", 65535, "fail", id="full"),
        pytest.param("Port", "SymbolErrors", 65535, "fail", id="full, in the old name"),
        pytest.param("Port", "LinkDownedCounter", 254, "pass", id="an old value"),
        pytest.param("Port extended", "LinkDownedCounter", 255, "pass", id="64 bits wide"),
        pytest.param("Port extended", "PortRcvErrors", 2**64 - 1, "fail", id="all of them"),
        pytest.param("PortRcvErrorDetails", "PortLocalPhysicalErrors", 65535, "pass", id="details of one kind"),
        pytest.param("Port", "VL15Dropped", 65535, "pass", id="a full counter that tells of no damage"),
        pytest.param("Port", "PortXmitWait", 65535, "skip", id="no error counter"),
    ],
)
def test_one_look_with_perfquery(kind: str, name: str, value: int, result: str) -> None:
    block = Block(kind, "Lid 6", "1", (("PortSelect", 1), (name, value)))
    seen = IbFacts(ibstat_unknown="ibstat: not in the bundle", perfquery=(block,))
    found = check(seen, "ib.port.saturated")
    assert (found.subject, found.result) == ("Lid 6 port 1", result)


HEALTHY = Mlxlink(
    state="Active",
    width="4x",
    recommendation="No issue was observed",
    symbol_ber=15e-255,
    effective_ber=15e-255,
    raw_ber=2e-9,
    module=(Measured("Rx power", (1.8, 1.9, 2.2, 1.9), -10.4, 6.0),),
)


@pytest.mark.parametrize(
    ("bent", "result", "word"),
    [
        pytest.param({}, "pass", "residual none", id="no error is left"),
        pytest.param({"symbol_ber": 1e-9}, "fail", "after correction", id="errors are left"),
        pytest.param({"symbol_ber": None, "effective_ber": 1e-9}, "fail", "after", id="without it"),
        pytest.param({"effective_ber": 1e-9}, "pass", "", id="retransmission mends the rest"),
        pytest.param({"raw_ber": 2e-5}, "fail", "near its end", id="a signal that is too bad"),
        pytest.param({"recommendation": "Bad signal integrity"}, "fail", "Bad", id="its own word"),
        pytest.param({"symbol_ber": None, "effective_ber": None, "raw_ber": None}, "unknown", "", id="none"),
    ],
)
def test_bit_errors(bent: dict[str, Any], result: str, word: str) -> None:
    got, said = ask("ib.port.ber", optics=Reading(replace(HEALTHY, **bent)))
    assert got == result
    assert word in said


@pytest.mark.parametrize(
    ("bent", "result", "word"),
    [
        pytest.param({}, "pass", "Rx power 1.8", id="within its limits"),
        pytest.param({"module": ()}, "skip", "no values", id="copper"),
        pytest.param({"module": (), "cable": "Passive copper cable"}, "skip", "copper", id="named"),
        pytest.param({"faults": ("Tx Fault [per lane] 1",)}, "fail", "laser", id="a fault flag"),
        pytest.param(
            {"module": (Measured("Rx power", (1.0, -14.0), -10.0, 6.0),), "width": "4x"},
            "fail",
            "too little light",
            id="one lane is dark",
        ),
        pytest.param(
            {
                "module": (Measured("Rx power", (1.0, 1.1, -40.0, -40.0), -10.0, 6.0),),
                "width": "2x",
            },
            "pass",
            "",
            id="the other half of a split cable is",
        ),
        pytest.param(
            {"module": (Measured("temperature", (80.0,), -5.0, 75.0),)},
            "fail",
            "airflow",
            id="too hot",
        ),
        pytest.param({"module": (Measured("Rx power", (1.0,)),)}, "pass", "", id="no limits"),
    ],
)
def test_optics(bent: dict[str, Any], result: str, word: str) -> None:
    got, said = ask("ib.port.optics", optics=Reading(replace(HEALTHY, **bent)))
    assert got == result
    assert word in said


@pytest.mark.parametrize("check_id", ["ib.port.ber", "ib.port.optics"])
def test_mlxlink_is_optional_but_must_not_break(check_id: str) -> None:
    one = check(host(), check_id)
    assert (one.result, "optional" in one.cause) == ("skip", True)
    assert ask(check_id, optics=Reading(None, "mlxlink: gave no complete answer"))[0] == "unknown"


def test_no_infiniband_thing_is_asked_of_an_ethernet_or_a_down_port() -> None:
    asked = ("ib.port.pkey", "ib.port.mtu", "ib.port.errors", "ib.port.lid", "ib.port.guid")
    ethernet = facts(hca("mlx5_0", port(link_layer="Ethernet", lid=0, sm_lid=0)))
    expect = from_inventory({**EXPECT, "link_layer": "Ethernet"})
    assert {one.id for one in ib.judge(ethernet, expect)} & set(asked) == {"ib.port.errors"}
    down = facts(hca("mlx5_0", port(state="Down", physical_state="Polling")))
    assert not {one.id for one in ib.judge(down, from_inventory(EXPECT))} & set(asked[:3])


def test_many_equal_results_are_one_and_none_passes_beside_an_unknown() -> None:
    two = facts(hca("mlx5_0"), hca("mlx5_1", port(lid=9)))
    expect = from_inventory({**EXPECT, "hcas": 2})
    (one,) = (c for c in ib.judge(two, expect) if c.id == "ib.port.mtu")
    assert (one.subject, one.observed) == ("host", "2 ports: 4096")
    two.details["mlx5_1/1"] = details(mtu=DENIED)
    found = [c for c in ib.judge(two, expect) if c.id == "ib.port.mtu"]
    assert [(c.subject, c.result) for c in found] == [("mlx5_1/1", "unknown")]
    two.details["mlx5_1/1"] = details(mtu=Reading(Mtu(2048, 4096)))
    found = [c for c in ib.judge(two, expect) if c.id == "ib.port.mtu"]
    assert [(c.subject, c.result) for c in found] == [("mlx5_0/1", "pass"), ("mlx5_1/1", "fail")]


ROCE = {**EXPECT, "link_layer": "Ethernet"}


def roce_rail(**bent: Any) -> IbFacts:
    rail = hca("mlx5_0", port(link_layer="Ethernet", lid=0, sm_lid=0))
    return facts(rail, details={"mlx5_0/1": details(**bent)})


@pytest.mark.parametrize(
    ("bent", "check_id", "word"),
    [
        pytest.param(
            {"optics": Reading(replace(HEALTHY, faults=("Rx LOS [per lane] 1",)))},
            "ib.port.optics",
            "too little light",
            id="no light",
        ),
        pytest.param({"optics": Reading(replace(HEALTHY, raw_ber=2e-3))}, "ib.port.ber", "near", id="raw BER"),
        pytest.param(counted({"symbol_error": 0}, {"symbol_error": 40}), "ib.port.errors", "+40", id="errors"),
        pytest.param(counted({"link_downed": 1}, {"link_downed": 2}), "ib.port.flaps", "1 to 2", id="flap"),
    ],
)
def test_the_cable_of_a_roce_rail_is_looked_at(bent: dict[str, Any], check_id: str, word: str) -> None:
    checks = ib.judge(roce_rail(**bent), from_inventory(ROCE))
    found = [one for one in checks if one.result == "fail"]
    assert [one.id for one in found] == [check_id]
    assert word in f"{found[0].observed} {found[0].cause}"


def test_what_a_roce_rail_loses_on_the_way_is_told_by_its_own_check() -> None:
    bent = counted({"rx_icrc_encapsulated": 0}, {"rx_icrc_encapsulated": 2})
    assert not [one for one in ib.judge(roce_rail(**bent), from_inventory(ROCE)) if one.result == "fail"]


def test_a_healthy_roce_rail_is_clean_and_one_that_is_down_is_not_asked() -> None:
    optics = Reading(HEALTHY)
    results = {one.id: one.result for one in ib.judge(roce_rail(optics=optics), from_inventory(ROCE))}
    cable = (
        "ib.port.errors",
        "ib.port.flaps",
        "ib.port.saturated",
        "ib.port.ber",
        "ib.port.optics",
    )
    assert [results[one] for one in cable] == ["pass"] * 5
    assert set(results.values()) <= {"pass", "skip"}
    down = facts(hca("mlx5_0", port(link_layer="Ethernet", state="Down", lid=0, sm_lid=0)))
    assert not {one.id for one in ib.judge(down, from_inventory(ROCE))} & set(cable)


@pytest.mark.parametrize(("check_id", "name"), [("ib.port.errors", "symbol_error"), ("ib.port.flaps", "link_downed")])
def test_a_counter_that_is_gone_at_the_second_look_is_unknown(check_id: str, name: str) -> None:
    before = {"symbol_error": 0, "link_downed": 1}
    after = {other: value for other, value in before.items() if other != name}
    got, said = ask(check_id, **counted(before, after))
    assert (got, name in said) == ("unknown", True)


def test_without_the_raw_error_rate_the_output_may_be_cut() -> None:
    got, said = ask("ib.port.ber", optics=Reading(replace(HEALTHY, raw_ber=None)))
    assert (got, "cut" in said) == ("unknown", True)
    left = replace(HEALTHY, raw_ber=None, symbol_ber=1e-9)
    assert ask("ib.port.ber", optics=Reading(left))[0] == "fail"


def test_a_value_at_its_limit_is_within() -> None:
    edge = replace(HEALTHY, module=(Measured("temperature", (75.0, -5.0), -5.0, 75.0),))
    assert ask("ib.port.optics", optics=Reading(edge))[0] == "pass"
