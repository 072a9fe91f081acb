# SPDX-License-Identifier: GPL-3.0-or-later
"""A path that a node named, before the controller gives it to the program that fetches a file.

Ansible writes it into sftp's batch, where a backslash before a quote undoes Ansible's quoting: a
path with both and a newline is a command of the controller.
"""

from __future__ import annotations

import re

_PATH = re.compile(r"/[\w./@%+:~ -]{1,1000}")
_SHOWN = 80


class RemoteError(ValueError):
    """What a node named is no path that is asked for; the message shows it."""


def path(said: object) -> str:
    """The same path, absolute and of plain characters; raises RemoteError for all else."""
    if isinstance(said, str) and _PATH.fullmatch(said):
        return said
    raise RemoteError(f"the host names {repr(said)[:_SHOWN]}, which is no plain path")
