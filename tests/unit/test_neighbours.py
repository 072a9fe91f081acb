# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ansible's own tools, and those who use the collection beside others, expect of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.unit.docs import known

ROOT = Path(__file__).parents[2]
MODULES = {path.stem for path in (ROOT / "plugins/modules").glob("*.py")} - {"__init__"}
PLAY = """---
- hosts: localhost
  gather_facts: false
  module_defaults:
    group/ibready.cluster.{group}: {{report_only: true, no_such_option: 1}}
  tasks:
    - ibready.cluster.ibverify:
"""


def groups() -> dict[str, list[object]]:
    told: dict[str, list[object]] = yaml.safe_load((ROOT / "meta/runtime.yml").read_text())["action_groups"]
    return told


def test_every_module_is_in_a_group() -> None:
    told = groups()
    assert {*told["verify"]} == {name for name in MODULES if name.endswith("verify")}
    extended, *others = told["all"]
    assert extended == {"metadata": {"extend_group": ["verify"]}}
    assert {*told["verify"], *others} == MODULES


@pytest.mark.parametrize("group", ["verify", "all"])
def test_defaults_of_a_group_reach_its_modules(group: str, tmp_path: Path) -> None:
    (tmp_path / "play.yml").write_text(PLAY.format(group=group))
    argv = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", "localhost,", "-c", "local"]
    done = subprocess.run(
        [*argv, str(tmp_path / "play.yml")], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert "no_such_option" in done.stdout + done.stderr, done.stdout


def test_what_a_builder_of_images_reads_is_shipped() -> None:
    told = yaml.safe_load((ROOT / "meta/execution-environment.yml").read_text())
    shipped = " ".join(yaml.safe_load((ROOT / "galaxy.yml").read_text())["manifest"]["directives"]).split()
    assert (ROOT / told["dependencies"]["system"]).is_file()
    assert {"meta/execution-environment.yml", told["dependencies"]["system"]} <= {*shipped}


def test_what_a_fork_runs_are_commands_of_ours() -> None:
    """Its workflows, the hook before a commit, the container for development."""
    steps = set(re.findall(r"^    ([a-z][a-z |-]*)\)", (ROOT / "run").read_text(), re.MULTILINE))
    known_steps = {step.strip() for line in steps for step in line.split("|")}
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())["postCreateCommand"]
    files = [*(ROOT / ".github").rglob("*.yml"), *(ROOT / ".github").rglob("*.md"), ROOT / ".pre-commit-config.yaml"]
    text = "\n".join([container, *(path.read_text() for path in files)])
    asked = re.findall(r"\./run ([a-z]+)(?: ([a-z][a-z-]*))?", text)
    assert {"test", "setup"} <= {command for command, _step in asked}
    assert {command for command, _step in asked} <= known.run_commands()
    assert {step for command, step in asked if command == "test" and step} <= known_steps
