# SPDX-License-Identifier: GPL-3.0-or-later
"""What is expected of a host: what the inventory says, and what the roles set by its word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

EXPECT = "ibready_expect"
SOFT = "rdma_soft_roce"
IMEX = "nvidia_driver_imex"
FIRMWARE = "rdma_firmware"
_MANAGE, _WHERE_POSSIBLE = "roce_manage", "roce_where_possible"
# The variables of role roce that are expectations as well, by one name.
_ROCE = ("roce_mode", "roce_trust", "roce_pfc", "roce_tos", "roce_mtu")
_KEEP = "keep"
# What soft RoCE does not have.
_HARDWARE = ("roce_trust", "roce_pfc")
NAMES = (EXPECT, SOFT, IMEX, FIRMWARE, _MANAGE, _WHERE_POSSIBLE, *_ROCE)

Variables = Mapping[str, Any]


def of(variables: Variables) -> dict[str, Any]:
    """All of it of one host, from its variables; the inventory's ``ibready_expect`` goes first.

    A value of another type than it should have is left as it is: whoever reads it refuses it.
    """
    own = variables.get(EXPECT)
    return own if own is not None and not isinstance(own, Mapping) else with_roles(own, variables)


def with_roles(own: Mapping[str, Any] | None, variables: Variables) -> dict[str, Any]:
    """What ``own`` leaves open, as the roles set it."""
    return {**_from_roles(variables), **(own or {})}


def told(variables: Variables, template: Callable[[Any], Any]) -> dict[str, Any]:
    """Those of a task's variables that are needed here, with their templates filled in."""
    return {name: template(variables[name]) for name in NAMES if name in variables}


def _from_roles(variables: Variables) -> dict[str, Any]:
    found: dict[str, Any] = {}
    soft = variables.get(SOFT)
    if isinstance(soft, list) and soft:
        links = (entry for entry in soft if isinstance(entry, Mapping))
        found["soft_roce"] = {
            str(link["name"]): str(link["netdev"]) for link in links if {"name", "netdev"} <= set(link)
        }
    images = variables.get(FIRMWARE)
    if isinstance(images, list) and images:
        named = (entry for entry in images if isinstance(entry, Mapping))
        found["firmware_images"] = {
            str(entry["psid"]): str(entry["version"]) for entry in named if {"psid", "version"} <= set(entry)
        }
    if variables.get(IMEX) is not None:
        found["imex"] = variables[IMEX]
    if _true(variables.get(_MANAGE)):
        less = _HARDWARE if soft and _true(variables.get(_WHERE_POSSIBLE)) else ()
        given = {name: variables.get(name) for name in _ROCE if name not in less}
        found.update({name: entry for name, entry in given.items() if entry is not None and entry != _KEEP})
    return found


def _true(value: Any) -> bool:
    """Whether a switch is on, as Ansible reads what an inventory may say of it."""
    return value is True or str(value).lower() in ("true", "yes", "on", "1")
