# SPDX-License-Identifier: GPL-3.0-or-later
"""With which release lines of ansible-core this was tested, and whether one is too old for it."""

from __future__ import annotations

# The lines that tests/system/test_releases.py runs; what is older than the first lacks what is imported here.
TESTED = ("2.19", "2.20", "2.21")


def refusal(version: str) -> str:
    """Why nothing here runs with a release of ansible-core; "" where it does, or is newer than all that were tested."""
    if _line(version) >= _line(TESTED[0]):
        return ""
    return (
        f"ibready.cluster does not run with ansible-core {version}. It needs {TESTED[0]} or later, and was tested with"
        f" {', '.join(TESTED)}. Nothing was done on any host. Next: in a virtual environment of its own, pip install"
        f" 'ansible-core>={TESTED[0]}', and run the ansible-playbook or ansible of that one"
    )


def _line(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])
