# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether a host finds itself by its name."""

from __future__ import annotations

from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, outcome
from ..._ground.look import look
from ..._ground.text import few
from ..machine.facts import Machine
from . import check_scope
from .check_scope import HOST
from .facts import HostFacts
from .facts_machine import NameFacts

_CHECK = "host.name.resolves"
_SHOWN = 3


def judge(facts: HostFacts, machine: Machine) -> list[Check]:
    """The host.name.* checks."""
    return check_scope.outside_container(machine).judge(_CHECK, lambda: [_resolves(facts.name)])


def _resolves(name: NameFacts) -> Check:
    def judge(addresses: tuple[str, ...]) -> Check:
        own = name.own.value or ""
        observed = f"{own} is {few(addresses, _SHOWN)}" if addresses else f"the name service does not know {own}"
        return outcome(bool(addresses), _CHECK, HOST, observed, "an address", CAPABILITY)

    return look(_CHECK, HOST, name.addresses, judge)
