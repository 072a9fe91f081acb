# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of host_desired, for its action on the controller and for its module, which is only given `items`."""

from __future__ import annotations

from typing import Any

_ROLE: dict[str, Any] = {
    "name": {"type": "str", "required": True},
    "wanted": {"type": "bool", "default": True},
    "moves": {"type": "bool", "default": False},
}
_ITEM: dict[str, Any] = {
    "role": {"type": "str", "required": True},
    "task": {"type": "str", "required": True},
    "kind": {"type": "str", "required": True},
    "want": {"type": "dict", "required": True},
    "rest": {"type": "dict", "default": {}},
}
SPEC: dict[str, Any] = {
    "roles": {"type": "list", "elements": "dict", "options": _ROLE, "required": True},
    "also": {"type": "list", "elements": "dict", "options": _ITEM, "default": []},
    "known": {"type": "dict", "default": {}},
    "node": {"type": "dict", "default": {}},
    "compare": {"type": "str", "choices": ["visit", "never"], "default": "visit"},
}
