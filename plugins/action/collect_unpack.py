# SPDX-License-Identifier: GPL-3.0-or-later
"""Put the bundle that a host gave beside its archive, and nothing anywhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.plugin_utils import _unpack


class ActionModule(ActionBase):
    """The whole of the module ``collect_unpack``: there is nothing to do on a node."""

    _requires_connection = False
    _VALID_ARGS = frozenset(("src", "dest", "host"))

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            argument_spec={
                "src": {"type": "path", "required": True},
                "dest": {"type": "path", "required": True},
                "host": {"type": "str", "required": True},
            }
        )
        try:
            home = _unpack.replace(Path(args["src"]), Path(args["dest"]), args["host"])
        except _unpack.UnpackError as exc:
            raise AnsibleActionFail(
                f"the bundle of {args['host']} was not unpacked: {exc}; next: do not trust this "
                "host before you know who made the archive, then run collect.yml again"
            ) from exc
        except OSError as exc:
            raise AnsibleActionFail(
                f"the bundle of {args['host']} was not unpacked: {exc}; next: make room in "
                f"{args['dest']}, or set ibready_bundle_dir"
            ) from exc
        result.update(changed=True, path=str(home))
        return result
