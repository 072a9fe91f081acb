# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entry for what a fabric's subnet manager answers a port, which is looked at with the port."""

from __future__ import annotations

from ..._ground.catalog import declare, error

SM_ANSWERS = error(
    "fabric.sm.answers",
    "The subnet manager answers from this port",
    "A fabric without a living master keeps its routes until the first link changes.",
    ("the subnet manager has stopped, or its host is cut off",),
    "start opensm (or the switch's subnet manager) and check `sminfo` from this host",
    ("sminfo",),
)

ENTRIES = declare(SM_ANSWERS)
