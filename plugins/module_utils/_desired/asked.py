# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask a module of ours what it would do, inside this process, one after the other.

A module's ``main`` makes an AnsibleModule, works, and ends by exit_json or fail_json. `ask` gives it
`InCheckMode` in that place, with its options read by the module's own argument_spec: what would
write there is not to be had.
"""

from __future__ import annotations

import grp
import importlib
import os
import pwd
import shutil
import stat
import subprocess
import sys
from typing import Any, Mapping, NoReturn, Sequence

from .._engine.arguments import Refused, take
from .._ground.text import HostFileError

# Seconds that a program which looks may take where the module sets no bound.
_LIMIT_S = 120


class Answered(BaseException):
    """Ends a module's ``main``; no module catches it."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__(result.get("msg", ""))
        self.result = result


def ask(module: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """What the module of this import path answers to these options."""
    made = importlib.import_module(module)
    before = vars(made)["AnsibleModule"]
    vars(made)["AnsibleModule"] = lambda **told: _made(args, told)
    try:
        made.main()
    except Answered as ended:
        return ended.result
    except Refused as exc:
        return {"failed": True, "msg": str(exc)}
    finally:
        vars(made)["AnsibleModule"] = before
    return {"failed": True, "msg": f"{module} ended without an answer"}


class InCheckMode:
    """What our modules use of AnsibleModule where they only tell."""

    check_mode = True
    _diff = True

    def __init__(self, params: dict[str, Any]) -> None:
        self.params = params

    def exit_json(self, **result: Any) -> NoReturn:
        """End with an answer."""
        raise Answered(result)

    def fail_json(self, msg: str, **result: Any) -> NoReturn:
        """End with a failure; ``by_hand`` where the module met a file that no task of ours mends."""
        by_hand = isinstance(sys.exc_info()[1], HostFileError)
        raise Answered({**result, "failed": True, "msg": msg, "by_hand": by_hand})

    def warn(self, _warning: str) -> None:
        """The role warns, when it runs."""

    def get_bin_path(self, name: str, required: bool = False) -> str | None:
        """Where a program lies, also in the folders for root."""
        path = os.pathsep.join([os.environ.get("PATH", ""), "/sbin", "/usr/sbin", "/usr/local/sbin"])
        found = shutil.which(name, path=path)
        if found is None and required:
            self.fail_json(msg=f"{name} is not installed")
        return found

    def run_command(self, argv: Sequence[str]) -> tuple[int, str, str]:
        """Exit status, stdout and stderr of a program that looks."""
        try:
            done = subprocess.run(
                [str(word) for word in argv],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LIMIT_S,
                check=False,
                env={**os.environ, "LC_ALL": "C", "LANGUAGE": "C"},
            )
        except (OSError, subprocess.TimeoutExpired) as exc:
            self.fail_json(msg=f"{argv[0]}: {exc}")
        out, err = (text.decode("utf-8", "surrogateescape") for text in (done.stdout, done.stderr))
        return done.returncode, out, err

    def set_mode_if_different(self, path: str, mode: Any, changed: bool) -> bool:
        """Whether its permissions would be set."""
        now = os.lstat(path).st_mode
        wanted = int(mode, 8) if isinstance(mode, str) else int(mode)
        return changed or (not stat.S_ISLNK(now) and stat.S_IMODE(now) != wanted)

    def set_owner_if_different(self, path: str, owner: str, changed: bool) -> bool:
        """Whether its owner would be set."""
        return changed or os.lstat(path).st_uid != pwd.getpwnam(owner).pw_uid

    def set_group_if_different(self, path: str, group: str, changed: bool) -> bool:
        """Whether its group would be set."""
        return changed or os.lstat(path).st_gid != grp.getgrnam(group).gr_gid

    def backup_local(self, path: str) -> NoReturn:
        """Modules hand it on to what writes, which is nothing here."""
        raise Refused(f"a comparison writes no copy of {path}")


def _made(args: Mapping[str, Any], told: Mapping[str, Any]) -> InCheckMode:
    """What stands in the place of ``AnsibleModule(argument_spec=..., ...)``."""
    params = take(told["argument_spec"], args)
    for option, value, needed in told.get("required_if", ()):
        if params.get(option) == value and any(params[name] is None for name in needed):
            raise Refused(f"{option} is {value} but one of {', '.join(needed)} is missing")
    if not told.get("supports_check_mode"):
        raise Refused("the module cannot tell what it would do")
    return InCheckMode(params)
