# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask a module of ours on a node by the engine that the node keeps.

Ansible makes one program of a module and all that it imports, and sends it each time. Here the
program is small: it runs the engine that is kept on the node. All else is Ansible's: which Python,
by which connection, as which user, in which environment, and how the answer is read.
"""

from __future__ import annotations

import dataclasses
import json
import re
from binascii import b2a_base64
from collections.abc import Mapping
from typing import Any

from ansible import constants
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.module_utils.common.json import Direction, get_module_encoder
from ansible.plugins.action import ActionBase

from ...module_utils._ground.bound import Bound
from .._ground import silence
from .._ground.plain import block, plain
from . import pack

_OURS = "ibready.cluster."
_SAYS = "ibready_engine"
# A module of documentation alone: what Ansible makes of it is the line that names the Python.
_NOTHING = f"{_OURS}report"
_STREAMS = ("module_stderr", "module_stdout")
# What Ansible prints of an answer, whatever the task.
_SHOWN = ("warnings", "deprecations", "msg", "exception", *_STREAMS)
_WARNINGS: Bound = 50
# Seconds after the bound of its task at which a visit ends itself on the node.
_LATER = 30
# Characters of what a failed program said.
_MOST = 300
# What ssh says at the end of a session with a terminal, whatever the program did.
_CLOSED = re.compile(r"(?:Shared )?[Cc]onnection to \S+ closed")
_TRACEBACK = "Traceback (most recent call last)"
_ERROR = re.compile(r"(?i)not found|no such|denied|not permitted|cannot|error")
# What a host says of a known kind -> what helps; of all else _NEXT.
_KINDS = (
    (r"password (?:change required|(?:has )?expired)|change your password", "log in by hand and change that password"),
    (r"must have a tty", "take requiretty out of the host's sudoers for that user (Defaults:USER !requiretty)"),
    (r"missing \w+ password|a password is required", "run this with -K, or give that user sudo without a password"),
    (
        r"python (?:2\.\d|3\.[0-7])\b|future feature annotations",
        "Python 3.8 or later has to be on the host: name it in ansible_python_interpreter",
    ),
)
_NEXT = (
    "Next: look at module_stdout and module_stderr, at the host's Python (ansible_python_interpreter) and its login."
)


def _clean(value: Any) -> Any:
    """The same for a terminal; of a list the first, and how many more there are."""
    if isinstance(value, str):
        return block(value)
    if isinstance(value, Mapping):
        return {_clean(key): _clean(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        more = [f"... and {len(value) - _WARNINGS:,} more"] if len(value) > _WARNINGS else []
        return [*map(_clean, value[:_WARNINGS]), *more]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        # Ansible's own form of a warning or an error.
        changed = {field.name: _clean(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **changed)
    return value


def _telling(text: str) -> str:
    """The line that tells most: of a Python that fails the last, of others the first that sounds like an error, or
    the last. ssh's own is none."""
    lines = [line.strip() for line in text.split("\n") if line.strip() and not _CLOSED.match(line)]
    if not lines:
        return ""
    errors = () if _TRACEBACK in text else filter(_ERROR.search, lines)
    line = next(iter(errors), lines[-1])
    return plain(line if len(line) <= _MOST else f"{line[:_MOST]}, and {len(line) - _MOST} more characters").rstrip(".")


def _next(said: str) -> str:
    """The next step by what a host said; "" where that is of no known kind."""
    low = said.lower()
    return next((f"Next: {helps}" for kind, helps in _KINDS if re.search(kind, low)), "")


class EngineAction(ActionBase):
    """An action whose modules are asked by the engine, where it has them."""

    _engine_carried = False
    _engine_off = False

    def _execute_module(self, module_name: Any = None, module_args: Any = None, **named: Any) -> dict[str, Any]:  # type: ignore[override]
        name = str(module_name or self._task.action)
        given = self._task.args if module_args is None else module_args
        host = str((named.get("task_vars") or {}).get("inventory_hostname"))
        waited, task = self._task.timeout, self._task.get_name()
        silent = {"timedout": {"period": waited}}

        def call() -> dict[str, Any]:
            # Ansible adds words of its own to the arguments.
            try:
                done: dict[str, Any] = super(EngineAction, self)._execute_module(
                    module_name=name, module_args=dict(given), **named
                )
            except AnsibleError as exc:
                # A kind of its own means more to Ansible: that the host is unreachable.
                if exc.__class__ is not AnsibleError or not _next(str(exc)):
                    raise
                raise AnsibleError(f"{exc}. {_next(str(exc))}") from exc
            except BaseException as exc:
                # Ansible's own, which is no Exception and has no public name.
                if type(exc).__name__ != "TaskTimeoutError":
                    raise
                raise AnsibleActionFail(silence.message(host, waited, task), result=silent) from None
            return done

        done = call()
        try:
            if done.get(_SAYS) == "absent":
                self._engine_carried = True
                done = call()
            if _SAYS in done:
                # What the engine leaves to others, and whatever else it says, Ansible does as ever.
                self._engine_off = True
                done = call()
        finally:
            self._engine_carried = self._engine_off = False
        said = {key: done[key] for key in _STREAMS if key in done}
        done.update((key, _clean(done[key])) for key in _SHOWN if key in done)
        if done.get("failed") and "module_stdout" in done:
            words = next(filter(None, (_telling(str(said.get(key) or "")) for key in _STREAMS)), "")
            why = str(done.get("msg")).strip().rstrip(".")
            # The host's own words first: what could not be read is rarely the matter.
            told = f"the host said: {words} ({why})" if words else why
            done["msg"] = f"{host}: {name} gave no answer that can be read: {told}. {_next(words) or _NEXT}"
        return done

    def _configure_module(self, module_name: str, module_args: dict[str, Any], task_vars: Any) -> tuple[Any, str]:
        short = module_name[len(_OURS) :] if module_name.startswith(_OURS) else ""
        if self._engine_off or short not in pack.MODULES:
            built: tuple[Any, str] = super()._configure_module(module_name, module_args, task_vars)
            return built
        like, _unused = super()._configure_module(_NOTHING, {}, task_vars)
        program = self._program({"module": short, "args": module_args})
        return dataclasses.replace(like, b_module_data=program.encode(), module_style="new"), f"{short}.py"

    def _program(self, question: dict[str, Any]) -> str:
        engine = pack.engine(constants.DEFAULT_LOCAL_TMP)  # type: ignore[attr-defined]
        asked = json.dumps(question, cls=get_module_encoder("legacy", Direction.CONTROLLER_TO_MODULE))
        carried = b2a_base64(engine.archive(), newline=False).decode() if self._engine_carried else ""
        # Nobody waits for the answer any more then. `signal` itself would take longer to import.
        within = self._task.timeout
        bound = f"import _signal\n_signal.alarm({within + _LATER})\n" if within else ""
        return f"{pack.bootstrap()}\n\n{bound}main({engine.digest!r}, {asked!a}, {carried!r})\n"
