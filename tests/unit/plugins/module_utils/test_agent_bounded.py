# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing that a look hangs in keeps the agent from ending, or lets two of them pile up."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._agent import bounded


def test_what_a_function_returns_and_costs_is_told() -> None:
    done = bounded.run(lambda: b"x" * 300_000, 10)
    assert (done.said, done.why) == (b"x" * 300_000, "")
    assert done.peak_bytes > 1_000_000
    busy = bounded.run(lambda: str(sum(range(3_000_000))).encode(), 10)
    assert busy.cpu_seconds > done.cpu_seconds


def test_what_takes_too_long_is_ended_and_so_are_its_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "pid"
    waited = bounded.select.select

    def late(*asked: Any) -> Any:
        """The time is over when the tool is there, however long a busy machine takes to start it."""
        while not mark.exists() or not mark.read_text():
            time.sleep(0.02)
        return waited(*asked)

    monkeypatch.setattr(bounded, "select", SimpleNamespace(select=late))

    def hang() -> bytes:
        tool = subprocess.Popen(["sleep", "600"])
        try:
            mark.write_text(str(tool.pid))
            tool.wait()
        finally:
            tool.kill()
            tool.wait()
        return b""

    begun = time.monotonic()
    done = bounded.run(hang, 0.5)
    assert time.monotonic() - begun < 60
    assert (done.said, done.why) == (None, "no answer within 0.5 s")
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_what_does_not_listen_is_killed() -> None:
    def deaf() -> bytes:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
        return b""

    begun = time.monotonic()
    assert bounded.run(deaf, 0.3).said is None
    assert time.monotonic() - begun < 60


def test_what_goes_wrong_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    def wrong() -> bytes:
        raise RuntimeError("a defect")

    done = bounded.run(wrong, 10)
    assert done.said is None
    assert "ended with status" in done.why
    assert "RuntimeError: a defect" in capfd.readouterr().err


@pytest.mark.parametrize("heirs", [True, False])
def test_two_never_hold_the_lock(tmp_path: Path, heirs: bool) -> None:
    path = str(tmp_path / "run/lock")

    def second() -> bytes:
        try:
            with bounded.locked(path, 0.2, heirs=heirs):
                return b"held"
        except bounded.Busy:
            return b"busy"

    with bounded.locked(path, 0, heirs=heirs):
        assert bounded.run(second, 10).said == b"busy"
    assert bounded.run(second, 10).said == b"held"


@pytest.mark.parametrize(("heirs", "free"), [(True, False), (False, True)])
def test_only_an_heir_that_hangs_keeps_the_lock(tmp_path: Path, heirs: bool, free: bool) -> None:
    path = str(tmp_path / "lock")
    with bounded.locked(path, 0, heirs=heirs):
        pid = os.fork()
        if pid == 0:
            time.sleep(60)
            os._exit(0)
    try:
        if free:
            with bounded.locked(path, 0, heirs=heirs):
                pass
        else:
            with pytest.raises(bounded.Busy), bounded.locked(path, 0, heirs=heirs):
                pass
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
