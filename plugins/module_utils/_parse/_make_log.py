# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the make.log of a build by DKMS: which lines tell why it failed (its last ones never do), and what they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._ground.text import printable
from .failures import meaning

_MOST, _LONGEST = 3, 240
# Where DKMS builds, which stands before every name.
_PLACE = re.compile(r"/var/lib/dkms/[^ :]{1,200}/build/")
_ERROR = re.compile(
    r"(?:^|: )(?:fatal )?error: |^ERROR: |: (?:command )?not found$|No space left on device|No rule to make"
)
# A line of a compiler's command has these words among its options.
_COMMAND = re.compile(r" -W| -D__KERNEL__")
# DKMS begins its log before anything else.
_EMPTY = ("its log is empty, as where the disk is full", "free some space below /var/lib/dkms")


@dataclass(frozen=True)
class Failure:
    """``lines``: that tell it, the first ones. ``cause``, ``following``: "" where nobody knows what they mean."""

    lines: tuple[str, ...] = ()
    cause: str = ""
    following: str = ""


def parse(text: str) -> Failure:
    """What a build failed of; no lines where the log tells of no error."""
    if not text.strip():
        return Failure((), *_EMPTY)
    told = []
    for line in text.splitlines():
        if (_ERROR.search(line) or "Killed signal" in line) and not _COMMAND.search(line):
            plain = printable(_PLACE.sub("", line).strip(), _LONGEST)
            if plain not in told:
                told.append(plain)
    more = [f"and {len(told) - _MOST} more lines of errors"] if len(told) > _MOST else []
    first = (*told[:_MOST], *more)
    known = (known for line in told if (known := meaning("compiler", "", line))[0])
    return Failure(first, *next(known, ("", "")))
