# SPDX-License-Identifier: GPL-3.0-or-later
"""Render what NVIDIA's operators and jobs need in Kubernetes, from the plan and all hosts' facts.

Runs on the controller, for only it knows all nodes; the cluster is not touched.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.module_utils._ground.version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.plain import plain
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes import (
    files,
    nodes,
    options,
    render,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes.names import KubernetesError
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.model import Matrix, MatrixError
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import where
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction

_PROBLEMS = (KubernetesError, MatrixError)


class ActionModule(SiteAction):
    """The whole of the module ``kubernetes_manifests``."""

    SPEC: ClassVar[dict[str, Any]] = {
        "hosts": {"type": "list", "elements": "str", "required": True},
        "dest": {"type": "str", "required": True},
        **options.SPEC,
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        hostvars = variables["hostvars"]
        folder = Path(os.environ.get("PWD", "."), Path(args["dest"]).expanduser())
        try:
            wanted = options.read(args)
            matrix = _matrix(args["hosts"], hostvars)
            reported = nodes.read(args["hosts"], hostvars, matrix)
            rendered = render.render(reported, wanted, matrix, VERSION)
            changed = files.changes(folder, rendered.files)
        except _PROBLEMS as exc:
            raise AnsibleActionFail(plain(f"{exc}. Nothing was written.")) from None
        for remark in rendered.remarks:
            self._display.warning(plain(remark))
        for name in reported.absent:
            why = reported.refused.get(name, "it told nothing")
            self._display.warning(plain(f"no manifest is about {name}: {why}"))
        if not self._task.check_mode:
            try:
                files.write(folder, rendered.files, changed)
            except OSError as exc:
                raise AnsibleActionFail(
                    f"{folder}: {exc}. Next: make it writable, or set kubernetes_rdma_dir"
                ) from None
        if self._task.diff:
            result["diff"] = _diff(folder, changed)
        result.update(
            changed=bool(changed),
            dest=str(folder),
            files=sorted(rendered.files),
            remarks=list(rendered.remarks),
            absent=list(reported.absent),
            idle=list(reported.idle),
            sources=vars(rendered.sources),
            operators={
                "gpu_operator": rendered.operators.gpu.name if rendered.operators.gpu else "",
                "network_operator": rendered.operators.network.name,
            },
            resources={name: dict(resource) for name, resource in rendered.resources.items()},
        )
        return result


def _matrix(hosts: Sequence[str], hostvars: Mapping[str, Any]) -> Matrix:
    """The one matrix that the plans of these hosts were made with."""
    folders = {
        where.matrix_folders({"stack_matrix": hostvars[host].get("stack_matrix")}) for host in hosts if host in hostvars
    }
    if len(folders) > 1:
        raise KubernetesError("stack_matrix differs between hosts. Next: set it once for all")
    return load.load(next(iter(folders), ()))


def _diff(folder: Path, changed: Sequence[files.Change]) -> list[dict[str, str]]:
    return [
        {
            "before": change.before,
            "after": change.after,
            "before_header": str(folder / change.path),
            "after_header": str(folder / change.path),
        }
        for change in changed
    ]
