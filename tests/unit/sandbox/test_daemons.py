# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver's daemons: where they refuse to start, and what they leave in the log."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._parse import fabricmanager_log, fabricmanager_status
from sandbox.hardware import daemons, driver
from tests.unit.sandbox import hardware
from tests.unit.sandbox.hardware import DRIVER, put, run

OLD = "580.126.20"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A node with the driver installed, not loaded, and nouveau away."""
    hardware.node(tmp_path)
    put(tmp_path, "/etc/modprobe.d/nvidia.conf", "blacklist nouveau\n")
    hardware.driver(tmp_path)
    return tmp_path


def log(root: Path) -> fabricmanager_log.FmLog:
    return fabricmanager_log.parse((root / daemons.LOG.lstrip("/")).read_text())


def stop(root: Path, name: str) -> None:
    """End a daemon and wait for it: it is a child of this process."""
    pid = int((root / driver.DAEMONS.lstrip("/") / name).read_text())
    os.kill(pid, signal.SIGTERM)
    os.waitpid(pid, 0)


def test_the_fabric_manager_runs_with_its_own_driver(root: Path) -> None:
    pid_file = root / "run/nv-fabricmanager.pid"
    args = ["-c", "fabricmanager.cfg", "--pid-file", str(pid_file)]
    assert daemons.main(driver.FABRICMANAGER, DRIVER, args, root) == 0
    assert driver.running(root, driver.FABRICMANAGER)
    assert pid_file.read_text().strip().isdecimal()
    assert (log(root).version, log(root).errors) == (DRIVER, ())
    assert run(root, "rmmod nvidia") == 1  # it holds the driver
    stop(root, driver.FABRICMANAGER)
    assert not driver.running(root, driver.FABRICMANAGER)
    assert run(root, "rmmod nvidia") == 0


def test_the_fabric_manager_refuses_another_driver(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert daemons.main(driver.FABRICMANAGER, OLD, [], root) == 1
    said = fabricmanager_status.parse("nv-fabricmanager[1]: " + capsys.readouterr().err)
    assert (said.fm, said.driver) == (OLD, DRIVER)
    assert len(log(root).errors) == 1
    assert not driver.running(root, driver.FABRICMANAGER)


def test_without_the_driver_nothing_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hardware.node(tmp_path)
    for name in (driver.FABRICMANAGER, driver.PERSISTENCED, driver.IMEX):
        assert daemons.main(name, DRIVER, [], tmp_path) == 1
    assert "NV_WARN_NOTHING_TO_DO" in capsys.readouterr().err


def test_persistenced_wants_library_and_module_of_one_version(root: Path) -> None:
    run(root, "modprobe nvidia")
    hardware.driver(root, OLD)
    assert daemons.main(driver.PERSISTENCED, OLD, [], root) == 1
    hardware.driver(root, DRIVER)
    assert daemons.main(driver.PERSISTENCED, DRIVER, [], root) == 0
    stop(root, driver.PERSISTENCED)


def test_it_tells_its_version(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert daemons.main(driver.FABRICMANAGER, DRIVER, ["--version"], root) == 0
    assert fabricmanager_status.parse(capsys.readouterr().out).version == DRIVER
