# SPDX-License-Identifier: GPL-3.0-or-later
"""The limits of an engine's service, which its containers inherit where nothing else is said."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._container.model import (
    Change,
    Plan,
    Wish,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.proc_limits import UNLIMITED

HEADER = (
    "# Written by ibready.cluster.container_engines. The next run undoes changes made by hand.\n"
)


def path(unit: str) -> str:
    return f"/etc/systemd/system/{unit}.d/90-ibready.conf"


def asked(wish: Wish) -> dict[str, int]:
    """What the service is to have at least."""
    found = {}
    if wish.memlock is not None:
        found["memlock"] = UNLIMITED if wish.memlock < 0 else wish.memlock
    if wish.nofile is not None:
        found["nofile"] = wish.nofile
    return found


def plan(unit: str, before: str | None, wish: Wish) -> Plan:
    """The drop-in as it is to be, none where nothing is wished."""
    lines = []
    if wish.memlock is not None:
        lines.append(f"LimitMEMLOCK={'infinity' if wish.memlock < 0 else wish.memlock}")
    if wish.nofile is not None:
        lines.append(f"LimitNOFILE={wish.nofile}")
    after = "\n".join([f"{HEADER}[Service]", *lines]) + "\n" if lines else None
    made = Plan(path(unit), before, after)
    if made.changed:
        made.changes.append(Change(f"limits of {unit}", before, after))
    return made
