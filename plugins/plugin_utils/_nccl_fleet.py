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
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive_roce import SHARED
from ansible_collections.ibready.cluster.plugins.plugin_utils import _nccl_plan


def judged(
    facts: Mapping[str, Mapping[str, Any]], checks: Mapping[str, Sequence[Check]]
) -> dict[str, list[Check]]:
    """The checks of every host, by name, with those of SHARED as the fleet has them.

    ``facts``: of the area nccl, {} where there are none; such hosts keep what they told.
    """
    told = {name: one for name, raw in facts.items() if (one := _told(name, raw)) is not None}
    view = _nccl_plan.fleet({name: node for name, (node, _settings) in told.items()})
    found = {name: list(mine) for name, mine in checks.items()}
    for name in view.nodes:
        if not any(one.id == DERIVED for one in found.get(name, [])):
            continue
        node, settings = told[name]
        anew = judge(node.host, node.wish, settings, view)
        kept = [one for one in found[name] if one.id != DERIVED or one.subject not in SHARED]
        found[name] = [*kept, *(one for one in anew if one.subject in SHARED)]
    return found


def _told(
    name: str, raw: Mapping[str, Any]
) -> tuple[_nccl_plan.Told, Reading[dict[str, str]]] | None:
    """None where the host told nothing of it, or nothing that can be read."""
    try:
        settings = rebuilt(raw["settings"], dict)
        return _nccl_plan.told(name, raw["host"], raw["wish"]), settings
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
