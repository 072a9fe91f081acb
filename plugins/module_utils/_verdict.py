# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict object that modules and node program give, and the evidence it comes from."""

from __future__ import annotations

import platform
from typing import Any, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check, verdict
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Bundle,
    Evidence,
    Live,
)

SCHEMA = "ibready/verdict/1"


def verdict_object(host: str, checks: Sequence[Check], facts: dict[str, Any]) -> dict[str, Any]:
    """The verdict object, schema ibready/verdict/1."""
    return {
        "schema": SCHEMA,
        "host": host,
        "verdict": verdict(checks),
        "checks": [check.to_dict() for check in checks],
        "facts": facts,
    }


def source_of(bundle: str | None, pause: float | None = None) -> tuple[Evidence, str]:
    """Where to look, and the host's own name; raises Unavailable where there is no bundle.

    ``pause``: seconds between two looks at the live host, in place of the default.
    """
    if not bundle:
        return Live(pause=pause), platform.node()
    recorded = Bundle(bundle)
    return recorded, recorded.manifest.host
