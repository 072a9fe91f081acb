# SPDX-License-Identifier: GPL-3.0-or-later
"""How a machine is started, told from other processes, and ended."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.machines import qemu
from sandbox.machines.config import MACHINES, Pair, pair

pytestmark = pytest.mark.thorough

# Stands in for qemu: writes its pid where it is told to, makes the monitor's file, and stays.
STAND_IN = """\
#!/bin/bash
while [ $# -gt 0 ]; do
  case "$1" in
    -pidfile) echo $$ > "$2" ;;
    -qmp) file=${2#unix:}; touch "${file%%,*}" ;;
  esac
  shift
done
[ ! -e refuse ] || { echo "cannot set up guest memory" >&2; exit 1; }
[ ! -e reboot ] || { rm reboot; exit 0; }
read -r _ < <(sleep 120)
"""


def of_qemu(words: list[bytes]) -> bool:
    """Of a script, the interpreter is the first word."""
    return any(word.rpartition(b"/")[2] == qemu.PROGRAM.encode() for word in words[:2])


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """A pair whose qemu is a stand-in of the same name."""
    monkeypatch.setattr(qemu, "_is_qemu", of_qemu)
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / qemu.PROGRAM
    program.write_text(STAND_IN)
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    state = tmp_path / "state"
    state.mkdir()
    made = pair("ibready-test", "198.18.90", str(state))
    yield made
    for machine in MACHINES:
        qemu.cut(made, machine)


def test_each_machine_sends_to_the_other() -> None:
    one, two = (" ".join(qemu.argv(pair("x", "198.18.90"), name, [])) for name in MACHINES)
    assert "local.path=vm1.data,remote.type=unix,remote.path=vm2.data" in one
    assert "local.path=vm2.data,remote.type=unix,remote.path=vm1.data" in two
    assert "hostfwd=tcp:127.18.90.12:2222-:2222" in two


def test_a_machine_runs_until_its_power_is_cut(box: Pair) -> None:
    qemu.start(box, "vm1", qemu.argv(box, "vm1", []), 1)
    assert qemu.alive(box, "vm1") is not None
    assert qemu.alive(box, "vm2") is None
    with pytest.raises(SandboxError, match="runs already"):
        qemu.start(box, "vm1", qemu.argv(box, "vm1", []), 1)
    assert qemu.cut(box, "vm1")
    assert qemu.alive(box, "vm1") is None
    assert not qemu.cut(box, "vm1")


def test_a_machine_that_reboots_is_on_again_and_stays_ours(box: Pair) -> None:
    (box.state / "reboot").touch()
    qemu.start(box, "vm1", qemu.argv(box, "vm1", []), 1)
    deadline = time.monotonic() + 60
    while (box.state / "reboot").exists() or qemu.alive(box, "vm1") is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert qemu.cut(box, "vm1")
    assert not qemu.cut(box, "vm1")


def test_the_watchdog_ends_a_machine_that_nobody_ends(box: Pair) -> None:
    qemu.start(box, "vm1", qemu.argv(box, "vm1", []), 1 / 60)
    deadline = time.monotonic() + 60
    while qemu.alive(box, "vm1") is not None:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_what_qemu_says_when_it_does_not_start_is_passed_on(box: Pair) -> None:
    (box.state / "refuse").touch()
    with pytest.raises(SandboxError, match="cannot set up guest memory"):
        qemu.start(box, "vm1", qemu.argv(box, "vm1", []), 1)


def test_one_that_comes_too_late_is_ended(box: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pid file would be written when nobody waits for it any more."""
    program = Path(os.environ["PATH"].split(":")[0]) / qemu.PROGRAM
    program.write_text("#!/bin/bash\ntouch begun\nread -r _ < <(sleep 4)\n" + STAND_IN[12:])
    clock = time.monotonic
    begun = box.state / "begun"
    monkeypatch.setattr(qemu.time, "monotonic", lambda: clock() + (60 if begun.exists() else 0))
    with subprocess.Popen(["sleep", "600"], cwd=box.state) as other:
        try:
            with pytest.raises(SandboxError, match="qemu did not start for vm1"):
                qemu.start(box, "vm1", qemu.argv(box, "vm1", []), 1)
            assert other.poll() is None
        finally:
            other.kill()
    late = clock() + 6
    while clock() < late:
        assert not box.file("vm1", "pid").exists()
        time.sleep(0.2)


def test_the_last_moment_of_a_pair_is_not_without_a_watchdog(box: Pair) -> None:
    qemu.start(box, "vm1", qemu.argv(box, "vm1", []), 0.001)
    deadline = time.monotonic() + 60
    while qemu.alive(box, "vm1") is not None:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_another_process_with_the_number_in_the_file_is_left_alone(box: Pair) -> None:
    with subprocess.Popen(["sleep", "600"], cwd=box.state) as other:
        try:
            box.file("vm1", "pid").write_text(f"{other.pid}\n")
            assert qemu.alive(box, "vm1") is None
            assert not qemu.cut(box, "vm1")
            assert other.poll() is None
        finally:
            other.kill()
