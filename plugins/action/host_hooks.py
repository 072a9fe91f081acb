# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a site's own commands for a host: scheduler and cluster commands live on the controller."""

from __future__ import annotations

import subprocess
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.plugin_utils._site import hooks as _hooks
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction


class ActionModule(SiteAction):
    """The whole of the module ``host_hooks``."""

    _requires_connection = True
    SPEC: ClassVar[dict[str, Any]] = {
        "title": {"type": "str", "required": True},
        "commands": {"type": "list", "elements": "raw", "required": True},
        "timeout": {"type": "int", "default": 3600},
        "unchanged": {"type": "str", "default": ""},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        name = variables.get("inventory_hostname", "this host")
        try:
            hooks = _hooks.parse(args["commands"])
        except _hooks.HookError as exc:
            raise AnsibleActionFail(f"{name}: {args['title']}: {exc}. Nothing was run.") from None
        ran: list[str] = []
        result: dict[str, Any] = dict(changed=bool(hooks), ran=ran)
        for hook in hooks:
            ran.append(hook.shown())
            if self._task.check_mode:
                continue
            said = self._run_one(hook, args["timeout"], variables)
            if said:
                result.update(failed=True, msg=_told(name, args, hook, said, ran))
                return result
        return result

    def _run_one(self, hook: _hooks.Hook, timeout: int, variables: dict[str, Any]) -> str:
        """Run one command; returns why it failed, "" where it did not."""
        if hook.where == _hooks.HOST:
            done = self._execute_module(
                module_name="ansible.legacy.command",
                module_args={"argv": list(hook.argv)},
                task_vars=variables,
            )
            if not done.get("failed"):
                return ""
            return f"{done.get('msg', 'no message')} {done.get('stderr', '')}".strip()
        try:
            here = subprocess.run(
                hook.argv,
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            return f"it did not end within {timeout} s"
        except OSError as exc:
            return exc.strerror or str(exc)
        if here.returncode == 0:
            return ""
        words = (here.stderr or here.stdout).strip().split("\n")[-1]
        return f"status {here.returncode}: {words or 'no word'}"


def _told(name: str, args: dict[str, Any], hook: _hooks.Hook, said: str, ran: list[str]) -> str:
    where = "on the controller" if hook.where == _hooks.CONTROLLER else "on the host"
    before = f" Before it ran: {', '.join(ran[:-1])}." if ran[:-1] else ""
    unchanged = f" {args['unchanged']}" if args["unchanged"] else ""
    return (
        f"{name}: {args['title']}: `{hook.shown()}` failed {where}: {said}.{before}{unchanged} "
        "Next: run it by hand and fix what it says, then run this again."
    )
