# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-in rpms as rpm itself reads them."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.vendor import payload, rpm_build, rpm_repository
from sandbox.vendor.catalog import Package, Relation, Repository, rpm_version
from sandbox.vendor.signing import Keyring, keyring

PACKAGE = Package(
    kind="rpm",
    name="thing",
    version="3:2.0-1.el9",
    path="p",
    summary="a thing",
    depends=(Relation("python3"), Relation("other", ">=", "3:2.0-1.el9")),
    conflicts=("rival",),
    payload="thing",
    streams=("2-open",),
    values={"version": "2.0"},
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("3:580.173.02-1.el9", ("3", "580.173.02", "1.el9")),
        ("2.28.3-1+cuda13.0", ("", "2.28.3", "1+cuda13.0")),
        ("24.10", ("", "24.10", "1")),
    ],
)
def test_a_version_has_three_parts(text: str, parts: tuple[str, str, str]) -> None:
    assert rpm_version(text) == parts


def test_scripts_get_dpkg_s_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "thing.scripts").mkdir()
    (tmp_path / "thing.scripts/prerm").write_text("#!/bin/sh\necho $1 50%\n")
    monkeypatch.setattr(rpm_build, "scripts", lambda package: payload.scripts(package, tmp_path))
    text = rpm_build.spec(PACKAGE, [])
    section = text[text.index("%preun") :]
    assert "set -- remove || set -- upgrade" in section
    assert "echo $1 50%%" in section


needs_rpm = pytest.mark.skipif(
    not all(map(shutil.which, ("rpmbuild", "rpmsign", "createrepo_c", "gpg"))), reason="needs rpm, createrepo-c and gpg"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    lone = replace(PACKAGE, payload="")
    rpm_build.build(Repository("rpm", "p", "l", "doca", (lone,)), folder, {})
    with keyring(tmp_path_factory.mktemp("keys"), ["doca", "foreign"]) as ring:
        sign(folder, ring)
    return folder


def sign(folder: Path, ring: Keyring) -> None:
    keys = ring.keys()
    (folder / "right.key").write_text(keys["doca"].public)
    (folder / "wrong.key").write_text(keys["foreign"].public)
    rpm_repository.sign(folder, ring, keys["doca"])


def rpm(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["rpm", *args], capture_output=True, text=True, check=False)


@needs_rpm
def test_rpm_reads_back_what_was_asked_for(made: Path) -> None:
    file = str(made / "thing-2.0-1.el9.x86_64.rpm")
    assert rpm("-qp", "--qf", "%{EPOCHNUM}:%{VERSION}-%{RELEASE}", file).stdout == "3:2.0-1.el9"
    assert "other >= 3:2.0-1.el9" in rpm("-qp", "--requires", file).stdout
    assert rpm("-qp", "--conflicts", file).stdout == "rival\n"
    assert rpm("-qp", "--qf", "%{SUMMARY}", file).stdout == "SIMULATED a thing"
    assert rpm("-qpl", file).stdout == "/usr/share/doc/thing/SIMULATED\n"


@needs_rpm
@pytest.mark.parametrize(("key", "good"), [("right", True), ("wrong", False)])
def test_only_the_right_key_verifies_the_rpm(key: str, good: bool, made: Path, tmp_path: Path) -> None:
    base = f"--dbpath={tmp_path}"
    assert rpm(base, "--import", str(made / f"{key}.key")).returncode == 0
    file = str(made / "thing-2.0-1.el9.x86_64.rpm")
    assert (rpm(base, "--checksig", file).returncode == 0) is good


@needs_rpm
def test_the_index_is_signed_and_has_the_stream(made: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    gpg = ["gpg", "--homedir", str(tmp_path), "--batch", "--no-autostart"]
    subprocess.run([*gpg, "--import", str(made / "right.key")], check=True, capture_output=True)
    index = made / "repodata/repomd.xml"
    subprocess.run([*gpg, "--verify", f"{index}.asc", str(index)], check=True, capture_output=True)
    (modules,) = (made / "repodata").glob("*modules.yaml.gz")
    assert "thing-3:2.0-1.el9.x86_64" in gzip.decompress(modules.read_bytes()).decode()
