# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Ctrl-C does to a command: it ends, and cleans up first."""

from __future__ import annotations

import signal
from types import FrameType

from sandbox.errors import SandboxError


def interrupted(number: int, _: FrameType | None) -> None:
    """Handle SIGTERM and SIGINT."""
    # Once is enough: what follows is cleaning up.
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)
    raise SandboxError(f"interrupted by {signal.Signals(number).name}")
