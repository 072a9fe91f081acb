# SPDX-License-Identifier: GPL-3.0-or-later
"""What the inventory says of NCCL on a host: the site's policy, and where the other nodes are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._expect.nccl_policy import VARIABLES
from .._ground import address
from .._ground.dicts import as_dict

# Where a playbook asked for the peers once for all hosts.
FACT = "__nccl_peers"
# Routes go by networks: so many nodes stand for all. A look at the variables of one costs
# milliseconds, and each host of an ad hoc call takes as many.
MOST_PEERS = 64
MOST_ALONE = 8
_BY_NETWORK = ("ssh", "smart", "paramiko", "paramiko_ssh")


def policy(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The variables of role nccl that the host has, for _expect/nccl_policy."""
    return {name: variables[name] for name in VARIABLES if variables.get(name) is not None}


def peers(hostvars: Mapping[str, Any], names: Sequence[str], most: int) -> list[str]:
    """Addresses or names of these hosts as the inventory has them; of more than ``most`` every
    so-many-th. A host that is reached without a network is not among them."""
    chosen = sorted(set(names))
    if len(chosen) > most:
        chosen = [chosen[at * len(chosen) // most] for at in range(most)]
    found = (_reached(hostvars.get(name) or {}, name) for name in chosen)
    return [item for item in dict.fromkeys(found) if item]


def _reached(variables: Mapping[str, Any], name: str) -> str:
    connection = str(variables.get("ansible_connection") or "ssh").rpartition(".")[2]
    if not variables.get("ibready_address"):
        if connection == "local":
            return ""
        if not variables.get("ansible_host") and connection not in _BY_NETWORK:
            return ""
    return address.of(name, variables)


def nodes(hostvars: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Those of the hosts that have GPUs, as far as they told; all where none did."""
    found = [name for name in names if _has_gpus(hostvars.get(name) or {}) is not False]
    return found or list(names)


def _has_gpus(variables: Mapping[str, Any]) -> bool | None:
    gpus = as_dict(as_dict(variables.get("ibready_node")).get("node")).get("gpus")
    return bool(gpus) if isinstance(gpus, list) else None
