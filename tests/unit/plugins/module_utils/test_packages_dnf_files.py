# SPDX-License-Identifier: GPL-3.0-or-later
"""The real dnf asked what a bare host needs; skipped where it is not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import fetching, read, wanted_files
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.bring import Bringer, Order
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.dnf_files import DnfFiles, interpreter
from ansible_collections.ibready.cluster.plugins.modules import stack_bundle_files
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import make, source
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import install
from tests.unit.apt_world import Signer
from tests.unit.dnf_world import CAN_RUN, DnfWorld, Rpm, RpmRepository

with_dnf = pytest.mark.skipif(
    not CAN_RUN or os.geteuid() != 0, reason="needs root, dnf, rpmbuild, createrepo_c and gpg"
)
KERNEL = "5.14.0-427.el9.x86_64"
RPMS = [
    Rpm("nvidia-open", "3:580.1-1.el9", "Requires: nvidia-dkms >= 3:580, gcc"),
    Rpm("nvidia-dkms", "3:580.1-1.el9"),
    Rpm("nvidia-dkms", "3:590.1-1.el9"),
    Rpm("gcc", "11.4-1"),
    Rpm("kernel-devel", "5.14.0-427.el9"),
    Rpm("python3-dnf-plugin-versionlock", "4.3-1"),
]
PART: dict[str, Any] = {
    "packages": [{"name": "nvidia-open", "version": "580.1"}],
    "pins": [{"names": ["nvidia-*"], "version": "580.1"}],
}


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer(tmp_path_factory.mktemp("keys"), "vendor")


@pytest.fixture
def world(tmp_path: Path) -> DnfWorld:
    return DnfWorld(tmp_path)


@pytest.fixture
def repository(tmp_path: Path, signer: Signer) -> RpmRepository:
    made = RpmRepository(tmp_path / "vendor", signer)
    made.publish(RPMS)
    return made


@with_dnf
def test_what_a_bare_host_lacks_is_found_fetched_and_installed_from(
    world: DnfWorld,
    repository: RpmRepository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repositories = read.repositories([repository.entry()], "dnf")
    build = read.parts({"build": {"packages": [{"name": "gcc", "version": ""}]}})
    order = Order(repositories, build, kernel=KERNEL, min_free_mb=0)
    Bringer(world.manager(), order, fetching.fetch, lambda *_: None, check=False).bring()
    had = wanted_files.had(world.manager())
    assert "gcc" in had["brought"]
    search = wanted_files.Search(repositories, read.parts({"nvidia_driver": PART}), (KERNEL,))
    seeker = DnfFiles(world.run, had["brought"], str(world.root), ["--releasever=9"])
    try:
        found = seeker.listed(wanted_files.request(seeker, search, fetching.fetch))
        stage = tmp_path / "stage"
        assert stack_bundle_files.bring(seeker, found, str(stage))
    finally:
        seeker.end()
    assert {one.name: one.version for one in found} == {
        "nvidia-open": "3:580.1-1.el9",
        "nvidia-dkms": "3:580.1-1.el9",
        "gcc": "11.4-1",
        "kernel-devel": "5.14.0-427.el9",
        "python3-dnf-plugin-versionlock": "4.3-1",
    }
    assert {path.name for path in stage.iterdir()} == {one.file for one in found}
    assert not [path for path in (world.root / "var/tmp").iterdir() if "ibready" in path.name]
    assert "gcc" in world.packages()

    # The bundle alone, signed by another key than the packages are: the site's.
    site = Signer(tmp_path, "site")
    monkeypatch.setenv("GNUPGHOME", str(site.home))
    make.write_index(stage, "dnf", (), site.fingerprint)
    bundle = source.see(source.bundled(f"file://{stage.parent}", site.fingerprint), {})
    entry = install.bundle_repository(bundle, stage.name, "dnf")
    bare = DnfWorld(tmp_path / "bare")
    bare.file("/etc/yum.repos.d/os.repo").write_text(
        "[os]\nname=os\nbaseurl=http://127.0.0.1:9/os\nenabled=1\nskip_if_unavailable=0\n"
    )
    alone = Order(read.repositories([entry], "dnf"), search.parts, kernel=KERNEL, min_free_mb=0)
    Bringer(bare.manager(), alone, fetching.fetch, lambda *_: None, check=False).bring()
    assert bare.packages().items() >= {"nvidia-dkms": "3:580.1-1.el9", "gcc": "11.4-1"}.items()


def test_the_python_of_a_program_is_read_from_its_first_line(tmp_path: Path) -> None:
    for line, meant in (
        ("#!/usr/libexec/platform-python -s", "/usr/libexec/platform-python"),
        ("#! /usr/bin/python3", "/usr/bin/python3"),
        ("\x7fELF", "/usr/bin/python3"),
    ):
        (tmp_path / "dnf").write_text(f"{line}\n")
        assert interpreter(str(tmp_path / "dnf")) == meant
