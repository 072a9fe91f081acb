# SPDX-License-Identifier: GPL-3.0-or-later
"""A callback of Ansible, for the tests alone: which files of roles ran, and which checks judged something.

It writes to the file that IBREADY_RIG_SEEN names, a line each; `./run` sets it where IBREADY_RIG names the rig
(tools/rigs.py makes the documentation of it).
"""

from __future__ import annotations

import os
from typing import Any

from ansible.plugins.callback import CallbackBase

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

    def v2_runner_item_on_ok(self, result: Any) -> None:
        self._note(result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        with open(os.environ["IBREADY_RIG_SEEN"], "a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in sorted(self._seen)))

    def _note(self, result: Any) -> None:
        place = (result.task.get_path() or "").rpartition("/roles/")[2].rpartition(":")[0]
        if "/tasks/" in place:
            self._seen.add(f"roles/{place}")
        checks = result.result.get("checks")
        for check in checks if isinstance(checks, list) else ():
            if isinstance(check, dict) and check.get("result") in _JUDGED:
                self._seen.add(f"check {check['id']}")
