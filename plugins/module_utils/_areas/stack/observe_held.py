# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather which packages ibready holds at their versions, and which of them are still held."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground import strict
from ..._ground.reading import Reading
from ..._parse import apt_conf
from ..._parse.packages import Package
from ..host.observe_updates import VERSIONLOCK, locked
from ..host.packages import DPKG
from .facts import Held

# Role stack_packages notes there what it brought and holds, a file for each part of the plan.
LEDGERS = "/var/lib/ibready/packages"
_SWITCH = "/etc/dnf/plugins/versionlock.conf"
_OFF = ("0", "no", "false", "off")
# NAME-EPOCH:VERSION-RELEASE.ARCH: what stands behind the name. A name alone has no such end.
_VERSION = re.compile(r"-(?:(?:\d{1,9}|[?*]):)?\d[^-]*-[^-]*$|-(?:\d{1,9}|[?*]):[^-]*(?:-[^-]*)?$")


def observe(evidence: Evidence, installed: Reading[tuple[Package, ...]], database: str) -> Reading[Held]:
    """Of the packages that are still installed; missing where ibready holds none."""
    ours = _ours(evidence)
    if ours.value is None or installed.value is None:
        return Reading(None, ours.why or installed.why, ours.missing)
    there = sorted(ours.value & {package.name for package in installed.value})
    if not there:
        return Reading(None, "ibready holds none of the installed packages", True)
    if database == "dpkg":
        held = ask.text(evidence, DPKG).map(apt_conf.held)
    else:
        held = _locks(evidence)
    return held.map(lambda names: Held(len(there), tuple(name for name in there if not _is_in(name, names))))


def _ours(evidence: Evidence) -> Reading[set[str]]:
    names = ask.names(evidence, LEDGERS)
    found: set[str] = set()
    for name in names.value or ():
        if name.endswith(".json"):
            part = ask.file(evidence, f"{LEDGERS}/{name}", _holds)
            if part.value is None:
                return Reading(None, part.why)
            found.update(part.value)
    return names.map(lambda _names: found)


def _holds(text: str) -> list[str]:
    raw = strict.loads(text)
    holds = raw.get("holds") if isinstance(raw, dict) else None
    if not isinstance(holds, list) or not all(isinstance(name, str) for name in holds):
        raise ValueError("no list of holds in it")
    return holds


def _locks(evidence: Evidence) -> Reading[list[str]]:
    """What each line of dnf's list is for; nothing where the plugin that reads it is switched off."""
    text, switch = ask.text(evidence, VERSIONLOCK), ask.text(evidence, _SWITCH)
    if switch.value is None and not switch.missing:
        return Reading(None, switch.why)
    if text.missing or apt_conf.options(switch.value or "").get("enabled", "1").lower() in _OFF:
        return Reading([])
    return text.map(lambda found: [_VERSION.sub("", line) for line in locked(found)])


def _is_in(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
