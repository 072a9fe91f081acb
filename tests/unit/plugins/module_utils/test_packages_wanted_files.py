# SPDX-License-Identifier: GPL-3.0-or-later
"""The real apt asked what a bare host needs, in a scratch root, and an installation from that."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import fetching, read, wanted_files
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.apt_files import (
    AptFiles,
    addresses,
    by_sum,
    reduced,
)
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.apt_text import TextError
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.bring import Bringer, Order
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import PackageError
from ansible_collections.ibready.cluster.plugins.modules import stack_bundle_files
from tests.unit.apt_world import CAN_RUN, AptWorld, Deb, DebRepository, Signer

with_apt = pytest.mark.skipif(not CAN_RUN or os.geteuid() != 0, reason="needs root, apt, dpkg-deb and gpg")
KERNEL = "6.8.0-31-generic"
HEADERS = f"linux-headers-{KERNEL}"
VENDOR = [
    Deb("nvidia-open", "580.1-1", {"Depends": "nvidia-dkms (>= 580), gcc"}),
    Deb("nvidia-dkms", "580.1-1", {"Depends": "gcc"}),
    Deb("nvidia-dkms", "590.1-1", {"Depends": "gcc"}),
    Deb(HEADERS, "6.8.0-31.1"),
]
GCC = Deb("gcc", "4:14.2-1")


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer(tmp_path_factory.mktemp("keys"), "vendor")


@pytest.fixture
def world(tmp_path: Path) -> AptWorld:
    return AptWorld(tmp_path)


@pytest.fixture
def repository(tmp_path: Path, signer: Signer) -> DebRepository:
    made = DebRepository(tmp_path / "vendor", signer)
    made.publish([*VENDOR, GCC])
    return made


def part() -> dict[str, Any]:
    return {
        "packages": [{"name": "nvidia-open", "version": "580.1"}],
        "pins": [{"names": ["nvidia-*"], "version": "580.1"}],
    }


def install(world: AptWorld, entry: dict[str, Any], **parts: Any) -> None:
    order = Order(read.repositories([entry], "apt"), read.parts(parts), kernel=KERNEL, min_free_mb=0)
    Bringer(world.manager(), order, fetching.fetch, lambda *_: None, check=False).bring()


def seek(world: AptWorld, entry: dict[str, Any], without: tuple[str, ...] = ()) -> list[wanted_files.PackageFile]:
    seeker = AptFiles(world.run, without, str(world.root), world.options)
    parts = read.parts({"nvidia_driver": part()})
    search = wanted_files.Search(read.repositories([entry], "apt"), parts, (KERNEL,))
    try:
        return seeker.listed(wanted_files.request(seeker, search, fetching.fetch))
    finally:
        seeker.end()


@with_apt
def test_dependencies_and_headers_are_found_at_the_pinned_version_and_nothing_changes(
    world: AptWorld, repository: DebRepository
) -> None:
    before = sorted(path for path in world.root.rglob("*") if path.is_file())
    found = {one.name: one for one in seek(world, repository.entry())}
    assert {name: one.version for name, one in found.items()} == {
        "nvidia-open": "580.1-1",
        "nvidia-dkms": "580.1-1",
        "gcc": "4:14.2-1",
        HEADERS: "6.8.0-31.1",
    }
    gcc = found["gcc"]
    assert gcc.file == "gcc_4_14.2-1_all.deb"
    assert f"Filename: ./{gcc.file}" in gcc.index
    assert f"SHA256: {gcc.sha256}" in gcc.index
    after = sorted(path for path in world.root.rglob("*") if path.is_file())
    assert [one for one in after if "lock" not in one.name] == before


@with_apt
def test_what_a_bare_host_may_lack_is_found_although_this_one_has_it(
    world: AptWorld, repository: DebRepository
) -> None:
    install(world, repository.entry(), build={"packages": [{"name": "gcc", "version": ""}]})
    assert "gcc" not in {one.name for one in seek(world, repository.entry())}
    assert "gcc" in {one.name for one in seek(world, repository.entry(), ("gcc",))}
    assert world.packages() == {"gcc": "4:14.2-1"}
    assert wanted_files.had(world.manager()) == {
        "packages": {"gcc": "4:14.2-1"},
        "brought": ["gcc"],
    }


@with_apt
def test_headers_that_no_repository_has_are_refused(world: AptWorld, repository: DebRepository) -> None:
    repository.publish([*VENDOR[:-1], GCC])
    with pytest.raises(PackageError, match=HEADERS) as refused:
        seek(world, repository.entry())
    assert refused.value.kind == "headers"


@with_apt
def test_files_are_fetched_once_and_a_wrong_sum_is_refused(
    world: AptWorld, repository: DebRepository, tmp_path: Path
) -> None:
    found = seek(world, repository.entry())
    seeker = AptFiles(world.run, (), str(world.root), world.options)
    stage = tmp_path / "stage"
    assert stack_bundle_files.bring(seeker, found, str(stage))
    assert {path.name for path in stage.iterdir()} == {one.file for one in found}
    assert not stack_bundle_files.bring(seeker, found, str(stage))
    victim = Path(found[0].address.removeprefix("file:"))
    (stage / found[0].file).unlink()
    victim.write_bytes(victim.read_bytes()[:-1] + b"x")
    with pytest.raises(PackageError, match="downloading"):
        stack_bundle_files.bring(seeker, found, str(stage))


@with_apt
def test_with_a_repository_that_is_alone_no_other_is_asked(
    world: AptWorld, repository: DebRepository, tmp_path: Path, signer: Signer
) -> None:
    other = DebRepository(tmp_path / "os", signer)
    other.publish([GCC])
    source = world.file("/etc/apt/sources.list.d/os.list")
    source.write_text(f"deb [trusted=yes] file://{other.home}/ ./\n")
    entry = repository.entry("bundle", alone=True)
    install(world, entry, nvidia_driver=part())
    said = "\n".join(" ".join(argv) for argv in world.said if "update" in argv)
    assert "Dir::Etc::sourcelist=/dev/null" in said
    # Without gcc in the bundle the distribution's would do, and must not be looked for.
    repository.publish(VENDOR)
    fresh = AptWorld(tmp_path / "fresh")
    fresh.file("/etc/apt/sources.list.d/os.list").write_text(source.read_text())
    with pytest.raises(PackageError, match="held broken packages"):
        install(fresh, entry, nvidia_driver=part())


@with_apt
def test_a_part_that_is_not_held_may_be_upgraded(world: AptWorld, repository: DebRepository) -> None:
    install(
        world,
        repository.entry(),
        rdma={"packages": ["gcc"], "hold": False},
    )
    assert world.manager().held() == set()


def test_a_status_file_loses_only_what_is_named() -> None:
    text = "Package: a\nStatus: x\n\nPackage: ab\nDescription: y\n .\n z\n\nPackage: b\n"
    assert reduced(text, {"a"}) == "Package: ab\nDescription: y\n .\n z\n\nPackage: b\n"
    assert reduced("", {"a"}) == ""


def test_a_file_without_a_sha256_is_no_file_for_a_bundle() -> None:
    good = f"'http://x/a%3a1.deb' a_1%3a1_all.deb 7 SHA256:{'0' * 64}"
    assert addresses(f"Reading...\n{good}\n") == [("http://x/a%3a1.deb", "a_1%3a1_all.deb", 7, "0" * 64)]
    with pytest.raises(TextError, match="no SHA256"):
        addresses("'http://x/a.deb' a.deb 7 MD5Sum:00")
    assert by_sum("Package: a\nVersion: 1\n") == {}
