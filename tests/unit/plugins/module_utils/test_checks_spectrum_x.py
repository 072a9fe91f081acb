# SPDX-License-Identifier: GPL-3.0-or-later
"""Rails held against the profile of a release of Spectrum-X."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.roce import check_spectrum_x, observe_spectrum_x
from ansible_collections.ibready.cluster.plugins.module_utils._areas.roce.area import AREA
from ansible_collections.ibready.cluster.plugins.module_utils._data import spectrum_x
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import COMMANDS, Cached
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import (
    ExpectationError,
    from_inventory,
    with_bundle,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.mstconfig import Value
from ansible_collections.ibready.cluster.plugins.module_utils._parse.spcx_cc import Programs
from ansible_collections.ibready.cluster.plugins.module_utils._rails.roce_ports import RoceFacts, RocePort, SpectrumX
from tests.gauntlet.tree import Tree

BLUEFIELD, CONNECTX_7, CONNECTX_8, CONNECTX_9 = "MT41692", "MT4129", "MT4131", "MT4133"
BOARD = "Nvidia BlueField-3 B3140H E-series HHHL SuperNIC, 400GbE(default mode)/NDR IB"
HCA, FIRMWARE, ROUTING, CONGESTION = (f"roce.spectrum.{name}" for name in ("hca", "firmware", "routing", "congestion"))
NOT_INSTALLED: Reading[Any] = Reading(None, "mstconfig: not installed (no such program in PATH)")
SERVED = Reading(Programs(("mlx5_0",), True))


def config(release: str = "RA2.1", planes: str = "none", **bent: Value | None) -> dict[str, Value]:
    wanted = spectrum_x.PROFILES[release].wanted("a2dc", planes)
    found = {name: Value(value, value, str(value)) for name, value in wanted.items()} | bent
    return {name: value for name, value in found.items() if value is not None}


def port(model: str = BLUEFIELD, board: str = BOARD, bent: dict[str, Value] | None = None, **more: Any) -> RocePort:
    told = SpectrumX(Reading(board), Reading(bent or config()), Reading(dict(spectrum_x.REGISTER)))
    return replace(RocePort("mlx5_0", 1, model, "0000:18:00.0", spectrum_x=told), **more)


def judge(
    *rails: RocePort, programs: Reading[Programs] = SERVED, release: str = "RA2.1", **more: Any
) -> dict[str, Check]:
    expect = from_inventory({"spectrum_x": release, **more})
    return {one.id: one for one in check_spectrum_x.judge(list(rails), programs, expect)}


def results(found: dict[str, Check]) -> list[str]:
    return [found[check_id].result for check_id in (HCA, FIRMWARE, ROUTING, CONGESTION)]


def test_nobody_named_spectrum_x() -> None:
    found = list(check_spectrum_x.judge([port()], SERVED, from_inventory({"link_layer": "Ethernet"})))
    assert {one.result for one in found} == {SKIP}
    assert [one.id for one in found] == [HCA, FIRMWARE, ROUTING, CONGESTION]


@pytest.mark.parametrize("release", spectrum_x.PROFILES)
def test_a_supernic_as_its_release_has_it_passes(release: str) -> None:
    for planes in spectrum_x.PROFILES[release].config:
        found = judge(port(bent=config(release, planes)), release=release, spectrum_x_planes=planes)
        assert results(found) == [PASS] * 4, (release, planes)


@pytest.mark.parametrize(
    ("model", "board", "release", "result", "word"),
    [
        pytest.param(CONNECTX_8, "", "RA2.0", PASS, "ConnectX-8", id="ConnectX-8 needs no board"),
        pytest.param(CONNECTX_7, "", "RA2.0", FAIL, "no ConnectX-7", id="ConnectX-7 has no profile"),
        pytest.param(CONNECTX_9, "", "RA2.1", FAIL, "no ConnectX-9", id="ConnectX-9 has none yet"),
        pytest.param(CONNECTX_9, "", "RA2.2", PASS, "ConnectX-9", id="ConnectX-9 has one"),
        pytest.param(BLUEFIELD, "NVIDIA BlueField-3 B3220 P-Series FHHL DPU, 200GbE", "RA2.1", FAIL, "DPU", id="a DPU"),
        pytest.param(BLUEFIELD, "Nvidia BlueField-3 VPI QSFP112 1P 400G", "RA2.1", PASS, "1P 400G", id="an OEM's name"),
        pytest.param(BLUEFIELD, "BlueField-3 P-Series FHHL DPU; 200GbE", "RA2.1", FAIL, "DPU", id="a DPU; semicolons"),
        pytest.param(BLUEFIELD, "Bluefield-3, 200 GbE, Crypto DPU", "RA2.1", FAIL, "DPU", id="behind a comma"),
        pytest.param(BLUEFIELD, f"{'Dual Port ' * 9}DPU", "RA2.1", FAIL, "DPU", id="a DPU, with a long name"),
        pytest.param(
            BLUEFIELD,
            "NVIDIA BlueField-3 B3140L E-Series FHHL DPU, 400GbE",
            "RA2.1",
            PASS,
            "B3140L",
            id="a SuperNIC that was named before SuperNICs were",
        ),
        pytest.param("MT9999", "", "RA2.1", UNKNOWN, "type MT9999", id="an HCA that nobody knows"),
    ],
)
def test_which_hcas_a_release_has(model: str, board: str, release: str, result: str, word: str) -> None:
    found = judge(port(model, board, config(release)), release=release)
    assert found[HCA].result == result
    assert word in f"{found[HCA].observed} {found[HCA].cause}"
    if result == FAIL:
        assert results(found) == [FAIL, SKIP, SKIP, SKIP]


def test_a_virtual_function_tells_nothing() -> None:
    found = judge(port("MT4126", virtual=True))
    assert results(found) == [UNKNOWN, UNKNOWN, UNKNOWN, SKIP]


def test_a_board_without_a_whole_name_is_unknown() -> None:
    name = b"\x82" + len(BOARD).to_bytes(2, "little") + BOARD.encode()
    for data in (name[:20], b"\x90\x05\x00PN\x02XY\x78", b"", None):
        host = Tree()
        if data is not None:
            host.file("/sys/bus/pci/devices/0000:18:00.0/vpd", data)
        asked = RoceFacts(ports=Reading((port(),)))
        expect = from_inventory({"spectrum_x": "RA2.1"})
        looked = observe_spectrum_x.observe(host, asked, expect).ports.value or ()
        found = next(check_spectrum_x.judge(list(looked), SERVED, expect))
        assert (found.id, found.result) == (HCA, UNKNOWN), data
        assert "vpd" in found.remedy


@pytest.mark.parametrize(
    ("bent", "result", "word"),
    [
        pytest.param({}, PASS, "ROCE_ADAPTIVE_ROUTING_EN=1", id="as the profile"),
        pytest.param({"ROCE_ADAPTIVE_ROUTING_EN": Value(0, 0, "False(0)")}, FAIL, "False(0)", id="off"),
        pytest.param({"USER_PROGRAMMABLE_CC": Value(0, 1, "False(0)")}, FAIL, "from the next reset", id="waits"),
        pytest.param({"USER_PROGRAMMABLE_CC": Value(1, 0, "True(1)")}, FAIL, "gone after", id="is lost"),
        pytest.param({"TX_SCHEDULER_LOCALITY_MODE": None}, UNKNOWN, "does not show TX_", id="not shown"),
        pytest.param({"TX_SCHEDULER_LOCALITY_MODE": Value(None, 2)}, UNKNOWN, "does not show", id="asked without -e"),
        pytest.param(
            {"TX_SCHEDULER_LOCALITY_MODE": None, "ROCE_CC_STEERING_EXT": Value(1, 1, "DISABLED(1)")},
            FAIL,
            "DISABLED(1)",
            id="wrong hides not shown",
        ),
        pytest.param({"INTERNAL_CPU_OFFLOAD_ENGINE": Value(0, 0, "ENABLED(0)")}, FAIL, "ENABLED(0)", id="DPU mode"),
    ],
)
def test_the_firmware(bent: dict[str, Value | None], result: str, word: str) -> None:
    found = judge(port(bent=config(**bent)))[FIRMWARE]
    assert found.result == result
    assert word in f"{found.observed} {found.cause}"


def test_planes_ask_for_another_firmware() -> None:
    found = judge(port(), spectrum_x_planes="hwplb")[FIRMWARE]
    assert (found.result, "ROCE_RTT_RESP_DSCP_MODE_P1=0" in found.observed) == (FAIL, True)


@pytest.mark.parametrize(
    ("bent", "result", "word"),
    [
        ({}, PASS, "adaptive_routing_forced_en=1"),
        ({"adaptive_routing_forced_en": 0}, FAIL, "adaptive_routing_forced_en=0"),
        ({"roce_slow_restart_idle_en": 1}, FAIL, "roce_slow_restart_idle_en=1"),
        ({"roce_tx_window_en": None}, UNKNOWN, "has no roce_tx_window_en"),
    ],
)
def test_the_register(bent: dict[str, int | None], result: str, word: str) -> None:
    fields = {name: value for name, value in {**spectrum_x.REGISTER, **bent}.items() if value is not None}
    told = replace(port().spectrum_x, register=Reading(fields))
    found = judge(port(spectrum_x=told))[ROUTING]
    assert found.result == result
    assert word in f"{found.observed} {found.cause}"


def test_what_could_not_be_read_is_unknown_and_says_what_to_do() -> None:
    found = judge(
        port(spectrum_x=SpectrumX(Reading(None, "denied"), NOT_INSTALLED, NOT_INSTALLED)),
        programs=Reading(None, "denied"),
    )
    assert results(found) == [UNKNOWN] * 4
    assert "install mstflint" in found[FIRMWARE].remedy
    assert "not installed" in found[ROUTING].cause


@pytest.mark.parametrize(
    ("devices", "first", "result", "word"),
    [
        (("mlx5_0", "mlx5_1"), True, PASS, "mlx5_0, mlx5_1"),
        (("mlx5_0", "0000:19:00.0"), True, PASS, "mlx5_1"),
        (("mlx5_0",), True, FAIL, "none for mlx5_1"),
        (("mlx5_0", "mlx5_10"), True, FAIL, "none for mlx5_1"),
        (("mlx5_0", "mlx5_0", "mlx5_1"), True, FAIL, "more than one for mlx5_0 (2)"),
        (("mlx5_0", "mlx5_1"), False, UNKNOWN, "hidden"),
        ((), False, UNKNOWN, "hidden"),
    ],
)
def test_congestion_control(devices: tuple[str, ...], first: bool, result: str, word: str) -> None:
    rails = [port(), replace(port(), device="mlx5_1", address="0000:19:00.0")]
    found = judge(*rails, programs=Reading(Programs(devices, first)))[CONGESTION]
    assert found.result == result
    assert word in f"{found.observed} {found.cause}"


@pytest.mark.parametrize("devices", [(), ("mlx5_0",)])
def test_a_systemd_of_a_containers_own_shows_no_processes_of_its_host(devices: tuple[str, ...]) -> None:
    expect = from_inventory({"spectrum_x": "RA2.1"})
    ports = RoceFacts(Reading(("mlx5_0",)), Reading((port(),)), programs=Reading(Programs(devices, True)))
    found = {one.id: one for one in AREA.judge(ports, Machine(container="lxc"), expect)}
    assert found[CONGESTION].result == UNKNOWN


def test_two_ports_of_one_device_are_served_by_one() -> None:
    assert judge(port(), replace(port(), num=2))[CONGESTION].result == PASS


class Asked(Tree):
    """Remembers what was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, ...]] = []

    def run(self, name: str, *args: str) -> Any:
        self.asked.append((*COMMANDS[name].argv, *args))
        return super().run(name, *args)


def test_nothing_is_asked_where_nobody_named_spectrum_x_and_nothing_ever_set() -> None:
    host = Asked()
    facts = RoceFacts(ports=Reading((port(), replace(port(CONNECTX_7), address="0000:40:00.0"))))
    assert observe_spectrum_x.observe(host, facts, from_inventory({})) is facts
    assert host.asked == []
    observe_spectrum_x.observe(host, facts, from_inventory({"spectrum_x": "RA2.1"}))
    words = {word for one in host.asked for word in one}
    assert not words & {"set", "-s", "--set", "reset", "-y", "--yes", "0000:40:00.0"}
    assert {one[0] for one in host.asked} == {"mstconfig", "mstreg", "pgrep"}


def test_rails_alone_are_asked_and_two_ports_of_one_device_once() -> None:
    """A DPU for storage, of the rails' chip, waits for nobody; 8 rails are asked 16 times, and not 32."""
    host = Asked()
    rails = [
        replace(port(), device=f"mlx5_{at}", num=num, address=f"0000:{at:02x}:00.0")
        for at in range(8)
        for num in (1, 2)
    ]
    storage = replace(port(), device="mlx5_9", address="0000:99:00.0")
    facts = RoceFacts(ports=Reading((*rails, storage)))
    expect = from_inventory({"spectrum_x": "RA2.1", "ignore": ["mlx5_9"]})
    looked = observe_spectrum_x.observe(Cached(host), facts, expect)
    tools = [one for one in host.asked if one[0] in ("mstconfig", "mstreg")]
    assert len(tools) == len(set(tools)) == 16
    assert not [one for one in tools if "0000:99:00.0" in one]
    assert (looked.ports.value or ())[-1] == storage


def test_hcas_are_asked_side_by_side() -> None:
    """Each waits until all eight are asked."""
    together = threading.Barrier(8, timeout=30)

    class Slow(Asked):
        def run(self, name: str, *args: str) -> Any:
            if name == "mstconfig":
                together.wait()
            return super().run(name, *args)

    rails = [replace(port(), device=f"mlx5_{at}", address=f"0000:{at:02x}:00.0") for at in range(8)]
    observe_spectrum_x.observe(Slow(), RoceFacts(ports=Reading(tuple(rails))), from_inventory({"spectrum_x": "RA2.1"}))
    assert not together.broken


def test_the_release_says_what_rails_are_where_the_site_does_not() -> None:
    told = from_inventory({"spectrum_x": "RA2.1", "roce_pfc": [4]})
    assert {key: told.values[key].value for key in ("link_layer", "roce_trust", "roce_pfc")} == {
        "link_layer": "Ethernet",
        "roce_trust": "dscp",
        "roce_pfc": [4],
    }
    assert (told.values["roce_trust"].source, told.values["roce_pfc"].source) == ("Spectrum-X RA2.1", "inventory")
    assert with_bundle(from_inventory({}), {"spectrum_x": "RA2.0"}).values["link_layer"].value == "Ethernet"


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        ({"spectrum_x": "RA9"}, "must be one of RA1.3"),
        ({"spectrum_x": "RA2.0", "spectrum_x_planes": "hwplb"}, "of RA2.0 must be one of none"),
        ({"spectrum_x_planes": "hwplb"}, "without expect.spectrum_x"),
        ({"spectrum_x": "RA2.1", "link_layer": "InfiniBand"}, "expect.link_layer is InfiniBand"),
    ],
)
def test_what_contradicts_itself_is_refused(raw: dict[str, Any], word: str) -> None:
    with pytest.raises(ExpectationError, match=word):
        from_inventory(raw)


@pytest.mark.parametrize("release", spectrum_x.PROFILES)
def test_planes_that_a_bundle_carries_go_with_its_release(release: str) -> None:
    carried = {"spectrum_x": "RA2.2", "spectrum_x_planes": "hwplb"}
    told = with_bundle(from_inventory({"spectrum_x": release}), carried)
    assert (told.get("spectrum_x_planes") is None) == (release != "RA2.2")
    planes = "hwplb" if release == "RA2.2" else "none"
    found = [one for one in check_spectrum_x.judge([port(bent=config(release, planes))], SERVED, told)]
    assert [one.result for one in found] == [PASS] * 4


def test_a_host_without_rdma_is_not_asked() -> None:
    host = Asked()
    expect = from_inventory({"spectrum_x": "RA2.1"})
    facts = AREA.observe(host, Machine(), expect)
    assert not [one for one in AREA.judge(facts, Machine(), expect) if one.result == PASS]
