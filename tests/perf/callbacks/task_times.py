# SPDX-License-Identifier: GPL-3.0-or-later
"""How long every task of a playbook took, as JSON lines: what the benchmarks of a run read."""

from __future__ import annotations

DOCUMENTATION = r"""
name: task_times
type: aggregate
short_description: Write how long every task took
description:
  - Writes one JSON object a task to the file of C(IBREADY_TASK_TIMES), with the name, the action,
    the hosts that gave a result and the seconds until the next task began.
requirements:
  - enabled in C(ANSIBLE_CALLBACKS_ENABLED)
options: {}
"""

import json
import os
import time
from typing import Any

from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    """One line a task, written when the next one begins."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "task_times"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self.now: dict[str, Any] | None = None
        self.begun = 0.0

    def _next(self, task: Any | None) -> None:
        moment = time.monotonic()
        if self.now is not None:
            self.now["seconds"] = round(moment - self.begun, 4)
            with open(os.environ["IBREADY_TASK_TIMES"], "a") as stream:
                stream.write(json.dumps(self.now) + "\n")
        self.begun = moment
        self.now = task and {
            "task": task.get_name(),
            "action": task.action,
            "ran": [],
            "skipped": 0,
        }

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        self._next(task)

    def v2_playbook_on_handler_task_start(self, task: Any) -> None:
        self._next(task)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        self._next(None)

    def _ran(self, result: Any) -> None:
        if self.now is not None:
            self.now["ran"].append(result.host.get_name())

    def v2_runner_on_ok(self, result: Any) -> None:
        self._ran(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._ran(result)

    def v2_runner_on_skipped(self, result: Any) -> None:
        if self.now is not None:
            self.now["skipped"] += 1
