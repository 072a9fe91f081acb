# SPDX-License-Identifier: GPL-3.0-or-later
"""How often links went down: the log's lines, counters, and what the agent remembers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._agent import memory
from ansible_collections.ibready.cluster.plugins.module_utils._agent.settings import Settings
from ansible_collections.ibready.cluster.plugins.module_utils._areas.ib.check_history import judge_history
from ansible_collections.ibready.cluster.plugins.module_utils._data.link_history import DAY_S
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse import link_events
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibstat import Ca, Port
from ansible_collections.ibready.cluster.plugins.module_utils._rails import link_history
from ansible_collections.ibready.cluster.plugins.module_utils._rails.ib_ports import Details, History, IbFacts
from ansible_collections.ibready.cluster.plugins.module_utils._rails.link_history import Downs, Sample

NOW, PAST = "ib.port.flapping", "ib.port.unsteady"
UP = 10 * DAY_S


@pytest.mark.parametrize(
    ("line", "kind", "up", "names"),
    [
        ("mlx5_core 0000:08:00.0 mlx5_0: Port: 1 Link DOWN", "port", False, ("mlx5_0", "0000:08:00.0", "", 1)),
        (
            "mlx5_core 0000:08:00.0 rdmap8s0f0: Port: 2 Link ACTIVE",
            "port up",
            True,
            ("rdmap8s0f0", "0000:08:00.0", "", 2),
        ),
        (
            "mlx5_core 0000:0b:00.0: Port module event: module 0, Cable unplugged",
            "cable",
            False,
            ("", "0000:0b:00.0", "", 0),
        ),
        ("mlx5_core 0000:53:00.0 enp83s0f0np0: Link down", "interface", False, ("", "0000:53:00.0", "enp83s0f0np0", 0)),
        ("bnxt_en 0000:01:00.0 eth2: NIC Link is Down", "interface", False, ("", "0000:01:00.0", "eth2", 0)),
        ("ice 0000:01:00.0 ens1: NIC Link is up 100 Gbps", "interface up", True, ("", "0000:01:00.0", "ens1", 0)),
        ("mlx4_en: eth3: Link Down", "interface", False, ("", "", "eth3", 0)),
        ("mlx4_en: eth3: Link Up", "interface up", True, ("", "", "eth3", 0)),
        (
            "mlx5_core 0000:0b:00.0: Port module event: module 0, Cable plugged",
            "cable up",
            True,
            ("", "0000:0b:00.0", "", 0),
        ),
        ("IPv6: ADDRCONF(NETDEV_CHANGE): ib0: link becomes ready", "ready", True, ("", "", "ib0", 0)),
    ],
)
def test_the_kernels_words_for_a_link(line: str, kind: str, up: bool, names: tuple[str, str, str, int]) -> None:
    (event,) = link_events.parse(f"[   12.500000] {line}\n")
    assert (event.kind, event.up, event.seconds) == (kind, up, 12.5)
    assert (event.device, event.address, event.netdev, event.port) == names


@pytest.mark.parametrize(
    "line", ["pcieport 0000:b9:01.0: pciehp: Slot(2-4): Link Down", "usb 1-1: cable is fine", "ata1: SATA link down"]
)
def test_other_links_are_no_rails(line: str) -> None:
    assert link_events.parse(f"[   12.500000] {line}\n") == ()


def log(*seconds: float) -> Downs:
    text = "".join(f"[{at:12.6f}] mlx5_core 0000:08:00.0 mlx5_0: Port: 1 Link DOWN\n" for at in seconds)
    found = link_history.of_log(link_events.parse(text), UP)
    assert found is not None
    return found


def test_a_log_tells_when() -> None:
    seen = log(*(UP - at for at in (90000, 80000, 3000, 100)))
    assert (seen.total, seen.day, seen.hour, seen.worst, seen.last_s) == (4, 3, 2, 3, 100.0)


def test_what_a_boot_brings_counts_little() -> None:
    assert log(*range(10, 15)).total == 0
    assert log(*range(10, 40)).total == 25


def test_two_kinds_of_lines_may_be_of_one_event() -> None:
    text = "".join(
        f"[{UP - 100 * at:12.6f}] mlx5_core 0000:08:00.0{word}\n"
        for at in (2, 1)
        for word in (": Port module event: module 0, Cable unplugged", " mlx5_0: Port: 1 Link DOWN")
    )
    seen = link_history.of_log(link_events.parse(text), UP)
    assert seen is not None
    assert seen.total == 2


def sample(at: float, value: int, boot: str = "b", up_s: float | None = None) -> Sample:
    return Sample(at, boot, at if up_s is None else up_s, {"link_downed": value})


def remembered(*samples: Sample, value: int, up_s: float = UP) -> Downs:
    seen = link_history.of_memory(samples, "b", up_s, {"link_downed": value})
    assert seen is not None
    return seen


def test_the_memory_tells_what_came_since() -> None:
    seen = remembered(sample(UP - 50000, 3), sample(UP - 4000, 5), value=9)
    assert (seen.total, seen.day, seen.hour, seen.over_s) == (6, 6, 4, 50000)


def test_a_cleared_counter_and_a_boot_are_no_downs() -> None:
    assert remembered(sample(UP - 5000, 300), value=2).total == 2
    before = sample(UP - 50000, 3, boot="a")
    assert remembered(before, sample(UP - 4000, 5), value=5).total == 0
    assert remembered(before, value=5, up_s=600).total == 0
    assert remembered(before, value=40, up_s=600).total == 32


def test_a_clock_that_was_set_changes_no_age() -> None:
    late = Sample(9e9, "b", UP - 3000, {"link_downed": 1})
    assert remembered(late, value=4).hour == 3


def test_slow_errors_are_seen_over_hours() -> None:
    samples = [Sample(0, "b", UP - 6 * 3600, {}), Sample(1, "a", UP - 7200, {"symbol_error": 9000})]
    assert link_history.rise(samples, "b", UP, {"symbol_error": 900}, "symbol_error") == (900, 6 * 3600)
    cleared = [*samples, Sample(2, "b", UP - 3600, {"symbol_error": 5000})]
    assert link_history.rise(cleared, "b", UP, {"symbol_error": 900}, "symbol_error") == (0, 0.0)


@pytest.mark.parametrize("raw", [[], {}, {"schema": "x", "samples": []}, {"schema": "ibready/ports/1", "samples": [1]}])
def test_a_memory_that_is_none(raw: Any) -> None:
    with pytest.raises(ValueError, match=r"schema|sample"):
        link_history.samples_of(raw, "mlx5_0/1")


CA = Ca("mlx5_0", "MT4129", 1, "", "", "", "", ())
PORT = Port(1, "Active", "LinkUp", 400, 1, 0, 1, "", "", "InfiniBand")


def results(*downs: Downs, counters: Reading[dict[str, int]] | None = None) -> tuple[str, str]:
    details = {"mlx5_0/1": Details(counters=counters or Reading({"link_downed": 1}))}
    facts = IbFacts(details=details, history={"mlx5_0/1": History(downs)})
    found = {check.id: check.result for check in judge_history(facts, [(CA, PORT)])}
    return found[NOW], found[PAST]


def counter(total: int, days: float, source: str = "link_downed") -> Downs:
    return Downs(source, total, days * DAY_S)


def timed(source: str = link_history.LOG, over_s: float = UP, **known: Any) -> Downs:
    return Downs(source, known.pop("total", 9), over_s, True, **known)


@pytest.mark.parametrize(
    ("downs", "expected"),
    [
        pytest.param([counter(235, 2)], ("fail", "skip"), id="again and again since the boot"),
        pytest.param([counter(10, 2)], ("fail", "skip"), id="five a day"),
        pytest.param([counter(9, 2)], ("pass", "fail"), id="fewer than five a day"),
        pytest.param([counter(9, 10)], ("pass", "pass"), id="fewer than one a day"),
        pytest.param([counter(4, 0.01)], ("pass", "fail"), id="an average takes a day"),
        pytest.param([counter(9, 0)], ("unknown", "unknown"), id="nobody knows since when"),
        pytest.param([counter(3, 0)], ("pass", "pass"), id="so few that it does not matter"),
        pytest.param([timed(hour=3, day=3)], ("fail", "skip"), id="three within the hour"),
        pytest.param([counter(1, 10), timed(hour=2, day=4)], ("pass", "pass"), id="four within the day"),
        pytest.param([timed(day=5, worst=5)], ("fail", "skip"), id="five within the day"),
        pytest.param([timed(worst=5)], ("pass", "fail"), id="five within one earlier day"),
        pytest.param(
            [counter(90, 2), timed(total=88, worst=88)], ("pass", "fail"), id="the log says that it was earlier"
        ),
        pytest.param([counter(90, 2), timed(total=2)], ("fail", "skip"), id="the log does not have them"),
        pytest.param([counter(90, 2), timed(link_history.MEMORY, total=0)], ("pass", "fail"), id="a day without any"),
        pytest.param(
            [counter(90, 2), timed(link_history.MEMORY, 7200, total=0)], ("fail", "skip"), id="two hours prove no day"
        ),
        pytest.param([counter(90, 2), counter(0, 2, "ib0")], ("pass", "pass"), id="the counter is older than the boot"),
    ],
)
def test_what_flaps(downs: list[Downs], expected: tuple[str, str]) -> None:
    assert results(*downs) == expected


def test_without_a_source_nothing_is_said() -> None:
    assert results(counters=Reading(None, "denied")) == ("unknown", "unknown")
    assert results(counters=Reading(None, "gone", True)) == ("skip", "skip")


def test_the_agent_keeps_few_and_small_samples(tmp_path: Path) -> None:
    proc = tmp_path / "root/proc"
    (proc / "sys/kernel/random").mkdir(parents=True)
    (proc / "sys/kernel/random/boot_id").write_text("b\n")
    settings = Settings(host="n", root=str(tmp_path / "root"), state=str(tmp_path / "state"))
    facts = {"ib": {"details": {"mlx5_0/1": {"counters": {"value": {"link_downed": 4, "symbol_error": 0}}}}}}
    ports = memory.counters(facts)
    assert ports == {"mlx5_0/1": {"link_downed": 4}}
    for minute in range(0, 60 * 24 * 40, 20):
        (proc / "uptime").write_text(f"{60 * minute}.5 1.0\n")
        memory.remember(settings, ports, 1e9 + 60 * minute)
    text = Path(memory.path(settings)).read_text()
    samples = json.loads(text)["samples"]
    assert len(samples) < 200
    assert samples[-1]["at"] - samples[0]["at"] <= 30 * DAY_S
    assert samples[-1]["up_s"] == 60 * 60 * 24 * 40 - 60 * 40 + 0.5
    assert link_history.samples_of(json.loads(text), "mlx5_0/1")[-1].values == {"link_downed": 4}
    assert link_history.samples_of(json.loads(text), "mlx5_9/1") == ()


def test_a_damaged_memory_begins_anew(tmp_path: Path) -> None:
    settings = Settings(host="n", root="/", state=str(tmp_path))
    (tmp_path / "ports.json").write_text('{"schema": "ibready/ports/1", "samples": [{"at": "x"}]}')
    assert memory.remember(settings, {"mlx5_0/1": {}}, 1e9)
    assert len(json.loads((tmp_path / "ports.json").read_text())["samples"]) == 1
    assert not memory.remember(settings, {}, 1e9)


def test_what_came_while_nobody_looked_is_of_no_hour() -> None:
    seen = remembered(sample(UP - 9 * DAY_S, 0), value=6)
    assert (seen.total, seen.hour) == (6, 0)
    assert max(seen.day, seen.worst) <= 2
    assert results(counter(6, 20), seen) == ("pass", "pass")


def test_a_quiet_memory_of_the_hca_acquits_no_interface() -> None:
    quiet = timed(link_history.MEMORY, over_s=2 * DAY_S, total=0)
    assert results(counter(0, 10), counter(2000, 10, "eth0 carrier_down_count"), quiet)[0] == "fail"


def test_a_counter_that_was_cleared_acquits_no_interface() -> None:
    assert results(counter(0, 10), counter(995, 10, "ib0 carrier_down_count"))[0] == "fail"


def test_of_two_kinds_of_lines_the_hour_counts_first() -> None:
    port = "".join(
        f"[{UP - at:12.6f}] mlx5_core 0000:08:00.0 mlx5_0: Port: 1 Link DOWN\n" for at in (83000, 80000, 76000, 75000)
    )
    interface = "".join(f"[{UP - at:12.6f}] mlx5_core 0000:08:00.0 ib0: Link down\n" for at in (300, 200, 100))
    seen = link_history.of_log(link_events.parse(port + interface), UP)
    assert seen is not None
    assert seen.hour == 3
