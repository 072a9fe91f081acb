# SPDX-License-Identifier: GPL-3.0-or-later
"""Write nccl.conf in the one form that every release reads alike."""

from __future__ import annotations

import re
import textwrap
from typing import Iterable

from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_reading as reading
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.conf import as_bytes
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.problem import short
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.setting import Setting

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_WIDTH = 98


class RenderError(ValueError):
    """A setting that has no safe form, with what NCCL would make of it."""


def render(settings: Iterable[Setting], header: str) -> str:
    """The file's text: the header and every reason as comments, the settings in the given order.

    Any release reads exactly these settings back. Raises RenderError for a name that is none or
    comes twice, a value of more than one line, and a line of 1000 bytes or more.
    """
    blocks = [comment(header)] if header.strip() else []
    seen: dict[str, str] = {}
    for one in settings:
        line = _line(one)
        if one.name in seen:
            raise RenderError(
                f"{one.name} is set twice, to {short(seen[one.name])!r} and to {short(one.value)!r}"
                ": NCCL would take the first. Next: give it once"
            )
        seen[one.name] = one.value
        above = comment(one.reason) if one.reason.strip() else ""
        blocks.append(f"{above}{line}\n")
    return "\n".join(blocks)


def comment(text: str) -> str:
    """The text as lines of comment, without a = (before 2.26 that would set a variable)."""
    lines = []
    for part in text.replace("=", ":").split("\n"):
        plain = as_bytes(_CONTROL.sub(" ", part)).decode("utf-8", "replace")
        lines += textwrap.wrap(plain, _WIDTH - 2) or [""]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def _line(one: Setting) -> str:
    if not _NAME.fullmatch(one.name):
        raise RenderError(
            f"{short(one.name)!r} is no name of a variable: NCCL would set one that nothing reads."
            " Next: write the bare name, such as NCCL_IB_HCA"
        )
    control = _CONTROL.search(one.value)
    if control:
        fate = "begin a line of its own" if "\n" in one.value else "end or spoil the value there"
        raise RenderError(
            f"{one.name}: the value {short(one.value)!r} has a control character: NCCL would {fate}"
            ". Next: give it in one line of plain text"
        )
    line = f"{one.name}={one.value}"
    size = len(as_bytes(line))
    if size >= reading.SAFE_LINE:
        raise RenderError(
            f"{one.name}: the line has {size} bytes, {reading.SAFE_LINE - 1} are safe: NCCL cuts a"
            f" value after {reading.LONGEST} without a word. Next: shorten the value"
        )
    return line
