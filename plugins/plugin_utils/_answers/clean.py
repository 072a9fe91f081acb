# SPDX-License-Identifier: GPL-3.0-or-later
"""Half characters (lone surrogates), which JSON can hold and UTF-8 cannot, as visible escapes."""

from __future__ import annotations

import re
from typing import Any

# Every half has six ASCII characters in the JSON; so has every emoji.
_MAYBE = re.compile(r"\\ud[89a-f]", re.IGNORECASE)


def clean(run: dict[str, Any], text: str) -> dict[str, Any]:
    """The same run object, of which ``text`` is the JSON; no two names become one."""
    cleaned: dict[str, Any] = whole(run) if _MAYBE.search(text) else run
    return cleaned


def whole(value: Any, known: dict[int, Any] | None = None) -> Any:
    """The same value; what is one object in several places stays one (``known``)."""
    known = {} if known is None else known
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        if id(value) not in known:
            known[id(value)] = {whole(key, known): whole(entry, known) for key, entry in value.items()}
        return known[id(value)]
    if isinstance(value, list | tuple):
        return [whole(entry, known) for entry in value]
    return value
