# SPDX-License-Identifier: GPL-3.0-or-later
"""The real dnf in a scratch root, against small signed repositories; skipped where it is not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import dnf_text, openpgp, read
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.bring import Bringer
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import Outcome, PackageError
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.survey import Order
from tests.unit.apt_world import Signer
from tests.unit.dnf_world import CAN_RUN, DnfWorld, Rpm, RpmRepository
from tests.unit.openpgp_keys import compressed

pytestmark = pytest.mark.skipif(
    not CAN_RUN or os.geteuid() != 0, reason="needs root, dnf, rpmbuild, createrepo_c and gpg"
)

OLD, NEW = "580.126.20", "580.173.02"
OLD_FULL, NEW_FULL = f"3:{OLD}-1.el9", f"3:{NEW}-1.el9"
NAMES = {"nvidia-open", "nvidia-driver", "libnvidia-ml", "nvidia-fabricmanager"}


def driver(version: str) -> list[Rpm]:
    full = f"3:{version}-1.el9"
    loose = f">= 3:{OLD}"
    return [
        Rpm("nvidia-open", full, f"Requires: nvidia-driver {loose}, libnvidia-ml {loose}"),
        Rpm("nvidia-driver", full, f"Requires: libnvidia-ml {loose}"),
        Rpm("libnvidia-ml", full),
        Rpm("nvidia-fabricmanager", f"{version}-1"),
    ]


def part(version: str = OLD, **more: Any) -> dict[str, Any]:
    return {
        "packages": [
            {"name": "nvidia-open", "version": version},
            {"name": "nvidia-fabricmanager", "version": version},
        ],
        "pins": [{"names": ["nvidia-*", "libnvidia-*"], "version": version}],
        "modules": {"stream": "580-open"},
        **more,
    }


@pytest.fixture(scope="session")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer(tmp_path_factory.mktemp("keys"), "vendor")


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer(tmp_path_factory.mktemp("keys"), "stranger")


@pytest.fixture
def world(tmp_path: Path) -> DnfWorld:
    return DnfWorld(tmp_path)


@pytest.fixture
def repository(tmp_path: Path, signer: Signer) -> RpmRepository:
    made = RpmRepository(tmp_path / "repository", signer)
    made.publish([*driver(OLD), *driver(NEW)])
    return made


def bring(
    world: DnfWorld,
    repositories: list[dict[str, Any]],
    parts: dict[str, Any],
    *,
    check: bool = False,
    **more: Any,
) -> Outcome:
    order = Order(
        read.repositories(repositories, "dnf"),
        read.parts(parts),
        **{"kernel": "5.14.0-427.el9.x86_64", "min_free_mb": 1, "lock_timeout": 0.2, **more},
    )

    def fetch(address: str) -> bytes:
        with urlopen(address) as answer:
            data: bytes = answer.read()
        return data

    def build(*_args: object) -> None:
        raise AssertionError

    return Bringer(world.manager(), order, fetch, build, check=check).bring()


def acts(outcome: Outcome) -> dict[str, tuple[str, str, str]]:
    return {one.name: (one.act, one.before, one.after) for one in outcome.changes}


def managed(world: DnfWorld) -> dict[str, bytes]:
    found = {}
    for folder in ("etc", "var/lib/ibready"):
        for path in sorted((world.root / folder).rglob("*")):
            if path.is_file():
                found[str(path.relative_to(world.root))] = path.read_bytes()
    return found


def test_check_mode_on_a_bare_host_names_all(world: DnfWorld, repository: RpmRepository) -> None:
    before = managed(world)
    outcome = bring(world, [repository.entry()], {"nvidia_driver": part()}, check=True)
    assert acts(outcome) == {
        name: ("installed", "", f"{OLD}-1" if name == "nvidia-fabricmanager" else OLD_FULL) for name in NAMES
    }
    assert set(outcome.held) == NAMES
    assert [one["path"] for one in outcome.files] == [
        "/etc/pki/rpm-gpg/RPM-GPG-KEY-ibready-vendor",
        "/etc/yum.repos.d/ibready-vendor.repo",
        "/etc/dnf/modules.d/nvidia-driver.module",
    ]
    assert (managed(world), world.packages()) == (before, {})


def test_the_first_run_installs_one_version_and_the_second_asks_nobody(
    world: DnfWorld, repository: RpmRepository
) -> None:
    parts = {"nvidia_driver": part()}
    bring(world, [repository.entry()], parts)
    assert set(world.packages()) == NAMES
    assert all(OLD in version for version in world.packages().values())
    locks = world.file(dnf_text.LOCKS).read_text()
    assert f"{dnf_text.LOCK_MARK}\nnvidia-open-{OLD_FULL}.*\n" in locks
    assert os.listdir(world.root / "var/tmp") == []

    repository.home.rename(repository.home.with_name("gone"))
    world.said.clear()
    assert not bring(world, [repository.entry()], parts).changed
    assert {argv[0] for argv in world.said} == {"rpm"}


def test_an_upgrade_and_the_way_back(world: DnfWorld, repository: RpmRepository) -> None:
    entry = repository.entry()
    bring(world, [entry], {"nvidia_driver": part(OLD)})
    first = managed(world), world.packages()
    up = bring(world, [entry], {"nvidia_driver": part(NEW)})
    assert {act for act, _before, _after in acts(up).values()} == {"upgraded"}
    assert all(NEW in version for version in world.packages().values())
    assert OLD not in world.file(dnf_text.LOCKS).read_text()
    back = bring(world, [entry], {"nvidia_driver": part(OLD)})
    assert {act for act, _before, _after in acts(back).values()} == {"downgraded"}
    assert (managed(world), world.packages()) == first


def refused(world: DnfWorld, *words: Any, **more: Any) -> PackageError:
    before = managed(world), world.packages()
    with pytest.raises(PackageError) as caught:
        bring(world, *words, **more)
    assert (managed(world), world.packages()) == before
    assert not caught.value.changed
    return caught.value


def test_a_key_that_hides_in_compressed_data(world: DnfWorld, tmp_path: Path, signer: Signer, stranger: Signer) -> None:
    forged = RpmRepository(tmp_path / "forged", stranger)
    forged.publish(driver(OLD))
    key = tmp_path / "hidden.gpg"
    theirs = openpgp.binary(stranger.key.read_bytes())
    key.write_bytes(openpgp.binary(signer.key.read_bytes()) + compressed(theirs))
    # As a bundle: the index alone is judged by the key.
    entry = forged.entry(key=f"file://{key}", fingerprints=[signer.fingerprint], gpgcheck=False)
    error = refused(world, [entry], {"nvidia_driver": part()})
    assert (error.kind, "compressed data" in error.cause) == ("key", True)


def test_a_key_that_is_not_pinned_any_more_verifies_nothing(
    world: DnfWorld, repository: RpmRepository, tmp_path: Path, signer: Signer, stranger: Signer
) -> None:
    parts = {"nvidia_driver": part()}
    bring(world, [repository.entry()], parts)
    renewed = repository.entry(key=f"file://{stranger.key}", fingerprints=[stranger.fingerprint])
    index = repository.home / "repodata/repomd.xml"
    stranger.gpg("--armor", "--detach-sign", "--output", f"{index}.asc", index)
    bring(world, [{**renewed, "gpgcheck": False}], parts)
    key = world.file("/etc/pki/rpm-gpg/RPM-GPG-KEY-ibready-vendor")
    asked = ["--assumeyes", "--refresh", f"--setopt=ibready-vendor.gpgkey=file://{key}"]
    assert world.manager()._dnf([*asked, "makecache"]).rc == 0
    repository.sign()
    said = world.manager()._dnf([*asked, "makecache"])
    assert said.rc != 0
    assert "GPG" in said.stderr


def test_a_repository_signed_by_another_key(world: DnfWorld, tmp_path: Path, signer: Signer, stranger: Signer) -> None:
    forged = RpmRepository(tmp_path / "forged", stranger)
    forged.publish(driver(OLD))
    entry = forged.entry(key=f"file://{signer.key}", fingerprints=[signer.fingerprint])
    error = refused(world, [entry], {"nvidia_driver": part()})
    assert (error.kind, "repository vendor" in error.cause) == ("key", True)


def test_packages_signed_by_another_key(world: DnfWorld, tmp_path: Path, signer: Signer, stranger: Signer) -> None:
    forged = RpmRepository(tmp_path / "forged", stranger)
    forged.publish(driver(OLD))
    entry = forged.entry(key=f"file://{signer.key}", fingerprints=[signer.fingerprint], repo_gpgcheck=False)
    assert refused(world, [entry], {"nvidia_driver": part()}).kind == "key"


def test_a_package_with_a_wrong_checksum(world: DnfWorld, repository: RpmRepository) -> None:
    rpm = repository.home / f"nvidia-fabricmanager-{OLD}-1.noarch.rpm"
    data = bytearray(rpm.read_bytes())
    data[-1] ^= 1
    rpm.write_bytes(bytes(data))
    error = refused(world, [repository.entry()], {"nvidia_driver": part()})
    assert error.kind == "checksum", str(error)


def test_an_index_that_was_changed(world: DnfWorld, repository: RpmRepository) -> None:
    for path in repository.home.glob("repodata/*primary*"):
        path.write_bytes(path.read_bytes() + b"\n")
    error = refused(world, [repository.entry()], {"nvidia_driver": part()})
    assert error.kind == "checksum", str(error)


def test_a_repository_that_cannot_be_reached(world: DnfWorld, repository: RpmRepository) -> None:
    entry = repository.entry(url="http://127.0.0.1:9/none/")
    error = refused(world, [entry], {"nvidia_driver": part()})
    assert (error.kind, "http://127.0.0.1:9/none/" in error.cause) == ("unreachable", True)


def test_a_version_that_vanished(world: DnfWorld, repository: RpmRepository) -> None:
    error = refused(world, [repository.entry()], {"nvidia_driver": part("580.99.01")})
    assert error.kind == "version"
    assert f"they have {NEW_FULL}, {OLD_FULL}" in error.cause


def test_another_stack_goes_only_with_consent(world: DnfWorld, repository: RpmRepository) -> None:
    entry = repository.entry()
    repository.publish([*driver(OLD), Rpm("mlnx-ofed-all", "24.10-1")])
    bring(world, [entry], {"rdma": {"packages": [{"name": "mlnx-ofed-all", "version": ""}]}})
    parts = {"nvidia_driver": part(conflicts=["mlnx-ofed-*"])}
    error = refused(world, [entry], parts)
    assert (error.kind, "mlnx-ofed-all 24.10-1" in error.cause) == ("conflict", True)
    bring(world, [entry], parts, replace_ok=True)
    assert set(world.packages()) == NAMES


def test_packages_that_the_resolver_would_remove(world: DnfWorld, repository: RpmRepository) -> None:
    clash = Rpm("nvidia-open", OLD_FULL, "Conflicts: site-tool")
    repository.publish([clash, *driver(OLD)[1:], Rpm("site-tool", "1-1")])
    entry = repository.entry()
    bring(world, [entry], {"site": {"packages": [{"name": "site-tool", "version": ""}]}})
    error = refused(world, [entry], {"nvidia_driver": part()})
    assert (error.kind, "site-tool 1-1" in error.cause) == ("conflict", True)


def test_an_operators_lock(world: DnfWorld, repository: RpmRepository) -> None:
    entry = repository.entry()
    bring(world, [entry], {"nvidia_driver": part()})
    locks = world.file(dnf_text.LOCKS)
    locks.write_text(locks.read_text().replace(f"{dnf_text.LOCK_MARK}\nlibnvidia", "libnvidia"))
    book = world.file("/var/lib/ibready/packages/nvidia_driver.json")
    book.write_text(book.read_text().replace('"libnvidia-ml",', "", 2))
    error = refused(world, [entry], {"nvidia_driver": part(NEW)})
    assert (error.kind, "libnvidia-ml" in error.cause) == ("held", True)


def test_power_lost_in_the_middle_is_repaired(world: DnfWorld, repository: RpmRepository) -> None:
    entry, parts = repository.entry(), {"nvidia_driver": part()}
    bring(world, [entry], parts)
    # The new version is registered, the old one was not erased yet.
    new = repository.home / f"libnvidia-ml-{NEW}-1.el9.noarch.rpm"
    rpm = ["rpm", f"--root={world.root}", "--nosignature", "--nodeps"]
    world.run([*rpm, "--install", "--force", str(new)])
    outcome = bring(world, [entry], parts)
    assert "libnvidia-ml.noarch is there in 2 versions" in outcome.repaired[0]
    assert world.packages()["libnvidia-ml"] == OLD_FULL
    assert not bring(world, [entry], parts).changed


def test_a_part_that_is_no_longer_planned(world: DnfWorld, repository: RpmRepository) -> None:
    repository.publish([*driver(OLD), Rpm("tool", "1-1", "Requires: tool-library"), Rpm("tool-library", "1-1")])
    entry, parts = repository.entry(), {"nvidia_driver": part()}
    extras = {
        "packages": [{"name": "tool", "version": "1"}],
        "pins": [{"names": ["tool"], "version": "1"}],
    }
    bring(world, [entry], parts)
    before = managed(world), world.packages()
    bring(world, [entry], {**parts, "extras": extras})
    bring(world, [entry], parts, absent=("extras",))
    assert (managed(world), world.packages()) == before


def test_headers_are_those_of_the_running_kernel(world: DnfWorld, repository: RpmRepository) -> None:
    kernel = "5.14.0-427.el9.x86_64"
    builds = Rpm("kmod-nvidia-open-dkms", OLD_FULL)
    newer = Rpm("kernel-devel", "5.14.0-503.el9")
    repository.publish([builds, newer])
    parts = {"nvidia_driver": {"packages": [{"name": builds.name, "version": OLD}]}}
    error = refused(world, [repository.entry()], parts, kernel=kernel)
    assert error.kind == "headers"
    assert "no repository has kernel-devel-5.14.0-427.el9" in error.cause
    repository.publish([builds, newer, Rpm("kernel-devel", "5.14.0-427.el9")])
    outcome = bring(world, [repository.entry()], parts, kernel=kernel, check=True)
    assert acts(outcome)["kernel-devel"] == ("installed", "", "5.14.0-427.el9")
