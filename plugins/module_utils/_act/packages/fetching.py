# SPDX-License-Identifier: GPL-3.0-or-later
"""Which package manager this host has, and how a repository's key comes here."""

from __future__ import annotations

import os

from . import openpgp
from .model import APT, DNF, PackageError


def fetch(address: str) -> bytes:
    """What an address holds, up to the size that a key file may have."""
    if address.startswith("file://"):
        with open(address[len("file://") :], "rb") as stream:
            return stream.read(openpgp.LIMIT + 1)
    try:
        from ansible.module_utils.urls import open_url
    except ImportError as exc:
        raise PackageError(
            "failed", f"{address} was not fetched: only a change fetches keys", "run this again"
        ) from exc
    answer = open_url(address, timeout=20, http_agent="ibready")
    data: bytes = answer.read(openpgp.LIMIT + 1)
    return data


def kind_here() -> str:
    """The package manager that this host has; PackageError where it is none that we know."""
    red_hat = os.path.exists("/etc/redhat-release")
    if red_hat and os.path.exists("/usr/bin/dnf"):
        return DNF
    if not red_hat and os.path.exists("/usr/bin/apt-get"):
        return APT
    raise PackageError("failed", "this host has neither apt nor dnf", "take it out of the plan")
