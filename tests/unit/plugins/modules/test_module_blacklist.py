# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import module_blacklist

Run = Callable[..., dict[str, Any]]


class Host:
    """A host with an update-initramfs that counts how often it ran."""

    def __init__(self, root: Path, run_module: Run) -> None:
        self.root = root
        self._run = run_module
        self.file = root / "etc/modprobe.d/ibready-blacklist.conf"
        (root / "bin").mkdir()
        (root / "proc").mkdir()
        (root / "proc/modules").write_text("ast 65536 0 - Live 0x0\nmlx5_core 1 0 - Live 0x0\n")
        self.tool("echo $@ >> runs")

    def tool(self, body: str) -> None:
        path = self.root / "bin/update-initramfs"
        path.write_text(f"#!/bin/sh\ncd {self.root}\n{body}\n")
        path.chmod(0o755)

    def keep(self, *names: str, check: bool = False) -> dict[str, Any]:
        main = module_blacklist.main
        return self._run(main, check=check, names=list(names), root=str(self.root))

    @property
    def runs(self) -> int:
        log = self.root / "runs"
        return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.fixture
def host(tmp_path: Path, run_module: Run, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    return Host(tmp_path, run_module)


def test_kept_out_once_and_told_what_is_still_loaded(host: Host) -> None:
    first = host.keep("ast", "cdc-ether")
    assert (first["changed"], first["loaded"], host.runs) == (True, ["ast"], 1)
    assert "blacklist cdc_ether\ninstall cdc_ether /bin/false\n" in host.file.read_text()
    assert (host.keep("ast", "cdc_ether")["changed"], host.runs) == (False, 1)


def test_emptied_the_file_is_gone(host: Host) -> None:
    host.keep("ast")
    assert host.keep()["changed"]
    assert (host.file.exists(), host.runs, host.keep()["changed"]) == (False, 2, False)


def test_check_mode_changes_nothing(host: Host) -> None:
    reported = host.keep("ast", check=True)
    assert (reported["changed"], reported["initramfs"], host.file.exists(), host.runs) == (
        True,
        True,
        False,
        0,
    )


@pytest.mark.parametrize("name", ["mlx5_core", "ib-core", "nvidia", "a b", "../x", ""])
def test_what_the_stack_needs_or_is_no_name_is_refused(host: Host, name: str) -> None:
    assert host.keep(name)["failed"]
    assert not host.file.exists()


def test_an_initramfs_that_failed_is_made_by_the_next_run(host: Host) -> None:
    host.tool("echo no space left >&2; exit 1")
    failed = host.keep("ast")
    assert "status 1: no space left" in failed["msg"]
    host.tool("echo $@ >> runs")
    assert host.keep("ast")["changed"]
    assert (host.runs, host.keep("ast")["changed"]) == (1, False)


def test_in_a_container_the_file_is_written_and_the_rest_is_told(host: Host) -> None:
    (host.root / "run").mkdir()
    (host.root / "run/.containerenv").write_text("")
    reported = host.keep("ast")
    assert (reported["changed"], host.runs) == (True, 0)
    assert "container" in reported["why_not"]
    assert (host.keep("ast")["changed"], host.keep("ast")["why_not"]) == (False, "")
