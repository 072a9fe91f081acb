# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import stack_packages
from tests.unit.apt_world import CAN_RUN, AptWorld, Deb, DebRepository, Signer

Run = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.skipif(not CAN_RUN or os.geteuid() != 0, reason="needs root, apt, dpkg-deb and gpg")
PARTS = {
    "nccl": {
        "packages": [{"name": "libnccl2", "version": "2.28.3-1+cuda13.0"}],
        "pins": [{"names": ["libnccl*"], "version": "2.28.3-1+cuda13.0"}],
    }
}
VERSION = "2.28.3-1+cuda13.0"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AptWorld:
    world = AptWorld(tmp_path)
    monkeypatch.setattr(stack_packages, "manager_here", lambda: ("apt", world.manager()))
    return world


@pytest.fixture
def repository(tmp_path: Path) -> dict[str, Any]:
    made = DebRepository(tmp_path / "repository", Signer(tmp_path, "vendor"))
    made.publish([Deb("libnccl2", VERSION), Deb("libnccl2", "2.28.9-1+cuda13.0")])
    return made.entry()


def test_check_mode_and_the_run_say_the_same(run_module: Run, world: AptWorld, repository: dict[str, Any]) -> None:
    given = {"repositories": [repository], "parts": PARTS, "min_free_mb": 1, "host": "node7"}
    seen = run_module(stack_packages.main, check=True, **given)
    done = run_module(stack_packages.main, **given)
    for result in (seen, done):
        assert result["changed"] is True
        assert [(one["name"], one["before"], one["after"]) for one in result["installed"]] == [
            ("libnccl2", "", VERSION)
        ]
        assert result["holds"] == {"held": ["libnccl2"], "released": []}
        assert result["files"] == [
            "/etc/apt/keyrings/ibready-vendor.gpg",
            "/etc/apt/sources.list.d/ibready-vendor.list",
            "/etc/apt/preferences.d/ibready-nccl",
        ]
    shown = {one["after_header"]: one["after"] for one in seen["diff"]}
    assert shown["packages"] == f"libnccl2 {VERSION}\n"
    assert shown["held packages"] == "libnccl2\n"
    fingerprint = repository["fingerprints"][0]
    assert shown["/etc/apt/keyrings/ibready-vendor.gpg"] == f"public key {fingerprint}\n"
    again = run_module(stack_packages.main, **given)
    assert (again["changed"], again["diff"]) == (False, [])


def test_a_refusal_names_host_kind_cause_and_next_step(
    run_module: Run, world: AptWorld, repository: dict[str, Any]
) -> None:
    parts = {"nccl": {"packages": [{"name": "libnccl2", "version": "2.27"}]}}
    result = run_module(stack_packages.main, repositories=[repository], parts=parts, host="node7", min_free_mb=1)
    assert (result["failed"], result["changed"], result["kind"]) == (True, False, "version")
    assert result["msg"].startswith("node7: part nccl: no repository has libnccl2 2.27; they have")
    assert "Nothing was changed. Next: " in result["msg"]


def test_what_must_not_come_without_consent(run_module: Run, world: AptWorld, repository: dict[str, Any]) -> None:
    result = run_module(
        stack_packages.main,
        repositories=[repository],
        parts=PARTS,
        forbid=["libnccl*"],
        min_free_mb=1,
    )
    assert (result["kind"], result["changed"]) == ("forbidden", False)
    assert "ibready_firmware_ok" in result["msg"]


def test_what_stays_as_it_was_found_is_neither_moved_nor_held(run_module: Run, world: AptWorld, tmp_path: Path) -> None:
    vendor = DebRepository(tmp_path / "vendor", Signer(tmp_path, "vendor"))
    there = Deb("nvidia-container-toolkit", "1.18.1-1")
    vendor.publish([there, Deb("nvidia-smi", "580")])
    by_hand = {"hand": {"packages": ["nvidia-container-toolkit"], "hold": False}}
    run_module(stack_packages.main, repositories=[vendor.entry()], parts=by_hand, min_free_mb=1)
    world.file("/var/lib/ibready/packages/hand.json").unlink()
    needs = {"Depends": "nvidia-container-toolkit (>= 1.19)"}
    newer = Deb("nvidia-container-toolkit", "1.19.0-1")
    vendor.publish([there, newer, Deb("nvidia-smi", "580"), Deb("nvidia-smi", "590", needs)])
    given = {"repositories": [vendor.entry()], "min_free_mb": 1, "stay": ["nvidia-container-toolkit*"]}

    def driver(version: str) -> dict[str, Any]:
        named = {"names": ["nvidia-*"], "version": version}
        return {"nvidia_driver": {"packages": [{"name": "nvidia-smi", "version": version}], "pins": [named]}}

    done = run_module(stack_packages.main, parts=driver("580"), **given)
    assert [one["name"] for one in done["installed"]] == ["nvidia-smi"]
    assert done["holds"]["held"] == ["nvidia-smi"]
    assert not run_module(stack_packages.main, parts=driver("580"), **given)["changed"]
    refused = run_module(
        stack_packages.main, parts={"nvidia_driver": {**driver("590")["nvidia_driver"], "pins": []}}, **given
    )
    assert (refused["kind"], refused["changed"]) == ("conflict", False)
    assert (
        "nvidia-container-toolkit 1.18.1-1 to 1.19.0-1, which is of a part that stays as it was found" in refused["msg"]
    )
    assert world.packages()["nvidia-container-toolkit"] == "1.18.1-1"
    # Asked for by name it is nobody's to keep.
    mine = {"container_toolkit": {"packages": [{"name": "nvidia-container-toolkit", "version": "1.19.0"}]}}
    assert run_module(stack_packages.main, parts=mine, **given)["upgraded"]


def test_bad_input_is_refused(run_module: Run, world: AptWorld) -> None:
    result = run_module(stack_packages.main, repositories=[{"name": "x"}], parts={})
    assert (result["kind"], result["changed"]) == ("input", False)


def test_a_repository_of_the_site_needs_a_name_as_well(
    run_module: Run, world: AptWorld, repository: dict[str, Any]
) -> None:
    unnamed = {key: one for key, one in repository.items() if key != "name"}
    result = run_module(stack_packages.main, owner="site", repositories=[unnamed], parts={})
    assert (result.get("kind"), result["changed"]) == ("input", False)
    assert "name of a repository" in result["msg"]
    assert "plan" not in result["msg"]


def test_plan_and_site_leave_each_others_repositories_alone(
    run_module: Run, world: AptWorld, repository: dict[str, Any], tmp_path: Path
) -> None:
    docker = DebRepository(tmp_path / "docker", Signer(tmp_path, "docker"))
    docker.publish([Deb("docker-ce", "27.1")])
    plan = {"repositories": [repository], "parts": PARTS, "min_free_mb": 1}
    site = {
        "owner": "site",
        "repositories": [docker.entry("docker")],
        "parts": {"container_engine": {"packages": ["docker-ce"], "hold": False}},
        "min_free_mb": 1,
    }
    run_module(stack_packages.main, **plan)
    done = run_module(stack_packages.main, **site)
    assert [one["name"] for one in done["installed"]] == ["docker-ce"]
    assert done["files"] == [
        "/etc/apt/keyrings/ibready-site-docker.gpg",
        "/etc/apt/sources.list.d/ibready-site-docker.list",
    ]
    assert not run_module(stack_packages.main, **plan)["changed"]
    assert not run_module(stack_packages.main, **site)["changed"]
    assert world.file("/etc/apt/sources.list.d/ibready-vendor.list").exists()
    gone = run_module(stack_packages.main, **{**site, "repositories": []})
    assert gone["files"] == [
        "/etc/apt/sources.list.d/ibready-site-docker.list",
        "/etc/apt/keyrings/ibready-site-docker.gpg",
    ]
    assert world.packages()["docker-ce"] == "27.1"
