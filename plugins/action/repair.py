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
        **{name: {"type": "int", "default": default} for name, default in _plan.NUMBERS.items()},
        "dest": {"type": "path", "required": True},
    }
    RULES: ClassVar[dict[str, Any]] = {
        "required_if": [("state", "planned", ["diagnosis"]), ("state", "done", ["plan"])]
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        folder, hostvars = Path(args["dest"]), variables["hostvars"]
        try:
            return (
                self._planned(args, folder, hostvars)
                if args["state"] == "planned"
                else self._done(args, folder, hostvars)
            )
        except (record.RecordError, table.CausesError) as exc:
            raise AnsibleActionFail(str(exc)) from exc
        except OSError as exc:
            raise AnsibleActionFail(
                f"nothing can be remembered in {folder}: {exc}; next: set ibready_report_dir"
            ) from exc

    def _planned(self, args: Mapping[str, Any], folder: Path, hostvars: Mapping[str, Any]) -> dict[str, Any]:
        now = datetime.now(UTC)
        for name in _plan.NUMBERS:
            if args[name] < 1:
                raise AnsibleActionFail(f"repair_{name} is {args[name]}; next: say 1 or more")
        if args["days"] > record.KEPT:
            raise AnsibleActionFail(f"repair_days is {args['days']}; next: say {record.KEPT} or less")
        causes, places = args["diagnosis"]["causes"], args["diagnosis"]["places"]
        named = {act["host"] for cause in causes for act in cause["acts"]}
        limits = _plan.Limits(
            allow={host: _allowed(host, hostvars[host].get("repair_allow")) for host in named},
            drain={host for host in named if hostvars[host].get("ibready_drain")},
            **{name: args[name] for name in ("hosts", "per_leaf", "tries")},
        )
        known = record.read(folder)
        tried = record.tried(known, now, args["days"])
        planned = _plan.plan(causes, places, table.acts(), limits, tried, record.out(known))
        tickets = list(told.tickets(causes, places, planned.held))
        self._display.display(f"\n{told.plan(planned, table.acts(), len(tickets))}\n")
        files.write_whole(folder / _TICKETS, "\n\n".join([*tickets, ""]))
        if not self._task.check_mode:
            record.begin(folder, planned, now)
        hosts = _plan.by_host(planned, table.CONVERGE)
        return {"changed": False, "hosts": hosts, "tickets": tickets, "at": now.isoformat(), **planned.to_dict()}

    def _done(self, args: Mapping[str, Any], folder: Path, hostvars: Mapping[str, Any]) -> dict[str, Any]:
        planned = _plan.Plan([_plan.Step(**step) for step in args["plan"]["steps"]])
        mine = {step.host: hostvars[step.host] for step in planned.steps}
        begun = {host for host, known in mine.items() if known.get("ibready_repair_begun")}
        errors = {host: told.stopped(known.get("ibready_repair_error")) for host, known in mine.items()}
        errors = {
            host: error or "it could not be administered, and nothing was done"
            for host, error in errors.items()
            if error or host not in begun
        }
        results = record.results(planned, args["diagnosis"], errors)
        # Who was never begun has tried nothing.
        ended = [entry for entry in results if entry[0].host in begun]
        record.end(folder, ended, errors, datetime.fromisoformat(args["plan"]["at"]))
        self._display.display(f"\n{told.done(results)}\n")
        left = [entry for entry in results if entry[1] != record.FIXED]
        stayed = {**errors, **{step.host: f"{step.title} [{step.cause}]: {why}" for step, _result, why in left}}
        return {"changed": False, "stayed": stayed, "steps": args["plan"]["steps"], "held": args["plan"]["held"]}


def _allowed(host: str, said: Any) -> list[str]:
    """The kinds of acts that a host's inventory allows."""
    kinds = [] if said is None else said
    strange = [kind for kind in kinds if kind not in table.acts()] if isinstance(kinds, list) else [kinds]
    if strange:
        known = ", ".join(table.acts())
        raise AnsibleActionFail(f"{host}: repair_allow: {strange[0]!r} is none of {known}; next: list some of these")
    return list(kinds)
