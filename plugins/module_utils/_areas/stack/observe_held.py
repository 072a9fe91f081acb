# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather which packages ibready brought and holds, which of them are there and held, and what they lack."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground import strict
from ..._ground.reading import Reading
from ..._parse import apt_conf, unmet
from ..._parse.packages import Package, is_of_a_kernel
from ..host.observe_updates import VERSIONLOCK, locked
from ..host.packages import DPKG
from .facts import Brought, Held

# Role stack_packages notes there what it brought and holds, a file for each part of the plan.
LEDGERS = "/var/lib/ibready/packages"
KERNEL = "kernel.json"
_SWITCH = "/etc/dnf/plugins/versionlock.conf"
_OFF = ("0", "no", "false", "off")
# NAME-EPOCH:VERSION-RELEASE.ARCH: what stands behind the name. A name alone has no such end.
_VERSION = re.compile(r"-(?:(?:\d{1,9}|[?*]):)?\d[^-]*-[^-]*$|-(?:\d{1,9}|[?*]):[^-]*(?:-[^-]*)?$")


def observe(evidence: Evidence, installed: Reading[tuple[Package, ...]], database: str) -> Reading[Held]:
    """Of the packages that are still installed; missing where ibready holds none."""
    ours = _ours(evidence, "holds")
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


def brought(evidence: Evidence, installed: Reading[tuple[Package, ...]]) -> Reading[Brought]:
    """All that ibready brought or holds; missing where that is nothing."""
    # The ledger of the kernel's own holds: nobody brought those, and kernels go when new ones come.
    ours = _ours(evidence, "packages", "holds", without=KERNEL)
    if ours.value is None or installed.value is None:
        return Reading(None, ours.why or installed.why, ours.missing)
    names = sorted(name for name in ours.value if not is_of_a_kernel(name))
    if not names:
        return Reading(None, "ibready brought no package to this host", True)
    there = {package.name for package in installed.value}
    return Reading(Brought(len(names), tuple(name for name in names if name not in there)))


def lacks(evidence: Evidence, database: str) -> Reading[tuple[str, ...]]:
    """What the package manager says that packages lack, of rpm's those of ours; missing where nobody can ask it.

    apt refuses every installation for any package; rpm goes on.
    """
    name = {"dpkg": "apt_check", "rpm": "rpm_verify"}.get(database, "")
    if not name:
        return Reading(None, "no package database", True)
    # Both end with another status where they found something, and where they could not look. Then apt names nobody,
    # and rpm, which tells of files and scripts as well, says nothing at all.
    found = ask.optional(evidence, name, unmet.parse, ok=None if database == "rpm" else (0, 100))
    silent = database == "dpkg" or ask.optional(evidence, name, str.strip, ok=None).value == ""
    if found.value == () and silent:
        found = ask.optional(evidence, name, unmet.whole if database == "dpkg" else unmet.parse)
    if "not in the bundle" in found.why:
        return Reading(None, found.why, True)
    if database == "rpm" and found.value:
        known = _ours(evidence, "packages", "holds")
        if known.value is None and not known.missing:
            return Reading(None, known.why)
        ours = tuple(f"{one}-" for one in known.value or ())
        return Reading(tuple(line for line in found.value if line.rpartition(" ")[2].startswith(ours)))
    return found


def _ours(evidence: Evidence, *keys: str, without: str = "") -> Reading[set[str]]:
    names = ask.names(evidence, LEDGERS)
    found: set[str] = set()
    for name in names.value or ():
        if name.endswith(".json") and name != without:
            part = ask.file(
                evidence, f"{LEDGERS}/{name}", lambda text: [one for key in keys for one in _list(text, key)]
            )
            if part.value is None:
                return Reading(None, part.why)
            found.update(part.value)
    return names.map(lambda _names: found)


def _list(text: str, key: str) -> list[str]:
    raw = strict.loads(text)
    names = raw.get(key) if isinstance(raw, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"no list of {key} in it")
    return names


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
