# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.ib import area as ib
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as _model
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.mlxlink import Measured, Mlxlink
from ansible_collections.ibready.cluster.plugins.module_utils._parse.perfquery import Block
from ansible_collections.ibready.cluster.plugins.module_utils._rails import ib_ports as ib_facts
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers.typed import read
from tests.unit.samples import details, facts, hca, master, port

EXPECT = {"hcas": 1, "link_layer": "InfiniBand", "rate_gbps": 400}


def results(seen: ib_facts.IbFacts, expect: dict[str, Any] | None = None) -> dict[str, str]:
    checks = ib.judge(seen, from_inventory(EXPECT if expect is None else expect))
    return {f"{check.id} {check.subject}": check.result for check in checks}


def bad(seen: ib_facts.IbFacts, expect: dict[str, Any] | None = None) -> dict[str, str]:
    return {k: v for k, v in results(seen, expect).items() if v in ("fail", "unknown")}


def test_a_healthy_host_is_ready() -> None:
    checks = ib.judge(facts(), from_inventory(EXPECT))
    assert _model.verdict(checks) == "ready"
    assert {check.result for check in checks} == {"pass", "skip"}


PORT_FAULTS = [
    pytest.param(
        {"state": "Down", "physical_state": "Polling", "lid": 0, "sm_lid": 0},
        {
            "ib.port.state": "fail",
            "ib.port.physical_state": "fail",
            "ib.port.rate": "unknown",
            "ib.port.lid": "unknown",
            "ib.port.sm": "unknown",
            "fabric.sm.answers": "unknown",
        },
        id="a pulled cable",
    ),
    pytest.param({"rate": 100.0}, {"ib.port.rate": "fail"}, id="a slow link"),
    pytest.param({"rate": 800.0}, {"ib.port.rate": "fail"}, id="faster than anyone expects"),
    pytest.param({"rate": None}, {"ib.port.rate": "unknown"}, id="no rate shown"),
    pytest.param({"rate": 0.0}, {"ib.port.rate": "unknown"}, id="rate zero is no rate"),
    pytest.param(
        {"state": "Initializing", "sm_lid": 0, "lid": 0},
        {
            "ib.port.state": "fail",
            "ib.port.lid": "fail",
            "ib.port.sm": "fail",
            "fabric.sm.answers": "unknown",
        },
        id="no subnet manager ever",
    ),
    pytest.param({"lid": 0xFFFF}, {"ib.port.lid": "fail"}, id="the permissive LID is no address"),
    pytest.param({"lid": None}, {"ib.port.lid": "unknown"}, id="no LID shown"),
    pytest.param({"sm_lid": 0}, {"ib.port.sm": "fail", "fabric.sm.answers": "fail"}, id="SM lid zero"),
    pytest.param(
        {"sm_lid": None},
        {"ib.port.sm": "unknown", "fabric.sm.answers": "fail"},
        id="no SM lid shown",
    ),
    pytest.param(
        {"sm_lid": 0xC000},
        {"ib.port.sm": "fail", "fabric.sm.answers": "fail"},
        id="a multicast LID is no subnet manager",
    ),
    pytest.param({"port_guid": "0x00xx"}, {"ib.port.guid": "unknown"}, id="a masked GUID"),
    pytest.param({"port_guid": "0x0000000000000000"}, {"ib.port.guid": "fail"}, id="zero GUID"),
    pytest.param({"port_guid": ""}, {"ib.port.guid": "unknown"}, id="no GUID shown"),
    pytest.param(
        {"state": ""},
        {"ib.port.state": "unknown", "fabric.sm.answers": "unknown"},
        id="no state shown is not Active",
    ),
    pytest.param({"physical_state": ""}, {"ib.port.physical_state": "unknown"}, id="no physical state shown"),
]


@pytest.mark.parametrize(("bent", "expected"), PORT_FAULTS)
def test_a_port_fault_is_found_and_nothing_else(bent: dict[str, Any], expected: dict[str, str]) -> None:
    assert bad(facts(hca("mlx5_0", port(**bent)))) == {
        f"{check_id} mlx5_0/1": result for check_id, result in expected.items()
    }


def test_empty_ibstat_with_status_zero_fails() -> None:
    seen = ib_facts.IbFacts()
    assert bad(seen) == {"ib.hca.present host": "fail"}
    assert _model.verdict(ib.judge(seen, from_inventory(EXPECT))) == "not_ready"


def test_a_missing_ibstat_is_unknown_never_a_pass() -> None:
    seen = ib_facts.IbFacts(ibstat_unknown="ibstat: not installed")
    assert bad(seen) == {"ib.tool.ibstat ibstat": "unknown", "ib.hca.present host": "unknown"}
    assert _model.verdict(ib.judge(seen, from_inventory(EXPECT))) == "unknown"


def test_devices_before_a_panic_do_not_make_a_whole_host() -> None:
    seen = facts(error_lines=("ibpanic: stat of IB device 'mlx5_8' failed",))
    # What is left out is missed by ib.hca.count, if anybody expects it.
    assert bad(seen) == {"ib.tool.complete ibstat": "fail"}
    assert bad(seen, {**EXPECT, "hcas": 2})["ib.hca.count host"] == "fail"


def test_the_kernel_tells_of_what_ibstat_stopped_before() -> None:
    panic = "ibpanic: [1] main: stat of IB device 'mlx5_an0' failed: No such file or directory"
    ethernet = hca("mlx5_an0", port(link_layer="Ethernet", lid=0, sm_lid=0))
    seen = facts(hca(), ethernet, error_lines=(panic,), filled=("mlx5_an0",))
    assert bad(seen) == {"ib.tool.complete ibstat": "fail"}
    (reported,) = (c for c in ib.judge(seen, from_inventory(EXPECT)) if c.id == "ib.tool.complete")
    assert "1 devices, then: ibpanic" in reported.observed
    assert "mlx5_an0" in reported.cause


def test_an_ibstat_that_found_no_device_fails_and_one_that_broke_is_unknown() -> None:
    for line, result in (
        ("ibpanic: [1] main: 'mlx5_0' IB device can't be found: Success", "fail"),
        ("ibpanic: [1] main: stat of IB device 'a' failed: No such file or directory", "fail"),
        ("ibpanic: [1] main: stat of IB device 'a' failed: Permission denied", "unknown"),
    ):
        seen = ib_facts.IbFacts(error_lines=(line,))
        assert bad(seen)["ib.tool.ibstat ibstat"] == result


def test_output_that_was_cut_is_not_understood() -> None:
    for bent in ({"partial": ("mlx5_0/1",)}, {"sysfs": (hca(), hca("mlx5_1"))}):
        assert bad(facts(**bent))["ib.tool.ibstat ibstat"] == "unknown"


def test_a_panic_without_devices_is_unknown_not_an_empty_host() -> None:
    seen = ib_facts.IbFacts(error_lines=("ibpanic: stat of IB device 'mlx5_0' failed",))
    assert bad(seen) == {"ib.tool.ibstat ibstat": "unknown", "ib.hca.present host": "unknown"}
    assert _model.verdict(ib.judge(seen, from_inventory(EXPECT))) == "unknown"


def test_without_expectations_count_and_rate_are_unknown() -> None:
    assert bad(facts(), {}) == {
        "ib.hca.count host": "unknown",
        "ib.port.rate mlx5_0/1": "unknown",
        "ib.port.link_layer mlx5_0/1": "unknown",
    }


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        pytest.param(ib_facts.SmAnswer(error="sminfo: iberror: failed: query"), "fail", id="dead"),
        pytest.param(ib_facts.SmAnswer(unavailable="sminfo: timeout"), "unknown", id="no tool"),
        pytest.param(master(state_name="SMINFO_STANDBY"), "fail", id="only a standby"),
        pytest.param(master(lid=9), "fail", id="another than the port's own"),
        pytest.param(master(guid="0x0"), "unknown", id="a master without a GUID"),
        pytest.param(master(guid="0xe89e4903003xxxxx"), "unknown", id="a masked GUID"),
    ],
)
def test_the_subnet_manager_must_answer(answer: ib_facts.SmAnswer, result: str) -> None:
    assert bad(facts(sm={"mlx5_0/1": answer})) == {"fabric.sm.answers mlx5_0/1": result}


def test_an_answer_without_a_state_is_the_master_s() -> None:
    assert bad(facts(sm={"mlx5_0/1": master(state=None, state_name="")})) == {}


def test_a_vpi_hca_in_ethernet_mode_is_no_rail() -> None:
    seen = facts(hca("mlx5_0", port(link_layer="Ethernet", lid=0, sm_lid=0)))
    assert bad(seen) == {"ib.hca.count host": "fail", "ib.port.link_layer mlx5_0/1": "fail"}


def test_a_flipped_second_port_of_a_fabric_hca_is_not_passed_over() -> None:
    flipped = hca("mlx5_0", port(), port(2, link_layer="Ethernet", state="Down"))
    assert bad(facts(flipped)) == {"ib.port.link_layer mlx5_0/2": "fail"}


@pytest.mark.parametrize("layer", ["", "Unknown", "Unspecified", "infiniband"])
def test_a_link_layer_that_nobody_knows_is_unknown(layer: str) -> None:
    seen = facts(hca("mlx5_0"), hca("mlx5_9", port(link_layer=layer, state="Down")))
    assert bad(seen) == {"ib.port.link_layer mlx5_9/1": "unknown"}


def test_a_port_without_a_link_layer_says_so_where_nobody_expects_one() -> None:
    seen = facts(hca("mlx5_0", port(link_layer="")), sm={})
    expect = {"hcas": 1, "rate_gbps": 400}
    assert bad(seen, expect) == {
        "ib.port.link_layer mlx5_0/1": "unknown",
        "fabric.sm.answers mlx5_0/1": "unknown",
    }
    reported = {(check.id, check.cause) for check in ib.judge(seen, from_inventory(expect))}
    assert ("ib.port.link_layer", "ibstat showed no link layer") in reported


def test_ethernet_hosts_that_nobody_expects_are_not_ready() -> None:
    seen = facts(hca("mlx5_0", port(link_layer="Ethernet", lid=0, sm_lid=0)))
    assert bad(seen, {"hcas": 1, "rate_gbps": 400}) == {"ib.port.link_layer mlx5_0/1": "unknown"}


def test_an_hca_without_ports_fails() -> None:
    empty = replace(hca("mlx5_1"), ports=(), n_ports=0)
    assert bad(facts(hca("mlx5_0"), empty)) == {"ib.hca.ports mlx5_1": "fail"}


@pytest.mark.parametrize(
    ("rate", "expected", "result"),
    [
        pytest.param(2.0, 2.5, "pass", id="ibstat drops the half"),
        pytest.param(2.0, 2.9, "fail", id="but nothing else"),
        pytest.param(56.0, 56, "pass", id="FDR"),
    ],
)
def test_rates_are_compared_exactly(rate: float, expected: float, result: str) -> None:
    seen = facts(hca("mlx5_0", port(rate=rate)))
    assert results(seen, {**EXPECT, "rate_gbps": expected})["ib.port.rate mlx5_0/1"] == result


def test_an_ethernet_port_beside_all_rails_is_skipped() -> None:
    seen = facts(hca("mlx5_0"), hca("mlx5_9", port(link_layer="Ethernet", state="Down")))
    assert bad(seen) == {}
    assert results(seen)["ib.port.link_layer mlx5_9/1"] == "skip"


@pytest.mark.parametrize("ignored", ["mlx5_9", "mlx5_9/1"])
def test_an_ignored_port_is_not_judged(ignored: str) -> None:
    seen = facts(hca("mlx5_0"), hca("mlx5_9", port(state="Down", physical_state="Disabled")))
    assert "ib.port.state mlx5_9/1" in bad(seen)
    assert bad(seen, {**EXPECT, "ignore": [ignored]}) == {}


def test_a_missing_and_an_extra_hca_fail_the_count() -> None:
    assert bad(facts(), {**EXPECT, "hcas": 2}) == {"ib.hca.count host": "fail"}
    two = facts(hca("mlx5_0"), hca("mlx5_1"))
    assert bad(two) == {"ib.hca.count host": "fail"}


def test_two_sources_that_disagree_are_named() -> None:
    for bent in (
        {"state": "Initializing"},
        {"physical_state": "Polling"},
        {"rate": 100.0},
        {"lid": 8},
        {"sm_lid": 9},
        {"link_layer": "Ethernet"},
    ):
        seen = facts(sysfs=(hca("mlx5_0", port(**bent)),))
        assert bad(seen) == {"ib.sources.agree host": "fail"}, bent
    hidden = replace(hca("mlx5_1"), ports=())
    assert bad(facts(sysfs=(hca("mlx5_0"), hidden)))["ib.sources.agree host"] == "fail"
    assert bad(facts(sysfs=(), sysfs_unknown="no sysfs")) == {"ib.sources.agree host": "unknown"}


def test_a_port_that_was_cut_off_the_output_fails() -> None:
    assert bad(facts(hca("mlx5_0", n_ports=2))) == {"ib.hca.ports mlx5_0": "fail"}


def test_a_port_count_that_was_not_shown_is_unknown() -> None:
    assert bad(facts(hca("mlx5_0", n_ports=None))) == {"ib.hca.ports mlx5_0": "unknown"}


def test_the_expected_firmware_is_compared() -> None:
    assert bad(facts(), {**EXPECT, "firmware": "28.39.1002"}) == {}
    assert bad(facts(), {**EXPECT, "firmware": "28.40.1000"}) == {"ib.hca.firmware mlx5_0": "fail"}
    assert bad(facts(hca(fw="")), {**EXPECT, "firmware": "1"}) == {"ib.hca.firmware mlx5_0": "unknown"}


def test_a_site_s_images_say_what_each_board_runs() -> None:
    images = {"MT_1": "28.39.1002", "MT_2": "28.43.2026"}

    def told(board: str, **more: Any) -> tuple[str, str]:
        seen = replace(facts(), devices={"mlx5_0": replace(facts().device("mlx5_0"), board=board)})
        checks = ib.judge(seen, from_inventory({**EXPECT, "firmware_images": images, **more}))
        found = next(one for one in checks if one.id == "ib.hca.firmware")
        return found.result, str(found.expected)

    assert told("MT_1") == ("pass", "28.39.1002")
    assert told("MT_2") == ("fail", "28.43.2026")
    assert told("MT_3")[0] == "skip"
    assert told("MT_3", firmware="28.40.1000") == ("fail", "28.40.1000")
    assert told("")[0] == "unknown"


@pytest.mark.parametrize(
    ("train", "is_behind"), [("xx.47", True), ("xx.39", False), ("xx.4", False), ("", False), (7, False)]
)
def test_firmware_behind_the_stack_is_told_and_degrades_nothing(train: object, is_behind: bool) -> None:
    expect = from_inventory({**EXPECT, "lock": {"firmware": train}})
    told = next(one for one in ib.judge(facts(), expect) if one.id == "ib.hca.firmware")
    assert told.result == "skip"
    assert ("28.39.1002 is older than 28.47, which the planned RDMA stack brings" in told.cause) is is_behind


@pytest.mark.parametrize(
    ("firmware", "told"),
    [
        ("16.35.4506", ""),  # A ConnectX-5 has no firmware of that train,
        ("20.43.2026", ""),  # and a ConnectX-6 none any more.
        ("20.39.1002", "20.39.1002 is older than 20.43, the last train of this chip"),
        ("12.27.1016", "12.27.1016 is older than 12.28, the last train of this chip"),
        ("22.43.1014", "22.43.1014 is older than 22.47, which the planned RDMA stack brings"),
        ("40.47.1088", ""),
    ],
)
def test_a_chip_s_firmware_ends_at_a_train_of_its_own(firmware: str, told: str) -> None:
    expect = from_inventory({**EXPECT, "lock": {"firmware": "xx.47"}})
    seen = next(one for one in ib.judge(facts(hca(fw=firmware)), expect) if one.id == "ib.hca.firmware")
    assert told in seen.cause
    assert ("is older than" in seen.cause) is bool(told)


def test_every_failure_says_what_who_why_and_what_next() -> None:
    seen = facts(hca("mlx5_0", port(state="Down", physical_state="Polling", rate=10.0, lid=0)))
    for check in _model.trouble(ib.judge(seen, from_inventory(EXPECT))):
        assert check.cause, check
        assert check.remedy, check
        if check.result == "fail":
            assert check.observed, check
            assert check.expected, check
            assert check.expected_from in ("inventory", "capability"), check


def test_facts_survive_the_way_to_the_controller() -> None:
    module = (Measured("Rx power", (1.0, 2.0), -10.0, 5.0),)
    seen = facts(
        hca("mlx5_0", port(rate=None)),
        sm={"mlx5_0/1": ib_facts.SmAnswer(error="x")},
        told={"ibstatus": (hca("mlx5_0", port(rate=None)),)},
        absent=("rdma link: no",),
        bus=Reading(("0000:1a:00.0",)),
        devices={"mlx5_0": ib_facts.Device(address="0000:1a:00.0", virtual=True)},
        details={"mlx5_0/1": details(optics=Reading(Mlxlink(module=module, faults=("x",))))},
        perfquery=(Block("Port", "Lid 1", "1", (("LinkDownedCounter", 1),)),),
        uptime_s=9,
        simulated="all",
        partial=("mlx5_0",),
        filled=("mlx5_1",),
        source="sysfs",
    )
    assert read(ib_facts.IbFacts, json.loads(json.dumps(seen.to_dict()))) == seen
    same = ib.judge(read(ib_facts.IbFacts, seen.to_dict()), from_inventory(EXPECT))
    assert same == ib.judge(seen, from_inventory(EXPECT))


def test_the_catalog_is_whole() -> None:
    for check_id, entry in CATALOG.items():
        assert check_id.count(".") == 2, check_id
        assert check_id == check_id.lower()
        assert entry.severity in ("error", "warning")
        assert entry.title
        assert entry.meaning
        assert entry.causes
        assert entry.remedy


def test_a_check_that_another_one_s_entry_names_is_in_the_catalog() -> None:
    areas = {check_id.partition(".")[0] for check_id in CATALOG}
    named = re.findall(r"`([a-z_0-9.]+)`", " ".join(map(str, CATALOG.values())))
    checks = {one for one in named if one.count(".") == 2 and one.partition(".")[0] in areas}
    assert checks
    assert checks <= CATALOG.keys()
