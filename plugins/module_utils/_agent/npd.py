# SPDX-License-Identifier: GPL-3.0-or-later
"""A custom plugin of Kubernetes' node-problem-detector.

Its interface: status 0 is OK, 1 a problem, anything else unknown; the message is standard output,
cut at max_output_length (80 by default). Source: node-problem-detector v0.8.19,
docs/custom_plugin_monitor.md. Confidence: confirmed.
"""

# Of a program, not of a module: it prints and exits.
# pylint: disable=ansible-bad-function

from __future__ import annotations

from .._ground import check as _model
from .._ground.text import plain
from . import gate

LENGTH = 80
_STATUS = {_model.READY: 0, _model.NOT_READY: 1, _model.UNKNOWN_VERDICT: 2}


def plugin(given: str | None, length: int = LENGTH) -> int:
    """Print the gate's answer in at most ``length`` characters; returns the status.

    An unknown is told as what it is, whatever the site lets start by it: this starts nothing.
    """
    answer = gate.of(given)
    # Without its age: each other message would be written to the API server.
    words = f"{answer.state}: {answer.why}" if answer.state == _model.READY else answer.why
    print(plain(f"SIMULATED {words}" if answer.simulated else words, length))
    return _STATUS[answer.state]
