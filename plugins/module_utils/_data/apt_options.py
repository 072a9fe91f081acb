# SPDX-License-Identifier: GPL-3.0-or-later
"""How apt is asked for its word on what is installed."""

from __future__ import annotations

# It asks alone, so it takes no lock, and anybody may ask. What repositories offer is not asked: to read all of a
# distribution's packages takes apt seconds of a processor, and what dpkg's own list says a fortieth of one.
CHECK = (
    "apt-get",
    *("-o", "Debug::NoLocking=1"),
    *("-o", "Dir::Etc::SourceList=/dev/null"),
    *("-o", "Dir::Etc::SourceParts=/dev/null"),
    *("-o", "Dir::State::Lists=/dev/null"),
    *("-o", "Dir::Cache::pkgcache="),
    *("-o", "Dir::Cache::srcpkgcache="),
    "check",
)
