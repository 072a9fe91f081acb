# SPDX-License-Identifier: GPL-3.0-or-later
"""Metrics in the text format of Prometheus, as node_exporter's textfile collector reads it.

One wrong line makes the collector refuse the whole file, so a family that breaks a rule is an error
here. Source: prometheus.io, exposition formats, text-based format 0.0.4. Confidence: confirmed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Dict, Tuple, Union

GAUGE, COUNTER = "gauge", "counter"
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*")

Number = Union[int, float]
Sample = Tuple[Dict[str, str], Number]


class FormatError(ValueError):
    """A metric that the format cannot hold; the message names it."""


@dataclass
class Family:
    """All samples of one name. A counter's name ends in ``_total``."""

    name: str
    help: str
    kind: str = GAUGE
    samples: list[Sample] = field(default_factory=list)

    def add(self, value: Number, **labels: str) -> None:
        """One more sample."""
        self.samples.append((labels, value))


def render(families: list[Family]) -> str:
    """The whole file; families without samples are left out. Raises FormatError."""
    lines: list[str] = []
    names: set[str] = set()
    for family in families:
        if _NAME.fullmatch(family.name) is None or family.name in names:
            raise FormatError(f"{family.name!r} is no name, or is there twice")
        if (family.kind == COUNTER) != family.name.endswith("_total"):
            raise FormatError(f"{family.name} is a {family.kind}")
        names.add(family.name)
        if family.samples:
            lines.append(f"# HELP {family.name} {_escaped(family.help)}")
            lines.append(f"# TYPE {family.name} {family.kind}")
            lines += _samples(family)
    return "".join(f"{line}\n" for line in lines)


def _samples(family: Family) -> list[str]:
    seen: set[tuple[tuple[str, str], ...]] = set()
    lines = []
    for labels, value in family.samples:
        wrong = [name for name in labels if _LABEL.fullmatch(name) is None]
        if wrong:
            raise FormatError(f"{family.name}: {wrong[0]!r} is no label")
        if not math.isfinite(value):
            raise FormatError(f"{family.name}{labels}: {value} is no number")
        known = {name: _valid(text) for name, text in labels.items()}
        key = tuple(sorted(known.items()))
        if key in seen:
            raise FormatError(f"{family.name}{labels} is there twice")
        seen.add(key)
        shown = ",".join(f'{name}="{_quoted(text)}"' for name, text in known.items())
        lines.append(f"{family.name}{{{shown}}} {value}" if shown else f"{family.name} {value}")
    return lines


def _valid(text: str) -> str:
    """The text without what UTF-8 cannot hold."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _escaped(text: str) -> str:
    return _valid(text).replace("\\", r"\\").replace("\n", r"\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', r"\"")
