# SPDX-License-Identifier: GPL-3.0-or-later
"""The one command for a cause, as a line that can be copied into a shell. Nothing is run here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import Fix

# In a pattern of hosts `:`, `!`, `&`, `~` and `*` mean more than a name.
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")
_GROUPS = ("all", "ungrouped")
NO_NAME = "the host's name is no plain name, so that no command can hold it"


@dataclass(frozen=True)
class Where:
    """From where the operator works. ``inventory``: the sources given with -i; ``hosts``: all names
    of the inventory, so that what is wrong with all of them needs no --limit."""

    inventory: Sequence[str] = ("INVENTORY",)
    hosts: Sequence[str] = ()


def plain(host: str) -> bool:
    """Whether a name can stand in a pattern of hosts and means that host alone."""
    return _HOST.fullmatch(host) is not None and host not in _GROUPS


def line(fix: Fix, hosts: Sequence[str], values: Mapping[str, str], where: Where) -> str:
    """The command for these hosts; "" where one of their names cannot be in it."""
    if not hosts or not all(plain(host) for host in hosts):
        return ""
    inventory = [word for source in where.inventory for word in ("-i", source)]
    everybody = bool(where.hosts) and set(hosts) >= set(where.hosts)
    if fix.play:
        limit = [] if everybody else ["--limit", ",".join(hosts)]
        book, *rest = fix.play
        return shlex.join(["ansible-playbook", book, *inventory, *limit, *rest])
    words = _filled(fix.words, values) or _filled(fix.otherwise, values)
    if not words:
        return ""
    pattern = "all" if everybody else ",".join(hosts)
    return shlex.join(["ansible", pattern, *inventory, "-b", "-a", shlex.join(words)])


def _filled(words: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The words with the values in their places; nothing where one of them is not known."""
    try:
        return [word.format_map(dict(values)) for word in words]
    except KeyError:
        return []
