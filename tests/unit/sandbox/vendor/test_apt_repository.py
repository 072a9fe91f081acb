# SPDX-License-Identifier: GPL-3.0-or-later
"""The repositories as apt itself sees them, in a root of its own."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from sandbox.config import Sandbox
from sandbox.errors import SandboxError
from sandbox.vendor import apt_repository, catalog, deb, publish, spoil
from sandbox.vendor.signing import FOREIGN, Key, keyring

pytestmark = pytest.mark.skipif(not (shutil.which("apt-get") and shutil.which("gpg")), reason="needs apt and gpg")


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A sandbox's state directory with one repository that needs no download."""
    box = Sandbox("test", "198.18.99", tmp_path_factory.mktemp("state"))
    publish.keys(box.vendor_keys)
    lay(box)
    return box


def lay(box: Sandbox) -> None:
    (repository,) = spoil.repositories(box, "container_toolkit")
    folder = box.vendor / repository.path
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    paragraphs = []
    for package in repository.packages:
        control, archive = deb.build(package)
        file = folder / deb.file_name(package.name, package.version)
        file.write_bytes(archive)
        paragraphs.append(apt_repository.paragraph(control, file))
    apt_repository.write_index(folder, paragraphs)
    with keyring(box.vendor_keys) as ring:
        publish.sign(repository, box.vendor, ring, ring.keys()["container_toolkit"])


@pytest.fixture
def whole(box: Sandbox) -> Sandbox:
    lay(box)
    return box


def folder(box: Sandbox) -> Path:
    return box.vendor / "container_toolkit/stable/deb/amd64"


class Apt:
    """apt-get with directories of its own, and one source."""

    def __init__(self, root: Path, box: Sandbox, key: Key) -> None:
        for name in ("state/lists/partial", "cache/archives/partial", "etc", "dpkg"):
            (root / name).mkdir(parents=True)
        (root / "dpkg/status").touch()
        (root / "key.asc").write_text(key.public)
        source = f"deb [signed-by={root}/key.asc] copy:{folder(box)}/ ./\n"
        (root / "etc/sources.list").write_text(source)
        settings = {
            "Dir::Etc": f"{root}/etc",
            "Dir::State": f"{root}/state",
            "Dir::State::status": f"{root}/dpkg/status",
            "Dir::Cache": f"{root}/cache",
            "APT::Architecture": "amd64",
            "APT::Architectures": "amd64",
            "APT::Sandbox::User": "root",
            "Acquire::Languages": "none",
        }
        self.root = root
        self._options = [f"-o{name}={value}" for name, value in settings.items()]

    def __call__(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["apt-get", *self._options, *args],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.root,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"},
        )


def apt(root: Path, box: Sandbox, name: str = "container_toolkit") -> Apt:
    return Apt(root, box, publish.keys(box.vendor_keys)[name])


def test_apt_takes_the_repository_with_its_own_key(whole: Sandbox, tmp_path: Path) -> None:
    tool = apt(tmp_path, whole)
    done = tool("update", "--error-on=any")
    assert done.returncode == 0, done.stderr
    done = tool("download", "nvidia-container-toolkit=1.19.1-1")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "nvidia-container-toolkit_1.19.1-1_amd64.deb").exists()


def test_release_names_the_indexes_as_they_are(whole: Sandbox) -> None:
    text = (folder(whole) / "Release").read_text()
    for name in apt_repository.INDEXES:
        data = (folder(whole) / name).read_bytes()
        assert f" {hashlib.sha256(data).hexdigest()} {len(data)} {name}\n" in text


def test_apt_refuses_with_another_key(whole: Sandbox, tmp_path: Path) -> None:
    done = apt(tmp_path, whole, FOREIGN)("update", "--error-on=any")
    assert done.returncode != 0
    assert "is not signed" in done.stderr


def test_apt_refuses_what_another_key_signed(whole: Sandbox, tmp_path: Path) -> None:
    spoil.perform(whole, "foreign_key", repository="container_toolkit")
    done = apt(tmp_path, whole)("update", "--error-on=any")
    assert done.returncode != 0
    assert "is not signed" in done.stderr


def test_apt_refuses_a_changed_package(whole: Sandbox, tmp_path: Path) -> None:
    spoil.perform(whole, "wrong_checksum", repository="container_toolkit", package="libnvidia-container1")
    tool = apt(tmp_path, whole)
    assert tool("update", "--error-on=any").returncode == 0
    done = tool("download", "libnvidia-container1")
    assert done.returncode != 0
    assert "Hash Sum mismatch" in done.stderr


def test_apt_refuses_half_an_index(whole: Sandbox, tmp_path: Path) -> None:
    spoil.perform(whole, "truncate_index", repository="container_toolkit")
    done = apt(tmp_path, whole)("update", "--error-on=any")
    assert done.returncode != 0
    assert "Failed to fetch" in done.stderr


def test_a_version_can_vanish_alone(whole: Sandbox, tmp_path: Path) -> None:
    spoil.perform(whole, "vanish", repository="container_toolkit", package="*", version="1.19.1")
    tool = apt(tmp_path, whole)
    assert tool("update", "--error-on=any").returncode == 0
    assert tool("download", "nvidia-container-toolkit=1.19.1-1").returncode != 0
    assert tool("download", "nvidia-container-toolkit=1.20.0-1").returncode == 0


def test_a_fault_names_what_there_is_not(box: Sandbox) -> None:
    with pytest.raises(SandboxError, match="no simulated repository 'nothing'"):
        spoil.perform(box, "foreign_key", repository="nothing")
    with pytest.raises(SandboxError, match="has no package nothing"):
        spoil.perform(box, "wrong_checksum", repository="container_toolkit", package="nothing")
    with pytest.raises(SandboxError, match="no act 'nothing'"):
        spoil.perform(box, "nothing")


def test_the_inventory_gets_what_gpg_says_of_the_published_keys(box: Sandbox, tmp_path: Path) -> None:
    known = publish.keys(box.vendor_keys)
    reported = publish.repositories("198.18.99.2", known)
    assert reported["doca"]["base"] == "http://198.18.99.2:8080/doca"
    (tmp_path / "key").write_text(known["doca"].public)
    shown = subprocess.run(
        ["gpg", "--show-keys", "--with-colons", str(tmp_path / "key")],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "GNUPGHOME": str(tmp_path)},
    ).stdout
    assert reported["doca"]["fingerprints"] == [
        line.split(":")[9] for line in shown.splitlines() if line.startswith("fpr:")
    ]
    assert len({key.fingerprint for key in known.values()}) == len(publish.KEY_FILES)


def test_every_signer_publishes_its_key() -> None:
    for kind in ("deb", "rpm"):
        for repository in catalog.load(kind):
            assert publish.KEY_FILES[repository.signer]
