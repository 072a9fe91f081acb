# SPDX-License-Identifier: GPL-3.0-or-later
"""What the site says of a job; the rest is rendered from facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .words import LaunchError, is_argument, is_image, is_mount

PORT = 29500
PROGRAM = "train.py"


@dataclass(frozen=True)
class Options:
    """``program``: "" for the default of a kind. ``nodes``: how many of the hosts, 0 for all.
    ``processes``: on each host, 0 for one a GPU. ``mounts``: folders that a container sees at the
    same place. ``bucket_mb``: MiB of gradients that go in a single all-reduce, ``accumulation``: batches
    before it; 0 leaves them to the framework."""

    image: str = ""
    program: str = ""
    arguments: tuple[str, ...] = ()
    nodes: int = 0
    processes: int = 0
    port: int = PORT
    mounts: tuple[str, ...] = ()
    bucket_mb: int = 0
    accumulation: int = 0

    def command(self, otherwise: str = PROGRAM) -> tuple[str, ...]:
        """The program with its arguments; Python runs what ends with .py."""
        program = self.program or otherwise
        python = ("python3",) if program.endswith(".py") else ()
        return (*python, program, *self.arguments)


def read(given: Mapping[str, Any]) -> Options:
    """Check the options; LaunchError names the first that cannot be used."""
    made = Options(
        image=str(given.get("image") or ""),
        program=str(given.get("program") or ""),
        arguments=tuple(str(argument) for argument in given.get("arguments") or ()),
        nodes=int(given.get("nodes") or 0),
        processes=int(given.get("processes") or 0),
        port=int(given.get("port") or PORT),
        mounts=tuple(str(mount) for mount in given.get("mounts") or ()),
        bucket_mb=int(given.get("bucket_mb") or 0),
        accumulation=int(given.get("accumulation") or 0),
    )
    _refuse("program", [made.program], is_argument, "has characters that cannot be seen")
    _refuse("arguments", made.arguments, is_argument, "has characters that cannot be seen")
    _refuse("image", [made.image], lambda entry: not entry or is_image(entry), "is no container image")
    _refuse("mounts", made.mounts, is_mount, "is no absolute path of letters, digits and . _ - + alone")
    if made.program.startswith("-"):
        raise LaunchError(f"program: {made.program!r} would be read as an option; next: write ./{made.program}")
    if not 1024 <= made.port <= 65535:
        raise LaunchError(f"port: {made.port} is none that a job may listen on; next: take one from 1024 to 65535")
    for name in ("nodes", "processes", "bucket_mb", "accumulation"):
        if getattr(made, name) < 0:
            raise LaunchError(f"{name}: {getattr(made, name)} is less than 1; next: leave it out")
    return made


def _refuse(name: str, values: Sequence[str], fits: Any, why: str) -> None:
    for value in values:
        if not fits(value):
            raise LaunchError(f"{name}: {value!r} {why}; next: write it otherwise")
