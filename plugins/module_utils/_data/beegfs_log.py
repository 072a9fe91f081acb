# SPDX-License-Identifier: GPL-3.0-or-later
"""What BeeGFS' client and daemons log of their connections, and what each message means (beegfs_log.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load, load_by_key
from ._rows import beegfs_log as rows


@dataclass(frozen=True)
class Cause:
    """``means``: what is wrong. ``remedy``: the next step. ``mount``: it keeps a client from mounting, so that a mount
    that came about later ends it."""

    means: str
    remedy: str
    mount: bool = False


@dataclass(frozen=True)
class Message:
    """``step``: what is said besides the reason, and counts only where no reason is told."""

    cause: str
    pattern: str
    source: str
    step: bool = False
    seen: bool = False


# Causes that the reader itself looks for.
FALLBACK, TCP, RAILS, SERVER = "fallback", "tcp", "rails", "server"
MOUNT, HELPER = "mount", "helper"


CAUSES: dict[str, Cause] = load_by_key(Cause, rows.CAUSES)

# Where a newer ibready told a cause that this one does not know.
OTHER = Cause("BeeGFS says so", "read the lines around it in the log")


MESSAGES: tuple[Message, ...] = load(Message, rows.MESSAGES)

FOLLOWS: dict[str, tuple[str, ...]] = rows.FOLLOWS

# What the client says once a mount came about; what ends HELPER; and when a client began and ended.
READY = "BeeGFS mount ready"
HEARD_AGAIN = "External logger (provided by beegfs-helperd) is reachable now"
BEGUN, STOPPED = "BeeGFS Client Version: ", "All components stopped"
# What a daemon says besides; a client says STOPPED as well of a mount that it gave up. Source: App.cpp of each daemon,
# App.c of the client (App_stop).
EXITS = "Exiting now"
