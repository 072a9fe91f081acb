# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a module of ours without Ansible's module_utils, whose import costs more than most answers.

A module says `from ansible.module_utils.basic import AnsibleModule` either way. Here that name is
``Asked``: the part of AnsibleModule that the modules of an engine use. What it cannot take it
refuses before the module has done anything, and the controller sends the module the ordinary way.
"""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any, Callable, Mapping, NoReturn

from .._ground.text import sendable
from . import late
from .arguments import Refused, Spec, take

_INTERNAL = "_ansible_"
_VERBOSE = 3
_given: Mapping[str, Any] = {}


class Asked:
    """What a module of ours sees of Ansible."""

    def __init__(self, argument_spec: Spec, supports_check_mode: bool = False, **others: Any) -> None:
        if others:
            raise Refused(f"AnsibleModule with {min(others)}")
        own = {name: value for name, value in _given.items() if not name.startswith(_INTERNAL)}
        said = {name[len(_INTERNAL) :]: value for name, value in _given.items() if name.startswith(_INTERNAL)}
        self.params = take(argument_spec, own)
        self.check_mode = bool(said.get("check_mode"))
        self._diff = bool(said.get("diff"))
        self._verbosity = int(said.get("verbosity") or 0)
        self._warnings: list[str] = []
        if self.check_mode and not supports_check_mode:
            raise Refused("no check mode")
        if not said.get("no_log") and not said.get("no_target_syslog"):
            self._log(str(said.get("module_name")), str(said.get("syslog_facility", "")))

    def _log(self, name: str, facility: str) -> None:
        """As every module does: who looks into a host's log finds who was there. Values stay out of it."""
        import syslog

        syslog.openlog(f"ansible-{name}", 0, getattr(syslog, facility, syslog.LOG_USER))
        given = " ".join(key for key, value in self.params.items() if value is not None)
        syslog.syslog(syslog.LOG_INFO, f"Invoked with {given or 'no options'}")

    def warn(self, warning: str) -> None:
        """Tell the operator, once."""
        if warning not in self._warnings:
            self._warnings.append(warning)

    def exit_json(self, **result: Any) -> NoReturn:
        self._answer(result)
        raise SystemExit(0)

    def fail_json(self, msg: str, **result: Any) -> NoReturn:
        self._answer({**result, "failed": True, "msg": str(msg)})
        raise SystemExit(1)

    def _answer(self, result: dict[str, Any]) -> None:
        if self._warnings:
            result["warnings"] = self._warnings
        if self._verbosity >= _VERBOSE:
            result["invocation"] = {"module_args": self.params}
        say(result)


def _plain(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return list(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def say(result: Mapping[str, Any]) -> None:
    """Print an answer as Ansible reads it."""
    told = json.dumps(result, default=_plain)
    if "\\ud" in told:
        told = json.dumps(sendable(result), default=_plain)
    sys.stdout.write(f"\n{told}\n")


def _lend(kept: dict[str, bytes], importing: Callable[[], bool]) -> None:
    """Put Asked where modules look for AnsibleModule, and what is late where they look for Python's."""
    late.lend(kept, importing)
    for name in ("ansible", "ansible.module_utils", "ansible.module_utils.basic"):
        made = sys.modules[name] = ModuleType(name)
        made.__path__ = []
    sys.modules["ansible.module_utils.basic"].__dict__["AnsibleModule"] = Asked


def answer(module: str, args: Mapping[str, Any], kept: dict[str, bytes], importing: Callable[[], bool]) -> int:
    """Have this module answer to these arguments; the status that the process ends with.

    ``kept``, ``importing``: as late.lend has them.
    """
    global _given
    _given = args
    _lend(kept, importing)
    try:
        __import__(module)
        sys.modules[module].__dict__["main"]()
        raise RuntimeError("it ended without an answer")
    except SystemExit as exc:
        return exc.code if isinstance(exc.code, int) else 0
    except (Refused, ModuleNotFoundError) as exc:
        if isinstance(exc, Refused) or str(exc.name).startswith("ansible."):
            say({"ibready_engine": "ordinary", "why": str(exc)})
            return 0
        _broken(module, exc)
    except Exception as exc:
        _broken(module, exc)
    return 1


def _broken(module: str, exc: Exception) -> None:
    import traceback

    said = f"{module.rpartition('.')[2]}: {type(exc).__name__}: {exc}"
    say({"failed": True, "msg": said, "exception": traceback.format_exc()})
