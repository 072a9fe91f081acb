# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entry for what a fabric's subnet manager answers a port, which is looked at with the port."""

from __future__ import annotations

from ..._ground.catalog import declare, error

# A second one, started beside one that is still discovering, splits the fabric or takes it over.
START_NO_OTHER = "start no other subnet manager; read the log of the one that is named and let it sweep"
START_ONE = (
    "see on the hosts and switches that may run the subnet manager whether one runs or is still discovering (its log); "
    "start opensm, or the switch's own, only where none does, then `sminfo`"
)

SM_ANSWERS = error(
    "fabric.sm.answers",
    "The subnet manager answers from this port",
    "A fabric without a living master keeps its routes until the first link changes.",
    ("the subnet manager has stopped, or its host is cut off",),
    START_ONE,
    ("sminfo",),
)

ENTRIES = declare(SM_ANSWERS)
