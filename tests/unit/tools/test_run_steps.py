# SPDX-License-Identifier: GPL-3.0-or-later
"""`./run test` and `./run test all` leave nothing out: every story has its part, and every step its lane."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RUN = (ROOT / "run").read_text(encoding="utf-8")
STORIES = sorted((ROOT / "tests/system").glob("test_*.py"))


def parts() -> dict[str, list[Path]]:
    """The files of each part of the system tests, as `run` names them."""
    found = re.findall(r"^system_(\w+)\(\) \{ system tests/system/(\S+) ", RUN, re.MULTILINE)
    return {name: sorted((ROOT / "tests/system").glob(pattern)) for name, pattern in found}


def lanes(function: str) -> list[str]:
    """The steps of a function's lanes."""
    found = re.search(rf"^{function}\(\) .*?exec python -m tools\.lanes (.*?)\n\}}", RUN, re.MULTILINE | re.DOTALL)
    assert found
    return [step for step in re.findall(r"[a-z-]+", found[1]) if step not in ("any", "then")]


def test_every_story_is_in_one_part() -> None:
    assert sorted(parts()) == ["alone", "more", "nodes", "releases"]
    assert sorted(path for files in parts().values() for path in files) == STORIES


def test_what_needs_no_node_has_none() -> None:
    for path in parts()["alone"]:
        assert not re.search(r"\bBox\b", path.read_text()), path.name


def test_every_step_is_in_a_lane_of_all_and_what_runs_daily_as_well() -> None:
    body = re.search(r"^tests\(\) \{\n(.*?)^\}", RUN, re.MULTILINE | re.DOTALL)
    assert body
    steps = re.findall(r"^    ([a-z][a-z| -]*)\)", body[1], re.MULTILINE)
    known = sorted(step for line in steps for step in line.split(" | "))
    assert sorted(lanes("all_tests")) == known
    assert set(lanes("daily_tests")) < set(known)


def test_the_nodes_are_there_before_the_stories_that_begin_on_them() -> None:
    for function in ("daily_tests", "all_tests"):
        assert "molecule-default+system-nodes" in RUN[RUN.index(f"{function}()") :].partition("\n}")[0]
