# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose failures in the kernel's log count though no rule knows them, and which lines are harmless. Data only.

A row of ``DRIVERS`` names a driver that jobs depend on. Its lines at error or worse count, and those at ``least`` or
worse with a word of failure (``FAILS``); where the driver keeps warnings for what is wrong, all that are no ``NEWS``.
A row of ``HARMLESS`` takes out a line that healthy hosts have; its source says so.
Confidence: medium; the formats were read in the sources, and only a part was seen on hosts.
"""

from __future__ import annotations

from typing import NamedTuple

from .._ground.table import load
from ._rows import kernel_drivers as rows

CRITICAL, ERROR, WARN, INFO = 2, 3, 4, 6  # as of syslog


class Driver(NamedTuple):
    """``least``: the mildest level at which it tells that it failed. ``loud``: it says nearly all at warning."""

    name: str
    pattern: str
    source: str
    least: int = WARN
    loud: bool = False


class Harmless(NamedTuple):
    """A line of a healthy host: what it looks like, and who says that it is harmless."""

    pattern: str
    source: str


DRIVERS: tuple[Driver, ...] = load(Driver, rows.DRIVERS)
# What says failure where the level does not. Words, so that "insufficient" is no "sufficient".
FAILS = (
    r"\b(?:fail(?:s|ed|ures?|ing)?|err(?:ors?)?|tim(?:ed|e)[- ]?out|timeouts?|can ?not|can't|could ?n[o']t|could not"
    r"|unable|unsuccessful|not respond\w*|lost|evicted|corrupt\w*|invalid|refus\w+|reject\w+|abort\w*|stuck|hung|dead"
    r"|nobody cared|exhaust\w*|overflow\w*|overrun|out of|no (?:space|memory)|fatal|panic|unknown symbol|disagrees"
    r"|mismatch|denied|stopped|stall\w*|leak\w*|not (?:found|enough|ready|supported by)|insufficient|unexpected\w*"
    r"|no (?:[\w-]{1,20} ){1,4}(?:found|probed|detected)|(?:was|were) not (?:called|initiali[sz]ed)"
    r"|WARNING|BUG|bad|broken|degraded|disabling|link status (?:definitely )?down)\b"
)
# A warning that is none, by its form: something is not supported or grows old, or the driver announces what it does.
NEWS = (
    r"(?:\b(?:not?|never|only)\b|n't\b).{0,24}\b(?:support|offload|capab)"
    r"|\bsupport (?:is )?missing\b|\b(?:deprecated|obsolete|experimental)\b"
    # The first word behind who says it; or a value that fits none is set to one that does.
    r"|^(?:\S*[^\s:] ){0,4}\S{1,60}: (?:\S{1,60}(?: \w{1,16}\))?: )?"
    r"(?:us|load|start|enabl|sett|mount|ignor|skipp|resiz)ing\b"
    r"|, (?:changing it to|clamping down)\b"
)
# What leaves the host without something, whoever says it: an error; so is whatever is critical or worse.
_LOSES = r"(?:re)?(?:load|reg(?:ist(?:er|ration))?|alloc(?:at)?|enabl|initiali[sz]|prob|start|brought up|bring)"
GRAVE = (
    rf"\b(?:fail(?:s|ed)?(?: to)?|can ?not|can't|could ?n[o']t|could not|unable to) (?:[\w-]{{1,20}} )?"
    rf"{_LOSES}\w{{0,5}}\b"
    rf"|\b{_LOSES}\w{{0,5}}\b[^.;]{{0,40}}\bfail(?:s|ed)\b"
    r"|\bdisagrees about version\b|\bunknown symbol\b|\bAPI mismatch\b|(?<!\bbe )\b(?:disabl|remov)(?:ed|ing)\b"
)
# What says that it is over, of the same device. A link that is up ends only what was said of links.
OVER = (
    r"\b(?:re-?connected|restored|recovered(?! after|.\d)|recovery (?:complete|succeeded)|back online"
    r"|firmware version: \d)"
)
LINK_UP = r"\b(?:link status (?:definitely )?up|active interface up|link (?:is |becomes )?(?:up|active|ready))\b"
LINK = r"\b(?:link|carrier|slave)\b"
# Of the boot, or of the last day (kernel_faults.PASSING_S); what lies between is history. source: inferred.
BOOT_S = 900.0

HARMLESS: tuple[Harmless, ...] = load(Harmless, rows.HARMLESS)
