# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases of NCCL as three numbers that compare."""

from __future__ import annotations

from typing import Iterable, Tuple

from .._data.cuda import FIRST_NCCL
from .._data.nccl_names import NEWEST_LIBRARY
from .._parse.version_text import numbers

Release = Tuple[int, ...]
# What is not known to have changed since is taken to be as in this one.
NEWEST: Release = NEWEST_LIBRARY


def release(text: str) -> Release:
    """``2.23.4`` and a package's ``2.23.4-1+cuda12.6`` as (2, 23, 4).

    Raises ValueError where it has fewer than three numbers: 2.23.4 and 2.23 may read differently.
    """
    found = numbers(text.split(":")[-1])[:3]
    if len(found) < 3:
        raise ValueError(f"{text!r} is no release of NCCL such as 2.23.4")
    return found


def shown(release: Release) -> str:
    """The release as a text: 2.23.4; a series as 2.23."""
    return ".".join(map(str, release))


def without_code(version: str, architectures: Iterable[str]) -> str:
    """Why a build (2.18.3-1+cuda12.2) has no code for such GPUs; "" where nothing is known against it."""
    mine, built = numbers(version.split(":")[-1])[:3], numbers(version.partition("+cuda")[2])
    for architecture in architectures:
        first, toolkit = FIRST_NCCL.get(architecture, ((), ()))
        if mine and mine < first:
            return (
                f"NCCL {shown(mine)} has no code for {architecture} GPUs: the first release with it is {shown(first)}"
            )
        if built and built < toolkit:
            least = f"only builds by CUDA {shown(toolkit)} or newer have it"
            return f"NCCL built by CUDA {shown(built)} has no code for {architecture} GPUs: {least}"
    return ""
