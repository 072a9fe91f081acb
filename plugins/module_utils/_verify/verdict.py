# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict object that modules and node program give, and the evidence it comes from."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

from .._evidence.sources import Bundle, Evidence, Live, Questions, Unavailable
from .._ground.check import Check, verdict

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


def carried(source: Evidence) -> Mapping[str, Any]:
    """What a bundle says was expected of its host, as `ibready_expect`; {} of a live host."""
    return source.manifest.expect if isinstance(source, Bundle) else {}


def source_of(
    bundle: str | None,
    questions: Questions,
    pause: float | None = None,
    host: str | None = None,
) -> tuple[Evidence, str]:
    """Where to look, and the host's own name; raises Unavailable where there is no bundle of it.

    ``questions``: those that the host itself may be asked. ``pause``: seconds between two looks at
    the live host, in place of the default. ``host``: whose bundle is asked for, without it that of
    the host that its directory is named after.
    """
    if not bundle:
        return Live(pause=pause, questions=questions), os.uname().nodename
    recorded = Bundle(bundle)
    of, asked = recorded.manifest.host, host or os.path.basename(os.path.realpath(bundle))
    if of != asked:
        raise Unavailable(bundle, f"says that it is of {of}, and not of {asked}; next: name its directory {of}")
    return recorded, of
