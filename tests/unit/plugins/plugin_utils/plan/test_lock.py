# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine, PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import check_lock
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.facts import StackFacts
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench import baseline
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.files import of_site
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import (
    files,
    install as installer,
    lock as locks,
    sbom,
    table,
    where,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.make import Host, make
from tests import cases
from tests.unit.on_disk import damaged
from tests.unit.plugins.plugin_utils.plan.nodes import LATER, NOW, PRINT, SITES, host, node

MATRIX = load.own()


def made(**wish: str) -> locks.Lock:
    desired_settings = {f"stack_{name}": value for name, value in wish.items()}
    return make([host("a", wish=desired_settings)], MATRIX, None, relock=False, sites=SITES, now=NOW).lock


def packages(lock: locks.Lock) -> dict[str, Any]:
    return {
        name: installer.install(one.stack, installer.target(one.system, one.arch, MATRIX), MATRIX, SITES)
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


def cluster() -> locks.Lock:
    """Of two classes, which a cut may part."""
    one = made().classes.values()
    return locks.Lock(
        NOW,
        "0" * 64,
        {
            name: replace(next(iter(one)), hosts=(f"{name}1", f"{name}2"), because=(name, "Äé: {x}"))
            for name in ("h100", "a100")
        },
    )


@settings(max_examples=400 if cases.ALL else 100)
@given(data=st.data())
def test_a_damaged_lock_is_refused_or_says_what_it_said(data: st.DataObject) -> None:
    whole = locks.text(cluster()).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, locks.NAME)
        path.write_bytes(data.draw(damaged(whole)))
        try:
            found = locks.read(path)
        except locks.LockError as exc:
            said = str(exc)
        else:
            assert found == cluster()
            return
        assert str(path) in said
        assert "Next: put back the file from your version control" in said


def test_a_lock_of_which_the_end_is_missing_is_refused_wherever_it_was_cut(tmp_path: Path) -> None:
    path, whole = tmp_path / locks.NAME, locks.text(cluster())
    # Without the last line's end nothing is missing.
    for end in range(len(whole) - 1):
        path.write_text(whole[:end])
        with pytest.raises(locks.LockError):
            locks.read(path)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("of", ["h100", "a100"])
def test_a_lock_that_lost_a_class_or_says_something_else_is_refused(tmp_path: Path, of: str, number: int) -> None:
    raw = yaml.safe_load(locks.text(cluster()))
    one = raw["classes"][of]
    if number == 0:
        del raw["classes"][of]
    elif number == 1:
        one["hosts"].append("c1")
    elif number == 2:
        next(iter(one["stack"].values()))["version"] = "0"
    else:
        raw["matrix"] = "1" * 64
    path = tmp_path / locks.NAME
    path.write_text(yaml.safe_dump(raw))
    with pytest.raises(locks.LockError, match="is not as it was written, for its sum is another"):
        locks.read(path)


def test_a_lock_that_is_only_laid_out_anew_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / locks.NAME
    path.write_text("# of mine\n" + json.dumps(yaml.safe_load(locks.text(cluster()))))
    assert locks.read(path) == cluster()


def test_a_lock_without_a_sum_is_read_as_before_and_gets_one(tmp_path: Path) -> None:
    path = tmp_path / locks.NAME
    text = locks.text(made())
    path.write_text(re.sub("(?m)^sum: .*\n", "", text))
    found = locks.read(path)
    assert found == made()
    assert str(path) in files.write(path, found, found, packages(found), "1")
    assert path.read_text() == text


@pytest.mark.parametrize("where", ["{}", "schema: ibready/lock/1\ncreated: {}\nmatrix: m\nclasses: {{}}"])
@pytest.mark.parametrize("depth", [200, 400, 900, 20_000])
def test_a_lock_that_is_nested_deep_is_refused_by_name(tmp_path: Path, where: str, depth: int) -> None:
    path = tmp_path / locks.NAME
    path.write_text(where.format("[" * depth + "]" * depth))
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
        where.lock_file({})


@pytest.mark.parametrize("said", ["None", None])
def test_of_an_inventory_that_is_no_file_all_lies_in_the_working_directory(
    said: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    inline = {"inventory_dir": said}
    path = where.lock_file(inline)
    assert path == tmp_path / locks.NAME
    assert baseline.where("", inline, tmp_path / "reports").parent == tmp_path
    (tmp_path / "cabling.csv").touch()
    assert of_site("cabling.csv", inline).resolve() == tmp_path / "cabling.csv"
    lock = made()
    files.write(path, None, lock, packages(lock), "1")
    assert where.said_of("a", inline)["class"] in lock.classes


@pytest.mark.parametrize(
    ("wish", "bare", "why"),
    [
        ({}, True, "no NVIDIA GPU is on the PCI bus, and no HCA is there"),
        ({"stack_driver": "none"}, False, "stack_driver is none, and no HCA is there"),
    ],
)
def test_why_a_plan_has_nothing_to_install_reaches_who_reads_it_and_the_host(
    wish: dict[str, Any], bare: bool, why: str, tmp_path: Path
) -> None:
    there = node("" if bare else "2330", hcas=[])
    planned = make([Host("a", there, wish)], MATRIX, None, relock=False, sites=SITES, now=NOW)
    assert f"because: nothing to install: {why}" in table.render(planned.rows, [], planned.facts, "")
    path = tmp_path / locks.NAME
    files.write(path, None, planned.lock, packages(planned.lock), "1")
    told = where.said_of("a", {where.LOCK_FILE: str(path)})
    assert told["nothing"] == why
    seen = Machine(pci=Reading(() if bare else (PciFunction("0", "030200", "10de", "2330"),)))
    (found,) = [
        check
        for check in check_lock.judge(StackFacts(), seen, from_inventory({"lock": told}), Reading())
        if check.id == "stack.lock.match"
    ]
    assert (found.result, found.cause.endswith(f"has nothing to install: {why}")) == ("skip", True)
    assert "nothing" not in where.said_of("stranger", {where.LOCK_FILE: str(path)})


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
    (reported,) = packages(lock).values()
    assert [one["name"] for one in reported["repositories"]] == ["doca", "cuda", "container_toolkit"]
    doca = reported["repositories"][0]
    assert doca["url"] == "http://mirror.example.com/doca/3.2.3/ubuntu24.04/x86_64/"
    assert doca["key"] == "http://mirror.example.com/doca/GPG-KEY-Mellanox.pub"
    assert doca["fingerprints"] == [PRINT]
    assert list(reported["parts"]) == [*("rdma", "nvidia_driver", "nccl", "container_toolkit", "extras")]
    driver = reported["parts"]["nvidia_driver"]
    version = next(iter(lock.classes.values())).stack["driver"]["version"]
    assert {one["version"] for one in driver["packages"]} == {version}
    assert driver["pins"][0]["version"] == version
    assert "doca-ofed-generic" in reported["parts"]["rdma"]["conflicts"]
    # Whatever may hold a version has one: nothing was left to fill in.
    assert "{" not in json.dumps([reported["repositories"], reported["parts"]]).replace('{"', "").replace("[{", "")


def test_an_update_of_a_cuda_has_the_nvidia_fs_and_the_cufile_of_its_series() -> None:
    stack = next(iter(made(gds="newest", cuda="13.0.1").classes.values())).stack
    reported = installer.install(stack, installer.target("ubuntu24.04", "x86_64", MATRIX), MATRIX, SITES)
    assert reported["parts"]["gds"]["packages"][1:3] == [
        {"name": "nvidia-fs-dkms", "version": "2.26.6"},
        {"name": "libcufile-13-0", "version": ""},
    ]


@pytest.mark.parametrize(("system", "family"), [("ubuntu24.04", "apt"), ("rhel9.4", "dnf")])
def test_gpudirect_storage_is_a_part_of_its_own_with_the_cufile_of_the_plans_cuda(system: str, family: str) -> None:
    stack = next(iter(made(gds="newest").classes.values())).stack
    assert stack["cuda"]["version"] == "13.0"
    reported = installer.install(stack, installer.target(system, "x86_64", MATRIX), MATRIX, SITES)
    assert reported["parts"]["gds"]["packages"] == [
        {"name": "nvidia-fs", "version": "2.26.6"},
        {"name": "nvidia-fs-dkms", "version": "2.26.6"},
        {"name": "libcufile-13-0", "version": ""},
        {"name": "gds-tools-13-0", "version": ""},
    ]
    assert {"name": "cuda", "kind": family} == {
        key: next(one for one in reported["repositories"] if one["name"] == "cuda")[key] for key in ("name", "kind")
    }
    without = next(iter(made(dcgm="newest", gdrcopy="newest").classes.values())).stack
    told = installer.install(without, installer.target(system, "x86_64", MATRIX), MATRIX, SITES)
    assert "gds" not in told["parts"]


def test_enterprise_linux_gets_its_streams_folders_and_exclusions() -> None:
    stack = next(iter(made().classes.values())).stack
    to = installer.target("rhel9.4", "x86_64", MATRIX)
    reported = installer.install(stack, to, MATRIX, SITES)
    urls = {one["name"]: one["url"] for one in reported["repositories"]}
    assert urls["doca"].endswith("/3.2.3/rhel9/x86_64/")
    assert urls["cuda"].endswith("/cuda/rhel9/x86_64/")
    assert urls["container_toolkit"].endswith("/stable/rpm/x86_64/")
    assert reported["parts"]["nvidia_driver"]["modules"] == {"stream": "580-open"}
    cuda = next(one for one in reported["repositories"] if one["name"] == "cuda")
    assert {"mft", "kernel-mft*"} <= set(cuda["exclude"])
    assert cuda["key"].endswith("/D42D0685.pub")
    older = {**stack, "rdma": {"flavour": "doca", "version": "3.1.0"}}
    reported = installer.install(older, to, MATRIX, SITES)
    assert reported["repositories"][0]["url"].endswith("/3.1.0/rhel9.4/x86_64/")


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
