# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible's own output; of `ansible -m ibverify` and its like the verdicts, equal hosts once."""

from __future__ import annotations

DOCUMENTATION = r"""
name: verdict
type: stdout
short_description: Print verdicts of C(ansible -m ibverify) with equal hosts folded
version_added: 0.1.0
description:
  - Of C(ansible -m) with a module of this collection that judges a host (M(ibready.cluster.ibverify),
    M(ibready.cluster.hostverify), M(ibready.cluster.ncclverify), M(ibready.cluster.nvlinkverify),
    M(ibready.cluster.stackverify), M(ibready.cluster.containerverify)) it prints, when all hosts
    have answered, one line for all hosts that say the same, with the findings of those that have
    some, and how many hosts have which verdict. A host that is not ready is no error of the module,
    and does not look like one; the exit status is Ansible's.
  - With C(-v), with O(ibready.cluster.ibverify#module:answer) given, and where the module itself
    failed, the output is Ansible's own.
  - Of a playbook that ends because hosts are not ready, it prints what Ansible would print as an
    error of a task for each host below the recap, equal hosts once. A host that cannot be visited,
    which the report judges C(unknown), is a line. The exit status is Ansible's. With C(-v) the
    output is Ansible's own.
  - Hosts on which a playbook's task is C(ok), or C(changed), are one line where nothing else was printed between
    them, with their names folded to C(node[01-16]). The line is printed before whatever comes next.
  - Every other module is printed as P(ansible.builtin.minimal#callback) does, and all else of
    playbooks as P(ansible.builtin.default#callback) does.
requirements:
  - C(stdout_callback = ibready.cluster.verdict) and C(bin_ansible_callbacks = True) in ansible.cfg,
    as this collection's own has them. Without the second one C(ansible) takes no other output than
    its own.
extends_documentation_fragment: [default_callback, result_format_callback]
author:
  - ibready contributors (@ibready)
"""

import atexit
import functools
import os
import re
import threading
from typing import Any

from ansible import constants, context
from ansible.plugins.callback import CallbackBase
from ansible.plugins.callback.default import CallbackModule as Default
from ansible.plugins.callback.minimal import CallbackModule as Minimal

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import DEGRADED, READY
from ansible_collections.ibready.cluster.plugins.module_utils._verify.brief import SHORT
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import silence
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.plain import printed
from ansible_collections.ibready.cluster.plugins.plugin_utils._slurm import hostlist
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import verdicts

_OURS = "ibready.cluster."
# Those that answer in short where `ansible` itself asks (plugin_utils/_site/verify_action.py).
JUDGES = frozenset({"containerverify", "hostverify", "ibverify", "ncclverify", "nvlinkverify", "stackverify"})
# What a task of a playbook has among its variables that fails for what the table has told.
_TOLD = "__told"
# And one that visits hosts, of which the table will tell whoever did not answer.
_WILL = "__will_be_told"
# What is said of a host that does as it should, as Ansible prints it; of several in a line.
_WELL = re.compile(r"((?:ok|changed): \[)([\w.-]+)\]")
_SEVERAL = re.compile(r"(included: [^\n]+ for )([\w.-]+(?:, [\w.-]+)+)")


def ad_hoc() -> bool:
    """Whether `ansible` runs, and no playbook."""
    return bool(context.CLIARGS.get("module_name"))


def folds(task: Any) -> bool:
    """Whether the task asks for verdicts in short."""
    action = str(task.action)
    ours = action.removeprefix(_OURS) in JUDGES
    return ours and ad_hoc() and not context.CLIARGS.get("verbosity") and task.args.get("answer", SHORT) == SHORT


def ends(task: Any) -> bool:
    """Whether the task of a playbook fails for what the table above it has told."""
    return _has(task, _TOLD)


def visits(task: Any) -> bool:
    """Whether the task of a playbook visits hosts, and the table below it tells of those that did not answer."""
    return _has(task, _WILL)


def _has(task: Any, word: str) -> bool:
    return word in task.vars and not ad_hoc() and not context.CLIARGS.get("verbosity")


def _base() -> type[CallbackBase]:
    """What prints all else."""
    found: type[CallbackBase] = Minimal if ad_hoc() else Default
    return found


def _line(msg: str) -> str:
    several = _SEVERAL.fullmatch(msg)
    return several[1] + hostlist.shown(several[2].split(", ")) if several else printed(msg)


class _Kept:
    """Hosts that did well, until something else is to be printed."""

    def __init__(self, show: Any) -> None:
        self._show = show
        self._process = os.getpid()
        # What workers print comes by a thread.
        self._lock = threading.Lock()
        self._word, self._names, self._how = "", list[str](), dict[str, Any]()
        atexit.register(self.takes, "", (), {})

    def takes(self, msg: Any, args: Any, named: dict[str, Any]) -> bool:
        """Keep a line of a host that did well, or print those that are kept. A worker has none of its own."""
        if os.getpid() != self._process:
            return False
        found = _WELL.fullmatch(msg) if isinstance(msg, str) and not args and named.keys() <= {"color"} else None
        with self._lock:
            if self._names and not (found and (found[1], named) == (self._word, self._how)):
                self._show(f"{self._word}{hostlist.shown(self._names)}]", **self._how)
                self._names = []
            if found:
                self._word, self._how = found[1], named
                self._names.append(found[2])
        return found is not None


class CallbackModule(_base()):  # type: ignore[misc]  # Which of the two a process needs is known when it begins.
    """Keeps what hosts told until all have."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "ibready.cluster.verdict"

    def __init__(self) -> None:
        super().__init__()
        self._guard()
        self._told: dict[str, verdicts.Told] = {}
        self._failed = 0
        self._bad: dict[str, str] = {}
        # Whoever interrupts the run is told of the hosts that have answered.
        atexit.register(self._tell)

    def _guard(self) -> None:
        """All that Ansible prints, of whatever module and by whatever way, ends in this one method."""
        show = self._display.display
        if not hasattr(show, "ibready_guards"):
            kept = _Kept(show)

            @functools.wraps(show)
            def guarded(msg: Any, *args: Any, **named: Any) -> Any:
                if not kept.takes(msg, args, named):
                    show(_line(msg) if isinstance(msg, str) else msg, *args, **named)

            guarded.ibready_guards = True  # type: ignore[attr-defined]
            self._display.display = guarded

    def v2_runner_on_ok(self, result: Any) -> None:
        if folds(result.task):
            self._keep(result, verdicts.told(result.result))
        else:
            super().v2_runner_on_ok(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        waited = silence.waited(result)
        if waited:
            # Ansible's own words name neither host nor task.
            result.result["msg"] = silence.message(result.host.get_name(), waited, str(result.task.get_name()))
        # Without a verdict that is a failure's it is the module that failed.
        ours = folds(result.task)
        if ends(result.task) and not ignore_errors:
            self._bad[result.host.get_name()] = str(result.result.get("msg") or "")
        elif visits(result.task):
            self._absent("failed", result)
        elif ours and result.result.get("verdict", READY) not in (READY, DEGRADED):
            self._keep(result, verdicts.told(result.result))
        else:
            self._failed += ours
            super().v2_runner_on_failed(result, ignore_errors)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        if folds(result.task):
            self._keep(result, verdicts.unreachable(result.result.get("msg")))
        elif visits(result.task):
            self._absent("unreachable", result)
        else:
            super().v2_runner_on_unreachable(result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        super().v2_playbook_on_stats(stats)
        self._tell()

    def _keep(self, result: Any, entry: verdicts.Told) -> None:
        self._handle_warnings(result.result)
        self._told[result.host.get_name()] = entry

    def _absent(self, word: str, result: Any) -> None:
        if self._last_task_banner != result.task._uuid:
            self._print_task_banner(result.task)
        self._handle_warnings(result.result)
        line = verdicts.absent(word, result.host.get_name(), result.result.get("msg"))
        self._display.display(line, color=getattr(constants, verdicts.COLORS[verdicts.UNREACHABLE]))

    def _tell(self) -> None:
        kept, self._told = self._told, {}
        bad, self._bad = self._bad, {}
        given = map(str, context.CLIARGS.get("inventory") or ())
        for line, verdict in [*verdicts.render(kept, self._failed, given), *verdicts.ended(bad)]:
            self._display.display(line, color=getattr(constants, verdicts.color(verdict)))
