# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remember for the report what a run changed, who gave no answer, and when it began. Shows nothing."""

from __future__ import annotations

DOCUMENTATION = r"""
name: changes
type: aggregate
short_description: Remember for the report which tasks changed which host, and who gave no answer
version_added: 0.1.0
description:
  - Shows nothing; M(ibready.cluster.report) writes what it remembers into the run object, and judges
    a host C(unknown) that gave no answer within the bound of a task. What Ansible leaves of such a
    task on the controller, an C(ssh), it ends.
  - Without it the run object says that nobody looked (V(null)), not that nothing changed.
requirements:
  - C(callbacks_enabled = ibready.cluster.changes) in ansible.cfg, as this collection's own has it.
author:
  - ibready contributors (@ibready)
"""

from datetime import UTC, datetime
from typing import Any

from ansible.plugins.callback import CallbackBase

from ansible_collections.ibready.cluster.plugins.module_utils._verify import brief
from ansible_collections.ibready.cluster.plugins.plugin_utils._engine import left
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import silence
from ansible_collections.ibready.cluster.plugins.plugin_utils._run.changed import TOLD

# What a host answers that tells what it is: it is there again.
_FIRST_WORDS = {"node", brief.KEY}


class CallbackModule(CallbackBase):
    """Every changed result, under the name of its task."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "ibready.cluster.changes"
    CALLBACK_NEEDS_ENABLED = True

    def v2_playbook_on_start(self, playbook: Any) -> None:
        TOLD.begin(datetime.now(UTC))
        silence.SILENT.clear()
        left.watch(self)

    def v2_runner_on_ok(self, result: Any) -> None:
        self._remember(result)
        if _FIRST_WORDS & result.result.keys():
            silence.SILENT.pop(result.host.get_name(), None)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        # Of a loop the items before the failed one were done.
        self._remember(result)
        waited = silence.waited(result)
        if waited:
            # At what it began to hang tells most.
            silence.SILENT.setdefault(result.host.get_name(), silence.why(waited, str(result.task.get_name())))

    def _remember(self, result: Any) -> None:
        if result.is_changed():
            TOLD.changed(result.host.get_name(), str(result.task.get_name()))
