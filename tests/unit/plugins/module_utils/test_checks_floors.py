# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of floors: every row finds a value past its floor, and none at it."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import floors
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.observe import SANDBOX_MARK
from ansible_collections.ibready.cluster.plugins.module_utils._data.floors import (
    COUNT,
    CPUS,
    FLOORS,
    GROUP,
    INTERFACE,
    JOB,
    NEEDED,
    QUOTA,
    SPAN,
    UNIT,
    USUAL,
    Floor,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.host_resources import HOLDERS
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.proc_limits import UNLIMITED
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from tests.gauntlet import render
from tests.gauntlet.tree import Tree

GROUPS = Reading(("system.slice/slurmd.service",))
PARTS = {UNIT: Reading(("slurmd.service",)), GROUP: GROUPS, JOB: GROUPS, INTERFACE: Reading(("eth0",))}
POLICY = "/sys/devices/system/cpu/cpufreq/policy"
LIMITS = "/proc/4242/limits"


def tree() -> Tree:
    return render.render(render.node("hgx-h100-8"))


def judged(host: Tree, check: str) -> list[Check]:
    expect = from_inventory(render.node("hgx-h100-8").expect)
    return [one for one in _verify.verify(host, expect, ["host"]).checks if one.id == check]


def write(host: Tree, reads: str, value: str) -> None:
    """The value where the row reads it."""
    path, _blank, name = reads.partition(" ")
    if path == "slurmd.service":
        line = next(line for line in host.read(LIMITS).split("\n") if line.startswith(f"Max {name} "))
        host.file(LIMITS, host.read(LIMITS).replace(line, f"Max {name}  {value}  {value}  units"))
    elif name:
        host.file(path, f"{host.read(path)}{name}: {value} kB\n")
    elif "*" in path:
        for number in range(8):
            host.file(path.replace("*", str(number)), value)
    else:
        host.file(path, value)


def values(host: Tree, row: Floor) -> tuple[str, float | None]:
    """What the row reads of slurmd or eth0, and its bound on this host."""
    ((_part, reads),) = floors.each(row, PARTS)
    of = {}
    if row.of == CPUS:
        of = {CPUS: Reading("0-223")}
    elif row.of:
        path, _blank, name = row.of.partition(" ")
        text = host.read(path.replace("*", "0")).strip()
        told = dict(line.split(":") for line in text.split("\n")) if name else {}
        of = {row.of: Reading(told[name].split()[0] if name else text)}
    return reads, floors.bound(row, of).value


def past(row: Floor, bound: float | None) -> str:
    if row.bad:
        return row.bad[0]
    number = int((bound or 0) - 1 if row.least is not None else (bound or 0) + 1)
    if row.take == COUNT:
        return f"0-{number - 2}"
    return {SPAN: f"1 {number}", QUOTA: f"{number * 100} 100"}.get(row.take, str(number))


def at(row: Floor, bound: float | None) -> str:
    number = int(bound or 0)
    if row.take == COUNT:
        return f"0-{number - 1}"
    usual = {SPAN: f"1 {number}", QUOTA: f"{number * 100} 100"}.get(row.take, str(number))
    return "full" if row.bad else "unlimited" if number >= UNLIMITED else usual


def named(row: Floor) -> str:
    return row.reads


@pytest.mark.parametrize("row", FLOORS, ids=named)
@pytest.mark.parametrize(("value", "result"), [(past, "fail"), (at, "pass")])
def test_a_row_finds_what_is_past_its_floor_alone(
    row: Floor, value: Callable[[Floor, float | None], str], result: str
) -> None:
    host = tree()
    reads, bound = values(host, row)
    if row.when[0]:
        write(host, *row.when)
    write(host, reads, value(row, bound))
    (check,) = judged(host, row.check)
    assert (check.result, check.remedy != "") == (result, result == "fail")
    if result == "fail":
        assert all(word not in check.remedy + check.cause for word in "{}")


@pytest.mark.parametrize("row", FLOORS, ids=named)
def test_a_row_tells_its_source_and_what_fails(row: Floor) -> None:
    assert row.source
    assert (row.fails != "") == row.check.startswith("host.floor.")
    assert [row.least, row.most, row.bad or None].count(None) == 2


def test_no_two_rows_read_the_same() -> None:
    assert len({row.reads for row in FLOORS}) == len(FLOORS)


@pytest.mark.parametrize(
    "reads",
    [
        *("/proc/sys/kernel/pid_max", "/proc/sys/net/core/somaxconn", "/proc/meminfo"),
        *("/proc/sys/vm/overcommit_memory", "ip_addr", "/sys/fs/cgroup/system.slice"),
        *(f"/sys/class/net/eth0/{file}" for file in ("speed", "duplex", "mtu")),
    ],
)
def test_what_could_not_be_read_is_unknown(reads: str) -> None:
    host = tree()
    host.broken[reads] = "permission denied"
    assert [one.result for one in judged(host, "host.floor.usual")] == ["unknown"]


@pytest.mark.parametrize(("file", "result"), [("speed", "pass"), ("duplex", "pass"), ("mtu", "unknown")])
def test_a_port_without_a_link_has_no_speed(file: str, result: str) -> None:
    host = tree()
    host.broken[f"/sys/class/net/eth0/{file}"] = "invalid argument"
    assert [one.result for one in judged(host, "host.floor.usual")] == [result]


def test_a_governor_that_nobody_may_read_leaves_the_clock_open() -> None:
    host = tree()
    for number in range(8):
        host.file(f"{POLICY}{number}/scaling_cur_freq", "400000")
        host.broken[f"{POLICY}{number}/scaling_governor"] = "permission denied"
    (found,) = judged(host, "host.floor.needed")
    assert (found.result, "scaling_governor: permission denied" in found.cause) == ("unknown", True)


def test_a_clock_of_no_number_leaves_all_else_judged() -> None:
    host = tree()
    for number in range(8):
        host.file(f"{POLICY}{number}/scaling_cur_freq", b"")
    (found,) = judged(host, "host.floor.needed")
    assert (found.result, "is no number" in found.cause) == ("unknown", True)


@pytest.mark.parametrize("text", [b"", b"MemTotal: 2113929216 kB\nSUnreclaim: 1 kB\n"])
def test_a_text_of_memory_that_is_cut_is_unknown(text: bytes) -> None:
    host = tree()
    host.file("/proc/meminfo", text)
    (found,) = judged(host, "host.floor.usual")
    assert (found.result, "/proc/meminfo: no line" in found.cause) == ("unknown", True)


@pytest.mark.parametrize("row", [row for row in FLOORS if row.bad], ids=lambda row: row.check)
def test_an_empty_file_names_nothing_that_is_well(row: Floor) -> None:
    host = tree()
    write(host, row.reads.replace("{interface}", "eth0"), "")
    assert [one.result for one in judged(host, row.check)] == ["unknown"]


def test_what_is_no_number_is_unknown() -> None:
    host = tree()
    host.file("/proc/sys/net/core/somaxconn", "many")
    (found,) = judged(host, "host.floor.usual")
    assert (found.result, "'many' is no number" in found.cause) == ("unknown", True)


def test_a_kernel_without_a_setting_is_not_asked_for_it() -> None:
    host = tree()
    del host.files["/proc/sys/net/core/somaxconn"]
    assert [one.result for one in judged(host, "host.floor.usual")] == ["pass"]
    del host.files["/proc/sys/kernel/pid_max"]
    assert [one.result for one in judged(host, "host.floor.usual")] == ["unknown"]


def test_limits_that_lack_a_line_are_unknown() -> None:
    host = tree()
    host.file(LIMITS, "".join(line for line in host.read(LIMITS).splitlines(True) if "address" not in line))
    (found,) = judged(host, "host.floor.needed")
    assert (found.result, "no line address space" in found.cause) == ("unknown", True)


def test_cpus_that_wake_in_a_moment_are_well() -> None:
    host = tree()
    for number in range(8):
        path = f"/sys/devices/system/cpu/cpufreq/policy{number}/scaling_cur_freq"
        host.file(path, "800000")
        host.later[path] = b"3400000\n"
    assert [one.result for one in judged(host, "host.floor.needed")] == ["pass"]


def test_the_governor_s_low_clock_is_told_by_the_governor() -> None:
    host = tree()
    for number in range(8):
        base = f"/sys/devices/system/cpu/cpufreq/policy{number}"
        host.file(f"{base}/scaling_cur_freq", "800000")
        host.file(f"{base}/scaling_governor", "powersave")
    assert [one.result for one in judged(host, "host.floor.needed")] == ["pass"]


def test_each_value_past_its_floor_is_told() -> None:
    host = tree()
    host.file("/proc/sys/kernel/pid_max", "32768")
    host.file("/proc/sys/net/core/somaxconn", "128")
    assert {one.subject for one in judged(host, "host.floor.usual")} == {"kernel.pid_max", "net.core.somaxconn"}


@pytest.mark.parametrize(("address", "result"), [("169.254.0.18", "pass"), ("192.0.2.18", "fail")])
def test_the_port_to_the_bmc_may_be_slow(address: str, result: str) -> None:
    host = tree()
    text = host.commands["ip_addr"].stdout
    host.command("ip_addr", text.replace("192.0.2.10", address))
    host.file("/sys/class/net/eth0/speed", "425")
    assert [one.result for one in judged(host, "host.floor.usual")] == [result]


@pytest.mark.parametrize(("kind", "result"), [("bond", "fail"), ("tun", "pass"), ("vlan", "pass")])
def test_only_hardware_has_a_speed(kind: str, result: str) -> None:
    host = tree()
    told = json.loads(host.commands["ip_addr"].stdout)
    for one in told:
        if one["ifname"] == "eth0":
            one["linkinfo"] = {"info_kind": kind}
    host.command("ip_addr", json.dumps(told))
    host.file("/sys/class/net/eth0/speed", "10")
    assert [one.result for one in judged(host, "host.floor.usual")] == [result]


SLICE = "/sys/fs/cgroup/system.slice"


@pytest.mark.parametrize(
    ("scope", "limited", "failing"),
    [
        ("slurmstepd.scope", "slurmd.service", ""),
        ("slurmstepd.scope", "slurmstepd.scope", "slurmstepd.scope"),
        ("node7_slurmstepd.scope", "node7_slurmstepd.scope", "node7_slurmstepd.scope"),
        ("slurmstepd.scope", "", "system.slice"),
        ("", "slurmd.service", "slurmd.service"),
    ],
)
@pytest.mark.parametrize(("name", "value"), [("memory.max", "4294967296"), ("pids.max", "512")])
def test_the_group_that_holds_the_jobs_of_slurm_is_judged(
    scope: str, limited: str, failing: str, name: str, value: str
) -> None:
    host = tree()
    for group in filter(None, (scope, "slurmd.service", ".")):
        host.file(posixpath.normpath(f"{SLICE}/{group}/{name}"), value if group == (limited or ".") else "max")
    failures = [one for one in judged(host, "host.floor.needed") if one.result == "fail"]
    assert [one.subject for one in failures] == ([f"{failing} {name}"] if failing else [])
    assert all(f"`systemctl cat {failing}`" in one.remedy for one in failures)


@pytest.mark.parametrize(
    ("reads", "text", "observed", "remedy"),
    [
        ("net/ipv4/tcp_rmem", "4096\t87380\t174760", "4096 87380 174760 (174760)", "raise the last of its three"),
        ("net/ipv4/ip_local_port_range", "60000\t60010", "60000 60010 (11)", "set 32768 60999"),
        ("net/core/somaxconn", "128", "128", "set at least 1024"),
    ],
)
def test_what_was_compared_is_told_and_its_own_remedy(reads: str, text: str, observed: str, remedy: str) -> None:
    host = tree()
    host.file(f"/proc/sys/{reads}", text)
    (found,) = judged(host, "host.floor.usual")
    assert (found.observed, remedy in found.remedy) == (observed, True)


@pytest.mark.parametrize(
    ("line", "written"), [("stack size", "LimitSTACK=8388608"), ("address space", "LimitAS=infinity")]
)
def test_a_limit_is_written_as_its_floor(line: str, written: str) -> None:
    host = tree()
    write(host, f"slurmd.service {line}", "65536")
    told = [one for check in (NEEDED, USUAL) for one in judged(host, check)]
    (found,) = [one for one in told if one.result == "fail"]
    assert f"write {written} " in found.remedy


def test_a_sandbox_is_not_judged_by_its_machine() -> None:
    host = tree()
    host.file(SANDBOX_MARK, '{"what": "everything", "hardware": true}')
    host.file("/run/.containerenv", "")
    host.file("/proc/sys/kernel/pid_max", "32768")
    assert [one.result for one in judged(host, "host.floor.usual")] == ["skip"]


@pytest.mark.parametrize(
    ("text", "take", "number"),
    [
        ("4096\t131072\t6291456", "", 6291456),
        ("32768 60999", SPAN, 28232),
        ("0-3,8", COUNT, 5),
        ("max 100000", QUOTA, UNLIMITED),
        ("50000 100000", QUOTA, 0.5),
        ("-1", "", UNLIMITED),
    ],
)
def test_the_words_of_a_file_are_one_number(text: str, take: str, number: float) -> None:
    assert floors.number(text, take) == number


@pytest.mark.parametrize("line", ["SUnreclaim", "PageTables"])
def test_who_holds_memory_is_mended_alike_where_memory_is_gone_and_where_it_will_be(line: str) -> None:
    assert [floor.remedy for floor in FLOORS if floor.reads == f"/proc/meminfo {line}"] == [HOLDERS[line][1]]
