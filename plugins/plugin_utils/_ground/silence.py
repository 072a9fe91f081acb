# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that gave no answer within the bound of its task (Ansible's keyword ``timeout``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NEXT = (
    "see whether the host hangs (its console, a process in state D, a mount that does not answer); when it answers, "
    "run this again; where it is only slow, raise ibready_visit_timeout, or ibready_packages_timeout where it installs"
)
# Host -> why. The callback ``changes`` fills it in ansible-playbook itself; an action, in a fork of it, sees what was
# told so far.
SILENT: dict[str, str] = {}


def seconds(result: Mapping[str, Any]) -> int:
    """How long a task waited in vain, by its result; 0 where it did not, or had its answer."""
    for one in (result, *(result.get("results") or ())):
        told = one.get("timedout") if isinstance(one, Mapping) else None
        if isinstance(told, Mapping) and isinstance(told.get("period"), int):
            return int(told["period"])
    return 0


def waited(result: Any) -> int:
    """The same of a callback's result; 0 as well for work of the controller's that stands beside a host's name."""
    return 0 if getattr(result.task, "delegate_to", None) else seconds(result.result)


def why(waited: int, task: str) -> str:
    """What is said of the host: by whom nothing was answered, to what."""
    return f"gave no answer for {waited} s to: {task}"


def message(host: str, waited: int, task: str) -> str:
    """The same, where it stands alone."""
    return f"{host} {why(waited, task)}. Next: {NEXT}."
