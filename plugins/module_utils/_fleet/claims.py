# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what has to be one host's own and several claim: what others saw decides whose it is; no I/O.

Who claims another's GUID, LID or name could fail it by its word alone. So a claim fails by what its own host saw, or by
another that claims nothing of it; a claim that nobody bears out and nobody denies is unknown.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Callable, Iterable, Sequence, Tuple

from .._expect.expectations import CAPABILITY
from .._ground.check import FAIL, PASS, UNKNOWN, Check, failed, passed, unknown
from .._ground.equals import CLAIMED
from .._ground.text import few

# What is claimed. A key is one of these and the value: a GUID, a LID and the GUID of its subnet's master, or a name.
NODE, PORT, LID, NAME = "node GUID", "port GUID", "LID", "name"
Key = Tuple[object, ...]
_SHOWN = 4
_WORST = (FAIL, UNKNOWN, PASS)
_NEXT = {
    "fleet.hca.guid_unique": "compare the GUIDs of both with the labels of their HCAs; verify again, so that another "
    "host's look at the fabric (ibnetdiscover) tells whose it is",
    "fleet.port.lid_unique": "ask a third host whose it is (`smpquery nodedesc LID`), and verify again, so that a look "
    "at the fabric tells it",
    "fleet.host.name": "compare `hostname` on each with the inventory; rename the one that has another's name, or use "
    "the host's own name in the inventory",
}


@dataclass(frozen=True)
class Claim:
    """``shown``: the value as people read it. ``beside``: what else is told of the device, by which it is known."""

    host: str
    subject: str
    shown: str
    beside: frozenset[object] = frozenset()

    @property
    def named(self) -> str:
        return self.host if self.subject == "host" else f"{self.host} {self.subject}"


@dataclass(frozen=True)
class Sighting:
    """What ``teller`` saw at a value. ``host``: which of the inventory's the device is called after, "" for none;
    ``beside``: what else it has. ``twice``: there were two."""

    teller: str
    host: str
    beside: frozenset[object] = frozenset()
    twice: bool = False


Seen = Callable[[Key], Sequence[Sighting]]


def nobody(_key: Key) -> Sequence[Sighting]:
    """Where no fabric was looked at."""
    return ()


@dataclass(frozen=True)
class Word:
    """What somebody says of a value: that it is of ``host``, or of two devices (``twice``). ``teller``: a host, or the
    inventory."""

    teller: str
    host: str
    twice: bool = False

    def __str__(self) -> str:
        return (
            f"{self.teller} tells two devices of it" if self.twice else f"{self.teller} tells that it is {self.host}'s"
        )


class Claims:
    """Who claims what, and the check of each claim once all are known."""

    def __init__(self, seen: Seen = nobody) -> None:
        self._seen = seen
        self._shared: dict[Key, _Shared] = {}

    def add(self, key: Key, claim: Claim) -> None:
        """One host's claim of one value."""
        if key not in self._shared:
            self._shared[key] = _Shared(lambda claims: words(claims, self._seen(key)))
        self._shared[key].claims.append(claim)

    def judged(self, check_id: str, keys: Iterable[Key], claim: Claim, expected: str = "on no other") -> Check:
        """The worst that is said of any of these values, all of which were added for the claim."""
        checks = [self._shared[key].judged(check_id, claim, expected) for key in keys]
        return min(checks, key=lambda check: _WORST.index(check.result))


class _Shared:
    """All claims of one value."""

    def __init__(self, ask: Callable[[Sequence[Claim]], list[Word]]) -> None:
        self.claims: list[Claim] = []
        self._ask = ask

    @cached_property
    def _hosts(self) -> Counter[str]:
        return Counter(claim.host for claim in self.claims)

    @cached_property
    def _words(self) -> list[Word]:
        return self._ask(self.claims)

    def judged(self, check_id: str, claim: Claim, expected: str) -> Check:
        # Of thousands that share one value nobody reads all.
        others = list(islice((one.named for one in self.claims if one is not claim), _SHOWN + 1))
        good = passed(check_id, claim.subject, claim.shown, expected, CAPABILITY)
        if not others:
            return good
        named = ", ".join(others[:_SHOWN]) + (", ..." if len(others) > _SHOWN else "")
        bad = failed(check_id, claim.subject, f"{claim.shown}, also on {named}", expected, CAPABILITY)
        if self._hosts[claim.host] > 1:
            return bad  # By its own words alone.
        against = [str(word) for word in self._words if self._denies(word, claim)]
        favour = [str(word) for word in self._words if word.host == claim.host and word.teller != claim.host]
        if against and not favour:
            return replace(bad, cause=f"{few(against, _SHOWN)}; {bad.cause}")
        if favour and not against:
            return good
        told = few([*favour, *against], _SHOWN) or "nobody else tells whose it is"
        why = f"{CLAIMED}{claim.named} has {claim.shown} by its own word, and {named} by theirs; {told}"
        doubt = unknown(check_id, claim.subject, why, observed=bad.observed, remedy=_NEXT[check_id])
        return replace(doubt, expected=expected, expected_from=CAPABILITY)

    def _denies(self, word: Word, claim: Claim) -> bool:
        """Another that claims the value itself is no witness against this one."""
        return word.host != claim.host and (word.teller == claim.host or word.teller not in self._hosts)


def words(claims: Sequence[Claim], seen: Iterable[Sighting]) -> list[Word]:
    """By teller whose of the claims it saw; nothing of one that tells of none of them."""
    hosts = {claim.host for claim in claims}
    whose: dict[str, set[str]] = {}
    doubled: set[str] = set()
    for one in seen:
        near = {one.host} if one.host else {claim.host for claim in claims if claim.beside & one.beside}
        whose.setdefault(one.teller, set()).update(near)
        doubled.update({one.teller} if one.twice else ())
    return [
        Word(teller, "" if teller in doubled else min(near), teller in doubled)
        for teller, near in whose.items()
        if teller in doubled or (len(near) == 1 and near <= hosts)
    ]
