# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare version texts of vendors who write the same release in several ways."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[0-9]{1,9}")
_EPOCH = re.compile(r"[0-9]{1,9}:")
# A release of NVIDIA's RDMA stack: 24.10-1.1.4.0, or as its modules say it, 24.10-1.1.4.
_RELEASE = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})-[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}")


def numbers(text: str) -> tuple[int, ...]:
    """Every number in the text, in order: ``24.10-1.1.4`` gives (24, 10, 1, 1, 4)."""
    return tuple(int(match) for match in _NUMBER.findall(text[:200]))


def fits(installed: str, wanted: str) -> bool:
    """Whether the installed version is the wanted one, or one that it leaves open.

    ``2.28.3`` is fitted by ``1:2.28.3-1+cuda13.0``; 13.0 by 13.0.2, but not by 13.01.
    """
    epoch = _EPOCH.match(installed)
    for version in (installed, installed[epoch.end() :] if epoch else installed):
        rest = version[len(wanted) : len(wanted) + 1]
        if wanted and version.startswith(wanted) and not rest.isalnum():
            return True
    return False


def is_release(text: str) -> bool:
    """Whether this is a release of NVIDIA's RDMA stack, and no kernel's or distribution's."""
    return _RELEASE.match(text) is not None


def train(text: str) -> str:
    """The year and month (or series) of a release without the point between: 2410, 58; or ""."""
    found = _RELEASE.match(text)
    return found.group(1) + found.group(2) if found else ""


def same_release(text: str, other: str) -> bool:
    """Whether two texts name one release, as far as both of them tell.

    Modules leave out the last number of what ofed_info says.
    """
    left, right = numbers(text), numbers(other)
    shared = min(len(left), len(right))
    return shared > 0 and left[:shared] == right[:shared]
