# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan import files, sbom, where
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan import install as installer
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan import lock as locks
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.make import make
from tests.unit.plugins.plugin_utils.plan.nodes import LATER, NOW, PRINT, SITES, host

MATRIX = load.own()


def made(**wish: str) -> locks.Lock:
    wishes = {f"stack_{name}": value for name, value in wish.items()}
    return make([host("a", wish=wishes)], MATRIX, None, relock=False, sites=SITES, now=NOW).lock


def packages(lock: locks.Lock) -> dict[str, Any]:
    return {
        name: installer.install(
            one.stack, installer.target(one.system, one.arch, MATRIX), MATRIX, SITES
        )
        for name, one in lock.classes.items()
    }


def test_no_lock_is_none(tmp_path: Path) -> None:
    assert locks.read(tmp_path / "stack.lock.yml") is None


@pytest.mark.parametrize(
    "content",
    [
        "a: [",
        "[]",
        "schema: ibready/lock/9\nclasses: {}",
        "schema: ibready/lock/1\ncreated: x\nmatrix: y\nclasses: []",
        "schema: ibready/lock/1\ncreated: x\nmatrix: y\nclasses: {a: {hosts: [b]}}",
    ],
)
def test_a_damaged_lock_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "stack.lock.yml"
    path.write_text(content)
    with pytest.raises(locks.LockError, match=r"(?s)stack\.lock\.yml .*Next:"):
        locks.read(path)


def test_a_host_in_two_classes_is_refused() -> None:
    raw = yaml.safe_load(locks.text(made()))
    raw["classes"]["other"] = next(iter(raw["classes"].values()))
    with pytest.raises(ValueError, match="a is in two classes"):
        locks.parse(raw)


def test_files_are_written_once_and_the_lock_of_before_is_kept(tmp_path: Path) -> None:
    path = tmp_path / locks.NAME
    first = made(driver="580.126.20")
    assert len(files.write(path, None, first, packages(first), "1")) == 2
    assert files.write(path, first, first, packages(first), "1") == []
    second = make([host("a")], MATRIX, first, relock=True, sites=SITES, now=LATER).lock
    assert len(files.write(path, first, second, packages(second), "1")) == 3
    assert locks.read(tmp_path / locks.PREVIOUS) == first
    assert locks.read(path) == second


def test_a_host_that_joins_leaves_the_lock_of_before_alone(tmp_path: Path) -> None:
    first = made()
    second = make([host("a"), host("b")], MATRIX, first, relock=False, sites=SITES, now=LATER).lock
    files.write(tmp_path / locks.NAME, first, second, packages(second), "1")
    assert not (tmp_path / locks.PREVIOUS).exists()


def test_the_lock_lies_beside_the_inventory_or_where_the_site_says(tmp_path: Path) -> None:
    assert where.lock_file({"inventory_dir": str(tmp_path)}) == tmp_path / "stack.lock.yml"
    assert where.lock_file({"stack_lock_file": "/x/y.yml"}) == Path("/x/y.yml")
    with pytest.raises(locks.LockError, match="stack_lock_file"):
        where.lock_file({"inventory_dir": None})


def test_the_bill_of_materials_names_every_part_and_package() -> None:
    lock = made(gdrcopy="newest")
    body = json.loads(sbom.text(lock, packages(lock), "1"))
    assert (body["bomFormat"], body["specVersion"]) == ("CycloneDX", "1.6")
    (whole,) = body["components"]
    names = {one["name"]: one for one in whole["components"]}
    stack = next(iter(lock.classes.values())).stack
    assert names["driver"]["version"] == stack["driver"]["version"]
    assert names["libnccl2"]["purl"].startswith("pkg:deb/libnccl2@")
    assert names["doca-ofed"]["purl"].endswith("?distro=ubuntu24.04")
    refs = [one["bom-ref"] for one in whole["components"]]
    assert len(refs) == len(set(refs))
    known = {whole["bom-ref"], "cluster", *refs}
    for one in body["dependencies"]:
        assert {one["ref"], *one["dependsOn"]} <= known
    assert sbom.text(lock, packages(lock), "1") == sbom.text(lock, packages(lock), "1")


def test_what_a_package_manager_is_told() -> None:
    lock = made(dcgm="newest")
    (told,) = packages(lock).values()
    assert [one["name"] for one in told["repositories"]] == ["doca", "cuda", "container_toolkit"]
    doca = told["repositories"][0]
    assert doca["url"] == "http://mirror.example.com/doca/3.2.3/ubuntu24.04/x86_64/"
    assert doca["key"] == "http://mirror.example.com/doca/GPG-KEY-Mellanox.pub"
    assert doca["fingerprints"] == [PRINT]
    assert list(told["parts"]) == [
        *("rdma", "nvidia_driver", "nccl", "container_toolkit", "extras")
    ]
    driver = told["parts"]["nvidia_driver"]
    version = next(iter(lock.classes.values())).stack["driver"]["version"]
    assert {one["version"] for one in driver["packages"]} == {version}
    assert driver["pins"][0]["version"] == version
    assert "doca-ofed-generic" in told["parts"]["rdma"]["conflicts"]
    # Whatever may hold a version has one: nothing was left to fill in.
    assert "{" not in json.dumps([told["repositories"], told["parts"]]).replace('{"', "").replace(
        "[{", ""
    )


def test_enterprise_linux_gets_its_streams_folders_and_exclusions() -> None:
    stack = next(iter(made().classes.values())).stack
    to = installer.target("rhel9.4", "x86_64", MATRIX)
    told = installer.install(stack, to, MATRIX, SITES)
    urls = {one["name"]: one["url"] for one in told["repositories"]}
    assert urls["doca"].endswith("/3.2.3/rhel9/x86_64/")
    assert urls["cuda"].endswith("/cuda/rhel9/x86_64/")
    assert urls["container_toolkit"].endswith("/stable/rpm/x86_64/")
    assert told["parts"]["nvidia_driver"]["modules"] == {"stream": "580-open"}
    cuda = next(one for one in told["repositories"] if one["name"] == "cuda")
    assert {"mft", "kernel-mft*"} <= set(cuda["exclude"])
    assert cuda["key"].endswith("/D42D0685.pub")
    older = {**stack, "rdma": {"flavour": "doca", "version": "3.1.0"}}
    told = installer.install(older, to, MATRIX, SITES)
    assert told["repositories"][0]["url"].endswith("/3.1.0/rhel9.4/x86_64/")


@pytest.mark.parametrize(
    ("sites", "said"),
    [
        ({}, "nobody said where DOCA-Host is to be had"),
        ({"doca": {"base": "http://m"}}, "no fingerprint of DOCA-Host's signing key"),
    ],
)
def test_what_cannot_be_installed_is_refused(sites: dict[str, Any], said: str) -> None:
    stack = next(iter(made().classes.values())).stack
    to = installer.target("ubuntu24.04", "x86_64", MATRIX)
    with pytest.raises(installer.InstallError, match=said):
        installer.install(stack, to, MATRIX, installer.Sites(sites))


def test_another_processor_or_system_is_refused() -> None:
    stack = next(iter(made().classes.values())).stack
    with pytest.raises(installer.InstallError, match="nothing for riscv64"):
        installer.install(stack, installer.target("ubuntu24.04", "riscv64", MATRIX), MATRIX, SITES)
    with pytest.raises(installer.InstallError, match="arch1"):
        installer.target("arch1", "x86_64", MATRIX)
