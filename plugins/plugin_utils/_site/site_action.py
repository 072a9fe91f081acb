# SPDX-License-Identifier: GPL-3.0-or-later
"""What the actions of ours have in common that are more than a call of their module."""

from __future__ import annotations

from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from .._engine.ask import EngineAction
from .._ground import this_run
from . import trust


class SiteAction(ActionBase):
    """Does with its options (``SPEC``, and ``RULES`` on several) what `act` says, by default without
    a host, and by the operator's word alone (``trusted``)."""

    SPEC: ClassVar[dict[str, Any]] = {}
    RULES: ClassVar[dict[str, Any]] = {}
    trusted = True
    _requires_connection = False

    def __init_subclass__(cls) -> None:
        cls._VALID_ARGS = frozenset(cls.SPEC)

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        if self.trusted:
            trust.demand()
        _unused, args = self.validate_argument_spec(argument_spec=self.SPEC, **self.RULES)
        result.update(self.act(args, task_vars or {}))
        return result

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """What is answered to these options."""
        raise NotImplementedError


def ask_host(action: ActionBase, module: str, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
    """What a module of ours answers; AnsibleActionFail where it failed."""
    name = f"ibready.cluster.{module}"
    done: dict[str, Any] = action._execute_module(module_name=name, module_args=args, task_vars=variables)
    if done.get("failed"):
        raise AnsibleActionFail(str(done.get("msg")), result=done)
    return done


class RunAction(EngineAction):
    """The controller's part of the module of the action's own name: only here a run is seen.

    The module answers with ``holder`` where another run has what it wants.
    """

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        args = {**this_run.identity(), **self._task.args}
        done = self._ask(args, task_vars or {})
        holder = done.get("holder")
        if isinstance(holder, dict) and this_run.ended(str(holder.get("run"))):
            done = self._ask({**args, "over": holder["run"]}, task_vars or {})
        result.update(done)
        return result

    def _ask(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        module = f"ibready.cluster.{type(self).__module__.rpartition('.')[2]}"
        done: dict[str, Any] = self._execute_module(module_name=module, module_args=args, task_vars=variables)
        return done
