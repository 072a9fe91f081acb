# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.gpu import area as judge_gpu
from ansible_collections.ibready.cluster.plugins.module_utils._areas.gpu.facts import GpuFacts, Module
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine, PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._data import xids
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory, with_profile
from ansible_collections.ibready.cluster.plugins.module_utils._expect.profiles import board_by_name, gpu_by_id
from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as _model
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nvsmi_error
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nvsmi import Gpu, Nvsmi, Pcie
from ansible_collections.ibready.cluster.plugins.module_utils._parse.dmesg import Xid
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nvsmi_error import NvsmiError
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG

# _equals/ judges these, of what was read; see test_equals.py.
EQUALS = ("gpu.equals.setting", "gpu.equals.firmware", "gpu.equals.other")
IDS = sorted(one for one in CATALOG if one.startswith("gpu.") and one not in EQUALS)
A, B = "0000:1b:00.0", "0000:43:00.0"
HEALTHY = Gpu(
    bus_id="00000000:1B:00.0",
    name="NVIDIA H100 80GB HBM3",
    pci_device_id="2330",
    uuid="GPU-1",
    persistence="Enabled",
    compute_mode="Default",
    mig="Disabled",
    mig_pending="Disabled",
    recovery="None",
    clocks_events={
        name: "Not Active"
        for name in (
            *("hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"),
            "sw_thermal_slowdown",
        )
    }
    | {"gpu_idle": "Active"},
    power_limit="700.00 W",
    power_default="700.00 W",
    ecc="Enabled",
    ecc_pending="Enabled",
    volatile_sram="0",
    volatile_dram="0",
    aggregate_sram="0",
    aggregate_dram="0",
    sram_threshold="No",
    channel_repair="No",
    tpc_repair="No",
    unrepairable="No",
    retired_single="0",
    retired_double="0",
    retired_pending="No",
    remapped_correctable="3",
    remapped_uncorrectable="0",
    remapped_pending="No",
    remapped_failure="No",
    banks_without_spare="0 bank(s)",
    app_graphics="1980 MHz",
    default_app_graphics="1980 MHz",
    temp="34 C",
    temp_margin="53 C",
    temp_margin_most="0 C",
    memory_temp="40 C",
    vbios="96.00.A5.00.01",
    pcie=Pcie(replays=3),
    memory_total_mib=81559,
    memory_used="1 MiB",
    bar1_total_mib=131072,
    bar1_used="1 MiB",
    utilization="0 %",
    programs="0",
)
OTHER = replace(HEALTHY, bus_id="00000000:43:00.0", uuid="GPU-2")


def smi(*gpus: Gpu, **told: Any) -> Reading[Nvsmi]:
    return Reading(Nvsmi("580.105.08", "13.0", len(gpus), gpus, **told))


def facts(*gpus: Gpu, **told: Any) -> GpuFacts:
    """A healthy host with two GPUs, but for what is told."""
    found: dict[str, Any] = {
        "smi": smi(*(gpus or (HEALTHY, OTHER))),
        "source": "nvsmi_xml",
        "module": Reading(Module("580.105.08", open=True)),
        "xids": Reading(()),
        "uptime_s": Reading(864000.0),
    }
    return GpuFacts(**{**found, **told})


def broken(**fields: Any) -> GpuFacts:
    """The healthy host with other values in its first GPU."""
    return facts(replace(HEALTHY, **fields), OTHER)


def bus(*addresses: str, **more: Any) -> Machine:
    cards = tuple(PciFunction(one, "030200", "10de", "2330", **more) for one in addresses)
    return Machine(pci=Reading(cards), gpus=Reading(tuple(gpu_by_id(one.device) for one in cards)))


def checks_of(found: GpuFacts, machine: Machine | None = None, **expect: Any) -> list[Check]:
    return judge_gpu.judge(found, machine or bus(A, B), from_inventory(expect))


def bad(found: GpuFacts, machine: Machine | None = None, **expect: Any) -> dict[str, str]:
    """Every finding: ``ID SUBJECT`` and its result."""
    return {
        f"{one.id} {one.subject}": one.result
        for one in checks_of(found, machine, **expect)
        if one.result in (_model.FAIL, _model.UNKNOWN)
    }


def one_of(check_id: str, found: GpuFacts, machine: Machine | None = None, **expect: Any) -> Check:
    mine = [one for one in checks_of(found, machine, **expect) if one.id == check_id]
    assert len(mine) == 1, mine
    return mine[0]


def test_what_an_excerpt_leaves_out_is_not_held_against_the_gpus() -> None:
    found = Nvsmi(gpus=(Gpu(fabric={"state": "Completed", "status": "Success"}, whole=False),))
    assert found.excerpt
    assert not Nvsmi(driver="570.1", gpus=(HEALTHY,)).excerpt
    checks = judge_gpu.judge(GpuFacts(smi=Reading(found)), Machine(), from_inventory({}))
    (said,) = {one.cause for one in checks if one.id == "gpu.ecc.mode"}
    assert "the rest is not in the bundle" in said


def test_a_healthy_host_passes_every_check_that_somebody_expects_something_of() -> None:
    checks = checks_of(facts())
    assert sorted(one.id for one in checks) == IDS
    skipped = {one.id for one in checks if one.result == _model.SKIP}
    assert skipped == {
        "gpu.driver.expected",
        "gpu.driver.modules",
        "gpu.device.model",
        "gpu.mig.mode",
        "gpu.device.files",
    }
    assert _model.verdict(checks) == "ready"


@pytest.mark.parametrize(
    ("machine", "why"),
    [
        (Machine(pci=Reading(()), gpus=Reading(())), "no NVIDIA GPU on the PCI bus"),
        (replace(bus(A), simulated="InfiniBand fabric"), "simulated node: InfiniBand fabric"),
    ],
)
def test_a_host_without_gpus_skips_everything(machine: Machine, why: str) -> None:
    checks = checks_of(GpuFacts(), machine)
    assert {(one.result, one.cause) for one in checks} == {(_model.SKIP, why)}
    assert sorted(one.id for one in checks) == sorted([*IDS, *EQUALS])


def test_a_host_that_lost_all_its_gpus_is_not_skipped() -> None:
    machine = Machine(pci=Reading(()), gpus=Reading(()))
    assert bad(GpuFacts(), machine, gpus=8) == {"gpu.device.count host": "fail"}


def test_where_nobody_can_tell_of_gpus_it_is_unknown() -> None:
    why = "nvsmi_xml: not in the bundle"
    found = GpuFacts(smi=Reading(None, why), xids=Reading(None, "dmesg: not in the bundle"))
    findings = bad(found, Machine())
    assert findings["gpu.driver.answers nvidia-smi"] == "unknown"
    assert findings["gpu.device.count host"] == "unknown"
    assert set(findings.values()) == {"unknown"}


def test_a_gpu_host_without_a_driver_is_told_to_install_one() -> None:
    found = GpuFacts(smi=Reading(None, "nvidia-smi: not installed (no such program in PATH)"))
    check = one_of("gpu.driver.answers", found)
    assert check.result == _model.UNKNOWN
    assert "install the NVIDIA driver" in check.remedy


@pytest.mark.parametrize(
    ("error", "finding"),
    [
        (nvsmi_error.NO_DRIVER, ("gpu.driver.answers nvidia-smi", "fail")),
        (nvsmi_error.NO_LIBRARY, ("gpu.driver.answers nvidia-smi", "fail")),
        (nvsmi_error.UNKNOWN, ("gpu.driver.answers nvidia-smi", "fail")),
        (nvsmi_error.NO_PERMISSION, ("gpu.driver.answers nvidia-smi", "unknown")),
        (nvsmi_error.NOT_INSTALLED, ("gpu.driver.answers nvidia-smi", "unknown")),
        (nvsmi_error.MISMATCH, ("gpu.driver.versions host", "fail")),
        (nvsmi_error.NO_DEVICE, ("gpu.device.count host", "fail")),
        (nvsmi_error.LOST, ("gpu.device.lost host", "fail")),
        (nvsmi_error.HANDLE, ("gpu.device.lost host", "fail")),
        (nvsmi_error.NEEDS_RESET, ("gpu.device.reset host", "fail")),
    ],
)
def test_every_error_of_nvidia_smi_has_one_finding(error: str, finding: tuple[str, str]) -> None:
    found = facts(smi=Reading(None, "its words"), error=NvsmiError(error, "its words"))
    assert bad(found) == dict([finding])


@pytest.mark.parametrize(
    ("module", "cause"),
    [
        (Reading(None, "no such file", missing=True), "the nvidia kernel module is not loaded"),
        (Reading(None, "permission denied"), "the devices of the driver were taken from this container, or it failed"),
    ],
)
def test_an_unknown_error_without_a_module_is_no_riddle(module: Reading[Any], cause: str) -> None:
    error = NvsmiError(nvsmi_error.UNKNOWN, "Failed to initialize NVML: Unknown Error")
    found = facts(smi=Reading(None, "its words"), error=error, module=module)
    assert one_of("gpu.driver.answers", found).cause == cause


def test_the_gpu_that_cannot_be_opened_is_named() -> None:
    error = NvsmiError(nvsmi_error.HANDLE, "words", "", (("0000:43:00.0", "Unknown Error"),))
    assert bad(facts(smi=Reading(None, "words"), error=error)) == {f"gpu.device.lost {B}": "fail"}


@pytest.mark.parametrize(
    ("fields", "check_id", "cause"),
    [
        ({"recovery": "Reset"}, "gpu.device.reset", "reset of the GPU"),
        ({"recovery": "Reboot"}, "gpu.device.reset", "reboot of the node"),
        ({"recovery": "", "reset_required": "Yes"}, "gpu.device.reset", "reset of the GPU"),
        ({"recovery": "Drain and Reset"}, "gpu.device.drain", "contained"),
        (
            {"recovery": "N/A", "reset_required": "No", "drain_recommended": "Yes"},
            "gpu.device.drain",
            "contained",
        ),
        ({"compute_mode": "Prohibited"}, "gpu.device.compute_mode", "Prohibited"),
        ({"mig_pending": "Enabled"}, "gpu.mig.pending", "without a reset"),
        ({"power_limit": "650.00 W"}, "gpu.power.limit", "lowered"),
        ({"ecc": "Disabled", "ecc_pending": "Disabled"}, "gpu.ecc.mode", "by hand"),
        ({"ecc_pending": "Disabled"}, "gpu.ecc.pending", "without a reset"),
        ({"volatile_sram": "1"}, "gpu.ecc.volatile", "1 in SRAM"),
        ({"volatile_dram": "7"}, "gpu.ecc.volatile", "7 in DRAM"),
        ({"volatile_sram": "N/A", "volatile_dram": "7"}, "gpu.ecc.volatile", "7 in memory"),
        ({"sram_threshold": "Yes"}, "gpu.ecc.threshold", "SRAM"),
        ({"channel_repair": "Yes"}, "gpu.ecc.repair", "waits for a reset"),
        ({"tpc_repair": "Yes"}, "gpu.ecc.repair", "waits for a reset"),
        ({"tpc_repair": "Pending"}, "gpu.ecc.repair", "waits for a reset"),
        ({"channel_repair": "Pending"}, "gpu.ecc.repair", "waits for a reset"),
        ({"unrepairable": "Yes"}, "gpu.ecc.unrepairable", "for good"),
        ({"remapped_failure": "Yes"}, "gpu.rows.failure", "no spare row"),
        ({"remapped_pending": "Yes"}, "gpu.rows.pending", "since the last reset"),
        ({"temp": "87 C", "temp_margin": "0 C"}, "gpu.temperature.limit", "0 C from its limit"),
        (
            {"temp": "88 C", "temp_margin": "-1 C", "temp_margin_most": "N/A", "temp_margin_slowdown": "-1 C"},
            "gpu.temperature.limit",
            "-1 C from its limit",
        ),
        ({"temp": "85 C", "temp_margin": "N/A", "temp_most": "85 C"}, "gpu.temperature.limit", "85 C"),
        ({"temp": "89 C", "temp_margin": "", "temp_slowdown": "89 C"}, "gpu.temperature.limit", "89 C"),
        ({"memory_temp": "95 C", "memory_temp_most": "95 C"}, "gpu.temperature.limit", "memory 95 C"),
        ({"banks_without_spare": "1 bank(s)"}, "gpu.rows.spare", "1 banks"),
        ({"retired_pending": "Yes"}, "gpu.pages.pending", "memory error"),
        ({"memory_used": "70311 MiB"}, "gpu.memory.held", "hangs in the driver"),
        ({"bar1_used": "130000 MiB"}, "gpu.memory.bar1", "keeps its mappings"),
        ({"retired_single": "40", "retired_double": "20"}, "gpu.pages.retired", "60 memory pages"),
    ],
)
def test_each_fault_of_one_gpu_is_found_and_nothing_else(fields: dict[str, str], check_id: str, cause: str) -> None:
    found = broken(**fields)
    assert bad(found) == {f"{check_id} {A}": "fail"}
    assert cause in one_of(check_id, found).cause


@pytest.mark.parametrize(
    "fields",
    [
        {"temp": "86 C", "temp_margin": "1 C"},
        {"temp": "84 C", "temp_margin": "N/A", "temp_most": "85 C"},
        {"memory_temp": "94 C", "memory_temp_most": "95 C"},
        {"memory_temp": "N/A", "memory_temp_most": "95 C"},
        {"aggregate_dram": "2", "remapped_uncorrectable": "4"},
        {"memory_used": "70311 MiB", "programs": "2"},
        {"memory_used": "70311 MiB", "clocks_events": {**(HEALTHY.clocks_events or {}), "gpu_idle": "Not Active"}},
        {"memory_used": "4077 MiB"},
        {"bar1_used": "127139 MiB"},
        {"utilization": "100 %", "programs": "2"},
        {"utilization": "100 %"},
        {"memory_used": "4077 MiB", "programs": ""},
    ],
)
def test_what_is_warm_or_past_is_no_finding(fields: dict[str, str]) -> None:
    assert bad(broken(**fields)) == {}


def test_a_gpu_that_hides_how_hot_it_may_be_is_not_passed_beside_equals_that_show_it() -> None:
    found = broken(temp="95 C", temp_margin="N/A", temp_most="N/A")
    assert bad(found) == {f"gpu.temperature.limit {A}": "unknown"}


def test_past_errors_are_shown_in_a_pass() -> None:
    found = broken(aggregate_sram="1", aggregate_dram="2", remapped_uncorrectable="4")
    assert one_of("gpu.ecc.volatile", found).observed == f"2 GPUs; {A} had 1 in SRAM, 2 in DRAM in its life"
    assert "4 rows remapped" in one_of("gpu.rows.pending", found).observed


def test_a_hot_gpu_is_told_once() -> None:
    events = {**(HEALTHY.clocks_events or {}), "sw_thermal_slowdown": "Active"}
    assert bad(broken(temp_margin="-1 C", clocks_events=events)) == {f"gpu.clocks.throttle {A}": "fail"}


@pytest.mark.parametrize("field", ["temp", "power_limit", "ecc", "recovery", "mig", "volatile_dram", "clocks_events"])
def test_a_gpu_that_answers_with_errors_is_told_once_and_named(field: str) -> None:
    said = "Unknown Error"
    value = {**(HEALTHY.clocks_events or {}), "hw_slowdown": said} if field == "clocks_events" else said
    found = broken(sick=(("gpu_temp", said),), **{field: value})
    assert bad(found) == {f"gpu.device.answers {A}": "fail"}
    assert "gpu_temp Unknown Error" in one_of("gpu.device.answers", found).cause


@pytest.mark.parametrize(
    ("count", "others", "uptime_s", "result"),
    [
        # Ten days: 14,400 minutes.
        pytest.param(115200, 115200, 864000.0, "pass", id="eight a minute"),
        pytest.param(115201, 115201, 864000.0, "fail", id="more than eight a minute"),
        pytest.param(1000, 0, 864000.0, "pass", id="few"),
        pytest.param(1001, 0, 864000.0, "fail", id="unlike its equal"),
        pytest.param(2000, 200, 864000.0, "pass", id="ten times its equal"),
        pytest.param(5000, 4000, 500.0, "skip", id="just booted"),
        pytest.param(0, 0, None, "unknown", id="nobody knows since when"),
        pytest.param(None, None, 864000.0, "skip", id="not shown"),
        pytest.param(None, 3, 864000.0, "unknown", id="shown of its equal"),
    ],
)
def test_replays_are_judged_by_rate_and_by_equals(
    count: int | None, others: int | None, uptime_s: float | None, result: str
) -> None:
    gpus = (replace(HEALTHY, pcie=Pcie(replays=count)), replace(OTHER, pcie=Pcie(replays=others)))
    found = facts(*gpus, uptime_s=Reading(uptime_s, "" if uptime_s else "denied"))
    mine = [one for one in checks_of(found) if one.id == "gpu.pcie.replays"]
    assert mine[0].result == result
    assert mine[0].severity == "warning"


def test_what_no_gpu_answers_for_is_not_held_against_one() -> None:
    sick = {"sick": (("power_draw", "[Unknown Error]"),)}
    found = facts(replace(HEALTHY, **sick), replace(OTHER, **sick))
    assert bad(found) == {"gpu.device.answers host": "unknown"}


@pytest.mark.parametrize("event", ["hw_slowdown", "hw_power_brake_slowdown", "sw_thermal_slowdown"])
def test_clocks_that_heat_or_power_hold_back_are_a_fault(event: str) -> None:
    events = {**(HEALTHY.clocks_events or {}), event: "Active"}
    assert bad(broken(clocks_events=events)) == {f"gpu.clocks.throttle {A}": "fail"}
    fine = {**(HEALTHY.clocks_events or {}), "gpu_idle": "Active", "sw_power_cap": "Active"}
    assert bad(broken(clocks_events=fine)) == {}


@pytest.mark.parametrize(
    ("field", "ids"),
    [
        ("persistence", ["gpu.driver.persistence"]),
        ("compute_mode", ["gpu.device.compute_mode"]),
        ("clocks_events", ["gpu.clocks.throttle"]),
        ("power_limit", ["gpu.power.limit"]),
        ("ecc", ["gpu.ecc.mode", "gpu.ecc.pending"]),
        ("volatile_dram", ["gpu.ecc.volatile"]),
        ("retired_pending", ["gpu.pages.pending"]),
        ("memory_used", ["gpu.memory.held"]),
    ],
)
def test_what_every_driver_shows_is_unknown_where_it_is_missing(field: str, ids: list[str]) -> None:
    absent = None if field == "clocks_events" else ""
    assert bad(broken(**{field: absent})) == {f"{one} {A}": "unknown" for one in ids}


@pytest.mark.parametrize(("source", "told"), [("nvsmi_xml", {}), ("nvsmi_q", {"gpu.power.limit 0000:33:00.0": "fail"})])
def test_a_lowered_power_limit_is_left_to_who_compares_only_where_somebody_does(
    source: str, told: dict[str, str]
) -> None:
    # By the XML alone the GPUs of a host are compared.
    addresses = [f"0000:{at}3:00.0" for at in range(8)]
    gpus = [replace(HEALTHY, bus_id=f"0000{one}", uuid=one) for one in addresses]
    gpus[3] = replace(gpus[3], power_limit="450.00 W")
    assert bad(facts(*gpus, source=source), bus(*addresses)) == told


NEWER = {
    "recovery": ["gpu.device.reset", "gpu.device.drain"],
    "mig": ["gpu.mig.pending"],
    "sram_threshold": ["gpu.ecc.threshold"],
    "tpc_repair": ["gpu.ecc.repair"],
    "unrepairable": ["gpu.ecc.unrepairable"],
    "remapped_pending": ["gpu.rows.pending"],
    "banks_without_spare": ["gpu.rows.spare"],
    "temp": ["gpu.temperature.limit"],
    "default_app_graphics": ["gpu.clocks.applications"],
    "bar1_used": ["gpu.memory.bar1"],
    "utilization": ["gpu.load.program"],
}


@pytest.mark.parametrize(("field", "ids"), NEWER.items())
def test_what_newer_drivers_show_is_unknown_only_where_the_output_was_cut(field: str, ids: list[str]) -> None:
    assert bad(broken(**{field: ""})) == {}
    assert bad(broken(**{field: "", "whole": False})) == {f"{one} {A}": "unknown" for one in ids}
    only = replace(HEALTHY, **{field: ""})
    for check_id in ids:
        check = one_of(check_id, facts(only), bus(A))
        assert check.result == _model.SKIP
        assert "this driver does not show" in check.cause


@pytest.mark.parametrize(
    "field",
    [
        *("recovery", "compute_mode", "mig", "power_limit", "ecc", "volatile_dram"),
        *("sram_threshold", "remapped_pending", "persistence", "temp"),
    ],
)
def test_a_value_that_nobody_knows_is_unknown(field: str) -> None:
    for text in ("Unknown Error", "ERR!", "-1"):
        findings = bad(broken(**{field: text}))
        assert findings
        assert set(findings.values()) <= {"unknown"}, (text, findings)


BUSY = {"utilization": "100 %", "clocks_events": {**(HEALTHY.clocks_events or {}), "gpu_idle": "Not Active"}}


@pytest.mark.parametrize(
    ("later", "fields", "result"),
    [
        (BUSY, {}, "fail"),
        ({}, {}, "pass"),
        (None, {}, "unknown"),
        (BUSY, {"persistence": "Disabled"}, "skip"),
        (BUSY, {"virtualization": "VGPU"}, "skip"),
        (BUSY, {"utilization": "89 %"}, "pass"),
        (BUSY, {"programs": "2"}, "pass"),
        (BUSY, {"programs": ""}, "unknown"),
        (BUSY, {"programs": "N/A"}, "unknown"),
        (BUSY, {"programs": "Insufficient Permissions"}, "unknown"),
        ({"bus_id": "00000000:99:00.0"}, {}, "unknown"),
    ],
)
def test_load_without_a_program_counts_at_two_looks(
    later: dict[str, Any] | None, fields: dict[str, str], result: str
) -> None:
    second = Reading[Nvsmi](None, "denied") if later is None else smi(replace(HEALTHY, **later))
    found = facts(replace(HEALTHY, **{**BUSY, **fields}), later=second)
    assert one_of("gpu.load.program", found, bus(A)).result == result


def test_load_is_no_pass_where_nobody_tells_whether_the_gpu_is_idle() -> None:
    found = facts(replace(HEALTHY, utilization="100 %", clocks_events=None), later=smi(replace(HEALTHY, **BUSY)))
    assert one_of("gpu.load.program", found, bus(A)).result == "unknown"


@pytest.mark.parametrize(
    ("mode", "group", "result"),
    [
        (Reading(0o666), Reading(0), "pass"),
        (Reading(0o600), Reading(0), "fail"),
        (Reading(0o644), Reading(0), "fail"),
        (Reading(0o660), Reading(0), "unknown"),
        (Reading(0o664), Reading(0), "unknown"),
        (Reading(0o660), Reading(44), "skip"),
        (Reading(0o640), Reading(44), "fail"),
        (Reading(0o660), Reading(None, "denied"), "unknown"),
        (Reading(0o660), Reading(None, "no such file", True), "unknown"),
        (Reading(0o600), Reading(None, "no such file", True), "fail"),
        (Reading(None, "no such file", True), Reading(0), "skip"),
        (Reading(None, "denied"), Reading(0), "unknown"),
    ],
)
def test_a_device_file_is_open_to_jobs_or_to_the_group_that_the_site_names(
    mode: Reading[int], group: Reading[int], result: str
) -> None:
    found = facts(files={"/dev/nvidia0": mode}, group=group)
    assert one_of("gpu.device.files", found).result == result


ROOT, VIDEO, SLURM = (0, "root"), (44, "video"), (64030, "slurm")


@pytest.mark.parametrize(
    ("modes", "groups", "setting", "result"),
    [
        # Nobody but root is in the group that the driver gives where no parameter names another.
        ((0o660, 0o660), (ROOT, ROOT), 0, "fail"),
        ((0o664, 0o666), (ROOT, ROOT), 0, "fail"),
        ((0o660, 0o660), (VIDEO, VIDEO), 44, "pass"),
        ((0o640, 0o660), (VIDEO, VIDEO), 44, "fail"),
        # The parameter names a group, and somebody's chown gave one file back to root.
        ((0o660, 0o660), (VIDEO, ROOT), 44, "fail"),
        # By a rule of udev's, which is for all of them.
        ((0o660, 0o660), (VIDEO, VIDEO), 0, "skip"),
        ((0o660, 0o660), (SLURM, SLURM), 44, "skip"),
        ((0o660, 0o660), (VIDEO, SLURM), 0, "unknown"),
        ((0o660, 0o666), (VIDEO, ROOT), 0, "unknown"),
        # One whose group is not told is judged by the parameter alone.
        ((0o660, 0o660), (VIDEO, None), 44, "pass"),
        ((0o660, 0o660), (VIDEO, None), 0, "unknown"),
    ],
)
def test_a_device_file_for_a_group_is_judged_by_the_group_that_it_has(
    modes: tuple[int, ...], groups: tuple[tuple[int, str] | None, ...], setting: int, result: str
) -> None:
    paths = [f"/dev/nvidia{number}" for number in range(len(modes))]
    found = facts(
        files={path: Reading(mode) for path, mode in zip(paths, modes, strict=True)},
        group=Reading(setting),
        groups=Reading({path: group for path, group in zip(paths, groups, strict=True) if group}),
    )
    assert {one.result for one in checks_of(found) if one.id == "gpu.device.files"} == {result}


@pytest.mark.parametrize("fields", [{"addressing_mode": "ATS"}, {"virtualization": "VGPU"}])
def test_memory_in_use_is_not_asked_of_gpus_that_share_it(fields: dict[str, str]) -> None:
    only = replace(HEALTHY, memory_used="70311 MiB", **fields)
    assert one_of("gpu.memory.held", facts(only), bus(A)).result == _model.SKIP


@pytest.mark.parametrize("programs", ["", "N/A", "Insufficient Permissions"])
def test_memory_in_use_is_nobodys_only_where_programs_are_told(programs: str) -> None:
    found = broken(memory_used="70311 MiB", programs=programs)
    assert bad(found) == {f"gpu.memory.held {A}": "unknown"}


def test_memory_in_use_is_not_passed_where_nobody_tells_whether_the_gpu_is_idle() -> None:
    used = replace(HEALTHY, memory_used="70311 MiB", clocks_events=None)
    assert one_of("gpu.memory.held", facts(used), bus(A)).result == _model.UNKNOWN
    assert one_of("gpu.memory.held", facts(replace(used, programs="1")), bus(A)).result == _model.PASS


def test_a_container_does_not_see_whose_memory_it_is() -> None:
    found = broken(memory_used="70311 MiB")
    inside = replace(bus(A, B), container="docker")
    assert "gpu.memory.held" not in {name.split()[0] for name in bad(found, inside)}
    assert "programs outside" in one_of("gpu.memory.held", facts(replace(HEALTHY)), inside).cause


def test_a_gpu_without_such_a_thing_skips_it() -> None:
    none = dict.fromkeys(
        (
            *("ecc", "ecc_pending", "mig", "mig_pending", "recovery", "persistence"),
            *("power_limit", "power_default", "sram_threshold", "unrepairable"),
            *("channel_repair", "tpc_repair", "remapped_pending", "remapped_failure"),
            *("volatile_sram", "volatile_dram", "aggregate_sram", "aggregate_dram"),
            *("retired_single", "retired_double", "retired_pending", "remapped_uncorrectable"),
            "banks_without_spare",
        ),
        "N/A",
    )
    events = dict.fromkeys(HEALTHY.clocks_events or {}, "N/A")
    found = facts(replace(HEALTHY, **none, virtualization="VGPU", clocks_events=events))
    assert bad(found, bus(A)) == {}
    for check_id in ("gpu.ecc.mode", "gpu.ecc.volatile", "gpu.clocks.throttle", "gpu.rows.spare"):
        assert one_of(check_id, found, bus(A)).result == _model.SKIP


def test_a_lost_gpu_is_one_finding() -> None:
    assert bad(broken(trouble="GPU is lost", ecc="GPU is lost", mig="")) == {f"gpu.device.lost {A}": "fail"}
    reported = facts(smi=smi(HEALTHY, OTHER, unreachable=((A.upper(), "Unknown Error"),)))
    assert bad(reported) == {f"gpu.device.lost {A}": "fail"}
    assert bad(facts(status=15)) == {"gpu.device.lost host": "fail"}


def test_a_gpu_that_must_be_reset_is_one_finding() -> None:
    words = "GPU requires reset"
    assert bad(broken(trouble=words, tpc_repair=words, volatile_dram=words)) == {f"gpu.device.reset {A}": "fail"}


@pytest.mark.parametrize(
    ("told", "subject"),
    [({"smi": smi(HEALTHY, OTHER, inforom=("0000:43:00.0",))}, B), ({"status": 14}, "host")],
)
def test_a_corrupted_inforom_is_an_early_sign(told: dict[str, Any], subject: str) -> None:
    assert bad(facts(**told)) == {f"gpu.device.inforom {subject}": "fail"}
    assert CATALOG["gpu.device.inforom"].severity == "warning"


@pytest.mark.parametrize(
    ("daemon", "result", "cause"),
    [
        (Reading("active"), "fail", "--no-persistence-mode"),
        (Reading("not installed"), "fail", "not installed"),
        (Reading(None, "systemctl: not found"), "unknown", "not found"),
    ],
)
def test_persistence_is_off_only_where_the_daemon_was_looked_for(daemon: Reading[str], result: str, cause: str) -> None:
    found = replace(broken(persistence="Disabled"), persistenced=daemon)
    assert bad(found) == {f"gpu.driver.persistence {A}": result}
    assert cause in one_of("gpu.driver.persistence", found).cause


@pytest.mark.parametrize(
    ("state", "lasts"),
    [
        ("inactive", "`systemctl enable --now nvidia-persistenced`"),
        ("failed", "`systemctl enable --now nvidia-persistenced`"),
        ("masked", "`systemctl unmask nvidia-persistenced`, then"),
        ("active", "an ExecStart without --no-persistence-mode"),
        ("not installed", "install nvidia-persistenced in the driver's version"),
    ],
)
def test_what_keeps_persistence_over_a_boot_is_told_by_what_lacks(state: str, lasts: str) -> None:
    found = replace(broken(persistence="Disabled"), persistenced=Reading(state))
    assert lasts in one_of("gpu.driver.persistence", found).remedy


@pytest.mark.parametrize(
    ("found", "machine", "expect", "result", "cause"),
    [
        (facts(), bus(A, B), {"gpus": 2}, "pass", ""),
        (facts(), bus(A, B), {}, "pass", ""),
        (facts(), Machine(), {}, "pass", ""),
        (facts(HEALTHY), bus(A, B), {}, "fail", B),
        (facts(HEALTHY), bus(A, B), {"gpus": 2}, "fail", "leaves it out"),
        (facts(HEALTHY), bus(A), {"gpus": 2}, "fail", "PCI bus"),
        (facts(HEALTHY), Machine(), {"gpus": 2}, "fail", "fell off"),
        (facts(), bus(A, B), {"gpus": 1}, "fail", "correct ibready_expect"),
        (facts(), bus(A, B), {"gpus": 1, "ignore": [B]}, "pass", ""),
        (facts(smi=Reading(None, "cut")), bus(A, B), {"gpus": 2}, "unknown", "cut"),
        (facts(smi=Reading(None, "cut")), bus(A), {"gpus": 2}, "fail", "PCI bus"),
        (facts(smi=Reading(Nvsmi("1", "1", 8, (HEALTHY,)))), Machine(), {}, "unknown", "whole"),
        (facts(smi=Reading(Nvsmi("1", "1", None, (HEALTHY,)))), bus(A), {}, "unknown", "whole"),
        (facts(smi=Reading(Nvsmi("1", "1", 0, ()))), Machine(), {}, "fail", "fell off"),
    ],
)
def test_gpus_are_counted(found: GpuFacts, machine: Machine, expect: dict[str, Any], result: str, cause: str) -> None:
    check = one_of("gpu.device.count", found, machine, **expect)
    assert (check.result, cause in check.cause) == (result, True), check


def test_a_gpu_of_a_virtual_machine_is_not_missed() -> None:
    machine = bus(A, B, driver="vfio-pci")
    cards = (replace(machine.functions[0], driver="nvidia"), machine.functions[1])
    machine = replace(machine, pci=Reading(cards))
    assert one_of("gpu.device.count", facts(HEALTHY), machine).result == _model.PASS


def test_gpus_that_were_handed_over_did_not_fall_off_the_bus() -> None:
    machine = bus(A, B, driver="vfio-pci")
    machine = replace(
        machine,
        pci=Reading((replace(machine.functions[0], driver="nvidia"), *machine.functions[1:])),
    )
    check = one_of("gpu.device.count", facts(HEALTHY), machine, gpus=2)
    assert check.result == _model.FAIL
    assert check.cause == f"bound to vfio-pci, so handed over to virtual machines: {B}"
    assert check.remedy.startswith("fix pci.gpu.driver first")
    assert "handed" not in one_of("gpu.device.count", facts(HEALTHY), bus(A), gpus=2).cause


@pytest.mark.parametrize(
    ("other", "result", "said"),
    [
        ({}, "pass", "2x"),
        ({"memory_total_mib": 81000}, "pass", "2x"),
        ({"memory_total_mib": 65247}, "fail", "65247 MiB"),
        ({"memory_total_mib": 65247, "mig": "Enabled"}, "pass", "2x"),
        ({"uuid": "GPU-1"}, "fail", f"GPU-1 at {A}, {B}"),
    ],
)
def test_equal_gpus_have_equal_memory_and_uuids_of_their_own(other: dict[str, Any], result: str, said: str) -> None:
    found = facts(
        replace(HEALTHY, memory_total_mib=81559),
        replace(OTHER, **{"memory_total_mib": 81559, **other}),
    )
    check = one_of("gpu.device.uniform", found)
    assert (check.result, said in str(check.observed)) == (result, True), check
    named = one_of("gpu.device.uniform", found, gpu_model="H100").result
    assert named == ("fail" if result == "fail" else "skip")


@pytest.mark.parametrize(
    ("field", "check_id"),
    [
        ("remapped_failure", "gpu.rows.failure"),
        ("unrepairable", "gpu.ecc.unrepairable"),
        ("volatile_sram", "gpu.ecc.volatile"),
    ],
)
def test_what_equal_gpus_show_is_missed_where_it_is_not_shown(field: str, check_id: str) -> None:
    assert bad(broken(**{field: "N/A"})) == {f"{check_id} {A}": "unknown"}
    both = facts(replace(HEALTHY, **{field: "N/A"}), replace(OTHER, **{field: "N/A"}))
    assert bad(both) == {}
    unlike = facts(replace(HEALTHY, **{field: "N/A"}), replace(OTHER, mig="Enabled"))
    assert f"{check_id} {A}" not in bad(unlike)


def test_a_repair_that_nobody_can_read_is_unknown_whichever_it_is() -> None:
    assert bad(broken(tpc_repair="Maybe")) == {f"gpu.ecc.repair {A}": "unknown"}
    assert bad(broken(channel_repair="Maybe")) == {f"gpu.ecc.repair {A}": "unknown"}
    assert bad(broken(channel_repair="N/A")) == {}


def test_a_profile_expects_its_gpus_and_their_model() -> None:
    wanted = with_profile(from_inventory({}), board_by_name("hgx-h100-8"))
    found = {one.id: one for one in judge_gpu.judge(facts(), bus(A, B), wanted) if one.result != "skip"}
    assert found["gpu.device.count"].result == _model.FAIL
    assert found["gpu.device.count"].expected_from == "profile hgx-h100-8"
    assert found["gpu.device.model"].result == _model.PASS


@pytest.mark.parametrize(
    ("wanted", "name", "device", "result"),
    [
        ("H100 SXM5", "NVIDIA H100 80GB HBM3", "2330", "pass"),
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3", "2330", "pass"),
        ("h100", "NVIDIA H100 80GB HBM3", "2330", "pass"),
        ("H100 SXM5", "NVIDIA H800", "2324", "fail"),
        ("RTX 3080", "NVIDIA GeForce RTX 3080", "2216", "pass"),
        ("H100 SXM5", "NVIDIA GeForce RTX 3080", "2216", "fail"),
        ("H100 SXM5", "", "", "unknown"),
    ],
)
def test_models_are_compared(wanted: str, name: str, device: str, result: str) -> None:
    found = facts(replace(HEALTHY, name=name, pci_device_id=device))
    assert one_of("gpu.device.model", found, bus(A), gpu_model=wanted).result == result


def test_a_mixed_host_is_a_warning_unless_the_inventory_names_the_model() -> None:
    found = facts(HEALTHY, replace(OTHER, name="NVIDIA H200", pci_device_id="2335"))
    assert bad(found) == {"gpu.device.uniform host": "fail"}
    assert CATALOG["gpu.device.uniform"].severity == "warning"
    assert bad(found, gpu_model="H100") == {f"gpu.device.model {B}": "fail"}
    assert bad(found, gpu_model="H100", ignore=[B]) == {}


@pytest.mark.parametrize(
    ("module", "result"),
    [
        (Reading(Module("580.105.08")), "pass"),
        (Reading(Module("580.126.16")), "fail"),
        (Reading(None, "/proc: permission denied"), "unknown"),
        (Reading(None, "/proc: no such file", True), "unknown"),
    ],
)
def test_library_and_module_must_be_of_one_version(module: Reading[Module], result: str) -> None:
    assert one_of("gpu.driver.versions", facts(module=module)).result == result


@pytest.mark.parametrize(("wanted", "result"), [("580", "pass"), ("580.105.08", "pass"), ("580.1", "fail")])
def test_the_driver_may_be_expected_by_its_branch(wanted: str, result: str) -> None:
    assert one_of("gpu.driver.expected", facts(), driver=wanted).result == result
    hidden = facts(smi=Reading(None, "cut"), module=Reading(None, "no file"))
    assert one_of("gpu.driver.expected", hidden, driver=wanted).result == "unknown"


@pytest.mark.parametrize(
    ("device", "module", "result"),
    [
        ("2901", Module("1", open=True), "pass"),
        ("2901", Module("1", open=False), "fail"),
        ("2901", Module("1"), "unknown"),
        ("1db5", Module("1", open=False), "pass"),
        ("1db5", Module("1", open=True), "fail"),
        ("2330", Module("1", open=True), "skip"),
        ("2216", Module("1", open=False), "skip"),
    ],
)
def test_the_modules_must_be_of_the_kind_that_the_gpus_need(device: str, module: Module, result: str) -> None:
    machine = Machine(pci=bus(A).pci, gpus=Reading((gpu_by_id(device),)))
    check = one_of("gpu.driver.modules", facts(module=Reading(module)), machine)
    assert check.result == result


def test_no_driver_runs_volta_beside_blackwell() -> None:
    machine = Machine(gpus=Reading((gpu_by_id("2901"), gpu_by_id("1db5"))))
    check = one_of("gpu.driver.modules", facts(), machine)
    assert "no driver runs both" in check.cause


@pytest.mark.parametrize(
    ("mig", "wanted", "result"),
    [
        ("Enabled", True, "pass"),
        ("Disabled", False, "pass"),
        ("N/A", False, "pass"),
        ("Enabled", False, "fail"),
        ("N/A", True, "fail"),
        ("", False, "unknown"),
        ("Enabled", None, "skip"),
    ],
)
def test_mig_is_judged_only_where_somebody_expects_something(mig: str, wanted: bool | None, result: str) -> None:
    found = facts(replace(HEALTHY, mig=mig, mig_pending=mig))
    expect = {} if wanted is None else {"mig": wanted}
    assert one_of("gpu.mig.mode", found, bus(A), **expect).result == result


@pytest.mark.parametrize(
    ("gpu", "wanted", "result"),
    [
        (replace(HEALTHY, ecc="Disabled"), False, "pass"),
        (HEALTHY, False, "fail"),
        (replace(HEALTHY, ecc="N/A"), True, "fail"),
        (replace(HEALTHY, ecc="N/A"), None, "unknown"),
        (replace(HEALTHY, ecc="N/A", virtualization="VGPU"), None, "skip"),
        (replace(HEALTHY, ecc="N/A", name="NVIDIA GB10", pci_device_id="2e12"), None, "skip"),
        (replace(HEALTHY, ecc="Disabled", name="GeForce", pci_device_id="2684"), None, "skip"),
        (replace(HEALTHY, ecc="Disabled", name="RTX A6000", pci_device_id="2230"), None, "skip"),
    ],
)
def test_ecc_is_as_expected_or_as_sold(gpu: Gpu, wanted: bool | None, result: str) -> None:
    expect = {} if wanted is None else {"ecc": wanted}
    assert one_of("gpu.ecc.mode", facts(gpu), bus(A), **expect).result == result


def xid(number: int, text: str = "", bus_id: str = "0000:1b:00") -> Xid:
    return Xid(bus_id, number, text)


RESET = "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"
DRAIN = "GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)"
NONE = "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"


@pytest.mark.parametrize(
    ("found", "findings"),
    [
        pytest.param([79], ["fatal"], id="fallen off the bus"),
        pytest.param([48, 63, 94], ["fatal", "early"], id="memory"),
        pytest.param([13, 31, 43, 45], [], id="programs"),
        pytest.param([999], ["early"], id="nobody knows it"),
        pytest.param([(45, "Ch 00000001 caused by previous Xid 149")], ["early"], id="cleared away after a link's"),
        pytest.param([(45, "Ch 1 caused by previous Xid 79")], ["fatal"], id="cleared away after a fatal one"),
        pytest.param([(45, "Ch 1 caused by previous Xid 13")], [], id="cleared away after a program's own"),
        pytest.param([(145, "RLW_REMAP Nonfatal XC0")], ["early"], id="a link, not fatal"),
        pytest.param([(149, "NETIR_LINK_EVT Fatal XC0")], ["fatal"], id="a link, fatal"),
        pytest.param([(154, RESET)], ["fatal"], id="a reset is needed"),
        pytest.param([(154, DRAIN)], ["early"], id="draining is recommended"),
        pytest.param([79, (154, RESET), (154, NONE)], [], id="it was reset"),
        pytest.param([(154, NONE), 79], ["fatal"], id="after the reset"),
    ],
)
def test_xids_are_judged_by_what_they_mean(found: list[Any], findings: list[str]) -> None:
    reported = [xid(*one) if isinstance(one, tuple) else xid(one) for one in found]
    seen = facts(xids=Reading(tuple(reported)))
    assert bad(seen) == {f"gpu.xid.{one} {A}": "fail" for one in findings}


def test_the_cause_is_the_xid_that_came_first_and_not_its_summary() -> None:
    seen = facts(xids=Reading((xid(154, RESET), xid(119, "Timeout after 45s"))))
    check = one_of("gpu.xid.fatal", seen)
    assert "Xid 119" in check.cause
    assert "45s" in check.cause
    assert check.observed == "Xid 154, Xid 119"


@pytest.mark.parametrize("found", [(xid(46),), (xid(154, RESET),)])
def test_the_remedy_of_an_xid_names_the_gpu(found: tuple[Any, ...]) -> None:
    assert f"`nvidia-smi --gpu-reset -i {A}`" in one_of("gpu.xid.fatal", facts(xids=Reading(found))).remedy


def test_programs_faults_are_told_and_pass() -> None:
    check = one_of("gpu.xid.fatal", facts(xids=Reading((xid(31),))))
    assert (check.result, check.observed) == (_model.PASS, f"only of programs: Xid 31 at {A}")


def test_a_log_that_cannot_be_read_is_unknown() -> None:
    denied = facts(xids=Reading(None, "dmesg ended with status 1: Operation not permitted"))
    assert bad(denied) == {"gpu.xid.fatal dmesg": "unknown", "gpu.xid.early dmesg": "unknown"}


def test_a_log_that_was_cut_can_fail_and_not_pass() -> None:
    cut = facts(xids=Reading((xid(79),)), log_cut=True)
    assert bad(cut) == {f"gpu.xid.fatal {A}": "fail", "gpu.xid.early dmesg": "unknown"}


def test_a_log_whose_beginning_is_lost_says_so_in_its_pass() -> None:
    check = one_of("gpu.xid.fatal", facts(log_lost=True))
    assert (check.result, "back to the boot" in str(check.observed)) == (_model.PASS, True)
    assert one_of("gpu.xid.fatal", facts()).observed == "none"


def test_an_ignored_gpu_is_not_judged() -> None:
    worse = replace(broken(remapped_pending="Yes", trouble="GPU is lost"), xids=Reading((xid(79),)))
    assert bad(worse, ignore=[A], gpus=1) == {}


@pytest.mark.parametrize(
    "number",
    [
        *(13, 31, 43, 45, 48, 61, 62, 63, 64, 68, 69, 74, 79, 92, 94, 95, 109, 110, 119, 120, 121),
        *(122, 123, 124, 125, 126, 137, 140, 143, *range(144, 151), 154),
    ],
)
def test_the_table_knows_what_matters(number: int) -> None:
    known = xids.XIDS[number]
    assert known.means
    assert known.remedy


def test_every_failure_says_what_who_why_and_what_next() -> None:
    everything = broken(recovery="Reset", ecc="Disabled", remapped_failure="Yes")
    for check in _model.trouble(checks_of(replace(everything, xids=Reading((xid(79),))))):
        assert check.cause, check
        assert check.remedy, check
        if check.result == _model.FAIL:
            assert check.observed, check
            assert check.expected, check
            assert check.expected_from == "capability", check
