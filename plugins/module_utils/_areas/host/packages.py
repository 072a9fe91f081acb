# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the installed packages from dpkg's database or rpm's: all of them, or the reason."""

from __future__ import annotations

import functools
from typing import Tuple

from ..._evidence import ask
from ..._evidence.sources import Evidence, Missing, Unavailable
from ..._ground.reading import Reading
from ..._ground.text import clean_lines
from ..._parse import dpkg_status, rpm_qa
from ..._parse.packages import Package

DPKG = "/var/lib/dpkg/status"
# Without these there is no such list. dpkg writes its database in the order of names, and the last of
# these stands behind all that a check asks for; rpm tells a damaged one twice alike, and ends with 0.
_NEEDS = {"dpkg": ("dpkg", "libc6", "zlib1g"), "rpm": ("bash", "glibc", "rpm")}
_AUDIT = {"dpkg": "`dpkg --audit`", "rpm": "`rpm --verifydb`"}
_COMPLAINT = "error:"

Packages = Tuple[Package, ...]
# Several areas ask for it; reading the list is half of what a look costs.
_parsed = functools.lru_cache(maxsize=1)(dpkg_status.parse)


def dpkg(evidence: Evidence) -> Reading[Packages]:
    """What dpkg's database holds; missing where there is none."""
    try:
        # Its last byte tells whether the file was cut, so nothing may be stripped.
        found = _parsed(evidence.read(DPKG))
    except Missing as exc:
        return Reading(None, str(exc), True)
    except (Unavailable, ValueError) as exc:
        return Reading(None, f"{DPKG}: {exc}" if isinstance(exc, ValueError) else str(exc))
    return _whole(DPKG, "dpkg", found)


def rpm(evidence: Evidence) -> Reading[Packages]:
    """What rpm lists. The list has no end of its own, and rpm leaves out what it cannot read and
    ends with 0: so it is asked twice, and must not complain."""
    reported = ask.command(evidence, "rpm_qa", rpm_qa.parse)
    if reported.value is None:
        return reported
    lines = clean_lines(evidence.run("rpm_qa").stderr)
    said = next((line for line in lines if line.startswith(_COMPLAINT)), "")
    if said:
        return Reading(None, f"rpm_qa: its list is not whole: {said}")
    again = ask.command(evidence, "rpm_names", _names)
    if again.value is None:
        # Whoever made a bundle by hand, or before rpm was asked twice, has one list.
        if "not in the bundle" not in again.why:
            return Reading(None, again.why)
    elif sorted(package.name for package in reported.value) != again.value:
        counts = f"{len(reported.value)} packages, and asked again {len(again.value)}"
        why = "a list ends early, or a package manager is at work: look again when it is done"
        return Reading(None, f"rpm_qa: rpm lists {counts}: {why}")
    return _whole("rpm_qa", "rpm", reported.value)


def _whole(source: str, tool: str, found: Packages) -> Reading[Packages]:
    """The list, where what the tool itself cannot run without is in it."""
    names = {package.name for package in found}
    lost = [name for name in _NEEDS[tool] if name not in names]
    if not lost:
        return Reading(found)
    last = f"; it ends with {found[-1].name}" if found else ""
    why = (
        f"its list is not whole: it lacks {', '.join(lost)}, without which {tool} cannot run{last}: see {_AUDIT[tool]}"
    )
    return Reading(None, f"{source}: {why}")


def _names(text: str) -> list[str]:
    return sorted(clean_lines(text))
