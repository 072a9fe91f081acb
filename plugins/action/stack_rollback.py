# SPDX-License-Identifier: GPL-3.0-or-later
"""Say to which plan each host goes back, and let the locks change places when all are there.

Runs on the controller, for only it has the locks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.module_utils._ground.version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.plain import plain
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.model import MatrixError
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import install, lock as locks, rollback, where
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction

_PROBLEMS = (rollback.RollbackError, locks.LockError, MatrixError)


class ActionModule(SiteAction):
    """The whole of the module ``stack_rollback``."""

    SPEC: ClassVar[dict[str, Any]] = {
        "state": {"type": "str", "choices": ["planned", "swapped"], "required": True},
        "hosts": {"type": "list", "elements": "str", "required": True},
        "to": {"type": "str", "choices": list(rollback.ROADS), "default": "previous"},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        try:
            hosts, hostvars = args["hosts"], variables["hostvars"]
            if args["to"] == rollback.BARE:
                return {**_bare(hosts), "stay": self._stay(hosts, hostvars)}
            variables_of = hostvars[hosts[0]]
            found = rollback.read(_lock_file(hosts, hostvars), args["to"])
            if args["state"] == "planned":
                return {**self._planned(found, hosts), "stay": self._stay(hosts, hostvars)}
            return self._swapped(found, args["hosts"], variables_of)
        except _PROBLEMS as exc:
            raise AnsibleActionFail(str(exc)) from exc
        except OSError as exc:
            raise AnsibleActionFail(
                f"the locks did not change places: {exc}. Next: see both files, and put "
                f"{locks.PREVIOUS} in the place of {locks.NAME} by hand"
            ) from exc

    def _stay(self, hosts: list[str], hostvars: Mapping[str, Any]) -> dict[str, list[str]]:
        """By host, the packages (globs) of what the lock leaves as it was found. A way back to bare needs no lock."""
        matrix = load.load(where.matrix_folders(hostvars[hosts[0]]))
        try:
            lock = locks.read(_lock_file(hosts, hostvars))
        except locks.LockError as exc:
            self._display.warning(plain(f"nobody knows which parts stay as they were found: {exc}"))
            lock = None
        known = {host: kind[1] for host in hosts if lock is not None and (kind := lock.of_host(host)) is not None}
        return {host: sorted(install.of_what_stays(kind.stack, matrix)) for host, kind in known.items()}

    def _planned(self, found: rollback.Locks, hosts: list[str]) -> dict[str, Any]:
        changes = rollback.differences(found)
        for line in changes:
            self._display.display(plain(f"  {line}"))
        return {
            "changed": False,
            "digests": rollback.digests(found, hosts),
            "changes": changes,
            "lock": str(found.other_path),
            "swapped": False,
            "absent": rollback.absent(found, hosts),
        }

    def _swapped(self, found: rollback.Locks, hosts: list[str], variables: Mapping[str, Any]) -> dict[str, Any]:
        absent = rollback.absent(found, hosts)
        result = {
            "changed": not absent,
            "digests": rollback.digests(found, hosts),
            "changes": rollback.differences(found),
            "lock": str(found.other_path if absent else found.path),
            "swapped": not absent,
            "absent": absent,
        }
        if not absent and not self._task.check_mode:
            rollback.swap(found, _packages(found.other, variables), VERSION)
        return result


def _bare(hosts: list[str]) -> dict[str, Any]:
    """No lock has a part in it: that of the site stays, for the hosts' next converge."""
    return {
        "changed": False,
        "digests": dict.fromkeys(hosts, rollback.BARE),
        "changes": [],
        "lock": "",
        "swapped": False,
        "absent": [],
    }


def _lock_file(hosts: list[str], hostvars: Mapping[str, Any]) -> Path:
    found = {where.lock_file(hostvars[host]) for host in hosts}
    if len(found) > 1:
        raise rollback.RollbackError(
            f"{where.LOCK_FILE} differs between hosts; next: roll back groups that have different "
            "locks in runs of their own (--limit)"
        )
    return found.pop()


def _packages(lock: locks.Lock, variables: Mapping[str, Any]) -> dict[str, Any]:
    """By class, what its package manager is told; left out where nobody says where it is had."""
    matrix = load.load(where.matrix_folders(variables))
    sites = install.Sites(dict(variables.get("stack_repositories") or {}))
    found = {}
    for name, kind in lock.classes.items():
        try:
            to = install.target(kind.system, kind.arch, matrix)
            found[name] = install.install(kind.stack, to, matrix, sites)
        except install.InstallError:
            continue
    return found
