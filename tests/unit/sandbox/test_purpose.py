# SPDX-License-Identifier: GPL-3.0-or-later
"""A sandbox is left behind when the process that it was made for has ended, and not before."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sandbox import purpose
from sandbox.errors import SandboxError


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """The mark of these tests."""
    monkeypatch.setenv(purpose.VARIABLE, str(os.getpid()))
    return purpose.asked()


def test_a_process_that_runs_has_not_ended(mark: str) -> None:
    assert mark.split()[0] == str(os.getpid())
    assert not purpose.ended(mark)


def test_a_process_that_was_killed_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        monkeypatch.setenv(purpose.VARIABLE, str(process.pid))
        of_it = purpose.asked()
        assert not purpose.ended(of_it)
        process.kill()
        # Dead, and not yet waited for.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert purpose.ended(of_it)
    assert purpose.ended(of_it)


def test_another_process_of_the_same_id_is_not_it(mark: str) -> None:
    number, began, *where = mark.split()
    assert purpose.ended(" ".join([number, str(int(began) - 1), *where]))


def test_a_boot_ends_every_process(mark: str) -> None:
    assert purpose.ended(" ".join([*mark.split()[:3], "another-boot"]))


def test_of_another_namespace_s_processes_nothing_is_known(mark: str) -> None:
    number, began, _, boot = mark.split()
    assert not purpose.ended(f"{number} {int(began) - 1} pid:[1] {boot}")


def test_where_processes_are_hidden_nothing_is_known(
    mark: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sys/kernel/random").mkdir(parents=True)
    (tmp_path / "sys/kernel/random/boot_id").write_text(f"{mark.split()[3]}\n")
    monkeypatch.setattr(purpose, "_PROC", tmp_path)
    monkeypatch.setattr(purpose, "_namespace", lambda: mark.split()[2])
    assert not purpose.ended(mark)
    (tmp_path / "1").mkdir()
    (tmp_path / "1/stat").write_text(f"1 (init) S {' '.join(['0'] * 40)}\n")
    assert purpose.ended(mark)


@pytest.mark.parametrize("text", ["", "1", "a b c", "a b c d e"])
def test_what_is_no_mark_says_nothing(text: str) -> None:
    assert not purpose.ended(text)


def test_what_nobody_asks_for_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(purpose.VARIABLE, raising=False)
    assert purpose.asked() == ""


@pytest.mark.parametrize("given", ["self", "999999999", "1/../2", "-1", "²"])
def test_what_is_no_process_that_runs_is_refused(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv(purpose.VARIABLE, given)
    with pytest.raises(SandboxError, match="is no process that runs"):
        purpose.asked()
