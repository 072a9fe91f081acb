# SPDX-License-Identifier: GPL-3.0-or-later
"""Say which part a search between hosts convicted, with the measurements, and write it.

Runs on the controller, for no single host knows what the others measured.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.module_utils._ground.version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect import seen, told, verdict
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench import reported
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import files
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.plain import plain
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction

_FILE = "bisect.json"


class ActionModule(SiteAction):
    """The whole of the module ``bisect_report``: there is nothing to do on a node."""

    SPEC: ClassVar[dict[str, Any]] = {
        "hosts": {"type": "list", "elements": "str", "required": True},
        "dest": {"type": "path", "required": True},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        if not args["hosts"] or not args["dest"]:
            raise AnsibleActionFail("no host to report on, or no dest; next: name both")
        hostvars = variables["hostvars"]
        _plan, found = seen.made(hostvars, *seen.begun(hostvars, args["hosts"]))
        outcome = verdict.judge(found.engine)
        hosts = reported.gather(hostvars, args["hosts"])
        simulated = ", ".join(sorted({host.simulated for host in hosts} - {""}))
        wrong = told.bad(found, outcome, hosts)
        text = told.render(found, outcome, hosts, simulated)
        self._display.display(f"\n{text}\n")
        path = Path(args["dest"]) / _FILE
        if not self._task.check_mode:
            whole = {**told.as_dict(found, outcome, simulated), "ibready": VERSION, "bad": wrong}
            try:
                files.write_whole(path, json.dumps(whole, indent=1) + "\n")
            except OSError as exc:
                raise AnsibleActionFail(
                    f"{exc.filename or path} was not written: {exc}; next: set ibready_report_dir"
                ) from exc
        return {
            "changed": False,
            "bad": wrong,
            "convicted": [plain(one.part) for one in outcome.verdicts if one.verdict == verdict.CONVICTED],
            "json": str(path.resolve()),
        }
