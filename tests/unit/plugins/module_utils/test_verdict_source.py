# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle is judged as the host that it was asked of, or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._agent import program
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verdict import source_of
from ansible_collections.ibready.cluster.plugins.modules import (
    containerverify,
    fabric_look,
    ibverify,
    ncclverify,
    nvlinkverify,
    stackverify,
)
from tests.gauntlet import render

RunModule = Callable[..., dict[str, Any]]
MODULES = [ibverify, nvlinkverify, stackverify, containerverify, ncclverify, fabric_look]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    collect.collect(render.render(render.node("ib-login")), str(tmp_path), "node7", "now")
    return tmp_path / "node7"


def claim(bundle: Path, host: object) -> None:
    path = bundle / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "host": host}))


@pytest.mark.parametrize("host", ["node8", "", "../node7", "\x1b[2J", "x" * 1000, None, 7])
def test_a_bundle_that_says_another_name_is_refused(bundle: Path, host: object) -> None:
    claim(bundle, host)
    with pytest.raises(Unavailable, match="says that it is of") as caught:
        source_of(str(bundle), {})
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def test_a_folder_of_another_name_is_refused_with_the_next_step(bundle: Path) -> None:
    other = bundle.rename(bundle.with_name("node9"))
    with pytest.raises(Unavailable, match="of node7, and not of node9; next: name its directory"):
        source_of(str(other), {})
    assert source_of(str(other), {}, host="node7")[1] == "node7"
    with pytest.raises(Unavailable, match="of node7, and not of node8"):
        source_of(str(other), {}, host="node8")


@pytest.mark.parametrize("shape", ["{}", "{}/", "{}/.", "{}/../node7", "{}-link"])
def test_a_bundle_of_its_own_name_is_taken_by_any_path(bundle: Path, shape: str) -> None:
    bundle.with_name("node7-link").symlink_to(bundle)
    assert source_of(shape.format(bundle), {})[1] == "node7"


def test_a_bundle_without_a_manifest_is_of_the_host_that_its_folder_is_named_after(
    bundle: Path,
) -> None:
    (bundle / "manifest.json").unlink()
    assert source_of(str(bundle), {})[1] == "node7"
    made = shutil.move(bundle, bundle.with_name("a few outputs"))
    assert source_of(str(made), {})[1] == "a few outputs"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_no_module_lets_a_bundle_speak_for_another_host(
    module: ModuleType, run_module: RunModule, bundle: Path
) -> None:
    claim(bundle, "node8")
    result = run_module(module.main, bundle=str(bundle))
    assert result["failed"] is True
    assert "says that it is of node8, and not of node7" in result["msg"]
    assert "host" not in result


def test_nor_does_the_program(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim(bundle, "node8")
    with pytest.raises(SystemExit) as caught:
        program.main(["verify", "--bundle", str(bundle)])
    assert caught.value.code == program.USAGE_STATUS
    reported = capsys.readouterr()
    assert "says that it is of node8, and not of node7" in reported.err
    assert reported.out == ""
