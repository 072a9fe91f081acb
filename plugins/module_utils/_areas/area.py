# SPDX-License-Identifier: GPL-3.0-or-later
"""An area: what is looked at together, and how it is judged. _verify/verify.py has them all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

from .._evidence.sources import Evidence, Questions
from .._expect.expectations import Expectations
from .._ground.check import Check
from .machine.facts import Machine


@dataclass(frozen=True)
class Area:
    """``observe`` gives facts that have ``to_dict``, ``judge`` makes checks of them.

    ``name`` is what the ids of its checks begin with. ``questions``: what it asks by programs of
    our own.
    """

    name: str
    observe: Callable[[Evidence, Machine, Expectations], Any]
    judge: Callable[[Any, Machine, Expectations], list[Check]]
    questions: Questions = field(default_factory=dict)
