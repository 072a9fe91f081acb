# SPDX-License-Identifier: GPL-3.0-or-later
"""Which package brings a kernel's headers, by the system's ID in os-release (kernel_headers.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import kernel_headers as rows


@dataclass(frozen=True)
class Headers:
    """``package``: for one kernel, {0} is its release. ``follows``: the package that brings those
    of every later kernel, too; {0} is the kernel's flavour (generic, amd64), "" for none."""

    systems: tuple[str, ...]
    package: str
    follows: str
    source: str
    confidence: str = "confirmed"


HEADERS: tuple[Headers, ...] = load(Headers, rows.HEADERS)
VARIANTS: dict[str, str] = rows.VARIANTS
# The flavour in 6.8.0-48-generic, 6.1.0-40-cloud-amd64, 6.12.48+deb13-amd64.
FLAVOUR = r"[0-9.]+(?:\+deb[0-9]+|-[0-9.]+)-([a-z][a-z0-9-]*)"
