# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cases a long test has: of each kind the first in every run, all of them with ``IBREADY_CASES=all``."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

ALL = os.environ.get("IBREADY_CASES") == "all"

Case = TypeVar("Case")


def some(cases: Iterable[Case], kind: Callable[[Case], Hashable]) -> list[Case]:
    """Return the first case of each kind, in their order; every case where all are asked for."""
    known = list(cases)
    return known if ALL else list({kind(one): one for one in reversed(known)}.values())[::-1]
