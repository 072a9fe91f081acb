# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel modules that a site keeps out: which may be, and what the file in modprobe.d says."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..._data.rdma_modules import CORE, DRIVERS, RELEVANT, USERLAND

PATH = "/etc/modprobe.d/ibready-blacklist.conf"
HEADER = "# Written by ibready.cluster.module_blacklist. The next run undoes changes made by hand."
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
_LINE = re.compile(r"^blacklist (\S+)$", re.MULTILINE)
# Without these the stack that the other roles install cannot work.
_NEEDED = frozenset(
    (
        *(entry.name for entry in (*CORE, *USERLAND)),
        *RELEVANT,
        *DRIVERS,
        *DRIVERS.values(),
        *("nvidia_uvm", "nvidia_modeset", "nvidia_drm"),
    )
)


class BlacklistError(ValueError):
    """A name that cannot be kept out, with the reason."""


def checked(names: Iterable[str]) -> tuple[str, ...]:
    """The names as the kernel writes them, each once, in order; BlacklistError for a bad one."""
    found: dict[str, None] = {}
    for name in names:
        plain = name.replace("-", "_")
        if not _NAME.fullmatch(name):
            raise BlacklistError(f"{name!r} is not the name of a kernel module")
        if plain in _NEEDED:
            raise BlacklistError(
                f"{name} is part of the stack that ibready installs: without it no GPU or HCA "
                "works. Next: take it out of the list"
            )
        found[plain] = None
    return tuple(found)


def render(names: Iterable[str]) -> str:
    """The file: not loaded by itself, nor by another module; "" without names."""
    lines = [f"blacklist {name}\ninstall {name} /bin/false\n" for name in names]
    return f"{HEADER}\n{''.join(lines)}" if lines else ""


def names_in(text: str) -> tuple[str, ...]:
    """The modules that a file by `render` keeps out."""
    return tuple(_LINE.findall(text))


def still_loaded(names: Iterable[str], modules: Iterable[str]) -> list[str]:
    """Which of these are in the kernel; `modules` are the names in /proc/modules."""
    loaded = set(modules)
    return [name for name in names if name in loaded]
