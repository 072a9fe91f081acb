# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the stack of every host from what they told, show it, and keep the lock.

Runs on the controller, for only it knows all hosts, their variables and the lock.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.module_utils._version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import source
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle.layout import BundleError
from ansible_collections.ibready.cluster.plugins.plugin_utils._matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._matrix.model import (
    Matrix,
    MatrixError,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan import (
    files,
    install,
    make,
    table,
    where,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan import lock as locks

_PROBLEMS = (BundleError, MatrixError, locks.LockError, make.PlanError, install.InstallError)


class ActionModule(ActionBase):
    """The whole of the module ``stack_plan``."""

    _requires_connection = False
    _VALID_ARGS = frozenset(("hosts", "relock", "write", "show_only", "bundle"))
    _supports_check_mode = True

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            argument_spec={
                "hosts": {"type": "list", "elements": "str", "required": True},
                "relock": {"type": "bool", "default": False},
                "write": {"type": "bool", "default": True},
                "show_only": {"type": "bool", "default": False},
                "bundle": {"type": "bool", "default": True},
            }
        )
        variables = task_vars or {}
        try:
            result.update(self._plan(args, variables["hostvars"]))
        except _PROBLEMS as exc:
            raise AnsibleActionFail(str(exc)) from exc
        except OSError as exc:
            raise AnsibleActionFail(
                f"the lock was not written: {exc}. Nothing was changed on any host. "
                f"Next: make its folder writable, or set {where.LOCK_FILE}"
            ) from exc
        return result

    def _plan(self, args: dict[str, Any], hostvars: Mapping[str, Any]) -> dict[str, Any]:
        hosts = [_host(name, hostvars[name]) for name in args["hosts"]]
        known = [one for one in hosts if one.node]
        if not known:
            raise make.PlanError(
                "no host told what it is; next: see the task above that contacts every host"
            )
        path = _the_one(known, where.lock_file, where.LOCK_FILE)
        matrix = load.load(_the_one(known, where.matrix_folders, "stack_matrix"))
        bundle = _bundle(known) if args["bundle"] else None
        sites = install.Sites(_the_one(known, _repositories, "stack_repositories"), bundle)
        old = locks.read(path)
        made = make.make(
            known,
            matrix,
            old,
            relock=args["relock"],
            sites=sites,
            now=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        simulated = sorted({str(one.node.get("simulated") or "") for one in known} - {""})
        text = table.render(made.rows, made.changes, ", ".join(simulated))
        self._display.display("\n" + text)
        if made.refused:
            said = {host: table.refusal(one) for host, one in made.refused.items()}
            raise make.PlanError(
                "; ".join(f"{host}: {text}" for host, text in said.items())
                + ". Nothing was changed on any host."
            )
        if bundle is not None and bundle.directory:
            source.see(bundle, _digests(made))
        packages = _packages(made, matrix, sites, strict=not args["show_only"])
        written: list[str] = []
        if args["write"] and not self._task.check_mode:
            written = files.write(path, old, made.lock, packages, VERSION)
        return {
            "changed": bool(made.changes),
            "table": text,
            "lock": str(path),
            "changes": made.changes,
            "written": written,
            "plans": _plans(made, packages),
            "classes": {
                host: row.name for row in made.rows if row.planned is not None for host in row.hosts
            },
        }


def _host(name: str, variables: Mapping[str, Any]) -> make.Host:
    node = (variables.get("ibready_node") or {}).get("node") or {}
    # Only ours: a site's other variables may need facts that nobody has gathered.
    ours = {one: variables[one] for one in variables if one.startswith(("stack_", "inventory_dir"))}
    return make.Host(name, node, ours)


def _the_one(hosts: list[make.Host], read: Any, name: str) -> Any:
    """What all hosts agree on; PlanError where they do not."""
    found: list[Any] = []
    for host in hosts:
        value = read(host.variables)
        if value not in found:
            found.append(value)
    if len(found) > 1:
        raise make.PlanError(
            f"{name} differs between hosts; next: set it once for all, and plan groups that have "
            "different ones in runs of their own (--limit)"
        )
    return found[0]


def _repositories(variables: Mapping[str, Any]) -> dict[str, Any]:
    return dict(variables.get("stack_repositories") or {})


def _bundle(hosts: list[make.Host]) -> install.Bundled | None:
    given = _the_one(hosts, lambda variables: variables.get("stack_bundle"), "stack_bundle")
    key = _the_one(hosts, lambda variables: variables.get("stack_bundle_key"), "stack_bundle_key")
    return source.bundled(str(given), key) if given else None


def _digests(made: make.Made) -> dict[str, str]:
    """By class, the sum of its stack."""
    return {row.name: row.planned.digest for row in made.rows if row.planned is not None}


def _packages(
    made: make.Made, matrix: Matrix, sites: install.Sites, *, strict: bool
) -> dict[str, Any]:
    """By class, what its package manager is told.

    Unless ``strict``, a class whose repositories nobody gave a location of is left out.
    """
    found = {}
    for row in made.rows:
        if row.planned is None:
            continue
        try:
            to = install.target(row.planned.system, row.planned.arch, matrix)
            found[row.name] = install.install(row.planned.stack, to, matrix, sites, row.name)
        except install.InstallError as exc:
            if strict:
                raise install.InstallError(
                    f"{', '.join(row.hosts)}: {exc}. Nothing was changed on any host."
                ) from None
    return found


def _plans(made: make.Made, packages: Mapping[str, Any]) -> dict[str, Any]:
    """By class, what ``ibready_plan`` of its hosts is (docs/architecture.md)."""
    return {
        row.name: {
            "class": row.name,
            "verdict": row.planned.verdict,
            "because": list(row.planned.because),
            "digest": row.planned.digest,
            "stack": row.planned.to_dict()["stack"],
            "install": packages.get(row.name, {}),
        }
        for row in made.rows
        if row.planned is not None
    }
