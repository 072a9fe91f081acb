# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what leads jobs past the host's NCCL library, or past its /etc/nccl.conf."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Iterator

from ..._data.nccl_library import SONAME
from ..._data.nccl_reading import SYSTEM_FILE
from ..._evidence.redact import masked
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.text import few
from ..._nccl.problem import short
from ..._nccl.release import release
from ..._parse.nccl_copies import Copy
from .check_library import unasked
from .facts import HostFacts

_LIBRARY = "nccl.copies.library"
_CONF = "nccl.copies.conf"
_ENVIRONMENT = "nccl.copies.environment"
_MOST = 4
_NAMES = "NCCL_"
_LINKER = "/etc/ld.so.conf"


def judge(here: HostFacts) -> Iterator[Check]:
    """nccl.copies.*"""
    yield _library(here)
    yield _conf(here)
    yield _environment(here)


def _library(here: HostFacts) -> Check:
    copies = here.copies.copies
    if copies.value is None:
        return unknown(_LIBRARY, SONAME, copies.why or "nobody searched")
    own = here.asked.library.value
    if own is None and not here.asked.library.missing:
        # Without the linker's answer nobody knows which copy is the one too many, and none is to be taken away.
        return unasked(_LIBRARY, here)
    others = [copy for copy in copies.value if own is None or copy.real != own.real]
    # Which of the linker's own folders wins, the proof has shown.
    led = [
        other
        for other in others
        if other.how.startswith("/") and not _same(other, here) and not other.how.startswith(_LINKER)
    ]
    expected = "no other release on the way of every process"
    if led:
        cause = f"{short(led[0].how)} leads processes there"
        check = failed(_LIBRARY, SONAME, _listed(led), expected, CAPABILITY, cause=cause)
        # A newer release may do as well; an older one lacks what the planned one was chosen for.
        return replace(check, severity="error") if any(_older(copy, here) for copy in led) else check
    return _unless_unseen(here, _LIBRARY, SONAME, _listed(others) or "no other", expected)


def _older(copy: Copy, here: HostFacts) -> bool:
    own = here.asked.library.value
    try:
        return own is not None and release(copy.version) < release(own.version)
    except ValueError:
        return False


def _same(copy: Copy, here: HostFacts) -> bool:
    own = here.asked.library.value
    return own is not None and bool(own.version) and copy.version == own.version


def _listed(copies: Iterable[Copy]) -> str:
    reported = [f"{copy.version or '?'} in {short(copy.path)}" for copy in copies]
    return few(reported, _MOST)


def _conf(here: HostFacts) -> Check:
    confs = here.copies.confs
    if confs.value is None:
        return unknown(_CONF, SYSTEM_FILE, confs.why or "nobody searched")
    expected = f"no file that NCCL reads ahead of {SYSTEM_FILE}"
    if confs.value:
        reported = [f"{short(conf.path)} ({short(conf.who)})" for conf in confs.value]
        return failed(_CONF, SYSTEM_FILE, few(reported, _MOST), expected, CAPABILITY)
    homes = [short(entry.place) for entry in here.copies.unseen if entry.holds_homes]
    if homes:
        why = f"none on this host; not looked at: {few(homes, _MOST)}, on another machine"
        return skipped(_CONF, SYSTEM_FILE, why)
    return _unless_unseen(here, _CONF, SYSTEM_FILE, "none", expected)


def _environment(here: HostFacts) -> Check:
    files, units = here.copies.settings, here.copies.units
    expected = "no NCCL variable in the environment of every job"
    own = {conf.path for conf in here.copies.confs.value or ()}
    found = [entry for entry in (*(files.value or ()), *(units.value or ())) if entry.place not in own]
    reported = [
        f"{masked(f'{setting.name}={short(setting.value)}')} in {short(setting.place)}"
        f"{f':{setting.line}' if setting.line else ''}"
        for setting in found
        if setting.name.startswith(_NAMES)
    ]
    if reported:
        return failed(_ENVIRONMENT, SYSTEM_FILE, few(reported, _MOST), expected, CAPABILITY)
    for reading in (files, units):
        if reading.value is None and not reading.missing:
            return unknown(_ENVIRONMENT, SYSTEM_FILE, reading.why or "nobody searched")
    return _unless_unseen(here, _ENVIRONMENT, SYSTEM_FILE, "none", expected)


def _unless_unseen(here: HostFacts, check_id: str, subject: str, observed: str, expected: str) -> Check:
    """Passed, unless a file that would tell could not be read."""
    unseen = here.copies.unseen
    own = [entry for entry in unseen if not entry.beyond]
    if own:
        why = f"{short(own[0].place)}: {own[0].why}"
        more = f" (and {len(own) - 1} more)" if len(own) > 1 else ""
        return unknown(check_id, subject, f"{why}{more}", observed=observed)
    if unseen:
        places = few([short(entry.place) for entry in unseen], _MOST)
        observed = f"{observed}; not searched: {places}"
    return passed(check_id, subject, observed, expected, CAPABILITY)
