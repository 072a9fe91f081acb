# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether a host finds itself by its name."""

from __future__ import annotations

import ipaddress

from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, outcome, unknown
from ..._ground.look import look
from ..._ground.text import few
from ..machine.facts import Machine
from . import check_scope
from .check_scope import HOST
from .facts import HostFacts
from .facts_machine import NameFacts

_CHECK = "host.name.resolves"
_SHOWN = 3
_EXPECTED = "an address that other hosts reach"
_REMEDY = (
    "have one line in /etc/hosts for the name, with the address that other hosts reach, ahead of 127.0.1.1 or in its"
    " place; `getent ahosts $(hostname)` shows it"
)


def judge(facts: HostFacts, machine: Machine) -> list[Check]:
    """The host.name.* checks."""
    trains = machine.has_gpus is not False
    return check_scope.outside_container(machine).judge(_CHECK, lambda: [_resolves(facts.name, trains)])


def _resolves(name: NameFacts, trains: bool) -> Check:
    """``trains``: ranks on this host wait for others at the address that its name has."""

    def judge(addresses: tuple[str, ...]) -> Check:
        own = name.own.value or ""
        if not addresses:
            return outcome(False, _CHECK, HOST, f"the name service does not know {own}", _EXPECTED, CAPABILITY)
        observed = f"{own} is {few(addresses, _SHOWN)}"
        if trains and name.held.value is None and not ipaddress.ip_address(addresses[0]).is_loopback:
            return unknown(_CHECK, HOST, name.held.why or "nobody looked")
        cause = _astray(addresses, name.held.value) if trains else ""
        remedy = _REMEDY if cause else ""
        return outcome(not cause, _CHECK, HOST, observed, _EXPECTED, CAPABILITY, cause=cause, remedy=remedy)

    return look(_CHECK, HOST, name.addresses, judge)


def _astray(addresses: tuple[str, ...], held: tuple[str, ...] | None) -> str:
    """Why ranks that meet by the host's name do not meet; "" where they do. Of several the first is what most take."""
    if ipaddress.ip_address(addresses[0]).is_loopback:
        return f"{addresses[0]} is an address of its own loop: ranks that listen there are reached by no other host"
    if held and not set(held).intersection(addresses):
        return f"no interface of this host has {few(addresses, _SHOWN)}: ranks that listen there fail"
    return ""
