# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a site keeps its lock, and what of it a host's variables say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.lock import NAME, LockError

LOCK_FILE = "stack_lock_file"


def lock_file(variables: Mapping[str, Any]) -> Path:
    """The lock of the inventory that a host comes from: beside it, or where the site says.

    Raises LockError where there is no inventory to lie beside.
    """
    given = variables.get(LOCK_FILE)
    if given:
        return Path(str(given)).expanduser()
    home = variables.get("inventory_dir")
    if not home:
        raise LockError(
            "the inventory is no file, so that no lock can lie beside it; "
            f"next: name the file in {LOCK_FILE}"
        )
    return Path(str(home)).resolve() / NAME
