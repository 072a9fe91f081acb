# SPDX-License-Identifier: GPL-3.0-or-later
"""What a running fabric can be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Order = dict[str, Any]

# Without sweeps of its own: whoever breaks something says when it is to be seen.
_OPENSM = {"sweep_on_trap": "FALSE", "sweep_interval": "0", "force_log_flush": "TRUE"}


def console(line: str) -> Order:
    """A line for ibsim's console."""
    return {"do": "console", "line": line}


def sm(host: str, files: Mapping[str, str] | None = None, **options: str) -> Order:
    """Start opensm on a host (ibsim's id of its HCA), with options of its configuration file.

    ``files``: by the option that names a file, the file's text.
    """
    return {"do": "sm", "host": host, "options": {**_OPENSM, **options}, "files": {**(files or {})}}


def end_sm(host: str) -> Order:
    """End the opensm of a host."""
    return {"do": "end_sm", "host": host}


def sweep() -> Order:
    """Have every master look at the fabric again, and wait until it has."""
    return {"do": "sweep"}


def sweep_sm(host: str) -> Order:
    """Have the opensm of one host look at the fabric again, without waiting for it."""
    return {"do": "sweep_sm", "host": host}


def pause(seconds: float) -> Order:
    """Let time go by."""
    return {"do": "pause", "seconds": seconds}


def run(host: str, *argv: str) -> Order:
    """Run a program on a host for its effect, for some seconds at most."""
    return {"do": "run", "host": host, "argv": list(argv), "limit": 10}
