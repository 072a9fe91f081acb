# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the lock, the one before it, and the bill of materials, each whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._files import write_whole
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan import lock as locks
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan import sbom


def write(
    path: Path,
    old: locks.Lock | None,
    new: locks.Lock,
    packages: Mapping[str, Any],
    version: str,
) -> list[str]:
    """Write what differs and return its paths; raises OSError.

    The lock of before is kept beside the new one when a stack moved, to be rolled back to.
    """
    wanted = {path: locks.text(new), path.with_name(sbom.NAME): sbom.text(new, packages, version)}
    if old is not None and moved(old, new):
        wanted = {path.with_name(locks.PREVIOUS): locks.text(old), **wanted}
    written = []
    for one, text in wanted.items():
        if not one.is_file() or one.read_text(encoding="utf-8") != text:
            write_whole(one, text)
            written.append(str(one))
    return written


def moved(old: locks.Lock, new: locks.Lock) -> bool:
    """Whether a class got another stack; hosts that join or leave move nothing."""
    return any(
        name in new.classes and new.classes[name].digest != one.digest
        for name, one in old.classes.items()
    )
