# SPDX-License-Identifier: GPL-3.0-or-later
"""What is included whatever tags were named has tasks that run then: an include's own tags are not its tasks'."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.test_roles import ROOT, load, tasks_in

# On purpose: a host is at its plan, and reboots, by a run that left nothing out.
WHOLE_RUNS = {"playbooks/tasks/converge_host.yml", "roles/reboot_gate/tasks/main.yml"}


def included(path: Path) -> Iterator[str]:
    """The files that this one includes with the tag always, and hands no tags on to."""
    entries = load(path)
    plays = [task for entry in entries for task in entry.get("tasks", [entry])] if isinstance(entries, list) else []
    for task in tasks_in(plays):
        said = task.get("ansible.builtin.include_tasks") or task.get("ansible.builtin.include_role")
        if said and "always" in task.get("tags", ()) and "apply" not in said:
            if isinstance(said, str):
                yield f"playbooks/{said.removeprefix('../')}"
            else:
                yield f"roles/{said['name'].split('.')[-1]}/tasks/{said.get('tasks_from', 'main')}.yml"


FOUND = {name for path in ROOT.glob("playbooks/**/*.yml") for name in included(path)}


def test_there_are_such_includes() -> None:
    assert {"playbooks/tasks/lost.yml", "roles/nvidia_driver/tasks/secure_boot.yml", *WHOLE_RUNS} < FOUND


@pytest.mark.parametrize("name", sorted(FOUND - WHOLE_RUNS))
def test_each_of_their_tasks_has_tags(name: str) -> None:
    assert [task.get("name") for task in load(ROOT / name) if not task.get("tags")] == []
