# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether KVM is taken: only where it has really booted a kernel."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from sandbox.machines import accel

MARKER = "Kernel panic - not syncing: VFS: Unable to mount root fs"
# Stands in for qemu: does with the console what a test asks for.
PROGRAM = """\
#!/bin/sh
for word in "$@"; do case "$word" in file:*) console=${word#file:} ;; esac; done
DO
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A /dev/kvm that may be used, a cache of the test's own, and where qemu is to be."""
    device = tmp_path / "kvm"
    device.touch()
    monkeypatch.setattr(accel, "_DEVICE", device)
    monkeypatch.setattr(accel, "_SECONDS", 2.0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path / accel.PROGRAM


def says(program: Path, what: str) -> None:
    program.write_text(PROGRAM.replace("DO", what))
    program.chmod(0o755)


def test_kvm_is_taken_where_it_boots_a_kernel(stand_in: Path) -> None:
    says(stand_in, f'echo "[1.0] {MARKER}" > "$console"')
    chosen = accel.choose(Path("vmlinuz"))
    assert not chosen.emulated
    assert chosen.options == list(accel.KVM)


@pytest.mark.parametrize(
    ("what", "because"),
    [
        ("echo 'failed to set MSR 0x10a' >&2; exit 134", "status 134 (failed to set MSR 0x10a"),
        ('echo Booting > "$console"; exec sleep 30', "boots no kernel within"),
        ('echo Booting > "$console"', "ends with status 0"),
    ],
)
def test_kvm_is_left_where_it_boots_none(stand_in: Path, what: str, because: str) -> None:
    says(stand_in, what)
    chosen = accel.choose(Path("vmlinuz"))
    assert chosen.emulated
    assert because in chosen.because


def test_without_the_device_nothing_is_tried(stand_in: Path) -> None:
    accel._DEVICE.unlink()
    chosen = accel.choose(Path("vmlinuz"))
    assert chosen.emulated
    assert "is not there" in chosen.because


def test_what_was_found_is_kept_for_this_run_of_the_computer(stand_in: Path) -> None:
    says(stand_in, f'echo "{MARKER}" > "$console"')
    first = accel.choose(Path("vmlinuz"))
    says(stand_in, "exit 1")
    assert accel.choose(Path("vmlinuz")) == first
    kept = accel.cache() / "kvm.json"
    kept.write_text(kept.read_text().replace("run", "walk", 1))
    assert accel.choose(Path("vmlinuz")).emulated


def test_two_checkouts_that_try_at_once(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    says(stand_in, f'echo "{MARKER}" > "$console"')
    replace, pids = Path.replace, itertools.count(1)
    monkeypatch.setattr(accel.os, "getpid", lambda: next(pids))

    def late(path: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "replace", replace)
        assert not accel.choose(Path("vmlinuz")).emulated
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", late)
    assert not accel.choose(Path("vmlinuz")).emulated


def test_a_device_that_may_be_used_now_is_tried(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    says(stand_in, f'echo "{MARKER}" > "$console"')
    with monkeypatch.context() as denied:
        denied.setattr(accel.os, "access", lambda _path, _mode: False)
        assert "may not be used" in accel.choose(Path("vmlinuz")).because
    assert not accel.choose(Path("vmlinuz")).emulated
