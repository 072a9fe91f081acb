# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import clean
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import compare, folded, history, read, shape, valid
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_json, render_text, rendered
from tests.unit import runs


def at(minutes: int, **hosts: Any) -> dict[str, Any]:
    return runs.run(hosts or runs.MIXED, created=runs.NOW + timedelta(minutes=minutes))


def keep(folder: Path, run: dict[str, Any], most: int) -> None:
    history.keep(folder, run, render_json.render(folded.fold(run)), most)


def test_the_last_runs_are_kept_and_older_ones_removed_with_what_was_rendered(tmp_path: Path) -> None:
    foreign = tmp_path / "history/ibready-report-notes.txt"
    foreign.parent.mkdir()
    foreign.write_text("mine")
    for minutes in range(5):
        keep(tmp_path, at(minutes), 3)
        if not minutes:
            first = history.kept(tmp_path)[0]
            rendered.write(history.stem(first), rendered.render(at(0), ["html", "markdown"]))
    kept = history.kept(tmp_path)
    assert [one.name for one in kept] == [f"ibready-report-20261122T194{minute}00Z.json.gz" for minute in (3, 4, 5)]
    assert len(list(foreign.parent.iterdir())) == 4
    assert foreign.read_text() == "mine"
    assert read.read(kept[-1]) == at(4)


def test_a_run_whose_clock_went_back_is_kept(tmp_path: Path) -> None:
    for minutes in (5, 6, 0):
        keep(tmp_path, at(minutes), 2)
    assert [one.name[24:28] for one in history.kept(tmp_path)] == ["1941", "1947"]


def test_none_is_kept_where_nobody_wants_them(tmp_path: Path) -> None:
    keep(tmp_path, at(0), 3)
    keep(tmp_path, at(1), 0)
    assert history.kept(tmp_path) == []


def test_an_interrupted_write_leaves_the_history_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path, at(0), 3)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        keep(tmp_path, at(1), 3)
    assert [one.name for one in (tmp_path / "history").iterdir()] == ["ibready-report-20261122T194100Z.json.gz"]


def test_since_counts_back_from_the_run_and_never_finds_itself(tmp_path: Path) -> None:
    for minutes in range(4):
        keep(tmp_path, at(minutes), 9)
    assert read.read(history.find(tmp_path, at(3), "1", by="since")) == at(2)
    assert read.read(history.find(tmp_path, at(3), "3", by="since")) == at(0)
    assert read.read(history.find(tmp_path, at(1), "1", by="since")) == at(0)
    assert history.find(tmp_path, at(1), "x/run.json", by="since") == Path("x/run.json")
    for count in ("4", "0"):
        with pytest.raises(read.RunError, match=r"3 older runs are kept in .*one of 1 to 3"):
            history.find(tmp_path, at(3), count, by="since")
    with pytest.raises(read.RunError, match=r"^report_from=1: 0 older runs .*next: name a file"):
        history.find(tmp_path, at(0), "1", by="report_from")


def test_a_time_that_is_none_is_refused() -> None:
    for odd in ("yesterday", "2026-11-22T10:00:00"):
        with pytest.raises(read.RunError, match="is no time"):
            history.stamp({"created": odd})


GOOD = runs.judged(runs.check(), runs.check("skip", "gpu.count", "host"))
DOWN = runs.judged(runs.check("fail"), runs.check("skip", "gpu.count", "host"))
ABSENT = runs.judged(runs.check("unknown", "host.access.reachable", "host"))


def differs(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    found = compare.compare(at(0, **before), at(1, **now))
    assert list(valid.wrong(found, shape.RUN["properties"]["since"])) == []
    hosts: dict[str, Any] = found["hosts"]
    return hosts


def ways(host: dict[str, Any]) -> tuple[list[str], ...]:
    return tuple([one["id"] for one in host[way]] for way in ("better", "worse", "gone"))


def test_what_got_better_and_worse_is_told_and_equal_hosts_are_not() -> None:
    found = differs({"n1": GOOD, "n2": DOWN, "n3": GOOD}, {"n1": DOWN, "n2": GOOD, "n3": GOOD})
    assert set(found) == {"n1", "n2"}
    assert (found["n1"]["before"], found["n1"]["now"]) == ("ready", "not_ready")
    assert ways(found["n1"]) == ([], ["ib.port.state"], [])
    assert ways(found["n2"]) == (["ib.port.state"], [], [])


def test_a_failure_that_nobody_looked_for_again_is_not_mended() -> None:
    assert ways(differs({"n1": DOWN}, {"n1": ABSENT})["n1"]) == ([], ["host.access.reachable"], ["ib.port.state"])
    assert ways(differs({"n1": ABSENT}, {"n1": DOWN})["n1"]) == ([], ["ib.port.state"], ["host.access.reachable"])


def test_a_failure_that_nobody_could_look_for_again_is_not_better() -> None:
    blind = runs.judged(runs.check("unknown"))
    assert ways(differs({"n1": DOWN}, {"n1": blind})["n1"]) == ([], [], ["ib.port.state"])
    assert ways(differs({"n1": blind}, {"n1": DOWN})["n1"]) == ([], ["ib.port.state"], [])
    assert ways(differs({"n1": blind}, {"n1": GOOD})["n1"])[0] == ["ib.port.state"]


def test_a_host_that_came_or_went_is_told_without_checks() -> None:
    found = differs({"n1": DOWN, "n2": GOOD}, {"n2": GOOD, "n3": DOWN})
    assert {name: (one["before"], one["now"]) for name, one in found.items()} == {
        "n1": ("not_ready", "absent"),
        "n3": ("absent", "not_ready"),
    }
    assert ways(found["n3"]) == ([], [], [])


def test_a_host_that_a_limit_left_out_has_neither_come_nor_gone() -> None:
    whole, part = at(0, n1=GOOD, n2=GOOD), at(1, n2=DOWN)
    part["run"]["limit"] = "n2"
    assert set(compare.compare(whole, part)["hosts"]) == {"n2"}
    assert set(compare.compare(part, whole)["hosts"]) == {"n2"}
    part["run"]["limit"] = ""
    assert set(compare.compare(whole, part)["hosts"]) == {"n1", "n2"}


def test_a_waived_failure_is_better_than_one_that_counts() -> None:
    waived = runs.judged(runs.check("fail", waived="until 2026-12-31: ordered"))
    assert ways(differs({"n1": DOWN}, {"n1": waived})["n1"])[0] == ["ib.port.state"]


def test_fabrics_are_compared_too() -> None:
    before = runs.run({}, fabric=runs.fabric(runs.check("fail"), name="ib0"))
    now = runs.run({}, fabric=runs.fabric(runs.check(), name="ib0"))
    assert ways(compare.compare(before, now)["hosts"]["fabric ib0"])[0] == ["ib.port.state"]


def test_the_table_names_every_difference() -> None:
    said = render_text.since(compare.compare(at(0, n1=GOOD), at(1, n1=DOWN)))
    assert "SINCE 2026-11-22T19:41:00+00:00: 1 differ; checks: 1 worse, 0 better, 0 gone" in said
    assert "n1: ready -> not_ready" in said
    assert "  WORSE   ib.port.state  mlx5_0/1: pass -> fail" in said
    same = compare.compare(at(0), at(1))
    assert render_text.since(same).endswith("nothing got better or worse.")
    reported = {**same, "error": "x is damaged"}
    assert render_text.since(reported) == "NOT COMPARED: x is damaged"


def test_half_characters_are_shown_and_keep_names_apart() -> None:
    halves = [chr(0xD800), chr(0xDFFF)]
    run = {"hosts": {halves[0]: 1, halves[1]: [halves[1], "🟢"]}}
    cleaned = clean.clean(run, json.dumps(run))
    assert cleaned == {"hosts": {r"\ud800": 1, r"\udfff": [r"\udfff", "🟢"]}}


@settings(deadline=None, max_examples=40)
@given(runs.hostile(), runs.hostile())
def test_any_two_runs_are_compared_and_written(before: dict[str, Any], now: dict[str, Any]) -> None:
    now["since"] = compare.compare(before, now)
    assert list(valid.wrong(folded.fold(now), shape.RUN)) == []
    render_text.since(now["since"])
    texts = rendered.render(clean.clean(now, json.dumps(now)), rendered.FORMATS)
    assert set(texts) == {"html", "junit", "prometheus", "markdown"}
    assert all(text.encode() for text in texts.values())
    render_text.render(now)
