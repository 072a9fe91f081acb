# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a whole host, and which tools of its parts, is held against equals (host_leaves.yml).

What is excused of it is in leaf_excuses.
"""

from __future__ import annotations

from ._rows import host_leaves as rows

PART_TOOLS: tuple[str, ...] = rows.PART_TOOLS
SETTINGS: tuple[str, ...] = rows.SETTINGS
ASKED: tuple[str, ...] = rows.ASKED
OF_INTERFACES = ("speed", "duplex", "mtu")
# What these say without a link.
NO_LINK = ("-1", "unknown")
# Longer ones, and what ends a key in them: the first block of each, which is one processor's.
KEYED = {"/proc/cpuinfo": ":", "/proc/driver/nvidia/params": ":", "/etc/os-release": "="}
# And what tools print as ``KEY=value``.
KEYED_TOOLS = ("timedatectl_show",)
