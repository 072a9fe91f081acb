# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs of one host held against each other."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._areas.gpu import area
from ansible_collections.ibready.cluster.plugins.module_utils._areas.gpu.facts import GpuFacts, Module
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._data.gpu_equals import ALIKE, FIRMWARE, SETTING
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.equals import compare, most_have
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nvsmi import Gpu, Nvsmi

GPU = Gpu(
    name="NVIDIA H100 80GB HBM3",
    mig="Disabled",
    compute_mode="Default",
    ecc="Enabled",
    power_limit="700.00 W",
    power_default="700.00 W",
    app_graphics="1980 MHz",
    app_memory="2619 MHz",
    max_graphics="1980 MHz",
    max_memory="2619 MHz",
    bar1_total_mib=131072,
    addressing_mode="HMM",
    driver_model="N/A",
    gsp_firmware="580.105.08",
    vbios="96.00.A5.00.01",
    inforom_image="G520.0200.00.05",
    performance="P0",
    clocks_events={"gpu_idle": "Active", "applications_clocks_setting": "Not Active"},
)


def host(size: int = 8, odd: dict[int, dict[str, Any]] | None = None, every: dict[str, Any] | None = None) -> list[Gpu]:
    """Equal GPUs, but for what is told."""
    return [
        replace(GPU, bus_id=f"00000000:{at:02X}:00.0", uuid=f"GPU-{at}", **{**(every or {}), **(odd or {}).get(at, {})})
        for at in range(size)
    ]


def checks(gpus: list[Gpu], **expect: Any) -> dict[str, list[Check]]:
    found = GpuFacts(
        smi=Reading(Nvsmi("580.105.08", "13.0", len(gpus), tuple(gpus))),
        module=Reading(Module("580.105.08")),
        xids=Reading(()),
    )
    judged = area.judge(found, Machine(), from_inventory(expect))
    return {name: [check for check in judged if check.id == name] for name in (SETTING, FIRMWARE)}


def only(gpus: list[Gpu], check_id: str = SETTING, **expect: Any) -> Check:
    (check,) = checks(gpus, **expect)[check_id]
    return check


ODD = {
    "mig": "Enabled",
    "compute_mode": "Exclusive_Process",
    "power_limit": "650.00 W",
    "app_graphics": "1200 MHz",
    "app_memory": "1593 MHz",
    "max_graphics": "1755 MHz",
    "max_memory": "2000 MHz",
    "bar1_total_mib": 65536,
    "addressing_mode": "ATS",
    "driver_model": "WDDM",
    "gsp_firmware": "570.86.15",
    "vbios": "96.00.61.00.01",
    "inforom_image": "G520.0200.00.04",
}


def test_the_table_names_fields_of_a_gpu() -> None:
    names = {field.name for field in fields(Gpu)}
    for alike in ALIKE:
        for name in (alike.name, *alike.beside):
            assert name in names or name.startswith("event "), name


@pytest.mark.parametrize(("field", "value"), ODD.items())
def test_the_odd_one_out_of_eight_is_found_and_named(field: str, value: Any) -> None:
    every = {"driver_model": "TCC"} if field == "driver_model" else {}
    alike = next(entry for entry in ALIKE if entry.name == field)
    check = only(host(odd={5: {field: value}}, every=every), alike.check_id)
    assert (check.result, check.subject) == ("fail", "0000:05:00.0")
    assert str(value) in check.observed
    assert check.expected_from == "equals 7/8"
    other = FIRMWARE if alike.check_id == SETTING else SETTING
    assert only(host(odd={5: {field: value}}, every=every), other).result == "pass"


def test_one_gpu_is_one_finding_whatever_it_differs_in() -> None:
    check = only(host(odd={2: {"vbios": "1", "inforom_image": "2"}}), FIRMWARE)
    assert check.observed == "VBIOS 1, infoROM image 2"
    assert check.expected == "96.00.A5.00.01, G520.0200.00.05"


@pytest.mark.parametrize("field", ["power_limit", "app_graphics", "max_graphics"])
def test_a_gpu_that_may_do_more_than_its_equals_keeps_nobody_waiting(field: str) -> None:
    every = {"power_default": "", field: "500 W" if field == "power_limit" else "500 MHz"}
    assert only(host(odd={3: {field: getattr(GPU, field)}}, every=every)).result == "pass"


def test_a_tie_is_unknown_and_tells_both() -> None:
    half = {at: {"compute_mode": "Exclusive_Process"} for at in range(4)}
    check = only(host(odd=half))
    assert check.result == "unknown"
    assert "no majority: Exclusive_Process on 4, Default on 4" in check.cause


def test_two_gpus_have_no_majority() -> None:
    assert only(host(2, odd={1: {"mig": "Enabled"}})).result == "unknown"
    assert only(host(2, odd={1: {"vbios": "1"}}), FIRMWARE).result == "pass"
    assert only(host(2)).result == "pass"
    assert only(host(1)).result == "skip"


def test_what_the_site_wants_is_judged_by_another_check() -> None:
    assert only(host(odd={0: {"mig": "Enabled"}}), mig=False).result == "pass"


def test_another_state_is_compared_with_no_other() -> None:
    busy = {"gpu_idle": "Not Active", "applications_clocks_setting": "Active"}
    assert only(host(odd={1: {"clocks_events": busy}})).result == "pass"
    held = {"gpu_idle": "Active", "applications_clocks_setting": "Active"}
    check = only(host(odd={1: {"clocks_events": held}}))
    assert (check.result, check.subject) == ("fail", "0000:01:00.0")


def test_a_gpu_that_does_not_tell_is_unknown_where_its_equals_do() -> None:
    check = only(host(odd={6: {"vbios": "N/A"}}), FIRMWARE)
    assert (check.result, check.subject) == ("unknown", "0000:06:00.0")
    assert only(host(every={"vbios": "N/A", "inforom_image": ""}), FIRMWARE).result == "pass"
    silent = {"vbios": "N/A", "inforom_image": "", "gsp_firmware": "N/A"}
    assert only(host(every=silent), FIRMWARE).result == "skip"


values = st.dictionaries(st.integers(0, 12), st.sampled_from(["", "a", "b", "c"]), max_size=9)


@given(values)
def test_an_odd_one_is_a_minority_of_a_real_majority(told: dict[int, str]) -> None:
    result = compare(told, dict.fromkeys(told, ()))
    known = [value for value in told.values() if value]
    for at, odd in result.odd.items():
        assert odd.value == told[at] != odd.usual
        assert 2 * known.count(odd.usual) > len(known) >= 3
    assert bool(result.odd) == (most_have(known) is not None and len(set(known)) > 1)
    assert bool(result.split or result.pairs) == (len(set(known)) > 1 and not result.odd)
    assert set(result.silent) == ({at for at, value in told.items() if not value} if known else set())
