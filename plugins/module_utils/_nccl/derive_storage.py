# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell rails from storage HCAs of the same link layer, where the site does not; no I/O.

Who counts the rails (the inventory, the board's profile) has to be met exactly: a sign that would
leave fewer is not followed. Where nobody counts, the rails are alike and outnumber the rest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Callable, Tuple

from ansible_collections.ibready.cluster.plugins.module_utils._nccl.hca import Hca, listed
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import (
    LOW,
    MEDIUM,
    Wanted,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.near import PIX

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
        rest = tuple(one for one in rails if one not in sign.against)
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
    adapters = Counter(one.adapter for one in found)
    return (len(found), len(adapters)) if len(set(adapters.values())) == 1 else (len(found),)


def _doubt(rails: Hcas, wanted: Wanted) -> str:
    names = listed(one.name for one in rails)
    if wanted.hcas:
        least = "" if wanted.exact else "at least "
        return f"{wanted.source} has {least}{wanted.hcas} rails, and {names} look alike; {SAY_SO}"
    kinds = (
        ("do", "Gb/s at most", {f"{one.most:g}" for one in rails if one.most}),
        ("run at", "Gb/s", {f"{one.rate:g}" for one in rails if one.rate}),
    )
    for verb, unit, values in kinds:
        if len(values) > 1:
            rates = " and ".join(sorted(values, key=float))
            return f"{names} {verb} {rates} {unit}: rails, storage or slow links; {SAY_SO}"
    near = [one.name for one in rails if one.placed and one.by_switch]
    if near and len(near) < len(rails) and all(one.placed for one in rails):
        return f"of {names} only {listed(near)} share a PCIe switch with a GPU; {SAY_SO}"
    return ""


def _most(some: Hcas, others: Hcas) -> bool:
    return len(some) > len(others)


def _split(found: Hcas, keep: Callable[[Hca], bool]) -> tuple[Hcas, Hcas]:
    kept = tuple(one for one in found if keep(one))
    return kept, tuple(one for one in found if one not in kept)


def _far(found: Hcas, wanted: Wanted) -> Sign | None:
    """Rails share a PCIe switch with a GPU; says nothing where all do, or none, or where one that
    does not is faster than those that do. The very switch counts where it gives the right number.
    """
    if not all(one.placed for one in found):
        return None
    near, far = _split(found, lambda one: one.ports[0].near == PIX)
    if not far or not _exactly(near, wanted):
        near, far = _split(found, lambda one: one.by_switch)
    if not near or not far or max(one.able for one in far) > max(one.able for one in near):
        return None
    if not (_most(near, far) or _exactly(near, wanted)):
        return None
    return Sign(
        far,
        "storage: farther from every GPU than the rails, which share a PCIe switch with one",
        MEDIUM,
    )


def _weak(found: Hcas, _wanted: Wanted) -> Sign | None:
    """A model that could never do what the others do."""
    if not all(one.most for one in found):
        return None
    best = max(one.most for one in found)
    strong, weak = _split(found, lambda one: one.most == best)
    if not weak or not _most(strong, weak):
        return None
    models = " or ".join(sorted({one.ports[0].model for one in weak}))
    return Sign(weak, f"storage: a {models} does less than the {best:g} Gb/s of the rails", MEDIUM)


def _elsewhere(found: Hcas, _wanted: Wanted) -> Sign | None:
    """Most HCAs answer to one subnet manager, some to others."""
    counts = Counter(name for one in found for name in one.subnets)
    if not counts:
        return None
    usual, times = counts.most_common(1)[0]
    if 2 * times <= len(found):
        return None
    _here, away = _split(found, lambda one: not one.subnets or usual in one.subnets)
    return Sign(away, "storage: in another subnet than the rails", MEDIUM) if away else None


def _slow(found: Hcas, wanted: Wanted) -> Sign | None:
    """Links slower than most; they may be rails with a bad cable, so that alone is no proof."""
    best = max(one.rate for one in found)
    fast, slow = _split(found, lambda one: one.rate in (0.0, best))
    if not slow or not _most(fast, slow):
        return None
    if _exactly(fast, wanted):
        return Sign(slow, f"storage: slower than the {best:g} Gb/s of as many as there are", MEDIUM)
    if any(one.by_switch for one in slow):
        return None
    return Sign(slow, f"taken for storage: slower than the {best:g} Gb/s of the others", LOW)


# The surest first.
_SIGNS: tuple[Callable[[Hcas, Wanted], Sign | None], ...] = (_far, _weak, _elsewhere, _slow)
