# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder that is root's alone up to /, which a temporary one is not; what is opened there."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

# Somebody else, of whom this machine need not know.
OTHER = 4242
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@contextmanager
def folder() -> Iterator[Path]:
    """For root a folder where only root gets to, for others any; gone in the end."""
    home = "/var/lib" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="ibready-test-", dir=home) as place:
        yield Path(place)


def record(patch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What this process opens from now on in more than name: path and kind of each."""
    real, opened = os.open, []

    def open_(path: Any, flags: int, *args: Any, **more: Any) -> int:
        fd = real(path, flags, *args, **more)
        if not flags & os.O_PATH:
            kind = stat.S_IFMT(os.fstat(fd).st_mode)
            opened.append((os.readlink(f"/proc/self/fd/{fd}"), kind))
        return fd

    patch.setattr(os, "open", open_)
    return opened
