# SPDX-License-Identifier: GPL-3.0-or-later
"""The edges of what is judged of the machine around the GPUs; the gauntlet has the rest."""

from __future__ import annotations

import json

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import check_bmc
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ipmi_sdr import Sensor
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from tests.gauntlet import fault, render
from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree

BOARD = "hgx-h100-8"
THROTTLE = "/sys/devices/system/cpu/cpu56/thermal_throttle/package_throttle_count"


def healthy(board: str = BOARD) -> tuple[Node, Tree]:
    node = render.node(board)
    return node, render.render(node)


def judged(node: Node, tree: Tree, check_id: str) -> list[Check]:
    checks = _verify.verify(tree, from_inventory(node.expect), ["host"]).checks
    return [check for check in checks if check.id == check_id]


def result(node: Node, tree: Tree, check_id: str) -> str:
    (check,) = judged(node, tree, check_id)
    return check.result


@pytest.mark.parametrize(("available", "expected"), [(2000, "pass"), (1999, "fail")])
def test_memory_is_gone_below_two_per_cent(available: int, expected: str) -> None:
    node, tree = healthy()
    tree.file("/proc/meminfo", f"MemTotal: 100000 kB\nMemAvailable: {available} kB\n")
    assert result(node, tree, "host.memory.available") == expected


def test_a_kernel_that_refuses_its_pressure_is_judged_without() -> None:
    node, tree = healthy()
    tree.broken.update({f"/proc/pressure/{name}": "Operation not supported" for name in ("cpu", "memory")})
    assert result(node, tree, "host.cpu.load") == "pass"
    assert result(node, tree, "host.memory.pressure") == "pass"


@pytest.mark.parametrize(("later", "expected"), [("214", "pass"), ("220", "fail")])
def test_a_cpu_throttles_where_its_count_rises(later: str, expected: str) -> None:
    node, tree = healthy()
    tree.file(THROTTLE, "214")
    tree.later[THROTTLE] = later.encode()
    assert result(node, tree, "host.cpu.throttled") == expected


def test_a_count_without_a_second_look_is_unknown() -> None:
    node, tree = healthy()
    tree.file(THROTTLE, "214")
    tree.broken["again"] = "not in the bundle"
    assert result(node, tree, "host.cpu.throttled") == "unknown"


@pytest.mark.parametrize(
    ("seconds", "count", "expected"), [(86400, 10, "pass"), (86400, 11, "fail"), (864000, 99, "pass")]
)
def test_corrected_errors_count_by_day(seconds: int, count: int, expected: str) -> None:
    node, tree = healthy()
    base = "/sys/devices/system/edac/mc/mc0"
    for number in (0, 1):
        tree.file(f"/sys/devices/system/edac/mc/mc{number}/seconds_since_reset", str(seconds))
    tree.file(f"{base}/ce_count", str(count))
    tree.file(f"{base}/dimm0/dimm_ce_count", str(count))
    assert result(node, tree, "host.memory.corrected") == expected


def test_what_redfish_tells_in_a_bundle_is_judged_on_a_host_without_ipmitool() -> None:
    node, tree = healthy()
    tree.recorded = True
    tree.command("redfish_thermal", json.dumps({"Fans": [{"Name": "FAN1", "Status": {"Health": "Critical"}}]}))
    psu = {"Name": "PSU2", "Status": {"State": "Enabled", "Health": "Warning"}}
    absent = {"Name": "PSU3", "Status": {"State": "Absent", "Health": "Critical"}}
    tree.command("redfish_power", json.dumps({"PowerSupplies": [psu, absent]}))
    del tree.commands["ipmi_sdr"]
    assert {check.subject for check in judged(node, tree, "host.bmc.sensors")} == {"FAN1", "PSU2"}
    tree.command("redfish_power", "<html>401 Unauthorized</html>")
    assert [check.result for check in judged(node, tree, "host.bmc.sensors")] == ["fail", "unknown"]


def test_a_bmc_of_which_nothing_was_read_passes_nothing() -> None:
    node, tree = healthy()
    rows = tree.commands["ipmi_sdr"].stdout.replace("| ok  |", "| ns  |").replace("| ok |", "| ns |")
    tree.command("ipmi_sdr", rows)
    (check,) = judged(node, tree, "host.bmc.sensors")
    assert (check.result, check.cause) == ("unknown", "none of the BMC's sensors has a reading")
    tree.recorded = True
    tree.command("redfish_thermal", json.dumps({"Fans": [{"Name": "FAN1", "Status": {"State": "Enabled"}}]}))
    del tree.commands["ipmi_sdr"]
    (check,) = judged(node, tree, "host.bmc.sensors")
    assert (check.result, check.cause) == ("unknown", "Redfish tells the health of no part")


@pytest.mark.parametrize(
    ("status", "reading", "expected"),
    [
        *((status, "0 RPM", "fail") for status in ("lcr", "ucr", "lnr", "unr", "cr", "nr")),
        *((status, "3100 RPM", "pass") for status in ("ok", "lnc", "unc", "nc", "ns")),
        ("zz", "3100 RPM", "unknown"),
        ("ok", "Low", "fail"),
        ("ok", "Presence Detected, Failed", "fail"),
        ("ok", "Lower Non-critical going low", "pass"),
    ],
)
def test_a_sensor_s_status_is_what_ipmitool_says_by_itself_and_extended(
    status: str, reading: str, expected: str
) -> None:
    node, tree = healthy()
    rows = tree.commands["ipmi_sdr"].stdout
    tree.command("ipmi_sdr", f"{rows}Own              | 99h | {status:3} | 29.9 | {reading}\n")
    assert result(node, tree, "host.bmc.sensors") == expected


@pytest.mark.parametrize("day", [" Pre-Init  |0000000012|", "01/01/1970 | 00:02:10 |"])
def test_an_event_of_a_clock_that_was_not_set_may_be_of_today(day: str) -> None:
    node, tree = healthy()
    rows = tree.commands["ipmi_sel"].stdout
    tree.command("ipmi_sel", f"{rows} 99 | {day} Processor #0x12 | IERR | Asserted\n")
    assert result(node, tree, "host.bmc.log") == "unknown"


def test_modules_of_a_kubernetes_node_may_be_its_operators() -> None:
    node, tree = fault.broken(next(one for one in fault.load() if one.check == "host.boot.modules"))
    assert result(node, tree, "host.boot.modules") == "fail"
    tree.file("/var/lib/kubelet/pods/7c1a/etc-hosts", "127.0.0.1 localhost")
    assert result(node, tree, "host.boot.modules") == "skip"


def test_a_bmc_that_hangs_is_unknown_and_not_asked_twice() -> None:
    node, tree = healthy()
    tree.broken["ipmi_sdr"] = "gave no complete answer within 20 s"
    assert result(node, tree, "host.bmc.sensors") == "unknown"
    (check,) = judged(node, tree, "host.bmc.log")
    assert (check.result, "ipmi_sdr" in check.cause) == ("unknown", True)


def test_a_virtual_machine_is_asked_neither_for_a_bmc_nor_for_its_memory_modules() -> None:
    node, tree = healthy("cloud-a100-8-vm")
    for check in ("host.bmc.sensors", "host.bmc.log", "host.memory.uncorrected", "host.memory.nodes"):
        assert result(node, tree, check) == "skip"


@pytest.mark.parametrize(("uptime", "expected"), [("186401.0", "fail"), ("187000.0", "pass")])
def test_a_killed_process_is_history_after_a_day(uptime: str, expected: str) -> None:
    node = render.node(BOARD)
    node.more["log"] = ["[100500.000000] Out of memory: Killed process 7 (python3) total-vm:1kB"]
    tree = render.render(node)
    tree.file("/proc/uptime", f"{uptime} 1.00")
    (check,) = judged(node, tree, "host.dmesg.kernel_warnings")
    assert (check.result, "python3 killed" in check.observed) == (expected, True)


@pytest.mark.parametrize(("uptime", "severity"), [("101399.0", "error"), ("101401.0", "warning"), ("", "warning")])
def test_what_stops_jobs_now_is_an_error_and_a_quarter_of_an_hour_later_a_sign(uptime: str, severity: str) -> None:
    node = render.node(BOARD)
    full, killed = "nf_conntrack: table full, dropping packet", "Out of memory: Killed process 7 (python3) total-vm:1kB"
    node.more["log"] = [f"[100500.000000] {killed}", f"[100500.000000] {full}"]
    tree = render.render(node)
    tree.file("/proc/uptime", f"{uptime} 1.00")
    found = judged(node, tree, "host.dmesg.kernel_warnings")
    told = {check.severity: check for check in found}
    assert full in told[severity].observed
    assert "nf_conntrack_max" in told[severity].remedy or severity == "warning"
    assert killed[:13].lower() in told["warning"].observed


@pytest.mark.parametrize(
    ("name", "status", "severity"),
    [
        *((name, "ucr", "error") for name in ("GPU3 Temp", "HGX_GPU_SXM_1_T", "TEMP_GPU0")),
        ("GPU3 Temp", "unr", "error"),
        *((name, "ucr", "warning") for name in ("Inlet Temp", "NOGPU Temp")),
    ],
)
def test_a_gpu_beyond_its_critical_temperature_is_an_error(name: str, status: str, severity: str) -> None:
    node = render.node(BOARD)
    node.more["sensors"] = [f"{name:16} | 61h | {status} | 11.3 | 93 degrees C"]
    (check,) = judged(node, render.render(node), "host.bmc.sensors")
    assert (check.result, check.severity) == ("fail", severity)


@pytest.mark.parametrize(
    ("state", "expected"),
    [("live", "pass"), ("deleting (no IO)", "pass"), ("dead", "fail"), ("degraded", "unknown"), ("", "unknown")],
)
def test_a_disk_is_judged_by_the_kernel_s_own_words(state: str, expected: str) -> None:
    node, tree = healthy("dgx-h100-8")
    tree.file("/sys/class/nvme/nvme2/state", state)
    assert result(node, tree, "host.disk.nvme") == expected


@pytest.mark.parametrize(
    ("size", "left", "expected"),
    [
        (100 * 1024, 4 * 1024, "pass"),
        (1000, 51, "pass"),
        (1000, 49, "fail"),
        (100, 5.1, "pass"),
        (100, 4.9, "fail"),
    ],
)
def test_a_disk_has_a_share_or_room_for_images_left(size: float, left: float, expected: str) -> None:
    node, tree = healthy()
    kib = [int(each * 1024**2) for each in (size, left)]
    row = f"xfs {kib[0]} {kib[1]} 200000000 190000000 /data\n"
    tree.command("df", tree.commands["df"].stdout.replace("tmpfs", f"{row}tmpfs", 1))
    assert result(node, tree, "host.disk.space") == expected


@pytest.mark.parametrize(
    ("name", "entity", "reading", "cause"),
    [
        ("Tray 3", 29, "Redundancy Lost", "a fan has failed"),
        ("Tray 3", 7, "2400 RPM", "a fan has failed"),
        ("Tray 3", 10, "Failure detected", "a power supply has failed"),
        ("Fan 3", 10, "Failure detected", "a fan has failed"),
        ("PSU1", 7, "Failure detected", "a power supply has failed"),
    ],
)
def test_a_sensor_s_cause_is_told_by_what_it_belongs_to(name: str, entity: int, reading: str, cause: str) -> None:
    assert check_bmc._why(Sensor(name, 1, "cr", entity, reading)).startswith(cause)
