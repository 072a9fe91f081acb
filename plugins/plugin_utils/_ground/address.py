# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the inventory says that other hosts reach a host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleError

from ...module_utils._act.ipoib import desired
from ...module_utils._data.ipoib import DATAGRAM

# What ibready_address may say in place of an address: the first that ipoib_interfaces gives the host.
IPOIB = "ipoib"


def of(name: str, variables: Mapping[str, Any]) -> str:
    """Its address, or a name that the others look up.

    AnsibleError where the inventory promises an address on IPoIB, and gives the host none: any
    other would have jobs meet where the site does not want them.
    """
    said = variables.get("ibready_address")
    if said != IPOIB:
        return str(said or variables.get("ansible_host") or name)
    try:
        return _on_ipoib(variables)
    except ValueError as exc:
        raise AnsibleError(f"{name}: {exc}") from exc


def problem(variables: Mapping[str, Any]) -> str:
    """Why the inventory's word for the address gives the host none; "" where it does."""
    try:
        if variables.get("ibready_address") == IPOIB:
            _on_ipoib(variables)
    except ValueError as exc:
        return str(exc)
    return ""


def _on_ipoib(variables: Mapping[str, Any]) -> str:
    """The first address; ValueError where there is none."""
    index = variables.get("ipoib_index")
    mode, mtu = variables.get("ipoib_mode") or DATAGRAM, variables.get("ipoib_mtu")
    try:
        number = None if index in (None, "") else int(str(index))
        links = desired.read(variables.get("ipoib_interfaces") or [], mode, mtu, number)
    except (AttributeError, TypeError, ValueError) as exc:
        raise ValueError(f"ibready_address is {IPOIB}, and {exc}") from exc
    found = [address for link in links for address in link.addresses]
    if not found:
        raise ValueError(
            f"ibready_address is {IPOIB}, and ipoib_interfaces gives the host no address."
            " Next: name its addresses or networks (docs/ipoib.md), or an ibready_address of its own"
        )
    return found[0].partition("/")[0]
