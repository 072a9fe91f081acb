# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that is told from a later one with the same number: by when it began."""

from __future__ import annotations

# Fields of /proc/PID/stat behind the program's name, which may hold anything.
_STATE, _BEGUN = 0, 19


def begun(pid: int) -> int | None:
    """When the process began, in clock ticks since boot; None where it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            fields = stream.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # A zombie has ended; only its parent has not looked yet.
    return None if fields[_STATE] in (b"Z", b"X") else int(fields[_BEGUN])
