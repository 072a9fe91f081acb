# SPDX-License-Identifier: GPL-3.0-or-later
"""One look at the host as the agent keeps it: /run/ibready/verdict.json.

The file ends in a seal, the SHA256 of all before it: no byte of it changes unseen. The seal tells
damage; who may write there is root alone.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import math
import os
import time
from dataclasses import dataclass, replace
from typing import Any, Sequence

from .._ground import check as _model, state, strict
from .._ground.check import Check
from .._ground.command import Missing, Unavailable, decode
from .._ground.paths import read_regular
from .settings import Settings

SCHEMA = "ibready/last-verdict/2"
GOOD = (_model.READY, _model.DEGRADED)
_BOOT = "/proc/sys/kernel/random/boot_id"
_SEAL = ',\n "seal": "{}"\n}}\n'
_SEAL_LENGTH = len(_SEAL.format("0" * 64))
# Slewing moves both clocks alike (man clock_getres), a step one of them; a leap second is nobody's step.
_DRIFT_S = 1.0


class NoVerdict(Exception):
    """There is no kept verdict that could be taken; the message says why."""


@dataclass(frozen=True)
class Look:
    """``looked_at``: seconds since 1970, at its end. ``why``: why there is no verdict, or "".

    ``boot``: the kernel's id of the boot that it was taken in, and ``up`` the seconds since then.
    ``seconds`` it took, ``cpu_seconds`` and ``peak_bytes`` it cost, the tools that it ran included.
    """

    host: str
    areas: tuple[str, ...]
    checks: tuple[Check, ...] = ()
    looked_at: float = 0.0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    simulated: str = ""
    why: str = ""
    boot: str = ""
    up: float = 0.0

    @property
    def verdict(self) -> str:
        """As of the checks; unknown where there are none."""
        return _model.UNKNOWN_VERDICT if self.why else _model.verdict(self.checks)

    @property
    def trouble(self) -> list[Check]:
        """What keeps the host from being ready, the worst first."""
        return _model.trouble(self.checks)

    def without(self, never: Sequence[str]) -> Look:
        """The same look without the checks whose ids fit one of these globs."""
        if not self.checks:
            return self
        kept = tuple(check for check in self.checks if not any(fnmatch.fnmatchcase(check.id, g) for g in never))
        why = self.why or ("" if kept else "no check is left to judge by")
        return replace(self, checks=kept, why=why)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, schema ibready/last-verdict/2."""
        cost = {"seconds": self.seconds, "cpu_seconds": self.cpu_seconds}
        return {
            "schema": SCHEMA,
            "host": self.host,
            "verdict": self.verdict,
            "why": self.why,
            "looked_at": self.looked_at,
            "boot": self.boot,
            "up": self.up,
            "areas": list(self.areas),
            "simulated": self.simulated,
            "cost": {**cost, "peak_bytes": self.peak_bytes},
            "checks": [check.to_dict() for check in self.checks],
        }


def from_dict(raw: Any) -> Look:
    """What ``to_dict`` gave; ValueError, TypeError or KeyError on anything else."""
    if not isinstance(raw, dict) or raw["schema"] != SCHEMA:
        raise ValueError(f"schema is not {SCHEMA}")
    looked_at, up = float(raw["looked_at"]), float(raw["up"])
    if not (math.isfinite(looked_at) and math.isfinite(up)):
        raise ValueError("looked_at or up is no time")
    return Look(
        host=str(raw["host"]),
        areas=tuple(raw["areas"]),
        checks=tuple(_model.from_dict(check) for check in raw["checks"]),
        looked_at=looked_at,
        seconds=float(raw["cost"]["seconds"]),
        cpu_seconds=float(raw["cost"]["cpu_seconds"]),
        peak_bytes=int(raw["cost"]["peak_bytes"]),
        simulated=str(raw["simulated"]),
        why=str(raw["why"]),
        boot=str(raw["boot"]),
        up=up,
    )


def path(settings: Settings) -> str:
    """Where the last verdict lies."""
    return os.path.join(settings.run, "verdict.json")


def boot_id() -> str:
    """The kernel's id of this boot; raises NoVerdict."""
    try:
        return decode(read_regular(_BOOT, _BOOT)).strip()
    except Unavailable as exc:
        raise NoVerdict(f"nobody can tell which boot this is: {exc}") from None


def uptime() -> float:
    """Seconds since the boot, sleep included, by a clock that nobody can set."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def kept(settings: Settings) -> Look:
    """The kept verdict of this host, these areas and this boot; raises NoVerdict."""
    place = path(settings)
    try:
        known = from_dict(strict.loads(_unsealed(decode(read_regular(place, place)))))
    except Missing:
        raise NoVerdict(f"no verdict is kept: there is no {place}") from None
    except Unavailable as exc:
        raise NoVerdict(f"the kept verdict cannot be read: {exc}") from None
    except (ValueError, TypeError, KeyError) as exc:
        raise NoVerdict(f"{place} is not as ibready wrote it: {exc}") from None
    if known.host != settings.host:
        raise NoVerdict(f"the kept verdict is of {known.host}, and this is {settings.host}")
    if known.areas != settings.areas:
        raise NoVerdict(f"the kept verdict is of {', '.join(known.areas)}, and {', '.join(settings.areas)} are judged")
    if not known.boot or known.boot != boot_id():
        raise NoVerdict("the kept verdict is of another boot")
    return known


def last(settings: Settings) -> Look | None:
    """The same; None where there is none that could be taken."""
    try:
        return kept(settings)
    except NoVerdict:
        return None


def age(known: Look) -> float:
    """Seconds since a look of this boot, the longer of what two clocks say; raises NoVerdict."""
    by_clock, by_boot = time.time() - known.looked_at, uptime() - known.up
    if by_boot < 0:
        raise NoVerdict("the kept verdict was taken later in this boot than it is now")
    if by_clock < by_boot - _DRIFT_S:
        raise NoVerdict(f"the clock was moved back {by_boot - by_clock:.0f} s since the kept verdict was taken")
    return max(by_clock, by_boot)


def save(settings: Settings, made: Look) -> None:
    """Put it in place at once; raises OSError."""
    body = json.dumps(made.to_dict(), indent=1)[: -len("\n}")]
    state.write(path(settings), body + _seal(body), 0o644)


def _seal(body: str) -> str:
    return _SEAL.format(hashlib.sha256(body.encode()).hexdigest())


def _unsealed(text: str) -> str:
    """The text, where it is what ``save`` wrote; raises ValueError."""
    body = text[:-_SEAL_LENGTH]
    if text[-_SEAL_LENGTH:] != _seal(body):
        raise ValueError("its seal does not fit")
    return text
