# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is at work on this node: one run at a time, until it gives the node back or its time is up.

A run changes the node (CHANGES, which survives the reboots that it brings about itself), or has
servers there for others to ask (PINGS, DATA). All times are this node's own.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Mapping

from .._ground import state

CHANGES = f"{state.DIRECTORY}/lease/changes.json"
PINGS = "/run/ibready-lease/pings.json"
DATA = "/run/ibready-lease/data.json"
# Of every module that takes one; doc_fragments/run.py documents them.
OPTIONS = {name: {"type": "str", "default": ""} for name in ("run", "who", "what", "over")}


@dataclass(frozen=True)
class Run:
    """``id`` tells it from every other run; ``who`` and ``what`` are for messages."""

    id: str
    who: str
    what: str


@dataclass(frozen=True)
class Lease:
    """``run``, ``who`` and ``what`` are those of the Run; ``since`` and ``until`` ISO 8601, UTC."""

    run: str
    who: str
    what: str
    since: str
    until: str

    def alive(self, at: datetime) -> bool:
        return at < datetime.fromisoformat(self.until)

    def told(self) -> str:
        """In words."""
        return (
            f"another run is at work here: {self.what} by {self.who} since {self.since}, until "
            f"{self.until} at the latest"
        )


class Busy(Exception):
    """Another run has it; says which."""

    def __init__(self, lease: Lease) -> None:
        super().__init__(lease.told())
        self.lease = lease


def have(path: str, given: Mapping[str, Any], seconds: float, *, force: bool = False) -> None:
    """Take it, or have it longer, for the run that a module's OPTIONS name; without one do nothing.

    Raises Busy and StateError.
    """
    run = Run(given["run"], given["who"], given["what"])
    if not run.id:
        return
    lease = take(path, run, seconds, now(), over=given["over"], force=force)
    if lease.run != run.id:
        raise Busy(lease)


def other(path: str, run: str) -> Lease | None:
    """The lease that another run has now; None where none has. Raises StateError."""
    held = read(path)
    return held if held and held.run != run and held.alive(now()) else None


def now() -> datetime:
    return datetime.now(timezone.utc)


def read(path: str) -> Lease | None:
    """The lease in a file, alive or not; None where there is none.

    Raises StateError where nobody can tell.
    """
    known = state.load_file(path)
    if not known:
        return None
    try:
        lease = Lease(**{name: str(value) for name, value in known.items()})
        lease.alive(now())
    except (TypeError, ValueError) as exc:
        raise state.StateError(
            f"{path} does not tell who is at work here: {exc}. Next: remove it, if nobody is"
        ) from exc
    return lease


def take(path: str, run: Run, seconds: float, at: datetime, *, over: str = "", force: bool = False) -> Lease:
    """Take it for a run, or longer than before. Returns the lease that counts now, whose ever.

    ``over``: the id of a run that has ended, and ``force``: over any, and what cannot be read.
    Raises StateError.
    """
    folder = os.path.dirname(path)
    with state.locked(folder):
        held = None
        try:
            held = read(path)
        except state.StateError:
            if not force:
                raise
        if held and held.alive(at) and held.run not in (run.id, over) and not force:
            return held
        since = held.since if held and held.run == run.id else _text(at)
        until = _text(at + timedelta(seconds=seconds))
        lease = Lease(run.id, run.who, run.what, since, until)
        state.save_file(path, asdict(lease))
        return lease


def give(path: str, run: str) -> bool:
    """Give back what the run of this id has; whether it had anything. Raises StateError."""
    if not os.path.exists(path):
        return False
    with state.locked(os.path.dirname(path)):
        held = read(path)
        if held is None or held.run != run:
            return False
        state.save_file(path, {})
        return True


def _text(at: datetime) -> str:
    return at.isoformat(sep=" ", timespec="seconds")
