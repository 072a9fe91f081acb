# SPDX-License-Identifier: GPL-3.0-or-later
"""Xids, the error numbers of the GPU driver: what they mean and what to do about them (xids.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load_by_key
from ._rows import xids as rows

FATAL = "fatal"  # the GPU is of no use until it was reset, rebooted or replaced
EARLY = "early"  # it still works, and this is how worse things begin
APPLICATION = "application"  # a program's own fault: it dies, the GPU does not
BY_TEXT = "by text"  # the message says itself how bad it is


RESET = "stop its programs and reset the GPU (`nvidia-smi --gpu-reset -i BUS-ID`), or reboot"
WATCH = "watch whether it comes again; reset the GPU at the next service"


@dataclass(frozen=True)
class Meaning:
    """What one number stands for."""

    kind: str
    means: str
    remedy: str
    confidence: str = "confirmed"


XIDS: dict[int, Meaning] = load_by_key(Meaning, rows.XIDS)
RECOVERY = 154  # its text ends in what the GPU needs now, in brackets
# What stands there (and in `nvidia-smi -q`, GPU Recovery Action), in lower case.
NEEDS_NOTHING = ("none",)
NEEDS_RESET = ("reset", "gpu reset required", "gpu reset")
NEEDS_REBOOT = ("reboot", "node reboot required", "os reboot")
NEEDS_DRAIN = ("drain p2p", "drain and reset")
# What mends it then. The words of a drain leave it to the first Xid.
ACTIONS = {
    **dict.fromkeys(
        NEEDS_RESET, "drain the host, then reset the GPU (`nvidia-smi --gpu-reset -i BUS-ID`), as the driver asks"
    ),
    **dict.fromkeys(NEEDS_REBOOT, "drain the host and reboot it, as the driver asks: a reset of the GPU is not enough"),
}
# What the messages of 144 to 150 say of themselves, in lower case.
SAYS_HARMLESS = ("nonfatal", "non-fatal", "non fatal")
SAYS_FATAL = ("fatal",)
