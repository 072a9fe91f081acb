# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the stack of every host from what they told, show it, and keep the lock.

Runs on the controller, for only it knows all hosts, their variables and the lock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar, cast

from ansible.errors import AnsibleActionFail, AnsibleError

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.contact_facts import NodeReported
from ansible_collections.ibready.cluster.plugins.module_utils._ground.version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import apart
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers.typed import read
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import source
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle.layout import BundleError
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.plain import plain
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.model import Matrix, MatrixError
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import (
    beside,
    files,
    install,
    lock as locks,
    make,
    published,
    table,
    where,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.platform import merged, platform
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction

_PROBLEMS = (BundleError, MatrixError, locks.LockError, make.PlanError, install.InstallError)

# What the plan minds of a release that goes by its series.
_GUESSED = "mind RELEASE_KNOWN"


class ActionModule(SiteAction):
    """The whole of the module ``stack_plan``."""

    SPEC: ClassVar[dict[str, Any]] = {
        "hosts": {"type": "list", "elements": "str", "required": True},
        "relock": {"type": "bool", "default": False},
        "write": {"type": "bool", "default": True},
        "show_only": {"type": "bool", "default": False},
        "bundle": {"type": "bool", "default": True},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._plan(args, variables["hostvars"])
        except _PROBLEMS as exc:
            raise AnsibleActionFail(str(exc)) from exc
        except OSError as exc:
            raise AnsibleActionFail(
                f"the lock was not written: {exc}. Nothing was changed on any host. "
                f"Next: make its folder writable, or set {where.LOCK_FILE}"
            ) from exc

    def _plan(self, args: dict[str, Any], hostvars: Mapping[str, Any]) -> dict[str, Any]:
        hosts, refused = apart.each(args["hosts"], lambda name: _host(name, hostvars[name]))
        known = _told(hosts.values(), refused)
        path = _the_one(known, where.lock_file, where.LOCK_FILE)
        matrix = load.load(_the_one(known, where.matrix_folders, "stack_matrix"))
        _unused, odd = apart.each(
            [entry.name for entry in known],
            lambda name: merged([platform(hosts[name].node, matrix)]),
            (*apart.OPERATOR, *_PROBLEMS),
        )
        refused.update(odd)
        known = _told([entry for entry in known if entry.name not in odd], refused)
        for name, why in refused.items():
            self._display.warning(plain(f"{name} gets no plan: {why}"))
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
        simulated = sorted({str(entry.node.get("simulated") or "") for entry in known} - {""})
        text = table.render(made.rows, made.changes, made.facts, ", ".join(simulated))
        self._display.display("\n" + text)
        if made.refused:
            said = {host: table.refusal(entry) for host, entry in made.refused.items()}
            raise make.PlanError(
                "; ".join(f"{host}: {text}" for host, text in said.items()) + ". Nothing was changed on any host."
            )
        if bundle is not None:
            sites = replace(sites, bundle=source.see(bundle, _digests(made)))
        packages = _packages(made, matrix, sites, strict=not args["show_only"])
        if bundle is None:
            self._look(made, packages)
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
            "classes": {host: row.name for row in made.rows if row.planned is not None for host in row.hosts},
            "refused": refused,
        }

    def _look(self, made: make.Made, packages: Mapping[str, Any]) -> None:
        """Of a release that the matrix does not have: see that its packages are published, where there is a way."""
        for row in made.rows:
            guessed = row.planned is not None and any(_GUESSED in reason for reason in row.planned.because)
            if row.kept or row.planned is None or not guessed or row.name not in packages:
                continue
            try:
                lacking = published.lacking(packages[row.name], row.planned.stack)
            except (OSError, ValueError) as exc:
                self._display.warning(plain(f"{row.name}: nobody could look whether its packages are published: {exc}"))
                continue
            if lacking:
                raise make.PlanError(
                    f"{', '.join(row.hosts)}: no repository has {'; '.join(lacking)}. Nothing was changed on any host. "
                    "Next: ask for a release that there is"
                )


def _told(hosts: Iterable[make.Host], refused: Mapping[str, str]) -> list[make.Host]:
    """Those that told what they are; PlanError where none is left."""
    known = [host for host in hosts if host.node]
    if not known:
        said = "".join(f"; {name}: {why}" for name, why in refused.items())
        raise make.PlanError(f"no host told what it is{said}; next: see the task above that contacts every host")
    return known


def _host(name: str, variables: Mapping[str, Any]) -> make.Host:
    reported = (variables.get("ibready_node") or {}).get("node") or {}
    node = cast(Mapping[str, Any], read(NodeReported, reported, "node"))
    # Only ours: a site's other variables may need facts that nobody has gathered.
    ours = {variable: variables[variable] for variable in variables if variable.startswith(("stack_", "inventory_dir"))}
    return make.Host(name, node, {**ours, **_settings(variables)})


def _settings(variables: Mapping[str, Any]) -> dict[str, Any]:
    """What the site says of settings; None for what cannot be had before facts are there."""
    found: dict[str, Any] = {}
    for variable in (name for name in beside.VARIABLES if name in variables):
        found[variable] = None
        with contextlib.suppress(AnsibleError):
            found[variable] = variables[variable]
    return found


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


def _packages(made: make.Made, matrix: Matrix, sites: install.Sites, *, strict: bool) -> dict[str, Any]:
    """By class, what its package manager is told.

    Unless ``strict``, a class whose repositories nobody gave a location of is left out.
    """
    found = {}
    for row in made.rows:
        if row.planned is None:
            continue
        try:
            if strict and install.OWN in row.missing:
                raise install.InstallError(install.OFF)
            to = install.target(row.planned.system, row.planned.arch, matrix)
            found[row.name] = install.install(row.planned.stack, to, matrix, sites, row.name)
        except install.InstallError as exc:
            if strict:
                raise install.InstallError(f"{', '.join(row.hosts)}: {exc}. Nothing was changed on any host.") from None
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
