# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what the files of a service ask for: which of them sets a limit that is too low."""

from __future__ import annotations

from typing import Iterable, Mapping, Sequence

from ..._data import host_limits
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.bound import Bound
from ..._ground.reading import Reading
from ..._parse import proc_limits
from ..._parse.proc_limits import Limits
from ..._parse.systemctl_show import Block
from .facts import MANAGER, UnitLimit

# By limit: the property that counts, and what is enough.
ENOUGH = {
    "MEMLOCK": ("LimitMEMLOCKSoft", proc_limits.UNLIMITED),
    "NOFILE": ("LimitNOFILE", host_limits.NOFILE_HARD),
}
# systemd reads them in this order; of two files of one name the one in the last folder counts.
_MANAGER = "/etc/systemd/system.conf"
_FOLDERS = (
    "/usr/lib/systemd/system.conf.d",
    "/run/systemd/system.conf.d",
    "/etc/systemd/system.conf.d",
)
# Drop-ins of one unit: of more the last ones, which count.
_MOST: Bound = 40


def asked(
    evidence: Evidence,
    shown: Sequence[Block],
    limits: Mapping[str, Reading[Limits]],
    default: Limits | None,
) -> dict[str, dict[str, UnitLimit]]:
    """What each service with ``limits`` asks for, by what is ``shown`` of it.

    Files are read only where that is too little.
    """
    units = {block["Id"]: block for block in shown if "Id" in block}
    found = {}
    for service in limits:
        block = units.get(service, {})
        paths = [block.get("FragmentPath", ""), *block.get("DropInPaths", "").split()[-_MOST:]]
        entry = {key: _limit(block.get(name, "")) for key, (name, _least) in ENOUGH.items()}
        reported = {key: UnitLimit(value) for key, value in entry.items()}
        if any(_low(key, value) for key, value in entry.items()):
            texts = _texts(evidence, paths)
            reported = {key: _set_by(f"Limit{key}", value, texts) for key, value in entry.items()}
        found[service] = reported
    if default is not None and _low("MEMLOCK", default.memlock_soft):
        texts = _texts(evidence, _of_manager(evidence))
        found[MANAGER] = {
            "MEMLOCK": _set_by("DefaultLimitMEMLOCK", default.memlock_soft, texts),
            "NOFILE": _set_by("DefaultLimitNOFILE", default.nofile_hard, texts),
        }
    return found


def _low(key: str, value: int | None) -> bool:
    return value is not None and value < ENOUGH[key][1]


def _limit(text: str) -> int | None:
    try:
        return proc_limits.number(text)
    except ValueError:
        return None


def _of_manager(evidence: Evidence) -> list[str]:
    found: dict[str, str] = {}
    for folder in _FOLDERS:
        for name in ask.names(evidence, folder).value or ():
            if name.endswith(".conf"):
                found[name] = f"{folder}/{name}"
    return [_MANAGER, *(found[name] for name in sorted(found))]


def _texts(evidence: Evidence, paths: Iterable[str]) -> list[tuple[str, str]]:
    reported = [(path, ask.text(evidence, path).value) for path in paths if path.startswith("/")]
    return [(path, text) for path, text in reported if text is not None]


def _set_by(key: str, value: int | None, texts: Iterable[tuple[str, str]]) -> UnitLimit:
    """The last line that sets it; an empty value takes back what came before."""
    found = UnitLimit(value)
    for path, text in texts:
        for line in text.split("\n"):
            name, equals, said = line.strip().partition("=")
            if equals and name.strip() == key:
                line = f"{key}={said.strip()}"
                found = UnitLimit(value, line, path) if said.strip() else UnitLimit(value)
    return found
