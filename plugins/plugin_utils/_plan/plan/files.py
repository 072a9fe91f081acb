# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the lock, the one before it, and the bill of materials, each whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..._ground.files import write_whole
from . import lock as locks, sbom


def write(path: Path, old: locks.Lock | None, new: locks.Lock, packages: Mapping[str, Any], version: str) -> list[str]:
    """Write what differs and return its paths; raises OSError.

    The lock of before is kept beside the new one when a stack moved, to be rolled back to.
    """
    wanted = {path: locks.text(new), path.with_name(sbom.NAME): sbom.text(new, packages, version)}
    if old is not None and moved(old, new):
        wanted = {path.with_name(locks.PREVIOUS): locks.text(old), **wanted}
    written = []
    for item, text in wanted.items():
        if not item.is_file() or item.read_text(encoding="utf-8") != text:
            write_whole(item, text)
            written.append(str(item))
    return written


def moved(old: locks.Lock, new: locks.Lock) -> bool:
    """Whether a class got another stack; hosts that join or leave move nothing."""
    return any(name in new.classes and new.classes[name].digest != kind.digest for name, kind in old.classes.items())
