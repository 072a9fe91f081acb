# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of baseboard management controllers that mean a fault. Data only.

source: IPMI 2.0 specification, tables 42-2 and 42-3 (generic and sensor-specific states), in the
words of ipmitool (lib/ipmi_sdr.c, include/ipmitool/ipmi_sel.h); confidence: confirmed.
"""

from __future__ import annotations

# States of a sensor, and the same words of an event.
FAULTS = (
    r"Failure detected",
    r"Predictive [Ff]ailure(?! [Dd]easserted)",
    r"(?:AC|[Ii]nput) lost",
    r"(?:AC|[Ii]nput) out-of-range",
    r"Config(?:uration)? [Ee]rror",
    r"Redundancy (?:Lost|Degraded)",
    r"Non-Redundant: (?:Sufficient from Redundant|Insufficient)",
    r"Drive Fault",
    r"In (?:Critical|Failed) Array",
    r"Uncorrectable (?:ECC|machine check)",
    r"\bIERR\b",
    r"Thermal Trip",
    r"[Tt]hrottled",
    r"Transition to (?:Critical|Non-recoverable)",
    r"Bus Fatal Error",
    # The states of a battery, which has no others but being there.
    r"(?:^|, )(?:Low|Failed)(?=,|$)",
)
# Events alone.
EVENTS = (
    r"(?:Upper|Lower) (?:Critical|Non-recoverable) going (?:high|low)",
    r"Correctable (?:ECC|memory error) logging limit reached",
    r"PCI [SP]ERR",
    r"Bus Uncorrectable error",
    r"Fatal NMI",
)
# Kinds of sensor whose reading of now says whether an event still holds; of others there is the event
# alone.
STANDING = ("Fan", "Power Supply", "Power Unit", "Temperature", "Voltage", "Cooling Device")
# An event that is older is history. source: inferred.
RECENT_DAYS = 7
# A probe that is not there reads nothing or a value near zero; hot is what is above this, degrees C.
HOT_ABOVE = 20.0
