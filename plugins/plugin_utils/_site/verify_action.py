# SPDX-License-Identifier: GPL-3.0-or-later
"""Give a module that judges what the inventory says of the host, also in ad hoc use.

Only the controller knows the inventory; the node does the looking and judging.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ansible import context
from ansible.errors import AnsibleActionFail

from ...module_utils._expect import waivers
from ...module_utils._verify import brief
from ...module_utils._verify.catalog import CATALOG
from .._engine.ask import EngineAction
from .._ground import files
from .._plan.matrix.model import MatrixError
from .._plan.plan import where
from .._plan.plan.lock import LockError
from . import expected, nccl_peers, trust

# Seconds between two looks at error counters.
PAUSE = "ibready_counter_pause"


def _for_a_person() -> bool:
    """Whether `ansible` itself asks, which prints all that it is told, and nobody wants more of it."""
    return bool(context.CLIARGS.get("module_name")) and not context.CLIARGS.get("verbosity")


class ExpectAction(EngineAction):
    """What the inventory says of the host: what is expected, accepted and promised by the lock."""

    def expected(self, given: Any, variables: dict[str, Any], *, bundle: bool = False) -> dict[str, Any]:
        """What was given, or the inventory says, with what roles and NCCL's policy add.

        The host of a ``bundle`` may be any: it is nobody's peer here.
        """
        if given is None:
            given = self.variable("ibready_expect", dict, "dictionary", variables)
        found = self.with_roles(given, variables)
        return found if bundle else self.with_nccl(found, variables)

    def refuse(self, given: Any, variables: dict[str, Any]) -> None:
        """A waiver of no check: only here are all of them known, a module brings those of its own areas."""
        try:
            waivers.parse(given if isinstance(given, list) else [], CATALOG)
        except waivers.WaiverError as exc:
            raise AnsibleActionFail(f"ibready_waivers of {variables.get('inventory_hostname')}: {exc}") from exc

    def with_roles(self, expect: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """What roles set on the host by the site's word, where the site expects nothing else."""
        return expected.with_roles(expect, expected.told(variables, self._templar.template))

    def with_nccl(self, expect: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The site's word on nccl.conf, and where the other nodes are."""
        if "nccl" in expect:
            return expect
        given = {name: self._templar.template(value) for name, value in nccl_peers.policy(variables).items()}
        peers = variables.get(nccl_peers.FACT)
        if not isinstance(peers, list):
            hosts = variables.get("groups", {}).get("all", [])
            peers = nccl_peers.peers(variables.get("hostvars", {}), hosts, nccl_peers.MOST_ALONE)
        said = {"policy": given, "peers": list(peers)}
        return {**expect, "nccl": said} if given or peers else expect

    def with_lock(self, expect: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """What the lock beside the inventory says of this host, where the site says nothing."""
        if "lock" in expect or "stack" in expect:
            return expect
        given = {
            name: self._templar.template(variables[name])
            for name in (where.ROLLBACK_LOCK, where.LOCK_FILE, "stack_matrix", files.INVENTORY_DIR)
            if name in variables
        }
        try:
            said = where.said_of(str(variables.get("inventory_hostname")), given)
        except (LockError, MatrixError) as exc:
            raise AnsibleActionFail(str(exc)) from exc
        return {**expect, "lock": said} if said else expect

    def variable(self, name: str, kind: type, word: str, variables: dict[str, Any]) -> Any:
        value = self._templar.template(variables.get(name))
        if value is None:  # All lines below its name are comments.
            value = kind()
        if not isinstance(value, kind):
            raise AnsibleActionFail(
                f"{name} of {variables.get('inventory_hostname')} must be a {word}, not {type(value).__name__}"
            )
        return value


class VerifyAction(ExpectAction):
    """Pass everything on to the module of the action's own name, with the inventory's defaults."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        variables = task_vars or {}
        args = self.arguments(dict(self._task.args), variables)
        module = f"ibready.cluster.{self.module(args)}"
        asked = time.monotonic()
        result.update(self._execute_module(module_name=module, module_args=args, task_vars=variables))
        trust.refuse(result, "verdict", "checks", "facts", brief.KEY)
        if isinstance(result.get("clock"), dict):
            # Between the two the host read its clock; nobody sets this one of the controller.
            result["clock"].update(asked=asked, answered=time.monotonic())
        return result

    def module(self, args: Mapping[str, Any]) -> str:
        """The name of the module that does it: that of the action, if not another."""
        return type(self).__module__.rpartition(".")[2]

    def arguments(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The module's arguments, with what the inventory says in place of those left out."""
        if args.get("waivers") is None:
            args["waivers"] = self.variable("ibready_waivers", list, "list", variables)
        self.refuse(args["waivers"], variables)
        if args.get("pause") is None and variables.get(PAUSE) is not None:
            args["pause"] = self._templar.template(variables[PAUSE])
        bundle = bool(args.get("bundle"))
        args["expect"] = self.expected(args.get("expect"), variables, bundle=bundle)
        if not bundle:
            args["expect"] = self.with_lock(args["expect"], variables)
        if args.get("answer") is None and _for_a_person():
            args["answer"] = brief.SHORT
        if args.get("host") is None:
            # A bundle tells whose it is.
            args["host"] = None if args.get("bundle") else variables.get("inventory_hostname")
        return args
