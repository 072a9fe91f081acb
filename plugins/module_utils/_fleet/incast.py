# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge an incast by the counters of its ports: what they were before and after in, checks per host out, no I/O.

Several senders write to one port at once, so that the switch before it has to hold them back. Nothing passes where
nothing tells that it had to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Iterable, Iterator, Mapping, NamedTuple, Sequence

from .._data.incast import BEHIND, CNP_FEW, FULL, FULL_S, LEAST, WIRE, Names, names_of
from .._data.roce_counters import COUNTERS, ETHTOOL, LOSS, PRIORITY, Counter
from .._expect.expectations import CAPABILITY
from .._ground.check import Check, failed, passed, skipped, unknown
from .._ground.text import few

LOAD, LOST, PFC = "roce.incast.load", "roce.incast.loss", "roce.incast.pfc"
PRIO, ECN, CNP = "roce.incast.priority", "roce.incast.ecn", "roce.incast.cnp"
AGAIN = "fix what kept it from being measured, then run playbooks/rdma.yml with ibready_incast again"
_SEE = f"see {LOAD}"
_SHOWN = 4
_ALL = tuple(range(8))
_UNTOLD = "the driver ({}) shows no {}"


@dataclass(frozen=True)
class Side:
    """A port. ``lossless``: the priorities that have to have flow control, None where nobody knows, with who says so
    or why in ``told_by``. ``before``, ``after``: its counters; ``why``: why they are not known. ``gbps``: what a
    sender reached; ``untested``: why it sent nothing."""

    host: str
    rail: str
    driver: str = ""
    lossless: tuple[int, ...] | None = None
    told_by: str = ""
    before: Mapping[str, int] = field(default_factory=dict)
    after: Mapping[str, int] = field(default_factory=dict)
    why: str = ""
    gbps: float | None = None
    untested: str = ""

    @property
    def name(self) -> str:
        return f"{self.host} {self.rail}"

    @property
    def names(self) -> Names:
        return names_of(self.driver)

    @cached_property
    def lame(self) -> str:
        """Why nothing that its counters say can be used: where one went back or away, no other is to be trusted."""
        if self.why:
            return self.why
        for key, before in self.before.items():
            after = self.after.get(key)
            if after is None:
                return f"{key} was there before and not after: was the driver loaded anew?"
            if after < before:
                return (
                    f"{key} {before} before, {after} after: somebody cleared the counters, the driver was loaded anew, "
                    "or it ran over"
                )
        return ""


@dataclass(frozen=True)
class Incast:
    """``rate``: of the receiving port, Gb/s. ``received``: (seconds, bytes by RDMA) as the receiver watched them.
    ``why``: why it was not made."""

    receiver: Side
    senders: tuple[Side, ...]
    rate: float | None = None
    received: tuple[tuple[float, int], ...] = ()
    why: str = ""


class Rise(NamedTuple):
    """A counter that both looks have."""

    side: Side
    key: str
    before: int
    after: int

    @property
    def by(self) -> int:
        return self.after - self.before

    def __str__(self) -> str:
        return f"{self.side.name}: {self.key} {self.before} before, {self.after} after"


class Moved(NamedTuple):
    """``rises``: of those counters that the port shows. ``why``: why none can be told, ""."""

    rises: tuple[Rise, ...]
    why: str = ""

    @property
    def total(self) -> int:
        return sum(rise.by for rise in self.rises)

    def __str__(self) -> str:
        ordered = sorted(self.rises, key=lambda rise: -rise.by)
        return few([str(rise) for rise in ordered], _SHOWN)


def moved(side: Side, keys: Iterable[str]) -> Moved:
    """What became of these counters."""
    if side.lame:
        return Moved((), f"{side.name}: {side.lame}")
    return Moved(tuple(Rise(side, key, side.before[key], side.after[key]) for key in keys if key in side.before))


def _first(side: Side, keys: Sequence[str]) -> Moved:
    """The first of several names that the port shows."""
    return moved(side, next(([key] for key in keys if key in side.before), ()))


def _by_priority(side: Side, name: str, priorities: Iterable[int]) -> Moved:
    return moved(side, [name.replace(PRIORITY, str(at)) for at in priorities] if name else ())


def losses(side: Side) -> tuple[list[tuple[Counter, Rise]], Moved]:
    """The counters of loss that rose, and all that were looked at. What counts RoCE alone may not rise at all; what
    counts other packets as well has its own limit."""
    lost: list[tuple[Counter, Rise]] = []
    every: list[Rise] = []
    for counter in COUNTERS:
        if counter.harm != LOSS:
            continue
        home = f"{ETHTOOL} " if counter.home == ETHTOOL else ""
        some = (side.lossless or _ALL) if PRIORITY in counter.name else (0,)
        found = _by_priority(side, f"{home}{counter.name}", some)
        least = counter.at_least if home and PRIORITY not in counter.name else 1
        lost += [(counter, rise) for rise in found.rises if rise.by >= least]
        every += found.rises
    return lost, Moved(tuple(every), moved(side, ()).why)


def full(received: Sequence[tuple[float, int]], rate: float) -> tuple[float, float]:
    """For how many seconds the port was full, and the most that came in, Gb/s."""
    seconds = most = 0.0
    for (start, before), (end, after) in zip(received, received[1:]):
        if end <= start or after < before:
            continue
        gbps = (after - before) * 8 / (end - start) / 1e9
        most = max(most, gbps)
        seconds += end - start if gbps >= FULL * rate else 0.0
    return seconds, most


class _Seen:
    """What all ports of one incast tell."""

    def __init__(self, incast: Incast) -> None:
        self.incast = incast
        self.sides = (incast.receiver, *incast.senders)
        self.lost = {side.host: losses(side) for side in self.sides}
        # Of what flow control should have kept from being dropped.
        self.dropped = [
            rise
            for lost, _all in self.lost.values()
            for counter, rise in lost
            if counter.name not in WIRE and counter.name not in BEHIND
        ]
        receiver = incast.receiver
        self.marked = _first(receiver, receiver.names.marked)
        self.told = _first(receiver, receiver.names.told)
        self.paused = {side.host: _by_priority(side, side.names.paused, side.lossless or _ALL) for side in self.sides}
        self.astray = {side.host: self._astray(side) for side in self.sides}
        self.plain = {side.host: _by_priority(side, side.names.plain, (0,)) for side in self.sides}
        self.every = {side.host: _by_priority(side, side.names.every, (0,)) for side in self.sides}
        self.slowed = {side.host: _first(side, side.names.slowed) for side in self.sides}
        self.load = self._load()

    @staticmethod
    def _astray(side: Side) -> Moved:
        others = [at for at in _ALL if side.lossless and at not in side.lossless]
        return _by_priority(side, side.names.paused, others)

    def pauses(self) -> list[Rise]:
        """Pauses that reached a sender, of whatever kind."""
        return [
            rise
            for side in self.incast.senders
            for kind in (self.paused, self.astray, self.plain, self.every)
            for rise in kind[side.host].rises
            if rise.by
        ]

    def held(self) -> list[Rise]:
        """What tells that somebody held the senders back: pauses, marks and CNPs."""
        slowed = [rise for side in self.incast.senders for rise in self.slowed[side.host].rises]
        return [*self.pauses(), *(rise for rise in (*slowed, *self.marked.rises, *self.told.rises) if rise.by)]

    def _load(self) -> Check:
        incast, receiver = self.incast, self.incast.receiver
        subject = f"{receiver.rail} from {few([side.host for side in incast.senders], _SHOWN)}"
        silent = [f"{side.name}: {side.untested}" for side in incast.senders if side.untested]
        why = incast.why or next(iter(silent), "")
        if not why and len(incast.received) < 2:
            why = receiver.lame or _UNTOLD.format(receiver.driver or "unknown", "bytes that the port received by RDMA")
        if not why and not incast.rate:
            why = "the rate of the port is not known"
        if why:
            return unknown(LOAD, subject, why, remedy=AGAIN)
        rate = incast.rate or 0.0
        seconds, most = full(incast.received, rate)
        sent = ", ".join(f"{side.host} {side.gbps:.4g}" for side in incast.senders if side.gbps is not None)
        shown = f"full for {seconds:.1f} s, {most:.4g} of {rate:g} Gb/s at most; sent, in Gb/s: {sent or 'unknown'}"
        if seconds < FULL_S:
            own = _by_priority(receiver, receiver.names.pauses, receiver.lossless or _ALL)
            why = "the port was not full: there was no incast to judge"
            if own.total:
                why += f"; the host itself takes no more ({own})"
            return unknown(LOAD, subject, why, observed=shown, remedy=AGAIN)
        why = self._apart(rate)
        if why:
            return unknown(LOAD, subject, why, observed=shown, remedy=AGAIN)
        if not self.held() and not self.dropped:
            return unknown(LOAD, subject, self._unheld(), observed=shown, remedy=AGAIN)
        return passed(LOAD, subject, shown, f"full for {FULL_S:g} s at least, by all senders at once", CAPABILITY)

    def _apart(self, rate: float) -> str:
        """Why they did not send at the same time, by what each reached: of a port that several fill, nobody has all."""
        senders = self.incast.senders
        for side in senders:
            if side.gbps is None:
                return f"{side.name}: what it sent is not known"
            if side.gbps >= FULL * rate:
                return f"{side.name} filled the port alone: they did not send at the same time"
            if side.gbps < LEAST * rate / len(senders):
                return f"{side.name} sent next to nothing: they did not send at the same time"
        return ""

    def _unheld(self) -> str:
        """Why a full port proves nothing: no counter rose that has to where senders are held back."""
        looked = [
            *(self.paused[side.host] for side in self.incast.senders),
            *(self.slowed[side.host] for side in self.incast.senders),
            self.marked,
        ]
        lame = next((some.why for some in looked if some.why), "")
        if lame:
            return lame
        if not any(some.rises for some in looked):
            driver = self.incast.receiver.driver or "unknown"
            return _UNTOLD.format(driver, "pauses, marks or CNPs by a name that is known here")
        return (
            "the port was full, and nothing held the senders back: no pause, no mark and no CNP was counted, and "
            "nothing was lost; did they send at the same time, and more than the port takes?"
        )

    @property
    def congested(self) -> bool:
        return self.load.result == "pass"


def judge(incasts: Iterable[Incast]) -> dict[str, list[Check]]:
    """Checks of every host that takes part."""
    checks: dict[str, list[Check]] = {}
    for incast in incasts:
        seen = _Seen(incast)
        receiver = incast.receiver
        mine = checks.setdefault(receiver.host, [])
        mine.append(seen.load)
        if incast.why:
            continue
        mine += [_loss(seen, receiver), _arrives(seen), _ecn(seen)]
        for side in incast.senders:
            checks.setdefault(side.host, []).extend(_sender(seen, side))
    return checks


def _sender(seen: _Seen, side: Side) -> Iterator[Check]:
    yield _loss(seen, side)
    yield _pfc(seen, side)
    yield _leaves(seen, side)
    yield _cnp(seen, side)


def _subject(seen: _Seen, side: Side) -> str:
    """A host takes part in several incasts on each rail."""
    receiver = seen.incast.receiver
    if side is receiver:
        return f"{side.rail} from {few([sender.host for sender in seen.incast.senders], _SHOWN)}"
    return f"{side.rail} to {receiver.host}"


def _loss(seen: _Seen, side: Side) -> Check:
    subject = _subject(seen, side)
    lost, every = seen.lost[side.host]
    expected = "no counter of loss rises by its limit"
    if lost:
        observed = few([str(rise) for _counter, rise in lost], _SHOWN)
        return failed(LOST, subject, observed, expected, CAPABILITY, cause=_lost_by(seen, lost))
    if every.why:
        return unknown(LOST, subject, every.why, remedy=AGAIN)
    if not every.rises:
        return unknown(LOST, subject, _UNTOLD.format(side.driver or "unknown", "counter of loss"), remedy=AGAIN)
    if not seen.congested:
        return unknown(LOST, subject, _SEE, remedy=AGAIN)
    blind = "" if any(rise.key.startswith(ETHTOOL) for rise in every.rises) else f"; {ETHTOOL} shows none of its own"
    some = Moved(tuple(rise for rise in every.rises if rise.by))
    less = f" by its limit; {some}" if some.rises else ""
    return passed(LOST, subject, f"none of {len(every.rises)} counters of loss rose{less}{blind}", expected, CAPABILITY)


def _lost_by(seen: _Seen, lost: Sequence[tuple[Counter, Rise]]) -> str:
    """What the loss means, and what the pauses say to it."""
    worst = next((counter for counter, _rise in lost if counter.name in WIRE), lost[0][0])
    name = worst.name.replace(PRIORITY, "N")
    if worst.name in WIRE or worst.name in BEHIND:
        return f"{name}: {worst.means}"
    if seen.pauses():
        return (
            f"{name}: {worst.means}, although senders were paused: a switch on the way has too small a headroom or "
            "buffer for the class, its PFC watchdog drops, or not every hop pauses it"
        )
    mute = any(side.lame for side in seen.incast.senders)
    paused = "whether senders were paused is not known" if mute else "no sender was paused"
    return f"{name}: {worst.means}, and {paused}: see {PFC}"


def _stated(check_id: str, subject: str, side: Side) -> Check | None:
    """The check where nobody knows which priorities have flow control, or none has."""
    if side.lame:
        return unknown(check_id, subject, side.lame, remedy=AGAIN)
    if side.lossless is None:
        return unknown(check_id, subject, f"which priorities have flow control is not known: {side.told_by}")
    if not side.lossless:
        return skipped(check_id, subject, "no priority has flow control, and nobody expects any (roce_pfc)")
    return None


def _priorities(side: Side) -> str:
    return ", ".join(map(str, side.lossless or ()))


def _pfc(seen: _Seen, side: Side) -> Check:
    subject = _subject(seen, side)
    stated = _stated(PFC, subject, side)
    if stated is not None:
        return stated
    paused, plain = seen.paused[side.host], seen.plain[side.host]
    expected = f"pauses in priority {_priorities(side)}"
    if paused.total:
        if not seen.congested:
            return unknown(PFC, subject, _SEE, observed=paused, remedy=AGAIN)
        return passed(PFC, subject, paused, expected, side.told_by)
    if plain.total:
        cause = "the switch port pauses the whole link (802.3x), and so every class: flow control by priority is off"
        return failed(PFC, subject, plain, expected, side.told_by, cause=cause)
    every = seen.every[side.host]
    if seen.astray[side.host].total or (every.total and paused.rises):
        return skipped(PFC, subject, f"it was paused otherwise: see {PRIO}")
    if every.total:
        why = f"pause frames came in, and this HCA does not show of which priority ({every})"
        return unknown(PFC, subject, why, remedy=AGAIN)
    looked = (*paused.rises, *every.rises)
    if seen.dropped and looked:
        observed = f"{Moved(looked)}; lost: {Moved(tuple(seen.dropped))}"
        cause = (
            "packets are lost and this sender is not paused: flow control is not on in the class of RoCE, at its "
            "switch port or at its HCA"
        )
        return failed(PFC, subject, observed, expected, side.told_by, cause=cause)
    if not paused.rises:
        why = _UNTOLD.format(side.driver or "unknown", f"pauses of priority {_priorities(side)}")
        return unknown(PFC, subject, why, remedy=AGAIN)
    if not seen.congested:
        return unknown(PFC, subject, _SEE, remedy=AGAIN)
    return skipped(PFC, subject, "no pause was needed: congestion control alone held it back; this proves no pauses")


def _carried(side: Side, check_id: str, subject: str, found: Moved, verb: str, congested: bool) -> Check:
    """Whether most bytes went in a priority with flow control."""
    expected = f"RoCE {verb} in priority {_priorities(side)}"
    if not found.total:
        why = _UNTOLD.format(side.driver or "unknown", f"bytes that {verb.rstrip('s')} by priority")
        return unknown(check_id, subject, why, remedy=AGAIN)
    most = max(found.rises, key=lambda rise: rise.by)
    observed = f"{most}, {100 * most.by / found.total:.0f} % of all bytes"
    own = [rise for rise in found.rises if _number(rise.key) in (side.lossless or ())]
    if most not in own:
        return failed(check_id, subject, observed, expected, side.told_by)
    if not congested:
        return unknown(check_id, subject, _SEE, observed=observed, remedy=AGAIN)
    return passed(check_id, subject, observed, expected, side.told_by)


def _number(key: str) -> int:
    """The priority of a key; no name has another digit."""
    return int("".join(letter for letter in key if letter.isdigit()) or -1)


def _leaves(seen: _Seen, side: Side) -> Check:
    subject = _subject(seen, side)
    stated = _stated(PRIO, subject, side)
    if stated is not None:
        return stated
    astray, every, paused = (kind[side.host] for kind in (seen.astray, seen.every, seen.paused))
    expected = f"pauses in priority {_priorities(side)} alone"
    if astray.total and not paused.total:
        cause = "the switch pauses another priority than the one that RoCE has on this host"
        return failed(PRIO, subject, astray, expected, side.told_by, cause=cause)
    if every.total and paused.rises and not paused.total and not seen.plain[side.host].total:
        cause = (
            "pause frames came in, and none for the priorities whose flow control is on here: the switch pauses "
            "another priority, or the whole link (802.3x)"
        )
        return failed(PRIO, subject, every, expected, side.told_by, cause=cause)
    found = _by_priority(side, side.names.left, _ALL)
    return _carried(side, PRIO, subject, found, "leaves", seen.congested)


def _arrives(seen: _Seen) -> Check:
    side = seen.incast.receiver
    subject = _subject(seen, side)
    found = _by_priority(side, side.names.arrived, _ALL)
    return _stated(PRIO, subject, side) or _carried(side, PRIO, subject, found, "arrives", seen.congested)


def _ecn(seen: _Seen) -> Check:
    side = seen.incast.receiver
    subject = _subject(seen, side)
    marked, told = seen.marked, seen.told
    expected = "packets that are marked, and answered with CNPs"
    if side.lame:
        return unknown(ECN, subject, side.lame, remedy=AGAIN)
    if not marked.rises or not told.rises:
        return unknown(ECN, subject, _UNTOLD.format(side.driver or "unknown", "marks and CNPs"), remedy=AGAIN)
    observed = f"{marked}; {told}"
    if marked.total and not told.total:
        cause = (
            "marked packets arrive, and this host tells no sender (CNP): its congestion control is off in the "
            "priority of RoCE (ecn/roce_np)"
        )
        return failed(ECN, subject, observed, expected, CAPABILITY, cause=cause)
    if not marked.total and not told.total:
        pauses = seen.pauses()
        if not pauses and not seen.dropped:
            return unknown(ECN, subject, _SEE, remedy=AGAIN)
        if not seen.congested:
            return unknown(ECN, subject, _SEE, observed=observed, remedy=AGAIN)
        beside = Moved(tuple(pauses or seen.dropped))
        cause = "the switch before this port marks nothing: its queue was so full that " + (
            "senders were paused" if pauses else "packets were lost"
        )
        return failed(ECN, subject, f"{observed}; {beside}", expected, CAPABILITY, cause=cause)
    if not seen.congested:
        return unknown(ECN, subject, _SEE, observed=observed, remedy=AGAIN)
    return passed(ECN, subject, observed, expected, CAPABILITY)


def _cnp(seen: _Seen, side: Side) -> Check:
    subject = _subject(seen, side)
    told, slowed = seen.told, seen.slowed[side.host]
    ignored = _first(side, side.names.ignored)
    expected = "CNPs that come are obeyed"
    if side.lame:
        return unknown(CNP, subject, side.lame, remedy=AGAIN)
    if not slowed.rises:
        return unknown(CNP, subject, _UNTOLD.format(side.driver or "unknown", "CNPs that came"), remedy=AGAIN)
    observed = f"{Moved((*slowed.rises, *ignored.rises))}; {told}".rstrip("; ")
    if ignored.total and not slowed.total:
        cause = "CNPs come, and are ignored: congestion control is off in the priority of RoCE (ecn/roce_rp)"
        return failed(CNP, subject, observed, expected, CAPABILITY, cause=cause)
    if slowed.total:
        if not seen.congested:
            return unknown(CNP, subject, _SEE, observed=observed, remedy=AGAIN)
        return passed(CNP, subject, observed, expected, CAPABILITY)
    if not told.rises:
        why = told.why or f"how many CNPs {seen.incast.receiver.host} sent is not known"
        return unknown(CNP, subject, why, remedy=AGAIN)
    if told.total >= CNP_FEW:
        cause = (
            "the receiver sent CNPs and none came to this sender: their class is dropped or held up on the way, or "
            "this HCA takes them for other packets"
        )
        return failed(CNP, subject, observed, expected, CAPABILITY, cause=cause)
    if told.total:
        return unknown(CNP, subject, f"only {told.total} CNPs were sent to all senders", observed=observed)
    return skipped(CNP, subject, f"{seen.incast.receiver.host} sent no CNP: see {ECN}")
