# SPDX-License-Identifier: GPL-3.0-or-later
"""`./run unit` and `./run system` hand pytest what was meant, and stop where nobody can tell."""

from __future__ import annotations

import subprocess

import pytest

from tests.unit.tools.test_run_report import ROOT, STUBS, function

NEEDS = STUBS + "need_promtool() { :; }; in_memory() { :; }; say() { printf '%s\\n' \"$*\"; }\n"


def run(name: str, python: str, *words: str) -> tuple[int, str]:
    """One command of `run`, with a Python that does this; its status and what it printed."""
    script = "\n".join([NEEDS, f"python() {{ {python}; }}", function(name), f'{name} "$@"'])
    done = subprocess.run(["bash", "-c", script, "run", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip()


TELLS = 'if [ "$2" = tools.nearest ]; then printf "tests/unit/%s\\n" a.py b.py; else echo "$@"; fi'


def test_the_nearest_tests_are_run() -> None:
    assert run("unit", TELLS) == (0, "-m pytest -q tests/unit/a.py tests/unit/b.py")


@pytest.mark.parametrize(("pytest_ends", "status"), [(5, 0), (1, 1), (2, 1)])
def test_nearest_tests_that_are_all_thorough_are_no_failure(pytest_ends: int, status: int) -> None:
    tells = f'if [ "$2" = tools.nearest ]; then echo tests/unit/a.py; else return {pytest_ends}; fi'
    assert run("unit", tells)[0] == status


def test_where_nobody_tells_what_differs_it_is_no_success() -> None:
    status, said = run("unit", "return 1")
    assert status != 0
    assert "nothing differs" not in said
    assert run("unit", ":") == (0, "nothing differs that a unit test imports")


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ((), "tests/system"),
        (("-k", "repair"), "tests/system -k repair"),
        (("tests/system/smoke.py", "-x"), "tests/system/smoke.py -x"),
    ],
)
def test_options_of_the_system_tests_are_about_those(words: tuple[str, ...], asked: str) -> None:
    assert run("system", 'echo "$@"', *words) == (0, f"-m pytest -q {asked}")
