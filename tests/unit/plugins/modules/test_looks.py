# SPDX-License-Identifier: GPL-3.0-or-later
"""limits_look and modules_look, with tools of the tests' own on PATH."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import limits_look, modules_look

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def make(name: str, body: str) -> None:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    return make


def test_limits_are_granted_or_refused_with_the_hosts_own_words(
    tool: Callable[[str, str], None], run_module: Run
) -> None:
    tool("prlimit", 'case "$*" in "--memlock=unlimited:unlimited true") echo no >&2; exit 1;; esac')

    reported = run_module(limits_look.main, limits={"memlock": "unlimited", "nofile": 4096})

    assert (reported["granted"], reported["refused"]) == (["nofile"], {"memlock": "no"})
    assert reported["nr_open"] == int(Path("/proc/sys/fs/nr_open").read_text())
    assert reported["changed"] is False


def test_a_prlimit_that_fails_otherwise_is_no_answer(tool: Callable[[str, str], None], run_module: Run) -> None:
    tool("prlimit", "echo broken >&2; exit 127")

    reported = run_module(limits_look.main, limits={"nofile": 4096})

    assert reported["failed"]
    assert "ended with status 127: broken" in reported["msg"]


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel whose modules are there, whatever machine runs this."""
    true_isdir = os.path.isdir
    home = f"/lib/modules/{os.uname().release}"
    monkeypatch.setattr(os.path, "isdir", lambda path: path == home or true_isdir(path))


@pytest.mark.usefixtures("kernel")
def test_modules_are_known_waiting_or_unknown(tool: Callable[[str, str], None], run_module: Run) -> None:
    tool(
        "modprobe",
        'case "$3" in ib_umad) ;; rdma_ucm) echo insmod /x/rdma_ucm.ko;; *) exit 1;; esac',
    )

    reported = run_module(modules_look.main, names=["ib_umad", "rdma_ucm", "none"])

    assert reported["known"] == ["ib_umad", "rdma_ucm"]
    assert reported["waiting"] == ["rdma_ucm"]
    assert reported["unknown"] == ["none"]


@pytest.mark.usefixtures("kernel")
def test_a_modprobe_that_fails_otherwise_is_no_answer(tool: Callable[[str, str], None], run_module: Run) -> None:
    tool("modprobe", "echo broken >&2; exit 2")

    reported = run_module(modules_look.main, names=["ib_umad"])

    assert reported["failed"]
    assert "ended with status 2: broken" in reported["msg"]


def test_without_the_kernels_modules_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch, tool: Callable[[str, str], None], run_module: Run
) -> None:
    tool("modprobe", "exit 2")
    monkeypatch.setattr(os.path, "isdir", lambda path: False)

    reported = run_module(modules_look.main, names=["ib_umad"])

    assert (reported["there"], reported["known"], reported["unknown"]) == (False, [], [])
