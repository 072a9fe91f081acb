# SPDX-License-Identifier: GPL-3.0-or-later
"""A custom plugin of Kubernetes' node-problem-detector.

Its interface: status 0 is OK, 1 a problem, anything else unknown; the message is standard output,
cut at max_output_length (80 by default). Source: node-problem-detector v0.8.19,
docs/custom_plugin_monitor.md. Confidence: confirmed.
"""

from __future__ import annotations

from .._ground import check as _model
from . import judge, policy
from .settings import Settings

LENGTH = 80
_STATUS = {_model.READY: 0, _model.DEGRADED: 0, _model.NOT_READY: 1, _model.UNKNOWN_VERDICT: 2}


def plugin(settings: Settings, length: int = LENGTH) -> int:
    """Print one line of at most ``length`` characters; returns the status."""
    seen = judge.current(settings, settings.npd_age)
    fine = f"{seen.verdict}: {', '.join(settings.areas)}"
    print(policy.summary(seen, length) if seen.trouble or seen.why else policy.plain(fine, length))
    return _STATUS[seen.verdict]
