# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge again on the controller what of an nccl.conf only all nodes together can tell; no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check
from ansible_collections.ibready.cluster.plugins.module_utils._checks.nccl_derived import (
    DERIVED,
    judge,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import (
    Reading,
    rebuilt,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import host as hosts
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import wish as wishes
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive import is_idle
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive_roce import FAMILY, INDEX
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.fleet import fleet_view
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.wish import Wish

# What one node cannot know by itself.
_SHARED = (INDEX, FAMILY)
_Told = tuple[NcclHost, Wish, Reading[dict[str, str]]]


def judged(
    facts: Mapping[str, Mapping[str, Any]], checks: Mapping[str, Sequence[Check]]
) -> dict[str, list[Check]]:
    """The checks of every host, by name, with those of _SHARED as the fleet has them.

    ``facts``: of the area nccl, {} where there are none; such hosts keep what they told.
    """
    told = {name: _told(raw) for name, raw in facts.items()}
    busy = {name: one for name, one in told.items() if one is not None and not is_idle(one[0])}
    view = fleet_view({name: (one[0], one[1].policy) for name, one in busy.items()})
    found = {name: list(mine) for name, mine in checks.items()}
    for name in view.nodes:
        if not any(one.id == DERIVED for one in found.get(name, [])):
            continue
        host, wish, settings = busy[name]
        anew = [one for one in judge(host, wish, settings, view) if one.subject in _SHARED]
        kept = [one for one in found[name] if one.id != DERIVED or one.subject not in _SHARED]
        found[name] = [*kept, *anew]
    return found


def _told(raw: Mapping[str, Any]) -> _Told | None:
    """None where the host told nothing of it, or nothing that can be read."""
    try:
        return (
            hosts.from_dict(raw["host"]),
            wishes.from_dict(raw["wish"]),
            rebuilt(raw["settings"], dict),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
