# SPDX-License-Identifier: GPL-3.0-or-later
"""A worker that waited for a node in vain leaves no ssh behind, and every other one what it started."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import time
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.executor.process import worker

from ansible_collections.ibready.cluster.plugins.plugin_utils._engine import left


class Owner:
    """Whoever watches."""


def work(told: Any, bound: Any) -> None:
    os.setsid()
    worker.current_worker = SimpleNamespace(_task=SimpleNamespace(timeout=bound))
    told.put(subprocess.Popen(["sleep", "600"]).pid)
    time.sleep(1.1 if bound == 1 else 0)


def runs(pid: int) -> bool:
    """Whether it is there, and no corpse that nobody looked after."""
    try:
        with open(f"/proc/{pid}/stat") as stream:
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(("bound", "stays"), [(1, False), (0, True), (600, True), ("{{ x }}", True), (None, True)])
def test_what_it_waited_for_ends_with_it(bound: Any, stays: bool) -> None:
    owner = Owner()
    left.watch(owner)
    fork = multiprocessing.get_context("fork")
    told = fork.Queue()
    process = fork.Process(target=work, args=(told, bound))
    process.start()
    pid = told.get(timeout=60)
    process.join(60)
    assert process.exitcode == 0
    deadline = time.monotonic() + (1 if stays else 30)
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    there = runs(pid)
    if there:
        os.kill(pid, signal.SIGKILL)
    assert there is stays
