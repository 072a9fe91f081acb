# SPDX-License-Identifier: GPL-3.0-or-later
"""The node program as the module has it on a host, and the lines in slurm.conf."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.action import node_program as action
from ansible_collections.ibready.cluster.plugins.module_utils._agent import pack
from ansible_collections.ibready.cluster.plugins.modules import node_program, slurm_health_conf

Module = Callable[..., dict[str, Any]]


@pytest.fixture
def given(tmp_path: Path) -> dict[str, str]:
    """What the controller's half says and sends."""
    sources, archive = action.packed()
    (tmp_path / "sources.zip").write_bytes(archive)
    return {"path": str(tmp_path / "lib/ibready.pyz"), "sources": sources}


def placed(tmp_path: Path) -> dict[str, str]:
    return {"placed": str(tmp_path / "sources.zip")}


def test_it_comes_once_runs_and_is_mended(run_module: Module, given: dict[str, str], tmp_path: Path) -> None:
    asked = run_module(node_program.main, check=True, **given)
    assert (asked["changed"], asked["stale"]) == (True, "it is not there")
    assert not os.path.exists(given["path"])
    made = run_module(node_program.main, **given, **placed(tmp_path))
    assert made["changed"]
    sums = Path(f"{given['path']}.sha256").read_text()
    assert sums == f"{made['sha256']}  ibready.pyz\n"
    done = subprocess.run([given["path"], "explain", "ib.port.state"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("## ib.port.state")
    assert Path(given["path"]).read_bytes().startswith(f"#!{sys.executable}\n".encode())
    again = run_module(node_program.main, **given)
    assert (again["changed"], again["stale"], again["sha256"]) == (False, "", made["sha256"])

    with open(given["path"], "ab") as stream:
        stream.write(b"\n")
    assert run_module(node_program.main, **given)["stale"] == "it is not what was written"
    mended = run_module(node_program.main, **given, **placed(tmp_path))
    assert mended["sha256"] == made["sha256"]
    other = run_module(node_program.main, path=given["path"], sources="0" * 64)
    assert other["stale"] == "it is of other sources"


@pytest.mark.parametrize("damage", [b"", b"PK", None])
def test_what_came_damaged_is_refused_and_what_was_there_stays(
    run_module: Module, given: dict[str, str], tmp_path: Path, damage: bytes | None
) -> None:
    run_module(node_program.main, **given, **placed(tmp_path))
    before = Path(given["path"]).read_bytes()
    files = pack.sources(str(action._SOURCES))
    files[f"{pack.PACKAGE}/_ground/version.py"] = b"VERSION = 'another'\n"
    data = pack.program(files, compiled=False) if damage is None else damage
    (tmp_path / "sources.zip").write_bytes(data)
    Path(f"{given['path']}.sha256").unlink()
    failed = run_module(node_program.main, **given, **placed(tmp_path))
    assert failed["failed"]
    assert "What was there before stays" in failed["msg"]
    assert Path(given["path"]).read_bytes() == before


def test_the_lines_of_slurm_conf(run_module: Module, tmp_path: Path) -> None:
    conf = tmp_path / "slurm.conf"
    conf.write_text("ClusterName=c\n")
    conf.chmod(0o640)
    link = tmp_path / "link.conf"
    link.symlink_to(conf)
    asked = {"path": str(link), "lines": {"HealthCheckInterval": 60}}
    assert run_module(slurm_health_conf.main, check=True, **asked)["changed"]
    assert conf.read_text() == "ClusterName=c\n"
    assert run_module(slurm_health_conf.main, **asked)["changed"]
    assert not run_module(slurm_health_conf.main, **asked)["changed"]
    assert "HealthCheckInterval=60\n" in conf.read_text()
    assert conf.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    assert run_module(slurm_health_conf.main, state="absent", **asked)["changed"]
    assert conf.read_text() == "ClusterName=c\n"
    conf.write_text("HealthCheckInterval=1\n")
    failed = run_module(slurm_health_conf.main, **asked)
    assert "was left as it is: it has a line of its own" in failed["msg"]
    assert run_module(slurm_health_conf.main, **{**asked, "path": "/nowhere"})["failed"]
