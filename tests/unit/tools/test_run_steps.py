# SPDX-License-Identifier: GPL-3.0-or-later
"""`./run test` leaves nothing out: every story has its part, and every step its lane."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RUN = (ROOT / "run").read_text(encoding="utf-8")
# Of `./run test quick`: lint and unit are the whole of them.
QUICK = ("quick", "lint-changed", "gauntlet", "unit-quick")
STORIES = sorted((ROOT / "tests/system").glob("test_*.py"))


def parts() -> dict[str, list[Path]]:
    """The files of each part of the system tests, as `run` names them."""
    found = re.findall(r"^ +(\w+)\) stories=\(tests/system/(\S+)\) ;;$", RUN, re.MULTILINE)
    return {name: sorted((ROOT / "tests/system").glob(pattern)) for name, pattern in found}


def test_every_story_is_in_one_part() -> None:
    assert sorted(parts()) == ["alone", "bare", "ready"]
    assert sorted(path for files in parts().values() for path in files) == STORIES


def test_what_needs_no_node_has_none() -> None:
    for path in parts()["alone"]:
        assert not re.search(r"\bBox\b|\bNAME\b", path.read_text()), path.name


def test_every_step_is_in_a_lane() -> None:
    body = re.search(r"^tests\(\) \{\n(.*?)^\}", RUN, re.MULTILINE | re.DOTALL)
    lanes = re.search(r"^all_tests\(\) .*?exec python -m tools\.lanes (.*?)\n\}", RUN, re.MULTILINE | re.DOTALL)
    assert body
    assert lanes
    steps = re.findall(r"^    ([a-z][a-z| -]*)\)", body[1], re.MULTILINE)
    known = sorted(step for line in steps for step in line.split(" | ") if step not in QUICK)
    named = sorted(step for step in re.findall(r"[a-z-]+", lanes[1]) if step != "then")
    assert named == known
    assert len(known) == len(set(known))
