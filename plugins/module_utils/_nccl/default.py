# SPDX-License-Identifier: GPL-3.0-or-later
"""Which NCCL release a host has, and what that does where nobody sets a variable."""

from __future__ import annotations

from typing import Tuple

from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_defaults import DEFAULTS
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.version_text import numbers

Release = Tuple[int, ...]


def release(version: Reading[str]) -> Release | None:
    """(2, 28, 7) of ``2.28.7-1+cuda13.0``; None where no version is known."""
    text = version.value or ""
    epoch, colon, rest = text.partition(":")
    found = numbers(rest if colon and epoch.isdecimal() else text)[:3]
    return found if len(found) == 3 else None


def shown(of: Release) -> str:
    """``NCCL 2.28.7``."""
    return "NCCL " + ".".join(str(one) for one in of)


def is_default(name: str, value: str, of: Release | None) -> bool:
    """Whether this release does the same where the variable is not set; False where no release is
    known."""
    if of is None:
        return False
    told = [one.value for one in DEFAULTS if one.name == name and of >= one.since]
    return bool(told) and told[-1] == value
