# SPDX-License-Identifier: GPL-3.0-or-later
"""No module returns something of its own by a name that means something to Ansible."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

MODULES = sorted((Path(__file__).parents[4] / "plugins/modules").glob("*.py"))
# Whatever is true under these ends the task, or replaces what it told.
TAKEN = {"failed", "unreachable", "exception", "results", "ansible_facts"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_name_is_ansibles_own(path: Path) -> None:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "RETURN":
            reported = yaml.safe_load(ast.literal_eval(node.value)) or {}
            assert not TAKEN & set(reported)
