# SPDX-License-Identifier: GPL-3.0-or-later
"""What role reboot_gate asks a host after a reboot: it must be another boot than the one before."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml
from jinja2 import Environment

TASKS = Path(__file__).resolve().parents[2] / "roles/reboot_gate/tasks/reboot.yml"
BEGAN = "575928760"
SYSTEMCTL = """#!/bin/sh
case "$*" in
  is-system-running*) exit 1 ;;
  *) {answer} ;;
esac
"""


def asked() -> str:
    """The shell command that has to succeed, for a boot that began at BEGAN."""
    block = next(task["block"] for task in yaml.safe_load(TASKS.read_text()) if "block" in task)
    task = next(task["ansible.builtin.reboot"] for task in block if "ansible.builtin.reboot" in task)
    return Environment().from_string(task["test_command"]).render(__reboot_gate_began={"stdout": BEGAN})


@pytest.mark.parametrize(
    ("answer", "is_another_boot"),
    [
        ("echo 3928760", True),
        # Going down: the same systemd still answers, or nobody does.
        (f"echo {BEGAN}", False),
        ("echo 'Failed to connect to system scope bus' >&2; exit 1", False),
        ("exit 0", False),
    ],
)
def test_only_another_boot_is_a_reboot(answer: str, is_another_boot: bool, tmp_path: Path) -> None:
    program = tmp_path / "systemctl"
    program.write_text(SYSTEMCTL.format(answer=answer))
    program.chmod(0o755)
    # sudo says on the same terminal that it cannot resolve the host's name: that is no answer.
    command = f"echo 'sudo: unable to resolve host node1' >&2; {asked()}"
    done = subprocess.run(["sh", "-c", command], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False)
    assert (done.returncode == 0) is is_another_boot
