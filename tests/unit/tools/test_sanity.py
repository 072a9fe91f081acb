# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-test looks at everything by night, and with what costs minutes at what differs else."""

from __future__ import annotations

import pytest

from tools import sanity

CHANGED = ["docs/why.md", "plugins/action/report.py", "plugins/filter/hosts.yml", "tests/unit/units.py"]
SHORT = ["--skip-test", "pylint", "--skip-test", "import"]
SLOW = ["--test", "pylint", "--test", "import"]


@pytest.fixture(autouse=True)
def by_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IBREADY_CASES", raising=False)
    monkeypatch.setattr(sanity, "changed", lambda: CHANGED)


def test_by_day_the_slow_tests_read_the_plugins_that_differ() -> None:
    assert sanity.runs([]) == [SHORT, [*SLOW, "plugins/action/report.py"]]


def test_where_no_plugin_differs_they_do_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanity, "changed", lambda: ["docs/why.md"])
    assert sanity.runs([]) == [SHORT]


def test_where_nobody_can_tell_they_read_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanity, "changed", lambda: None)
    assert sanity.runs([]) == [SHORT, SLOW]


def test_by_night_and_when_asked_for_all_tests_read_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sanity.runs(["all"]) == [[]]
    monkeypatch.setenv("IBREADY_CASES", "all")
    assert sanity.runs([]) == [[]]


def test_a_test_is_run_by_its_name() -> None:
    assert sanity.runs(["import"]) == [["--test", "import"]]


def test_every_release_ignores_the_same_and_nothing_of_the_archive() -> None:
    """The built collection has no tests, so nothing of what it holds can be ignored."""
    files = sorted((sanity.ROOT / "tests/sanity").glob("ignore-2.*.txt"))
    assert [path.name for path in files] == ["ignore-2.19.txt", "ignore-2.20.txt", "ignore-2.21.txt"]
    (text,) = {path.read_text() for path in files}
    for line in text.splitlines():
        name, test, _hash, *reason = line.split()
        assert (sanity.ROOT / name).exists()
        assert name.startswith(("sandbox/", "tests/", "cluster/", "collections/"))
        assert test in ("shebang", "symlinks")
        assert reason
