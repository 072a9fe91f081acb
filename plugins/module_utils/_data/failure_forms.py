# SPDX-License-Identifier: GPL-3.0-or-later
"""The forms in which programs tell that something failed, and what is known of some failures (failure_forms.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from .._ground.text import UNSAID
from ._rows import failure_forms as rows


@dataclass(frozen=True)
class Form:
    form: str
    tool: str
    pattern: str
    unless: tuple[str, ...] = ()
    below: str = ""
    nested: bool = False


@dataclass(frozen=True)
class Cause:
    """``means``: what the words themselves show. ``causes``: what is known to lead to it, and not shown by them.
    ``proof``, ``other``: words of this form that it tells, and that it must not."""

    form: str
    tool: str
    pattern: str
    means: str
    remedy: str
    proof: str
    other: str
    causes: str = ""

    @property
    def told(self) -> str:
        return f"{self.means}; {UNSAID}{self.causes}" if self.causes else self.means


ORDER: tuple[str, ...] = rows.ORDER
FORMS: tuple[Form, ...] = load(Form, rows.FORMS)
OF: dict[str, tuple[str, ...]] = rows.OF
CAUSES: tuple[Cause, ...] = load(Cause, rows.CAUSES)
