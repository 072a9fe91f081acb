# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom the faults strike, and who asks."""

from __future__ import annotations

ASKING = "node1"
HOST = "node3"
# On the same leaf as HOST and ASKING.
NEIGHBOUR = "node4"
