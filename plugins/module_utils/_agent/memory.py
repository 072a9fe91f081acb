# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Slurm health check remembers: its streak until the next boot, its own drain for longer.

What cannot be read counts as forgotten: then a node stays drained until somebody resumes it.
"""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._agent.policy import Drained, Streak
from ansible_collections.ibready.cluster.plugins.module_utils._agent.settings import Settings


def streak(settings: Settings) -> Streak:
    """The looks before this one."""
    known = _load(_streak_path(settings))
    try:
        return Streak(bool(known["good"]), int(known["count"]), float(known["looked_at"]))
    except (KeyError, TypeError, ValueError):
        return Streak()


def drained(settings: Settings) -> Drained:
    """What we drained the node with."""
    known = _load(_drained_path(settings))
    return Drained(*(str(known.get(key, "")) for key in ("reason", "stamp", "cause")))


def keep_streak(settings: Settings, value: Streak) -> None:
    """Raises StateError where it cannot be written."""
    _state.save_file(_streak_path(settings), asdict(value))


def keep_drained(settings: Settings, value: Drained) -> None:
    """Raises StateError where it cannot be written; writes nothing where that stands there."""
    if value != drained(settings):
        _state.save_file(_drained_path(settings), asdict(value) if value.reason else {})


def _streak_path(settings: Settings) -> str:
    return os.path.join(settings.run, "slurm.json")


def _drained_path(settings: Settings) -> str:
    return os.path.join(settings.state, "slurm.json")


def _load(path: str) -> dict[str, Any]:
    try:
        return _state.load_file(path)
    except _state.StateError as exc:
        print(f"ibready: {exc}", file=sys.stderr)
        return {}
