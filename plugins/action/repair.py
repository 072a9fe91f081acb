# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the acts of a diagnosis within a site's limits, remember them, and say what became of them.

Runs on the controller and does nothing on any host.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import table
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import files
from ansible_collections.ibready.cluster.plugins.plugin_utils._repair import plan as _plan, record, told
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction

_TICKETS = "ibready-tickets.txt"


class ActionModule(SiteAction):
    """The whole of the module ``repair``."""

    SPEC: ClassVar[dict[str, Any]] = {
        "state": {"type": "str", "choices": ["planned", "done"], "default": "planned"},
        "diagnosis": {"type": "dict"},
        "plan": {"type": "dict"},
        "errors": {"type": "dict", "default": {}},
        "allow": {"type": "list", "elements": "str", "choices": list(table.acts()), "default": []},
        **{name: {"type": "int", "default": default} for name, default in _plan.NUMBERS.items()},
        "drain": {"type": "bool", "default": False},
        "dest": {"type": "path", "required": True},
    }
    RULES: ClassVar[dict[str, Any]] = {
        "required_if": [("state", "planned", ["diagnosis"]), ("state", "done", ["plan"])]
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        folder = Path(args["dest"])
        try:
            return self._planned(args, folder) if args["state"] == "planned" else self._done(args, folder)
        except (record.RecordError, table.CausesError) as exc:
            raise AnsibleActionFail(str(exc)) from exc
        except OSError as exc:
            raise AnsibleActionFail(
                f"nothing can be remembered in {folder}: {exc}; next: set ibready_report_dir"
            ) from exc

    def _planned(self, args: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        now = datetime.now(UTC)
        for name in _plan.NUMBERS:
            if args[name] < 1:
                raise AnsibleActionFail(f"repair_{name} is {args[name]}; next: say 1 or more")
        limits = _plan.Limits(args["allow"], args["hosts"], args["per_leaf"], args["tries"], args["drain"])
        causes, places = args["diagnosis"]["causes"], args["diagnosis"]["places"]
        tried = record.tried(record.read(folder), now, args["days"])
        planned = _plan.plan(causes, places, table.acts(), limits, tried)
        tickets = list(told.tickets(causes, places, planned.held))
        self._display.display(f"\n{told.plan(planned, table.acts(), len(tickets))}\n")
        files.write_whole(folder / _TICKETS, "\n\n".join([*tickets, ""]))
        if not self._task.check_mode:
            record.begin(folder, planned, now)
        hosts = _plan.by_host(planned, table.CONVERGE)
        return {"changed": False, "hosts": hosts, "tickets": tickets, "at": now.isoformat(), **planned.to_dict()}

    def _done(self, args: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        planned = _plan.Plan([_plan.Step(**step) for step in args["plan"]["steps"]])
        errors = {host: str(error) for host, error in args["errors"].items() if error}
        results = record.results(planned, args["diagnosis"], errors)
        record.end(folder, results, datetime.fromisoformat(args["plan"]["at"]))
        self._display.display(f"\n{told.done(results)}\n")
        left = [entry for entry in results if entry[1] != record.MENDED]
        stayed = {**errors, **{step.host: f"{step.title} [{step.cause}]: {why}" for step, _result, why in left}}
        return {"changed": False, "stayed": stayed, "steps": args["plan"]["steps"], "held": args["plan"]["held"]}
