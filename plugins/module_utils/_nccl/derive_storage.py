# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell rails from storage HCAs of the same link layer, where the site does not; no I/O."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Callable, Iterable, Tuple

from .._ground.link import gbps
from .host import LOW, MEDIUM, NcclPort, Wanted
from .near import PIX

_DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class Hca:
    """``ports``: at least one; those that may be rails."""

    name: str
    ports: tuple[NcclPort, ...]

    @property
    def rate(self) -> float:
        """Gb/s of its fastest Active port, 0.0 where none is or none tells."""
        return max((port.rate or 0.0 for port in self.ports if port.active), default=0.0)

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
        return frozenset(port.subnet for port in self.ports) - {""}

    @property
    def placed(self) -> bool:
        """Whether it is known how far the nearest GPU is on a bus that no hypervisor laid out."""
        return bool(self.ports[0].near) and self.ports[0].guest is False

    @property
    def by_switch(self) -> bool:
        return self.placed and self.ports[0].by_switch


def hcas(ports: Iterable[NcclPort]) -> tuple[Hca, ...]:
    """The ports by device, in the order that a person counts in."""
    found: dict[str, list[NcclPort]] = {}
    for port in ports:
        found.setdefault(port.device, []).append(port)
    return tuple(Hca(name, tuple(found[name])) for name in sorted(found, key=counted))


def counted(name: str) -> tuple[tuple[int, str], ...]:
    """A key that puts mlx5_2 before mlx5_10."""
    return tuple((int(part), "") if part.isdecimal() and part.isascii() else (-1, part) for part in _DIGITS.split(name))


def listed(names: Iterable[str]) -> str:
    """``mlx5_2, mlx5_10``."""
    return ", ".join(sorted(names, key=counted))


Hcas = Tuple[Hca, ...]
SAY_SO = "say which are which: nccl_rails or nccl_storage_hcas"


@dataclass(frozen=True)
class Sign:
    """What speaks against some HCAs, and how sure that is."""

    against: Hcas
    why: str
    confidence: str


@dataclass(frozen=True)
class Sifted:
    """``left``: signs that were followed. ``doubt``: why the rails cannot be told; "" if they can.
    ``by``: by whose word so many are right."""

    rails: Hcas
    left: tuple[Sign, ...] = ()
    doubt: str = ""
    by: str = ""


def sift(found: Hcas, wanted: Wanted) -> Sifted:
    """The rails among HCAs that may all be some."""
    rails, left = found, []
    for look in _SIGNS:
        if settled(rails, wanted):
            break
        sign = look(rails, wanted)
        if sign is None:
            continue
        rest = tuple(rail for rail in rails if rail not in sign.against)
        if len(rest) < wanted.hcas and not _exactly(rest, wanted):
            continue
        left.append(sign)
        rails = rest
    if settled(rails, wanted):
        return Sifted(rails, tuple(left), by=wanted.source)
    return Sifted(rails, tuple(left), _doubt(rails, wanted))


def settled(found: Hcas, wanted: Wanted) -> bool:
    """Whether somebody counts the rails, and these are no more; fewer are all that there are."""
    return bool(wanted.hcas) and min(_counts(found)) <= wanted.hcas


def _exactly(found: Hcas, wanted: Wanted) -> bool:
    return wanted.hcas in _counts(found)


def _counts(found: Hcas) -> tuple[int, ...]:
    """How many they are: by device, and by adapter where all show as many devices each."""
    adapters = Counter(hca.adapter for hca in found)
    return (len(found), len(adapters)) if len(set(adapters.values())) == 1 else (len(found),)


def _doubt(rails: Hcas, wanted: Wanted) -> str:
    names = listed(rail.name for rail in rails)
    if wanted.hcas:
        least = "" if wanted.exact else "at least "
        return f"{wanted.source} has {least}{wanted.hcas} rails, and {names} look alike; {SAY_SO}"
    kinds = (
        ("do", "Gb/s at most", {f"{rail.most:g}" for rail in rails if rail.most}),
        ("run at", "Gb/s", {f"{rail.rate:g}" for rail in rails if rail.rate}),
    )
    for verb, unit, values in kinds:
        if len(values) > 1:
            rates = " and ".join(sorted(values, key=float))
            return f"{names} {verb} {rates} {unit}: rails, storage or slow links; {SAY_SO}"
    near = [rail.name for rail in rails if rail.by_switch]
    if near and len(near) < len(rails) and all(rail.placed for rail in rails):
        return f"of {names} only {listed(near)} share a PCIe switch with a GPU; {SAY_SO}"
    return ""


def _most(some: Hcas, others: Hcas) -> bool:
    return len(some) > len(others)


def _split(found: Hcas, keep: Callable[[Hca], bool]) -> tuple[Hcas, Hcas]:
    kept = tuple(hca for hca in found if keep(hca))
    return kept, tuple(hca for hca in found if hca not in kept)


def _far(found: Hcas, wanted: Wanted) -> Sign | None:
    """Rails share a PCIe switch with a GPU; says nothing where all do, or none, or where one that
    does not is faster than those that do. The very switch counts where it gives the right number.
    """
    if not all(hca.placed for hca in found):
        return None
    near, far = _split(found, lambda entry: entry.ports[0].near == PIX)
    if not far or not _exactly(near, wanted):
        near, far = _split(found, lambda entry: entry.by_switch)
    if not near or not far or max(hca.able for hca in far) > max(entry.able for entry in near):
        return None
    if not (_most(near, far) or _exactly(near, wanted)):
        return None
    return Sign(far, "storage: farther from every GPU than the rails, which share a PCIe switch with one", MEDIUM)


def _weak(found: Hcas, _wanted: Wanted) -> Sign | None:
    """A model that could never do what the others do."""
    if not all(hca.most for hca in found):
        return None
    best = max(hca.most for hca in found)
    strong, weak = _split(found, lambda entry: entry.most == best)
    if not weak or not _most(strong, weak):
        return None
    models = " or ".join(sorted({hca.ports[0].model for hca in weak}))
    return Sign(weak, f"storage: a {models} does less than the {gbps(best)} of the rails", MEDIUM)


def _elsewhere(found: Hcas, _wanted: Wanted) -> Sign | None:
    """Most HCAs answer to one subnet manager, some to others."""
    counts = Counter(name for hca in found for name in hca.subnets)
    if not counts:
        return None
    usual, times = counts.most_common(1)[0]
    if 2 * times <= len(found):
        return None
    _here, away = _split(found, lambda entry: not entry.subnets or usual in entry.subnets)
    return Sign(away, "storage: in another subnet than the rails", MEDIUM) if away else None


def _slow(found: Hcas, wanted: Wanted) -> Sign | None:
    """Links slower than most; they may be rails with a bad cable, so that alone is no proof."""
    best = max(hca.rate for hca in found)
    fast, slow = _split(found, lambda entry: entry.rate in (0.0, best))
    if not slow or not _most(fast, slow):
        return None
    if _exactly(fast, wanted):
        return Sign(slow, f"storage: slower than the {gbps(best)} of as many as there are", MEDIUM)
    if any(hca.by_switch for hca in slow):
        return None
    return Sign(slow, f"taken for storage: slower than the {gbps(best)} of the others", LOW)


# The surest first.
_SIGNS: tuple[Callable[[Hcas, Wanted], Sign | None], ...] = (_far, _weak, _elsewhere, _slow)
