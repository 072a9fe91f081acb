# SPDX-License-Identifier: GPL-3.0-or-later
"""What a remedy touches at once: steps that take away, swap, burn or cut power, without a condition."""

from __future__ import annotations

import re

_TOUCHES = re.compile(r"\b(reseat|swap|exchange|replace|burn|unplug|power[ -]cycle)\b")
_STEP = re.compile(r"[;:.]")
_UNLESS = re.compile(r"\b(if|where|unless|else|until)\b", re.IGNORECASE)


def mentions(remedy: str) -> bool:
    """Whether a remedy speaks of touching a part at all, be it at last."""
    return _TOUCHES.search(remedy) is not None


def touches(remedy: str) -> list[str]:
    """The first steps of a remedy that touch a part; what comes only if another did not help is none of them."""
    steps = [step for step in _STEP.split(remedy) if not _UNLESS.search(step)]
    return sorted({found for step in steps for found in _TOUCHES.findall(step)})
