# SPDX-License-Identifier: GPL-3.0-or-later
"""A host gets what the bundle has for it, and no other file of the controller."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.stack_bundle_copy import ActionModule
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import check, layout

SUMS = {"class/a.deb": "1" * 64, "other/b.deb": "2" * 64, layout.KEY: "3" * 64}


@pytest.fixture
def copy(
    tmp_path: Path,
    inventory: Callable[..., dict[str, Any]],
    action: Callable[..., ActionBase],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., tuple[dict[str, Any], list[str]]]:
    """Run the action against a host that answers this; what came of it, and what was sent."""
    home = tmp_path / "bundle"
    (home / "class").mkdir(parents=True)
    (home / "class/a.deb").write_text("a")
    (home / "big.deb").write_text("x")
    (tmp_path / "secret").write_text("the controller's own")
    monkeypatch.setattr(check, "signed_sums", lambda *_: dict(SUMS))

    def run(**answer: Any) -> tuple[dict[str, Any], list[str]]:
        sent: list[str] = []
        monkeypatch.setattr(ActionBase, "_execute_module", lambda *_, **__: {"free": 2**40, **answer})
        monkeypatch.setattr(ActionBase, "_make_tmp_path", lambda *_: "/tmp/x")
        monkeypatch.setattr(ActionBase, "_remove_tmp_path", lambda *_, **__: None)
        args = {"directory": str(home), "class_name": "class", "key": "A" * 40}
        variables = inventory(n1={})
        plugin = action(ActionModule, variables, args)
        plugin._connection.put_file = lambda _from, to: sent.append(to)
        return plugin.run(task_vars=variables), sent

    return run


def test_what_the_host_lacks_is_sent(copy: Callable[..., Any]) -> None:
    reported, sent = copy(missing=["class/a.deb"])
    assert reported["missing"] == ["class/a.deb"]
    assert len(sent) == 1


@pytest.mark.parametrize(
    "asked",
    [
        ["../secret"],
        ["class/a.deb", "/etc/passwd"],
        ["class/../../secret"],
        ["other/b.deb"],  # Of another class.
        [["class/a.deb"]],
        [None],
        "class/a.deb",
        {"class/a.deb": 1},
        None,
    ],
)
def test_nothing_else_is_sent_whatever_the_host_asks_for(asked: Any, copy: Callable[..., Any]) -> None:
    with pytest.raises(AnsibleActionFail, match=r"^n1: the bundle was not copied: it (asks|says)"):
        copy(missing=asked)


@pytest.mark.parametrize("free", [None, "much", True, [1], {}])
def test_a_host_that_tells_no_room_is_named(free: Any, copy: Callable[..., Any]) -> None:
    with pytest.raises(AnsibleActionFail, match=r"^n1: the bundle was not copied: it says not"):
        copy(missing=["class/a.deb"], free=free)
