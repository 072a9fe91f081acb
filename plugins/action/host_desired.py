# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold a host against what the roles want of it, in one visit, and say which roles have to run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail

from ansible_collections.ibready.cluster.plugins.module_utils._desired.compare import EFFECT, VERIFY
from ansible_collections.ibready.cluster.plugins.module_utils._desired.options import SPEC
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import apart, shapes
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers.typed import AnswerError, read
from ansible_collections.ibready.cluster.plugins.plugin_utils._desired import facts, runs
from ansible_collections.ibready.cluster.plugins.plugin_utils._desired.compose import Composer
from ansible_collections.ibready.cluster.plugins.plugin_utils._desired.items import Item, document
from ansible_collections.ibready.cluster.plugins.plugin_utils._site import trust
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import ask_host
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.verify_action import ExpectAction

_EFFECT = "See that what was brought takes effect"


class ActionModule(ExpectAction):
    """Compose on the controller, compare on the host."""

    SPEC: ClassVar[dict[str, Any]] = SPEC
    _VALID_ARGS = frozenset(SPEC)
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        trust.demand()
        variables = task_vars or {}
        _unused, args = self.validate_argument_spec(argument_spec=self.SPEC)
        roles = [runs.Role(entry["name"], entry["moves"]) for entry in args["roles"] if entry["wanted"]]
        if args["compare"] == "never":
            result.update(
                changed=False, compared=False, run=[role.name for role in roles], differs=[], refused=[], digest=""
            )
            return result
        also = [vars(Item(**entry)) for entry in [*args["also"], self._effect(variables)]]
        known = {name: answer for name, answer in args["known"].items() if isinstance(answer, Mapping)}
        for _once in range(2):
            wanted = self._compose(roles, args, variables, known)
            described = document(wanted)
            told = self._asked([*described["items"], *also], variables)
            looked = next((entry["looked"] for entry in told if "looked" in entry), None)
            if looked is None:
                break
            # Of a host that grants less than others the role wants another file: once more, by its own answer.
            known["limits_look"] = {"changed": False, **looked}
        result.update(runs.judged(roles, wanted, told))
        result.update(changed=False, compared=True, digest=described["digest"])
        return result

    def _effect(self, variables: dict[str, Any]) -> dict[str, Any]:
        """The question of whether anything undoes what was brought, with what the site expects and accepts."""
        expect = self.with_roles(self.variable("ibready_expect", dict, "dictionary", variables), variables)
        waivers = self.variable("ibready_waivers", list, "list", variables)
        self.refuse(waivers, variables)
        want = {"expect": expect, "waivers": waivers, "host": variables.get("inventory_hostname")}
        return {"role": VERIFY, "task": _EFFECT, "kind": EFFECT, "want": want}

    def _compose(
        self, roles: list[runs.Role], args: Mapping[str, Any], variables: Mapping[str, Any], known: Mapping[str, Any]
    ) -> list[Any]:
        seen = {**variables, "ansible_facts": {**variables.get("ansible_facts", {}), **facts.of(args["node"])}}
        composer = Composer(self._templar, self._loader, seen, known)
        return [composer.role(role.name) for role in roles]

    def _asked(self, items: list[Mapping[str, Any]], variables: dict[str, Any]) -> list[shapes.Differs]:
        done = ask_host(self, "host_desired", {"roles": [], "items": items}, variables)
        try:
            return read(shapes.Compared, done)["told"]
        except AnswerError as exc:
            host = variables.get("inventory_hostname")
            raise AnsibleActionFail(
                f"{host}: the comparison's answer cannot be read: {exc}. Next: {apart.NEXT}"
            ) from exc
