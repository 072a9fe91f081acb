# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.ib import area as ib
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._rails.ib_ports import IbFacts
from tests.unit.samples import facts, hca, port

EXPECT = {"hcas": 1, "link_layer": "InfiniBand", "rate_gbps": 400}
SILENT: dict[str, Any] = {
    "state": "",
    "physical_state": "",
    "rate": None,
    "lid": None,
    "lmc": None,
    "sm_lid": None,
    "capability_mask": "",
    "port_guid": "",
    "link_layer": "",
}


def found(seen: IbFacts, expect: dict[str, Any] | None = None) -> dict[str, tuple[str, str]]:
    checks = ib.judge(seen, from_inventory(EXPECT if expect is None else expect))
    return {f"{one.id} {one.subject}": (one.result, f"{one.observed} {one.cause}") for one in checks}


def test_another_source_that_says_the_same_or_nothing_agrees() -> None:
    quiet = hca("mlx5_0", port(**SILENT), type="", fw="")
    seen = facts(told={"ibstatus": (hca(),), "rdma link": (quiet,)})
    result, said = found(seen)["ib.sources.agree host"]
    assert result == "pass"
    assert "rdma link" in said


@pytest.mark.parametrize(
    ("cas", "word"),
    [
        pytest.param((hca("mlx5_0", port(state="Down")),), "state", id="state"),
        pytest.param((hca("mlx5_0", port(rate=100.0)),), "rate", id="rate"),
        pytest.param((hca("mlx5_0", port(lid=9)),), "LID", id="LID"),
        pytest.param((hca("mlx5_0", port(link_layer="Ethernet")),), "link layer", id="layer"),
        pytest.param((hca("mlx5_7"),), "ibv_devinfo does not", id="a rail that verbs cannot see"),
    ],
)
def test_another_source_that_differs_is_named(cas: Any, word: str) -> None:
    result, said = found(facts(told={"ibv_devinfo": cas}))["ib.sources.agree host"]
    assert result == "fail"
    assert word in said


def test_a_tool_that_finds_no_device_beside_ibstat_s_disagrees() -> None:
    seen = facts(absent=("ibv_devinfo: No IB devices found",))
    assert found(seen)["ib.sources.agree host"][0] == "fail"
    assert found(replace(seen, simulated="all"))["ib.sources.agree host"][0] == "pass"


@pytest.mark.parametrize(
    "words", ["no userspace device-specific driver found for /x/uverbs0", "couldn't open config directory '/x'."]
)
def test_devices_that_libibverbs_has_no_provider_for_are_there_for_the_kernel(words: str) -> None:
    seen = replace(facts(), cas=(), absent=(f"ibv_devinfo: No IB devices found ({words})",), ibstat_unknown="x")
    result, said = found(seen)["ib.hca.present host"]
    assert (result, "no provider" in said, "no RDMA driver is bound" in said) == ("fail", True, False)


def test_without_ibstat_the_next_source_is_judged_and_named() -> None:
    rough = hca("mlx5_0", port(port_guid="", lmc=None), n_ports=None, node_guid="")
    seen = facts(rough, source="rdma link", ibstat_unknown="ibstat: not installed", sysfs=())
    reported = found(seen)
    assert reported["ib.tool.ibstat ibstat"] == (
        "unknown",
        " ibstat: not installed; the ports are judged by rdma link",
    )
    assert reported["ib.port.state mlx5_0/1"][0] == "pass"
    assert reported["ib.hca.present host"] == ("pass", "mlx5_0 (by rdma link) ")
    assert reported["ib.hca.guid mlx5_0"] == (
        "unknown",
        " rdma link showed no GUID (ibstat: not installed)",
    )
    assert reported["ib.sources.agree host"][0] == "unknown"


@pytest.mark.parametrize(
    ("bus", "expect", "result"),
    [
        pytest.param(Reading(()), {}, "unknown", id="no HCA, and nobody says if"),
        pytest.param(Reading(None, "no such directory", True), {}, "unknown", id="no PCI bus"),
        pytest.param(Reading(()), EXPECT, "fail", id="no HCA, but one is expected"),
        pytest.param(Reading(("0000:1a:00.0",)), {}, "fail", id="an HCA without a driver"),
        pytest.param(Reading(None, "permission denied"), {}, "fail", id="nobody knows the bus"),
    ],
)
def test_a_host_without_rdma_devices(bus: Reading[tuple[str, ...]], expect: dict[str, Any], result: str) -> None:
    reported = found(IbFacts(bus=bus), expect)
    assert reported["ib.hca.present host"][0] == result


def test_a_tool_that_says_there_is_no_device_is_believed_where_ibstat_is_not_there() -> None:
    seen = IbFacts(
        ibstat_unknown="ibstat: not in the bundle",
        absent=("ibv_devinfo: Failed to get IB devices list: Function not implemented",),
    )
    result, said = found(seen, {})["ib.hca.present host"]
    assert result == "fail"
    assert "modules are not loaded" in said


def test_words_that_nobody_understands_are_told_where_nothing_else_is() -> None:
    seen = IbFacts(ibstat_unknown="ibstat: not in the bundle", garbled=("ibstatus: line 1: what?",))
    assert found(seen, {})["ib.hca.present host"] == ("unknown", " ibstatus: line 1: what?")


def test_a_kernel_s_file_that_cannot_be_read_is_no_difference() -> None:
    part = hca("mlx5_0", port(rate=None, lid=None, physical_state="", link_layer=""))
    assert found(facts(sysfs=(part,)))["ib.sources.agree host"][0] == "pass"
    silent = hca("mlx5_0", port(**SILENT))
    closed = replace(hca(), ports=(), n_ports=None)
    for kernel in (silent, closed):
        result, said = found(facts(sysfs=(kernel,)))["ib.sources.agree host"]
        assert (result, "mlx5_0" in said) == ("unknown", True)
    empty = replace(hca(), ports=(), n_ports=0)
    assert found(facts(sysfs=(empty,)))["ib.sources.agree host"][0] == "fail"
    wrong = hca("mlx5_0", port(**{**SILENT, "lid": 9, "link_layer": "InfiniBand"}))
    assert found(facts(sysfs=(wrong,)))["ib.sources.agree host"][0] == "fail"
    more = hca("mlx5_0", port(), port(2))
    assert found(facts(sysfs=(more,)))["ib.sources.agree host"][0] == "fail"


def test_a_rail_that_a_cut_text_does_not_name_may_be_there() -> None:
    others = facts(hca("mlx5_0"), hca("mlx5_1"), told={"ibv_devinfo": (hca("mlx5_0"),)})
    assert found(others)["ib.sources.agree host"][0] == "fail"
    result, said = found(replace(others, cut=("ibv_devinfo",)))["ib.sources.agree host"]
    assert (result, "ibv_devinfo: the text is cut" in said) == ("unknown", True)


def test_what_a_cut_text_names_differs_all_the_same() -> None:
    seen = facts(told={"ibv_devinfo": (hca("mlx5_0", port(state="Down")),)}, cut=("ibv_devinfo",))
    assert found(seen)["ib.sources.agree host"][0] == "fail"


def test_a_device_that_a_cut_ibstat_does_not_name_is_no_difference() -> None:
    seen = facts(told={"ibv_devinfo": (hca("mlx5_0"), hca("mlx5_7"))}, partial=("a device without its name",))
    assert found(seen)["ib.sources.agree host"][0] == "unknown"
    assert found(replace(seen, partial=()))["ib.sources.agree host"][0] == "fail"
