# SPDX-License-Identifier: GPL-3.0-or-later
"""One look at the host as the agent remembers it: /run/ibready/verdict.json."""

from __future__ import annotations

import fnmatch
import json
import math
import os
from dataclasses import dataclass, replace
from typing import Any, Sequence

from .._ground import check as _model, state, strict
from .._ground.check import Check
from .._ground.command import Unavailable, decode
from .._ground.paths import read_regular
from .settings import Settings

SCHEMA = "ibready/last-verdict/1"
GOOD = (_model.READY, _model.DEGRADED)


@dataclass(frozen=True)
class Look:
    """``looked_at``: seconds since 1970, at its end. ``why``: why there is no verdict, or "".

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
        """JSON-ready, schema ibready/last-verdict/1."""
        cost = {"seconds": self.seconds, "cpu_seconds": self.cpu_seconds}
        return {
            "schema": SCHEMA,
            "host": self.host,
            "verdict": self.verdict,
            "why": self.why,
            "looked_at": self.looked_at,
            "areas": list(self.areas),
            "simulated": self.simulated,
            "cost": {**cost, "peak_bytes": self.peak_bytes},
            "checks": [check.to_dict() for check in self.checks],
        }


def from_dict(raw: Any) -> Look:
    """What ``to_dict`` gave; ValueError, TypeError or KeyError on anything else."""
    if not isinstance(raw, dict) or raw["schema"] != SCHEMA:
        raise ValueError(f"schema is not {SCHEMA}")
    looked_at = float(raw["looked_at"])
    if not math.isfinite(looked_at):
        raise ValueError("looked_at is no time")
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
    )


def path(settings: Settings) -> str:
    """Where the last verdict lies."""
    return os.path.join(settings.run, "verdict.json")


def last(settings: Settings) -> Look | None:
    """The last look of this host at these areas; None where there is none that can be read."""
    place = path(settings)
    try:
        known = from_dict(strict.loads(decode(read_regular(place, place))))
    except (Unavailable, ValueError, TypeError, KeyError):
        return None
    return known if (known.host, known.areas) == (settings.host, settings.areas) else None


def save(settings: Settings, made: Look) -> None:
    """Put it in place at once; raises OSError."""
    state.write(path(settings), json.dumps(made.to_dict(), indent=1) + "\n", 0o644)
