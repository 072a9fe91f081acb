# SPDX-License-Identifier: GPL-3.0-or-later
"""Which roles have to run on a host, from what differs there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils._desired.compare import REFUSED
from .items import Wanted

ALWAYS = "always"


@dataclass(frozen=True)
class Role:
    """``moves``: what it changes may change what the roles after it have to do."""

    name: str
    moves: bool = False


def judged(roles: Sequence[Role], wanted: Sequence[Wanted], told: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """``run``: the roles in their order; ``differs``: why, an entry for each thing; ``refused``: what would stop a
    role once others have changed the host."""
    looks = [
        {"role": entry.role, "task": why.partition(": ")[0], "state": ALWAYS, "why": why.partition(": ")[2], "diff": []}
        for entry in wanted
        for why in entry.always
    ]
    differs = [*looks, *(dict(entry) for entry in told)]
    named = {str(entry.get("role")) for entry in differs}
    run: list[str] = []
    moved = False
    for role in roles:
        if moved or role.name in named:
            run.append(role.name)
            moved = moved or role.moves
    known = {role.name for role in roles}
    refused = [
        f"the role {entry['role']} would stop at {entry['task']}: {entry['why']}"
        for entry in differs
        if entry.get("state") == REFUSED
    ]
    return {"run": [*run, *sorted(named - known)], "differs": differs, "refused": refused}
