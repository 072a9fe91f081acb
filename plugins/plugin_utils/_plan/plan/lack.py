# SPDX-License-Identifier: GPL-3.0-or-later
"""What a role that takes its versions from the plan lacks in a playbook of the site's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NEXT = (
    "Next: import the playbook ibready.cluster.plan (playbooks/plan.yml) earlier in the same playbook, for a plan of "
    "another run is not known here; or run ibready.cluster.site, which does both"
)


def lack(plan: Any, role: str, *, packages: bool = True) -> str:
    """Why ``role`` cannot go by ``ibready_plan``, and the next step; "" where it can.

    ``packages``: it installs what the plan names, and so has to know where that is.
    """
    if not plan:
        return f"role {role} has no plan, which tells it what to bring. Nothing was changed. {_NEXT}"
    if not isinstance(plan, Mapping) or not isinstance(plan.get("stack"), Mapping):
        return f"role {role} cannot read ibready_plan: no plan of ibready's. Nothing was changed. {_NEXT}"
    install = plan.get("install")
    if packages and not (isinstance(install, Mapping) and {"repositories", "parts"} <= set(install)):
        return (
            f"role {role} cannot install what class {plan.get('class', '')} is planned: nobody said where its packages "
            "are to be had. Nothing was changed. Next: set stack_repositories (docs/stack.md)"
        )
    return ""
