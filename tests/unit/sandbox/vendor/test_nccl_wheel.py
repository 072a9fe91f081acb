# SPDX-License-Identifier: GPL-3.0-or-later
"""Fetching by the real pip, from a folder of wheels that are made up."""

from __future__ import annotations

import hashlib
import platform
import re
import zipfile
from pathlib import Path

import pytest

from sandbox.config import REPOSITORY
from sandbox.errors import SandboxError
from sandbox.vendor import build, catalog
from sandbox.vendor.nccl import wheel

LIBRARY = b"\x7fELF and so on"
NAME = "nvidia_nccl_cu13-2.0.1"


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place that pip knows, with the wheel of the only release that is pinned."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    file = folder / f"{NAME}-py3-none-any.whl"
    about = f"{NAME}.dist-info"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("nvidia/nccl/lib/libnccl.so.2", LIBRARY)
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: nvidia-nccl-cu13\nVersion: 2.0.1\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setattr(wheel, "REQUIREMENTS", tmp_path)
    monkeypatch.setattr(wheel, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    pin(tmp_path, hashlib.sha256(file.read_bytes()).hexdigest())
    return folder


def pin(folder: Path, digest: str) -> None:
    (folder / "2.0.1.txt").write_text(f"nvidia-nccl-cu13==2.0.1 --hash=sha256:{digest}\n")


def test_a_library_is_fetched_once(wheels: Path) -> None:
    said: list[str] = []
    path = wheel.library("2.0.1", said.append)
    assert path.read_bytes() == LIBRARY
    assert said == ["fetching nvidia-nccl-cu13==2.0.1 (some hundred MB, once)"]
    (wheels / f"{NAME}-py3-none-any.whl").unlink()
    assert wheel.library("2.0.1", said.append) == path
    assert len(said) == 1
    assert sorted(one.name for one in wheel.KEPT.iterdir()) == ["2.0.1", "lock"]


def test_what_was_cut_off_in_the_middle_is_swept_away(wheels: Path) -> None:
    (wheel.KEPT / "fetching-old").mkdir(parents=True)
    (wheel.KEPT / "fetching-old/half.whl").write_bytes(b"half")
    wheel.library("2.0.1")
    assert not (wheel.KEPT / "fetching-old").exists()


def test_another_sum_is_refused_and_nothing_kept(wheels: Path) -> None:
    pin(wheels.parent, "0" * 64)
    with pytest.raises(SandboxError, match=r"cannot fetch nvidia-nccl-cu13==2\.0\.1.* HASH"):
        wheel.library("2.0.1")
    assert not list(wheel.KEPT.rglob("libnccl*"))


def test_without_a_network_the_next_step_is_named(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels / "not-there"))
    with pytest.raises(SandboxError) as refused:
        wheel.library("2.0.1")
    text = str(refused.value)
    assert "No matching distribution found for nvidia-nccl-cu13==2.0.1" in text
    assert "pip download --no-deps nvidia-nccl-cu13==2.0.1` from working here" in text
    assert f"what is below {wheel.KEPT} by then is not fetched again" in text


def test_a_connection_that_fails_is_the_cause(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_RETRIES", "1")
    # The discard port of this machine: nobody listens there.
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(SandboxError, match=r"NewConnectionError\(.*Connection refused"):
        wheel.library("2.0.1")


def test_another_machine_is_told_so(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(SandboxError, match="for x86_64, and this machine is aarch64"):
        wheel.library("2.0.1")


def test_a_release_that_nobody_pinned_is_named() -> None:
    with pytest.raises(SandboxError, match=r"NCCL 2\.0\.9: no wheel .* 2\.29\.7.*2\.0\.9\.txt"):
        wheel.library("2.0.9")


@pytest.mark.parametrize("version", wheel.versions())
def test_every_pin_names_its_release_and_one_sum(version: str) -> None:
    text = (wheel.REQUIREMENTS / f"{version}.txt").read_text()
    form = rf"nvidia-nccl-cu1[23]=={re.escape(version)} --hash=sha256:[0-9a-f]{{64}}\n"
    assert re.fullmatch(form, text)


@pytest.mark.parametrize(("kind", "name"), [("deb", "libnccl2"), ("rpm", "libnccl")])
def test_every_published_release_of_nccl_is_real(kind: catalog.Kind, name: str) -> None:
    published = [one for whole in catalog.load(kind) for one in whole.packages if one.name == name]
    assert [one.nccl for one in published] == [one.version.split("-")[0] for one in published]
    assert {one.nccl for one in published} == set(build.libraries(kind)) <= set(wheel.versions())


def test_what_is_fetched_is_never_kept_in_git() -> None:
    assert wheel.KEPT == REPOSITORY / ".cache/nccl"
    assert "/.cache/" in (REPOSITORY / ".gitignore").read_text().splitlines()
