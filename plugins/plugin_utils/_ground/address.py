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
    return _on_ipoib(name, variables) if said == IPOIB else str(said or variables.get("ansible_host") or name)


def _on_ipoib(name: str, variables: Mapping[str, Any]) -> str:
    index = variables.get("ipoib_index")
    mode, mtu = variables.get("ipoib_mode") or DATAGRAM, variables.get("ipoib_mtu")
    try:
        links = desired.read(
            variables.get("ipoib_interfaces") or [], mode, mtu, None if index in (None, "") else int(str(index))
        )
    except (desired.IpoibError, AttributeError, TypeError, ValueError) as exc:
        raise AnsibleError(f"{name}: ibready_address is {IPOIB}, and {exc}") from exc
    for link in links:
        for address in link.addresses:
            return address.partition("/")[0]
    raise AnsibleError(
        f"{name}: ibready_address is {IPOIB}, and ipoib_interfaces gives the host no address."
        " Next: name its addresses or networks (docs/ipoib.md), or an ibready_address of its own"
    )
