# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of baseboard management controllers that mean a fault (bmc.yml)."""

from __future__ import annotations

from ._rows import bmc as rows

FAULTS: tuple[str, ...] = rows.FAULTS
EVENTS: tuple[str, ...] = rows.EVENTS
# Kinds of sensor whose reading of now says whether an event still holds; of others there is the event
# alone.
STANDING = ("Fan", "Power Supply", "Power Unit", "Temperature", "Voltage", "Cooling Device")
# An event that is older is history. source: inferred.
RECENT_DAYS = 7
# A probe that is not there reads nothing or a value near zero; hot is what is above this, degrees C.
HOT_ABOVE = 20.0
