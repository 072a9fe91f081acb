# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One line at the bottom of the terminal that tells where a long run is."""

from __future__ import annotations

DOCUMENTATION = r"""
name: progress
type: aggregate
short_description: Tell on one line of the terminal where a run is
version_added: 0.1.0
description:
  - Draws one line below the output and draws it anew as the run goes on. It tells the phase and the
    role, the batch where there are several, on how many hosts the task has ended, how many hosts
    failed, the time so far, the task, and the last two hosts that it waits for.
  - The time that is left is told only where the last run of the same playbook with the same number
    of hosts, limit, tags and check mode is known. That one's durations are in
    C(ibready-durations.json) in the folder of the report, and C(about) is what they say. Where the
    present part has taken longer than then, C(over) is the least that is left.
  - Off where stdout or stderr is no terminal, with C(TERM=dumb) and where C(CI) is set; then it
    neither writes nor reads anything. E(NO_COLOR) takes its shade away.
  - Never in the log (E(ANSIBLE_LOG_PATH)). The output of other callbacks stays as it is.
requirements:
  - C(callbacks_enabled = ibready.cluster.progress) in ansible.cfg, as this collection's own has it.
options:
  show:
    description: Whether the line is drawn.
    type: bool
    default: true
    env:
      - name: IBREADY_PROGRESS
    ini:
      - section: callback_progress
        key: show
author:
  - ibready contributors (@ibready)
"""

import atexit
import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ansible import constants, context
from ansible.plugins.callback import CallbackBase

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.progress import durations, line, state
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.progress.screen import Screen, wanted

_ASKS = ("pause", "ansible.builtin.pause", "ansible.legacy.pause")


class CallbackModule(CallbackBase):
    """What Ansible tells of a run, as State; drawn by Screen."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "ibready.cluster.progress"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._state = state.State(time.monotonic())
        self._screen: Screen | None = None
        self._playbook: Any = None
        self._run: dict[str, Any] = {}
        self._kept: Path | None = None
        self._play: tuple[str, int] = ("", 0)
        self._began: set[str] = set()

    def set_options(self, *args: Any, **kwargs: Any) -> None:
        super().set_options(*args, **kwargs)
        lock = getattr(self._display, "_lock", None)
        # `ansible` itself is one task, and has no report beside which durations could lie.
        alone = bool(context.CLIARGS.get("module_name"))
        shown = not alone and self.get_option("show") and wanted(os.environ, sys.stdout, sys.stderr)
        if not shown or lock is None:
            self.disabled = True
            return
        color = not constants.config.get_config_value("ANSIBLE_NOCOLOR")
        self._screen = Screen(sys.stdout, (sys.stderr,), lock, self._line, color=color)

    def _line(self, width: int) -> str:
        return line.render(self._state, time.monotonic(), width)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """The state is read by another thread, under the same lock."""
        if self._screen is None:
            yield
            return
        with self._screen.lock:
            yield
            self._screen.changed()

    def v2_playbook_on_start(self, playbook: Any) -> None:
        self._playbook, self._kept, self._run = playbook, None, {}
        self._play, self._began = ("", 0), set()
        with self._changing():
            self._state = state.State(time.monotonic())
        if self._screen is not None and not self._screen.begun:
            self._screen.begin()
            atexit.register(self._screen.end)
            _end_by(signal.SIGTERM, self._screen)

    def v2_playbook_on_vars_prompt(self, *_args: Any, **_kwargs: Any) -> None:
        if self._screen is not None:
            self._screen.quiet(True)

    def v2_playbook_on_play_start(self, play: Any) -> None:
        manager = play.get_variable_manager()
        reported = manager.get_vars(play=play) if manager is not None else {}
        hosts = reported.get("ansible_play_batch") or ()
        total = len(reported.get("ansible_play_hosts_all") or ())
        if manager is not None and not self._run:
            self._know(manager)
        uuid = str(play._uuid)
        self._began.add(uuid)
        self._play = (uuid, self._play[1] + 1 if self._play[0] == uuid else 1)
        name = str(play.get_name()).strip()
        batch = (self._play[1], max(state.batches(total, play.serial), self._play[1]))
        with self._changing():
            phase = state.phase(play.get_path(), name)
            self._state.play(phase, name, hosts, batch, time.monotonic())
        if self._screen is not None:
            self._screen.quiet(False)

    def _know(self, manager: Any) -> None:
        """Which kind of run this is, and how long the last one took."""
        everybody = manager._inventory.get_hosts("all", ignore_restrictions=True)
        self._run = {
            "playbook": str(getattr(self._playbook, "_file_name", "")),
            "hosts": len(everybody),
            "limit": str(context.CLIARGS.get("subset") or ""),
            "tags": sorted(context.CLIARGS.get("tags") or ()),
            "skip_tags": sorted(context.CLIARGS.get("skip_tags") or ()),
            "check": bool(context.CLIARGS.get("check")),
        }
        if not everybody:
            return
        mine = manager.get_vars(host=everybody[0], include_hostvars=False)
        folder = mine.get("ibready_report_dir", os.environ.get("PWD", "") + "/reports")
        if isinstance(folder, str) and "{{" not in folder:
            self._kept = Path(folder).expanduser() / durations.NAME
            with self._changing():
                self._state.last = durations.read(self._kept, self._run)

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        self._task(task)

    def v2_playbook_on_handler_task_start(self, task: Any) -> None:
        self._task(task)

    def _task(self, task: Any) -> None:
        role = task._role.get_name().rpartition(".")[2] if task._role else ""
        name = str(task.name or task.action).strip()
        once = task.run_once is True
        with self._changing():
            self._state.begin(name, role, once=once, at=time.monotonic())
        if self._screen is not None:
            self._screen.quiet(task.action in _ASKS)

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        with self._changing():
            self._state.ask(host.get_name())

    def v2_runner_on_ok(self, result: Any) -> None:
        self._end(result)

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._end(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._end(result, failed=not ignore_errors)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._end(result, lost=not result.task.ignore_unreachable)

    def _end(self, result: Any, *, failed: bool = False, lost: bool = False) -> None:
        with self._changing():
            self._state.end(result.host.get_name(), failed=failed, lost=lost)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        if self._screen is not None:
            self._screen.quiet(True)
        self._state.sections.end(time.monotonic())
        plays = self._playbook.get_plays() if self._playbook is not None else []
        # A run that ended early tells nothing of the next.
        whole = bool(plays) and str(plays[-1]._uuid) in self._began
        if whole and self._kept is not None and self._kept.parent.is_dir():
            with contextlib.suppress(OSError):
                durations.keep(self._kept, self._run, self._state.sections.done)


def _end_by(number: signal.Signals, screen: Screen) -> None:
    """Take the line away before what ends the run at this signal does so."""
    before = signal.getsignal(number)
    if not callable(before):
        return

    def ended(signum: int, frame: Any) -> None:
        screen.end()
        before(signum, frame)

    with contextlib.suppress(ValueError):  # Not the main thread.
        signal.signal(number, ended)
