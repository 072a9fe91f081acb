# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose word a variable is: the operator's, never a node's.

Any answer of a node may hold ``ansible_facts``. With Ansible's setting ``inject_facts_as_vars``
these become variables, above those of the inventory: a node would choose the commands that run on
the controller, and how a run ends. Without it they stay below ``ansible_facts``, where nothing of
ours looks for its own names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible import constants
from ansible.errors import AnsibleActionFail

from ...module_utils._ground.text import few
from .._ground.plain import plain
from . import variables

_SHOWN = 4
REFUSAL = (
    "inject_facts_as_vars is on, so that every node can set variables of the controller, commands "
    "that run there among them. Nothing was run, and nothing was changed on any host. Next: set "
    "inject_facts_as_vars = False below [defaults] in ansible.cfg (or "
    "ANSIBLE_INJECT_FACT_VARS=False), and read facts as ansible_facts['...']"
)
REMEDY = (
    "ibready sends no such facts: look at the host's Python and at who is root there, and leave "
    "the host out (--limit) until you know; facts of the site's own need other names"
)


def demand() -> None:
    """Raise AnsibleActionFail where a node may set variables; for all that acts on their word."""
    if getattr(constants, "INJECT_FACTS_AS_VARS", True):
        raise AnsibleActionFail(REFUSAL)


def refuse(result: dict[str, Any], *told: str) -> None:
    """Make a failure of a module's result that is not to be believed, without what it ``told``."""
    why = why_not(result.get("ansible_facts"))
    if why:
        for name in told:
            result.pop(name, None)
        result.update(failed=True, msg=f"{why}. Next: {REMEDY}")


def why_not(facts: Any) -> str:
    """Why nothing that this host says is believed: what it sends as ``ansible_facts`` has names of
    ours. "" where it has none."""
    if not isinstance(facts, Mapping):
        return "" if facts is None else "what it sends as ansible_facts is no table of facts"
    names = sorted(str(name) for name in facts if variables.is_ours(str(name)))
    if not names:
        return ""
    return plain(
        f"it answered, and among its facts are variables of ibready ({few(names, _SHOWN)}), "
        "so that nothing of what it says is believed"
    )
