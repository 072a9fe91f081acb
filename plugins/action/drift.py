# SPDX-License-Identifier: GPL-3.0-or-later
"""Say what differs on which host, and write it down.

Runs on the controller: the hosts were asked before.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.plugin_utils._desired import drift
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import files
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction

_NAME = "ibready-drift.json"


class ActionModule(SiteAction):
    """The whole of the module ``drift``."""

    SPEC: ClassVar[dict[str, Any]] = {
        "hosts": {"type": "list", "elements": "str", "required": True},
        "dest": {"type": "path", "required": True},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        differs, uncompared = drift.gathered(variables["hostvars"], args["hosts"])
        self._display.display(f"\n{drift.told(differs, uncompared)}\n")
        path = Path(args["dest"]) / _NAME
        body = {"schema": drift.SCHEMA, "hosts": differs, "uncompared": uncompared}
        try:
            files.write_whole(path, json.dumps(body, indent=2, ensure_ascii=False) + "\n")
        except OSError as exc:
            raise AnsibleActionFail(f"{path} was not written: {exc}; next: set ibready_report_dir") from exc
        return {"changed": False, "hosts": differs, "uncompared": uncompared, "json": str(path)}
