# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the make.log of a build by DKMS: which lines tell why it failed (its last ones never do), and what they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._ground.text import printable

_MOST, _LONGEST = 3, 240
# Where DKMS builds, which stands before every name.
_PLACE = re.compile(r"/var/lib/dkms/[^ :]{1,200}/build/")
_ERROR = re.compile(
    r"(?:^|: )(?:fatal )?error: |^ERROR: |: (?:command )?not found$|No space left on device|No rule to make"
)
# A line of a compiler's command has these words among its options.
_COMMAND = re.compile(r" -W| -D__KERNEL__")
_UNFIT = re.compile(
    r"too (?:few|many) arguments to function|implicit declaration of function|has no member named|incompatible pointer"
    r"|passing argument \d+ of|conflicting types for|undeclared|unknown type name|modpost: .{1,200}undefined!"
    r"|GPL-incompatible module|No such file or directory"
)
# DKMS begins its log before anything else.
_EMPTY = ("its log is empty, as where the disk is full", "free some space below /var/lib/dkms")
_MEANS = (
    (re.compile(r"No space left on device"), "the disk is full", "free some space on it"),
    (
        re.compile(r"\b(?:gcc|cc|clang|make|ld)\S{0,12}: (?:command )?not found|unrecognized command-line option"),
        "the compiler that this kernel was built with is not there, or is another one",
        "install the compiler that /proc/version names",
    ),
    (
        re.compile(r"Killed signal terminated program|Cannot allocate memory|virtual memory exhausted"),
        "the compiler ran out of memory",
        "build with fewer jobs, or more memory",
    ),
    (
        re.compile(
            r"No rule to make target|generated/\S{1,80}: No such file|headers .{0,60}(?:not found|cannot be found)"
        ),
        "the kernel's headers are not whole",
        "install the package of the kernel's headers again",
    ),
    (
        _UNFIT,
        "the module's source does not fit this kernel, which has other functions",
        "install a newer release of the module's package, or boot an older kernel",
    ),
)


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
    for pattern, cause, following in _MEANS:
        if any(pattern.search(line) for line in told):
            return Failure(first, cause, following)
    return Failure(first)
