# SPDX-License-Identifier: GPL-3.0-or-later
"""What changed between two looks at the package database."""

from __future__ import annotations

from typing import Callable, Mapping

from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import (
    Change,
    Installed,
)


def between(
    before: Mapping[str, Installed],
    after: Mapping[str, Installed],
    older: Callable[[str, str], bool],
) -> list[Change]:
    """One change for each package whose version differs, by name."""
    found = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old is not None and new is not None:
            if old.version != new.version:
                down = older(new.version, old.version)
                found.append(Change(name, old.version, new.version, new.arch, down))
        elif new is not None:
            found.append(Change(name, "", new.version, new.arch))
        elif old is not None:
            found.append(Change(name, old.version, "", old.arch))
    return found
