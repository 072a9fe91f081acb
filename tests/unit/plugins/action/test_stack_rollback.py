# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.stack_plan import ActionModule as Planner
from ansible_collections.ibready.cluster.plugins.action.stack_rollback import ActionModule
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import lock as locks
from tests.unit.plugins.action.test_stack_plan import told

OLD, NEW = "580.126.20", "595"
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(
    action: Callable[..., ActionBase],
    inventory: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    def go(
        kind: type[ActionBase] = ActionModule,
        check: bool = False,
        driver: str = NEW,
        hosts: tuple[str, ...] = ("a", "b"),
        **args: Any,
    ) -> dict[str, Any]:
        variables = inventory(**{name: told(stack_driver=driver) for name in hosts})
        plugin = action(kind, variables, {"hosts": list(hosts), **args})
        plugin._task.check_mode = check
        monkeypatch.setattr(plugin._display, "display", lambda *_, **__: None)
        result: dict[str, Any] = plugin.run(task_vars=variables)
        return result

    return go


@pytest.fixture
def moved(run: Run, tmp_path: Path) -> Path:
    """A site whose lock moved."""
    run(Planner, driver=OLD)
    old = tmp_path / locks.NAME
    # The two plans of a test are of the same second.
    by_hand = re.sub("(?m)^sum: .*\n", "", old.read_text())
    old.write_text(by_hand.replace("created: '20", "created: '19"))
    run(Planner, relock=True)
    return old


def test_hosts_are_told_the_digest_of_their_snapshot(run: Run, moved: Path) -> None:
    before = moved.read_bytes()
    planned = run(state="planned")
    (name,) = {*planned["digests"].values()}
    previous = locks.read(moved.with_name(locks.PREVIOUS))
    assert previous is not None
    assert name == next(iter(previous.classes.values())).digest
    assert any(f"-> {OLD}" in line for line in planned["changes"])
    assert moved.read_bytes() == before


def test_the_locks_change_places_once_all_are_back(run: Run, moved: Path) -> None:
    before = {one.name: one.read_bytes() for one in moved.parent.glob("stack.*")}
    some = run(state="swapped", hosts=("a",))
    assert (some["swapped"], some["absent"]) == (False, ["b"])
    assert some["lock"].endswith(locks.PREVIOUS)
    assert run(state="swapped", check=True)["swapped"]
    assert {one.name: one.read_bytes() for one in moved.parent.glob("stack.*")} == before
    all_of_them = run(state="swapped")
    assert all_of_them["swapped"]
    assert Path(all_of_them["lock"]) == moved
    assert moved.read_bytes() == before[locks.PREVIOUS]
    assert (moved.parent / locks.PREVIOUS).read_bytes() == before[locks.NAME]
    # Which packages a stack means stands in the bill of materials, as after a plan.
    assert "libnccl2" in (moved.parent / "stack.sbom.cdx.json").read_text()
    with pytest.raises(AnsibleActionFail, match="newer than the lock"):
        run(state="planned")


@pytest.mark.parametrize("to", ["bare", "previous"])
def test_what_stays_as_it_was_found_stays_in_a_rollback_too(run: Run, moved: Path, to: str) -> None:
    assert run(state="planned", to=to)["stay"] == {"a": [], "b": []}
    text = re.sub("(?m)^sum: .*\n", "", moved.read_text())
    moved.write_text(re.sub("(?m)^( +)modules: open$", r"\1modules: open\n\1found: 595.91.07", text))
    stay = run(state="planned", to=to)["stay"]
    assert "libnvidia-*" in stay["a"]
    assert "libnccl*" not in stay["b"]


def test_bare_needs_no_lock(run: Run) -> None:
    planned = run(state="planned", to="bare")
    assert planned["digests"] == {"a": "bare", "b": "bare"}
    with pytest.raises(AnsibleActionFail, match="there is no lock"):
        run(state="planned")
