# SPDX-License-Identifier: GPL-3.0-or-later
"""What the driver said last of a port that is down. The formats are the driver's; devices and times are made up."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.ib import driver_log
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import failed, passed
from ansible_collections.ibready.cluster.plugins.module_utils._parse import dmesg

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
        ([f"mlx5_core {AT}: the transceiver of the frobnicator is broken"], "broken"),
    ],
)
def test_the_last_failure_of_the_port_counts_unless_something_came_after_it(lines: list[str], words: str) -> None:
    said = driver_log.last_words(
        dmesg.records("".join(f"[  21.50000{at}] {line}\n" for at, line in enumerate(["Linux version 6.8.0", *lines]))),
        AT,
    )
    assert said.endswith(words)
    assert bool(said) == bool(words)


@pytest.mark.parametrize(("level", "counts"), [("err", True), ("warn", True), ("info", False)])
def test_news_are_no_failure_of_a_port(level: str, counts: bool) -> None:
    log = dmesg.records(f"kern  :{level:6}: [   21.500000] {POWER}\n")
    assert bool(driver_log.last_words(log, AT)) == counts


def test_the_words_take_the_place_of_the_guess_and_only_there() -> None:
    state = failed("ib.port.state", "mlx5_3/1", "Down", "Active", "capability", cause="a guess", remedy="switch it on")
    rate = failed("ib.port.rate", "mlx5_3/1", "1", "2", "capability", cause="a guess")
    well = passed("ib.port.physical_state", "mlx5_3/1", "LinkUp", "LinkUp", "capability")
    found = list(driver_log.explained([state, rate, well], POWER))
    assert found[1:] == [rate, well]
    assert "Power budget exceeded" in found[0].cause
    assert "guess" not in found[0].cause
    assert "mlxlink" in found[0].remedy
    assert list(driver_log.explained([state, rate, well], "")) == [state, rate, well]
