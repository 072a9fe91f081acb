# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather whether packages are updated behind the operator's back, and which are left alone."""

from __future__ import annotations

from ..._data import host_units
from ..._evidence import ask
from ..._evidence.sources import Evidence, Missing, Unavailable
from ..._ground.reading import Reading
from ..._parse import apt_conf
from .facts import UpdateFacts
from .observe_services import units

APT = "/etc/apt/apt.conf.d"
APT_LAST = "/etc/apt/apt.conf"
DPKG = "/var/lib/dpkg/status"
DNF_AUTOMATIC = "/etc/dnf/automatic.conf"
DNF = "/etc/dnf/dnf.conf"
VERSIONLOCK = "/etc/dnf/plugins/versionlock.list"
_INSTALL = "apt::periodic::unattended-upgrade"
_LEAVE = "unattended-upgrade::package-blacklist"
_YES = ("yes", "true", "1", "on")


def observe(evidence: Evidence) -> UpdateFacts:
    """By apt's own files or dnf's, whichever the host has, and the timers that act on them."""
    names = ask.names(evidence, APT)
    if names.value is not None:
        return _apt(evidence, names.value)
    if not names.missing:
        return UpdateFacts(Reading(None, names.why))
    automatic = ask.text(evidence, DNF_AUTOMATIC)
    if automatic.value is None:
        return UpdateFacts(Reading(None, automatic.why, automatic.missing))
    return _dnf(evidence, automatic.value)


def _apt(evidence: Evidence, names: list[str]) -> UpdateFacts:
    if not names:
        # apt's own packages put some there.
        return UpdateFacts(Reading(None, f"{APT}: no file in it"))
    said: list[tuple[str, str]] = []
    try:
        for name in names:
            # apt passes over files with another ending.
            if "." not in name or name.endswith(".conf"):
                said += apt_conf.settings(evidence.read(f"{APT}/{name}"))
        said += _last_word(evidence)
    except Unavailable as exc:
        return UpdateFacts(Reading(None, str(exc)))
    except ValueError as exc:
        return UpdateFacts(Reading(None, f"apt's configuration: {exc}"))
    switch = [value for key, value in said if key == _INSTALL]
    if not switch or switch[-1] in ("", "0"):
        return UpdateFacts(Reading(""), "unattended-upgrades is not switched on")
    status = ask.text(evidence, DPKG).map(apt_conf.held)
    listed = [value for key, value in said if key == _LEAVE]
    left = status.map(lambda held: (*listed, *held))
    return _acting(evidence, "unattended-upgrades", (host_units.APT_TIMER,), left)


def _last_word(evidence: Evidence) -> list[tuple[str, str]]:
    """What apt reads after all others, where there is such a file."""
    try:
        return apt_conf.settings(evidence.read(APT_LAST))
    except Missing:
        return []


def _dnf(evidence: Evidence, automatic: str) -> UpdateFacts:
    mine = apt_conf.options(automatic)
    applies = mine.get("apply_updates", "no").lower() in _YES
    acting = host_units.DNF_TIMERS if applies else host_units.DNF_TIMERS[1:]
    patterns = _excludes(automatic)
    for path, read in ((DNF, _excludes), (VERSIONLOCK, locked)):
        text = ask.text(evidence, path)
        if text.value is None and not text.missing:
            return _acting(evidence, "dnf-automatic", acting, Reading(None, text.why))
        patterns += read(text.value or "")
    return _acting(evidence, "dnf-automatic", acting, Reading(tuple(patterns)))


def _excludes(text: str) -> list[str]:
    said = apt_conf.options(text)
    return f"{said.get('exclude', '')} {said.get('excludepkgs', '')}".replace(",", " ").split()


def locked(text: str) -> list[str]:
    """The lines of dnf's list of locks that hold a package."""
    lines = [line.strip() for line in text.split("\n")]
    # "!" leaves out one version: the package itself goes on.
    return [line for line in lines if line and line[0] not in "#!"]


def _acting(evidence: Evidence, name: str, acting: tuple[str, ...], left: Reading[tuple[str, ...]]) -> UpdateFacts:
    """Who installs updates: nobody, where no timer that would have it done is running."""
    timers = units(evidence, host_units.UPDATES)
    if timers.value is None:
        return UpdateFacts(Reading(None, timers.why))
    running = [timer.name for timer in timers.value if timer.name in acting and timer.active == "active"]
    if not running:
        return UpdateFacts(Reading(""), f"{' and '.join(acting)} not running")
    return UpdateFacts(Reading(f"{name} ({running[0]})"), left_alone=left)
