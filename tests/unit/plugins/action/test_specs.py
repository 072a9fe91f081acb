# SPDX-License-Identifier: GPL-3.0-or-later
"""What an action asks of its options is what its documentation says."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[4]
ACTIONS = "ansible_collections.ibready.cluster.plugins.action"
NAMES = sorted(
    path.stem for path in (ROOT / "plugins/action").glob("*.py") if "SPEC: ClassVar" in path.read_text("utf-8")
)
_ASKED = ("type", "elements", "required", "default", "choices")


def documented(name: str) -> dict[str, Any]:
    tree = ast.parse((ROOT / f"plugins/modules/{name}.py").read_text("utf-8"))
    texts = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    options: dict[str, Any] = yaml.safe_load(texts["DOCUMENTATION"]).get("options") or {}
    return options


def asked(option: dict[str, Any]) -> dict[str, Any]:
    """What is left out is a text that nobody has to give."""
    told = {"type": "str", "required": False, **{key: option[key] for key in _ASKED if key in option}}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in told.items()}


def test_there_are_actions() -> None:
    assert len(NAMES) > 10


@pytest.mark.parametrize("name", NAMES)
def test_an_action_asks_for_what_is_documented(name: str) -> None:
    spec = importlib.import_module(f"{ACTIONS}.{name}").ActionModule.SPEC
    # A module on the node may take more, which its action gives it.
    told = documented(name)
    assert {key: asked(option) for key, option in spec.items()} == {key: asked(told[key]) for key in spec}
