# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes out of a derivation: lines of nccl.conf, and everything that has to be told beside them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# NCCL cuts lines at 1023 bytes, comments too.
_LONGEST = 400


@dataclass(frozen=True)
class Setting:
    """A variable of NCCL with its value as text; `reason` becomes the comment above it."""

    name: str
    value: str
    reason: str = ""


@dataclass(frozen=True)
class Untold:
    """A line that may be needed and could not be derived, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class LeftOut:
    """A port that is not in NCCL_IB_HCA, why, and how sure that is (host.SAID ... host.LOW)."""

    port: str
    why: str
    confidence: str


@dataclass(frozen=True)
class Derived:
    """``settings``: the lines, in their order. ``remarks``: what stops nothing."""

    settings: tuple[Setting, ...] = ()
    untold: tuple[Untold, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def one_line(text: str) -> str:
    """The text fit for a comment or a message: one line of printable ASCII, not too long."""
    shown = "".join(entry if " " <= entry <= "~" else "?" for entry in " ".join(text.split()))
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 3] + "..."


def setting(name: str, value: object, reason: str) -> Setting:
    """A line with a reason that fits above it."""
    return Setting(name, str(value), one_line(reason))


def untold(name: str, why: str) -> Untold:
    return Untold(name, one_line(why))
