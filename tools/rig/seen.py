# SPDX-License-Identifier: GPL-3.0-or-later
"""A callback of Ansible, for the tests alone: which files of roles ran, and which checks judged something.

It writes to the file that IBREADY_RIG_SEEN names, a line each; `./run` sets it where IBREADY_RIG names the rig
(tools/rigs.py makes the documentation of it).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

from ansible_collections.ibready.cluster.plugins.plugin_utils._run.read import read

DOCUMENTATION = """
name: seen
type: aggregate
short_description: Which files of roles ran, and which checks judged something
description: [For the tests of ibready alone.]
"""

_JUDGED = ("pass", "fail")


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "seen"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[str] = set()

    def v2_runner_on_ok(self, result: Any) -> None:
        self._note(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._note(result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        with open(os.environ["IBREADY_RIG_SEEN"], "a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in sorted(self._seen)))

    def _note(self, result: Any) -> None:
        place = (result.task.get_path() or "").rpartition("/roles/")[2].rpartition(":")[0]
        if "/tasks/" in place:
            self._seen.add(f"roles/{place}")
        told = result.result.get("checks")
        self._judged(told if isinstance(told, list) else ())
        # Most playbooks hand the checks of all hosts to the report, whose answer names its file.
        if result.task.action.rpartition(".")[2] == "report" and "json" in result.result:
            for host in read(Path(result.result["json"]))["hosts"].values():
                self._judged(host["checks"])

    def _judged(self, checks: Iterable[Any]) -> None:
        for check in checks:
            if isinstance(check, dict) and check.get("result") in _JUDGED:
                self._seen.add(f"check {check['id']}")
