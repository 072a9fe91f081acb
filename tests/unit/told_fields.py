# SPDX-License-Identifier: GPL-3.0-or-later
"""Look up a value in facts: ``xids.0.xid``, ``xids.#`` (how many), ``xids.*.xid`` (of each)."""

from __future__ import annotations

from typing import Any

ABSENT = "(absent)"


def told(facts: Any, path: str) -> Any:
    """The value at a dotted path of keys, indexes and attributes; ABSENT where there is none.

    In a tuple of names and values a name is a key as well.
    """
    step, _dot, rest = path.partition(".")
    if not path:
        return facts
    if step == "#":
        return len(facts)
    if step == "*":
        return [told(value, rest) for value in (facts.values() if isinstance(facts, dict) else facts)]
    if isinstance(facts, dict):
        return told(facts[step], rest) if step in facts else ABSENT
    if isinstance(facts, (list, tuple)) and not step.isdigit():
        return told(dict(facts), path)
    if isinstance(facts, (list, tuple)):
        return told(facts[int(step)], rest) if int(step) < len(facts) else ABSENT
    return told(getattr(facts, step), rest) if facts is not None and hasattr(facts, step) else ABSENT
