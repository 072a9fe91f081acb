# SPDX-License-Identifier: GPL-3.0-or-later
"""Into how many batches Ansible parts the hosts of a play: ``serial``, as it counts it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def count(hosts: int, serial: Sequence[Any]) -> int:
    """1 without ``serial``; the last of its sizes goes on to the end."""
    sizes = [_size(one, hosts) for one in serial] or [-1]
    found = 0
    while hosts > 0:
        size = sizes[min(found, len(sizes) - 1)]
        found += 1
        if size <= 0:
            break
        hosts -= size
    return max(found, 1)


def _size(said: Any, hosts: int) -> int:
    """A number, or a share of all hosts that is at least one."""
    if isinstance(said, str) and said.endswith("%"):
        return int(int(said.removesuffix("%")) / 100 * hosts) or 1
    return int(said)
