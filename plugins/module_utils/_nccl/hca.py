# SPDX-License-Identifier: GPL-3.0-or-later
"""An HCA as a whole: what its candidate ports have in common, for telling rails from storage."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterable

from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclPort

_DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class Hca:
    """``ports``: at least one; those that may be rails."""

    name: str
    ports: tuple[NcclPort, ...]

    @property
    def rate(self) -> float:
        """Gb/s of its fastest Active port, 0.0 where none is or none tells."""
        return max((one.rate or 0.0 for one in self.ports if one.active), default=0.0)

    @property
    def most(self) -> float:
        """Gb/s that a port of its model does at most, 0.0 where that is not known."""
        return self.ports[0].most_gbps

    @property
    def able(self) -> float:
        """Gb/s that it does, or could do where it has no link."""
        return self.rate or self.most

    @property
    def adapter(self) -> str:
        """What the functions of one adapter share; its own name where that is not known."""
        return self.ports[0].adapter or self.name

    @property
    def subnets(self) -> frozenset[str]:
        """The subnets that its ports are in, as far as known."""
        return frozenset(one.subnet for one in self.ports) - {""}

    @property
    def placed(self) -> bool:
        """Whether it is known how far the nearest GPU is."""
        return bool(self.ports[0].near)

    @property
    def by_switch(self) -> bool:
        return self.ports[0].by_switch


def hcas(ports: Iterable[NcclPort]) -> tuple[Hca, ...]:
    """The ports by device, in the order that a person counts in."""
    found: dict[str, list[NcclPort]] = {}
    for port in ports:
        found.setdefault(port.device, []).append(port)
    return tuple(Hca(name, tuple(found[name])) for name in sorted(found, key=counted))


def counted(name: str) -> tuple[tuple[int, str], ...]:
    """A key that puts mlx5_2 before mlx5_10."""
    return tuple(
        (int(part), "") if part.isdecimal() and part.isascii() else (-1, part)
        for part in _DIGITS.split(name)
    )


def listed(names: Iterable[str]) -> str:
    """``mlx5_2, mlx5_10``."""
    return ", ".join(sorted(names, key=counted))
