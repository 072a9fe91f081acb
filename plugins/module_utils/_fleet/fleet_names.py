# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge that no two hosts give themselves the same name; no I/O."""

from __future__ import annotations

from typing import Collection, Mapping

from .._ground.check import Check
from . import claims

_CHECK = "fleet.host.name"


def judge(names: Mapping[str, str], owners: Mapping[str, str]) -> dict[str, list[Check]]:
    """``names``: what each host calls itself, by its name in the inventory. ``owners``: whose name or address a word is
    by the inventory (``called``).
    """

    def seen(key: claims.Key) -> list[claims.Sighting]:
        whose = owner(str(key[1]), owners)
        return [claims.Sighting("the inventory", whose)] if whose else []

    every = claims.Claims(seen)
    mine = [claims.Claim(host, "host", name) for host, name in names.items()]
    for claim in mine:
        every.add((claims.NAME, claim.shown), claim)
    return {
        claim.host: [every.judged(_CHECK, [(claims.NAME, claim.shown)], claim, "a name of its own")] for claim in mine
    }


def called(hosts: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Whose name or address a word is, long or short; none that is of two. ``hosts``: the words for each."""
    found: dict[str, set[str]] = {}
    for host, words in hosts.items():
        for word in words:
            found.setdefault(word.lower(), set()).add(host)
            found.setdefault(short(word), set()).add(host)
    return {word: mine.pop() for word, mine in found.items() if len(mine) == 1}


def short(name: str) -> str:
    """``n1`` of n1.cluster.local; an address has no shorter form."""
    first = name.split(".")[0].lower()
    return name.lower() if first.isdecimal() else first


def owner(name: str, owners: Mapping[str, str]) -> str:
    """The host of the inventory that a name is of, "" for none. ``owners``: as ``called`` has them."""
    return owners.get(name.lower()) or owners.get(short(name)) or ""
