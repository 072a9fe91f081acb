# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pair leaves behind, and what it leaves alone; no machine is started."""

from __future__ import annotations

import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.machines import base, lifecycle, qemu
from sandbox.machines.accel import Accelerator
from sandbox.machines.config import Pair, pair

ACCELERATOR = Accelerator(["-accel", "tcg"], "a test")


@pytest.fixture
def box(tmp_path: Path) -> Pair:
    return pair("ibready-test", "198.18.90", str(tmp_path / "state"))


def quiet(_line: str) -> None:
    """Say nothing."""


def test_a_directory_of_somebody_elses_keys_is_left_alone(box: Pair) -> None:
    box.state.mkdir()
    for name in ("id_ed25519", "id_ed25519.pub", "known_hosts"):
        (box.state / name).write_text("precious")
    with pytest.raises(SandboxError, match="is not a pair's state directory"):
        lifecycle.down(box, quiet)
    assert sorted(one.name for one in box.state.iterdir()) == ["id_ed25519", "id_ed25519.pub", "known_hosts"]


def test_half_a_pair_is_known_and_removed(box: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(lifecycle.keys, "make", killed)
    recipe = base.Recipe("http://mirror", "trixie", "http://security", ())
    with pytest.raises(KeyboardInterrupt):
        lifecycle._make(box, recipe, ACCELERATOR, 5)
    assert stat.S_IMODE(box.state.stat().st_mode) == 0o700
    lifecycle.down(box, quiet)
    assert not box.state.exists()


def test_a_pair_whose_settings_were_cut_off_is_cleaned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "REPOSITORY", tmp_path)
    for name, text in {"one": '{"name": "on', "two": '{"name": "two", "subnet": "198.18.91"}'}.items():
        (tmp_path / ".sandbox" / name).mkdir(parents=True)
        (tmp_path / ".sandbox" / name / "machines.json").write_text(text)
    assert [made.name for made in lifecycle.made_here()] == ["one", "two"]
    with pytest.raises(SandboxError, match="not written to its end"):
        lifecycle.status(pair("one", "198.18.90", str(tmp_path / ".sandbox/one")))


@pytest.mark.parametrize("minutes", [0.0, -5.0, float("inf"), float("nan")])
def test_a_pair_without_a_watchdog_is_refused(box: Pair, minutes: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "ensure", lambda _say: pytest.fail("went on"))
    with pytest.raises(SandboxError, match="is not between 1 and"):
        lifecycle.up(box, quiet, keep=False, minutes=minutes)


def test_images_are_not_removed_under_a_checkout_that_builds_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert not base.remove()
    with base._alone():
        (base.cache() / "image.new").mkdir()
        remover = threading.Thread(target=base.remove)
        remover.start()
        remover.join(0.5)
        assert (base.cache() / "image.new").exists()
    remover.join(10)
    assert not base.cache().exists()
    with base._alone():
        assert base.cache().exists()


def test_an_image_that_cannot_be_kept_is_told_and_not_taken_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    recipe = base.Recipe("http://mirror", "trixie", "http://security", ())

    def root(command: list[str], _failed: str) -> None:
        if command[0] == "mmdebstrap":
            folder = Path(command[-2]) / "boot"
            folder.mkdir(parents=True)
            (folder / "vmlinuz-6.12").write_text("kernel")

    monkeypatch.setattr(base, "_root", root)
    monkeypatch.setattr(base.disk, "make", lambda _root, disk: disk.write_text("disk"))
    run = subprocess.run

    def full(command: list[str], **more: object) -> object:
        return run(["sh", "-c", "echo 'No space left on device' >&2; exit 1"], **more)  # type: ignore[call-overload]

    base.cache().mkdir(parents=True)
    monkeypatch.setattr(base.subprocess, "run", full)
    with pytest.raises(SandboxError, match="cannot be kept: No space left"):
        base._build(recipe)
    assert not recipe.home.exists()
    monkeypatch.setattr(base.subprocess, "run", run)
    base._build(recipe)
    assert recipe.disk.read_text() == "disk"
    assert qemu.alive(pair("x", "198.18.90", str(tmp_path)), "vm1") is None


@pytest.mark.parametrize("how", ["late", "interrupted"])
def test_a_build_that_is_ended_leaves_nothing_running(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base.podman, "prefix", list)
    monkeypatch.setattr(base, "_BUILD_SECONDS", 3 if how == "late" else 60)
    note = tmp_path / "pid"

    def interrupt(self: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
        while not note.exists() or not note.read_text():
            time.sleep(0.05)
        raise KeyboardInterrupt

    if how == "interrupted":
        monkeypatch.setattr(base.subprocess.Popen, "communicate", interrupt)
    with pytest.raises((SandboxError, KeyboardInterrupt)):
        base._root(["sh", "-c", f"sleep 600 & echo $! > {note}; wait"], "no image")
    stat = Path(f"/proc/{note.read_text().strip()}/stat")
    deadline = time.monotonic() + 60
    while stat.exists() and stat.read_text().split()[2] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_program_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base.podman, "prefix", list)
    with pytest.raises(SandboxError, match="no-such-tool is not installed"):
        base._root(["no-such-tool"], "no image")
    with pytest.raises(SandboxError, match="no image:\nwrong"):
        base._root(["sh", "-c", "echo wrong >&2; exit 3"], "no image")
