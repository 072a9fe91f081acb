# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.host_hooks import ActionModule
from ansible_collections.ibready.cluster.plugins.plugin_utils._site import hooks

Action = Callable[..., ActionBase]
VARIABLES = {"inventory_hostname": "n1"}


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def run(action: Action, *commands: Any, check: bool = False, **more: Any) -> dict[str, Any]:
    args = {"title": "drain", "commands": list(commands), **more}
    plugin = action(ActionModule, VARIABLES, args)
    plugin._task.check_mode = check
    result: dict[str, Any] = plugin.run(task_vars=VARIABLES)
    return result


def test_commands_run_in_order_on_the_controller_without_a_shell(action: Action, tmp_path: Path) -> None:
    log = tmp_path / "log"
    write = f"import sys; open({str(log)!r}, 'a').write(sys.argv[1])"
    done = run(action, [*python(write), "$HOME;"], [*python(write), "2"])
    assert (done["changed"], len(done["ran"])) == (True, 2)
    assert log.read_text() == "$HOME;2"


def test_check_mode_names_what_it_would_run(action: Action) -> None:
    reported = run(action, ["/nonexistent", "a b"], check=True)
    assert reported["ran"] == ["/nonexistent 'a b'"]
    assert "failed" not in reported


def test_without_commands_nothing_changes(action: Action) -> None:
    assert run(action)["changed"] is False


@pytest.mark.parametrize(
    ("command", "more", "said"),
    [
        (python("import sys; sys.exit('node unknown')"), {}, "status 1: node unknown"),
        (["/nonexistent/scontrol"], {}, "No such file or directory"),
        (python("import time; time.sleep(60)"), {"timeout": 1}, "it did not end within 1 s"),
    ],
)
def test_the_first_that_fails_stops_and_is_told(
    action: Action, command: list[str], more: dict[str, Any], said: str
) -> None:
    never = python("raise SystemExit('must not run')")
    result = run(action, python(""), command, never, unchanged="Nothing was begun.", **more)
    assert result["failed"]
    assert result["msg"].startswith("n1: drain: `")
    assert f"failed on the controller: {said}" in result["msg"]
    assert "Nothing was begun. Next: run it by hand" in result["msg"]
    assert len(result["ran"]) == 2


def test_what_is_for_the_host_goes_to_the_host(action: Action, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def answer(_self: ActionBase, **given: Any) -> dict[str, Any]:
        asked.append(given["module_args"])
        return {"failed": True, "msg": "non-zero return code", "stderr": "read-only"}

    monkeypatch.setattr(ActionModule, "_execute_module", answer)
    result = run(action, {"run": ["touch", "/run/nologin"], "where": "host"})
    assert asked == [{"argv": ["touch", "/run/nologin"]}]
    assert "failed on the host: non-zero return code read-only" in result["msg"]


@pytest.mark.parametrize(
    "bad",
    [
        "touch x",
        [],
        [[]],
        ["a", True],
        ["a", None],
        {"run": ["a"], "where": "moon"},
        {True: "host"},
    ],
)
def test_what_is_no_command_is_refused_before_anything_runs(action: Action, bad: Any) -> None:
    with pytest.raises(AnsibleActionFail, match=r"^n1: drain: .*Nothing was run\.$"):
        run(action, python("raise SystemExit('must not run')"), bad)


def test_numbers_are_words() -> None:
    assert hooks.parse([["drain", 7]]) == (hooks.Hook(("drain", "7")),)


def test_a_list_that_is_none_is_refused() -> None:
    with pytest.raises(hooks.HookError, match="not a list of commands"):
        hooks.parse("scontrol")
