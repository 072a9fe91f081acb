# SPDX-License-Identifier: GPL-3.0-or-later
"""What the inventory says of NCCL on a host: the site's policy, and where the other nodes are."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Mapping

from .nccl_policy import NcclPolicy, PolicyError, from_variables

_KEYS = ("policy", "peers")


@dataclass(frozen=True)
class Desired:
    """``peers``: addresses or names of other nodes, () where nobody named any."""

    policy: NcclPolicy = field(default_factory=NcclPolicy)
    peers: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def read(raw: Mapping[str, Any]) -> Desired:
    """``policy``: the variables of role nccl by their names. ``peers``: a list. PolicyError."""
    strange = sorted(str(key) for key in raw if key not in _KEYS)
    if strange:
        raise PolicyError(f"nccl.{strange[0]} is not known; known are {', '.join(_KEYS)}")
    policy, peers = raw.get("policy") or {}, raw.get("peers") or []
    if not isinstance(policy, Mapping):
        raise PolicyError("nccl.policy must be a dictionary")
    if not isinstance(peers, (list, tuple)) or not all(isinstance(peer, str) for peer in peers):
        raise PolicyError("nccl.peers must be a list of addresses or names")
    return Desired(from_variables(policy), tuple(dict.fromkeys(peers)))


def from_dict(raw: Mapping[str, Any]) -> Desired:
    """Rebuild what `Desired.to_dict` made; KeyError or TypeError on anything else."""
    given = dict(raw["policy"])
    for key in ("forbid", "rails", "storage"):
        given[key] = tuple(given[key])
    return Desired(NcclPolicy(**given), tuple(raw["peers"]))
