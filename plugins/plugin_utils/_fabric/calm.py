# SPDX-License-Identifier: GPL-3.0-or-later
"""Hundreds of thousands of objects at once, and none of them in a cycle: no use to look for any."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def uncollected(function: Callable[P, T]) -> Callable[P, T]:
    """Keep the cyclic garbage collector out while the function runs.

    It looks at every living object again and again: a third of the time with 8,192 ports, and a
    growing share.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        if not gc.isenabled():
            return function(*args, **kwargs)
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            gc.enable()

    return run
