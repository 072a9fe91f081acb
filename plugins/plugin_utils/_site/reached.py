# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts the plays after a contact or a visit are for. None ends well because it was for nobody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils._ground.text import few
from .._ground.dicts import as_dict
from .._ground.releases import TESTED

GROUP = "ibready_reached"
# Hosts that a message names.
_SHOWN = 4


class ReachedError(ValueError):
    """No host would take part, and nobody would say so."""


def pattern(members: object, answers: Mapping[str, Any], version: str) -> str:
    """The pattern of a play for the hosts that answered the contact.

    ``members``: those of GROUP, which the contact fills. ``answers``: ``ibready_node`` of each host that
    has one, looked at where the group is empty. ``version``: which ansible-core runs this.
    """
    if members:
        return f"all:&{GROUP}"  # In the inventory's order, not in that of their answers.
    _demand(answers)
    lost = [name for name, answer in answers.items() if isinstance(answer, Mapping) and "node" in answer]
    if lost:
        raise ReachedError(
            f"{few(lost, _SHOWN)} answered the contact, and would take no part in this play. Cause: ansible-core"
            f" {version} has put no host into the group {GROUP}. Next: run it with a release that ibready was tested"
            f" with ({', '.join(TESTED)})"
        )
    return "all:!all"  # The last play of each playbook tells of those that did not answer.


def visited(names: Iterable[str], answers: Mapping[str, Any]) -> str:
    """The pattern of a play for the hosts that answered the visit; ``answers``: their ``ibready_ibverify``."""
    _demand(answers)
    absent = (name for name in names if "packed" not in as_dict(answers.get(name)))
    return ",!".join(("all", *absent))  # With commas, for a name may be an IPv6 address.


def _demand(answers: Mapping[str, Any]) -> None:
    if not answers:
        raise ReachedError(
            "no host was asked anything, so no host would take part in this play. Cause: the tasks that ask the hosts"
            " were left out, as --start-at-task and --skip-tags always do. Next: run the playbook without them;"
            " --tags ROLE does one role's part"
        )
