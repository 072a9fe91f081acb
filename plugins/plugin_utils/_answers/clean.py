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


def whole(value: Any) -> Any:
    """The same value."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {whole(key): whole(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [whole(entry) for entry in value]
    return value
