# SPDX-License-Identifier: GPL-3.0-or-later
"""Write what schedulers want to know of the fabric, as this run saw it.

Runs on the controller, for only it knows all hosts; no scheduler is touched.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import ExpectationError
from ansible_collections.ibready.cluster.plugins.module_utils._expect.waivers import WaiverError
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, UNKNOWN, sentence
from ansible_collections.ibready.cluster.plugins.module_utils._ground.version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import (
    check_topology,
    gather,
    judge,
    report as _report,
    tree as _tree,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import address, files as _files
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.plain import plain
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes.names import KubernetesError
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.topology import render
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction
from ansible_collections.ibready.cluster.plugins.plugin_utils._slurm.hostlist import fold

_PROBLEMS = (gather.FabricError, render.TopologyError, KubernetesError, ExpectationError, WaiverError)


class ActionModule(SiteAction):
    """The whole of the module ``topology``."""

    SPEC: ClassVar[dict[str, Any]] = {
        "hosts": {"type": "list", "elements": "str", "required": True},
        "dest": {"type": "str", "required": True},
        "topograph": {"type": "str", "choices": list(render.KEYS), "default": next(iter(render.KEYS))},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        hostvars = variables["hostvars"]
        folder = Path(os.environ.get("PWD", "."), Path(args["dest"]).expanduser())
        try:
            told, hosts, tree = self._seen(args["hosts"], variables)
            inventory = _report.inventory(hosts, told)
            everybody = sorted({*tree.path, *tree.off, *inventory.cliques})
            nodes = gather.called(hostvars, everybody)
            by_name = {host.name: host for host in hosts}
            called = {name: _called(name, nodes.get(name, name), by_name.get(name), hostvars) for name in everybody}
            rendered = render.render(tree, inventory.cliques, called, args["topograph"], _said(tree, told))
            differ = check_topology.judge(told.wishes.topology, "", tree, inventory, "", nodes)
            changed, removed = _changes(folder, rendered.files)
        except _PROBLEMS as exc:
            raise AnsibleActionFail(f"topology: {exc}. Nothing was written.") from exc
        if not self._task.check_mode:
            _write(folder, rendered.files, changed, removed)
        wrong = [check for check in differ if check.result in (FAIL, UNKNOWN)]
        for line in (*_missing(tree), *tree.notes, *_parted(tree), *map(sentence, wrong)):
            self._display.warning(plain(line))
        return {
            "changed": bool(changed or removed),
            "dest": str(folder),
            "files": sorted(rendered.files),
            "written": changed,
            "removed": removed,
            "order": list(rendered.order),
            "absent": dict(tree.off),
            "domains": {name: list(members) for name, members in rendered.blocks.items()},
            "notes": list(tree.notes),
            "checks": [check.to_dict() for check in differ],
        }

    def _seen(
        self, names: list[str], variables: Mapping[str, Any]
    ) -> tuple[_report.Query, list[_hosts.Host], _tree.Tree]:
        """What the run asked and what comes of it; FabricError where that is not the whole fabric."""
        told = _report.asked(variables["hostvars"], names, variables.get("groups", {}).get("all", ()))
        if told is None:
            raise gather.FabricError("nobody has asked a fabric in this run; next: playbooks/topology.yml")
        hosts = _hosts.gather(variables["hostvars"], names)
        inventory = _report.inventory(hosts, told)
        fabrics, partial = judge.models(told.looks, inventory)
        why = told.error or partial or ("" if told.looks else "no port of any host has a link, so nobody could ask")
        if why:
            raise gather.FabricError(f"the fabric was not seen as a whole: {why}; next: playbooks/fabric.yml")
        return told, hosts, _tree.build(fabrics, inventory)


def _called(name: str, slurm: str, host: _hosts.Host | None, hostvars: Mapping[str, Any]) -> render.Called:
    node: Mapping[str, Any] = host.node if host is not None else {}
    own = hostvars.get(name, {})
    kubernetes = str(own.get("kubernetes_rdma_node") or node.get("hostname") or name).lower()
    return render.Called(slurm, kubernetes, address.of(name, own), len(node.get("gpus") or ()))


def _said(tree: _tree.Tree, told: _report.Query) -> list[str]:
    """What stands on top of every file."""
    asked = ", ".join(look.asked for look in told.looks)
    lines = [
        f"{render.MARK}{VERSION}, playbooks/topology.yml: the fabric as {asked} saw it.",
        *_missing(tree),
        *tree.notes,
    ]
    return [" ".join(plain(line).split()) for line in (*lines, *_parted(tree))]


def _missing(tree: _tree.Tree) -> list[str]:
    found: dict[str, list[str]] = {}
    for host, why in tree.off.items():
        found.setdefault(why, []).append(host)
    return [f"without a place in the tree: {fold(hosts)}: {why}" for why, hosts in found.items()]


def _parted(tree: _tree.Tree) -> list[str]:
    return ["there are hosts that do not reach each other: no job can have both"] if tree.apart else []


def _changes(folder: Path, files: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """What would be written and what removed; TopologyError for a file that is not ours."""
    changed, removed = [], []
    for name in render.FILES:
        path = folder / name
        try:
            before = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            before = ""
        except (OSError, UnicodeDecodeError) as exc:
            raise render.TopologyError(
                f"{path} cannot be read: {exc}; next: name another ibready_topology_dir"
            ) from None
        if before and render.MARK not in before[:200]:
            raise render.TopologyError(f"{path} is there and not ours; next: name another ibready_topology_dir")
        if name not in files:
            removed += [name] if before else []
        elif files[name] != before:
            changed.append(name)
    return changed, removed


def _write(folder: Path, files: Mapping[str, str], changed: Sequence[str], removed: Sequence[str]) -> None:
    try:
        for name in changed:
            _files.write_whole(folder / name, files[name])
        for name in removed:
            (folder / name).unlink()
    except OSError as exc:
        raise AnsibleActionFail(
            f"topology: {folder}: {exc}; next: make it writable, or set ibready_topology_dir"
        ) from exc
