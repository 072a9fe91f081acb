# SPDX-License-Identifier: GPL-3.0-or-later
"""What the driver said last of a port that is down. The formats are the driver's; devices and times are made up."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.ib import driver_log
from ansible_collections.ibready.cluster.plugins.module_utils._parse import dmesg
from tests.gauntlet import render, run

AT = "0000:45:00.0"
POWER = f"mlx5_core {AT}: Port module event[error]: module 0, Cable error, Power budget exceeded"
PLUGGED = f"mlx5_core {AT}: Port module event: module 0, Cable plugged"
UNPLUGGED = f"mlx5_core {AT}: Port module event: module 0, Cable unplugged"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([POWER], POWER),
        ([PLUGGED, POWER], POWER),
        ([POWER, f"mlx5_core {AT} ens1: Link down"], POWER),
        ([POWER, PLUGGED], ""),
        ([POWER, UNPLUGGED], ""),
        ([POWER, f"mlx5_core {AT} ens1: Link up"], ""),
        ([POWER.replace("0000:45", "0000:46")], ""),
        ([POWER.replace("0000:45:00.0", "0000:45:00.1")], ""),
        ([f"mlx5_core {AT}: CQ error on CQN 0x41f, syndrome 0x1"], ""),
        ([f"mlx5_core {AT}: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Receiver ID)"], ""),
        ([f"mlx5_core {AT}: AER: recovery failed, link reset"], ""),
        (
            [f"mlx5_core {AT}: port: ACCESS_REG(0x805) op_mod(0x1) failed, status bad operation(0x2)"],
            "",
        ),
        ([f"mlx5_core {AT}: the transceiver of the frobnicator is broken"], "broken"),
    ],
)
def test_the_last_failure_of_the_port_counts_unless_something_came_after_it(lines: list[str], words: str) -> None:
    said = driver_log.last_words(
        dmesg.records("".join(f"[  21.50000{at}] {line}\n" for at, line in enumerate(["Linux version 6.8.0", *lines]))),
        AT,
        0.0,
    )
    assert said.endswith(words)
    assert bool(said) == bool(words)


@pytest.mark.parametrize(("level", "counts"), [("err", True), ("warn", True), ("info", False)])
def test_news_are_no_failure_of_a_port(level: str, counts: bool) -> None:
    log = dmesg.records(f"kern  :{level:6}: [   21.500000] {POWER}\n")
    assert bool(driver_log.last_words(log, AT, 0.0)) == counts


def test_words_of_an_earlier_day_tell_nothing_of_now() -> None:
    log = dmesg.records(f"[   21.500000] {POWER}\n[  999.500000] {UNPLUGGED}\n[ 1000.500000] {POWER}\n")
    assert driver_log.last_words(log, AT, 1000.0)
    assert not driver_log.last_words(log, AT, 1001.0)


def causes(mlxlink: str = "", **hca: str) -> set[str]:
    """Why the port of this HCA is not Active, where its driver told of its cable."""
    node = render.node("hgx-h100-8")
    rail = node.hca("mlx5_3")
    for key, value in hca.items():
        setattr(rail, key, value)
    tree = render.render(node)
    log = tree.commands["dmesg"].stdout
    tree.command("dmesg", log + f"[   21.500000] {POWER.replace(AT, rail.path[-1])}\n")
    says = tree.commands["mlxlink@mlx5_3-1"].stdout
    tree.command("mlxlink@mlx5_3-1", says.replace("No issue was observed", mlxlink or "No issue was observed"))
    tree.file("/proc/uptime", "1000.00 1000.00\n")
    found = run.judge(node, tree)
    return {check.cause for check in found if check.result == "fail" and check.id.endswith("port.state")}


def test_the_words_take_the_place_of_the_guess_and_only_there() -> None:
    (cause,) = causes(state="Down", physical="Polling")
    assert cause.startswith("the driver says: ")
    assert "Power budget exceeded" in cause
    assert driver_log.cause(POWER).remedy


def test_the_words_are_of_no_port_that_has_its_link() -> None:
    for state, physical in (("Initializing", "LinkUp"), ("Down", "LinkUp")):
        (cause,) = causes(state=state, physical=physical)
        assert "driver says" not in cause


def test_what_the_firmware_finds_now_goes_before_the_words() -> None:
    assert causes("Bad signal integrity", state="Down", physical="Polling") == {"mlxlink found: Bad signal integrity"}
