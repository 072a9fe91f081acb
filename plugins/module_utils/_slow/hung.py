# SPDX-License-Identifier: GPL-3.0-or-later
"""A job that hangs: who waits for whom, in which operation of which communicator, and who never came."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Iterable, Mapping, Sequence

from .._parse._nccl_watchdog import FINISHED
from .._parse._times import Collective, Times, Waiting
from . import logs, words
from .words import capital

MISSING, BEHIND, MISMATCH, NOT_BEGUN, TOGETHER, PARTLY, NAMELESS, NOTHING = (
    "missing",
    "behind",
    "mismatch",
    "not begun",
    "together",
    "partly",
    "nameless",
    "nothing",
)
# States of PyTorch's flight recorder: "scheduled" by the host, "started" on the GPU, "completed"; others' words beside.
_DONE = ("completed", "done", "finished", "success")
_QUEUED = ("scheduled", "queued", "enqueued", "launched")
# NCCL's RAS tells only of ranks that differ from most: how far each has come, or that nothing came from it.
_BEHIND, _AHEAD, _SILENT = "behind", "ahead", "missing"
# Ranks tell different sizes of these and are right.
_UNEQUAL = ("alltoall", "all_to_all", "allgatherv", "gather", "scatter", "send", "recv", "coalesced", "batch")
_PAIRS = ("send", "recv", "p2p")


@dataclass(frozen=True)
class Group:
    """A communicator. ``kind``: what is wrong in it. ``sequence``, ``operation``, ``size``: of the operation that it
    waits in, the last that any of its ranks began; ``elements`` where no size is told. ``waiting``: ranks that are in
    it. ``guilty``: ranks that they wait for; of MISMATCH, those that began another operation than most. ``absent``:
    ranks of it that no text is of, and of which nobody says that they are missed."""

    name: str
    kind: str = NOTHING
    sequence: int = -1
    operation: str = ""
    size: int = 0
    waiting: tuple[str, ...] = ()
    guilty: tuple[str, ...] = ()
    because: str = ""
    elements: int = 0
    absent: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hung:
    """``groups``: those in which somebody waits, the one at the root first. ``guilty``: ranks that wait for nobody
    and are waited for. ``hosts``: where they are. ``because``: sentences. ``missing``: what to switch on."""

    groups: tuple[Group, ...] = ()
    guilty: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)


def hung(times: Times) -> Hung:
    """By what each rank last began; by counts of calls where that is all there is."""
    where = _hosts(times)
    if not times.waiting:
        return _by_calls(times.collectives, where)
    by_group: dict[str, list[Waiting]] = {}
    for each in times.waiting:
        by_group.setdefault(each.group, []).append(each)
    everyone = _everyone(by_group)
    found = [_group(name, records, everyone.get(name, frozenset()), where) for name, records in by_group.items()]
    waits = [group for group in found if group.kind != NOTHING]
    if not waits and (idle := [each for each in times.waiting if each.state == FINISHED]):
        return _idle(idle, everyone, where)
    if not waits:
        return Hung(because=("No rank is seen waiting: every operation that was begun is done.",), missing=logs.HANGS)
    return _rooted(waits, where)


def _idle(idle: Sequence[Waiting], everyone: Mapping[str, frozenset[str]], where: Mapping[str, str]) -> Hung:
    """Ranks that were in nothing when another one's time was over: it waited for that of them furthest behind."""
    last = min(each.sequence for each in idle)
    ranks = _sorted(each.rank for each in idle if each.sequence == last)
    done = f"done with {f'number {last}' if last >= 0 else 'nothing'}"
    text = (
        f"{capital(_ranks(ranks, where))} {'was' if len(ranks) == 1 else 'were'} {done} and in no operation when "
        "another rank's time was over: that rank waited for what was not begun here."
    )
    quiet = _absent(idle, everyone.get(idle[0].group, frozenset()))
    if quiet:
        text += f" Unless one of {words.ranks(quiet)} is further behind, whose text is not here."
    group = Group(idle[0].group, BEHIND, last, guilty=ranks, because=text)
    return Hung((group,), ranks, _where(ranks, where), (text,), (), where)


def once(waiting: Sequence[Waiting]) -> bool:
    """Whether all that is told comes of one look of NCCL's RAS at a job, in which counts differ for a moment."""
    looks: dict[tuple[str, str, int], int] = {}
    for each in waiting:
        if each.state.lower() not in (_BEHIND, _AHEAD):
            return False
        key = (each.group, each.rank, each.sequence)
        looks[key] = looks.get(key, 0) + 1
    return all(count == 1 for count in looks.values())


def _hosts(times: Times) -> dict[str, str]:
    told = [(each.rank, each.host) for each in times.collectives]
    told += [(each.rank, each.host) for each in times.waiting] + [(each.rank, each.host) for each in times.steps]
    return {rank: host for rank, host in told if rank and host}


def _everyone(by_group: Mapping[str, Sequence[Waiting]]) -> dict[str, frozenset[str]]:
    """Who should be in a group: who tells of it, and who is missed by those."""
    return {
        name: frozenset(each.rank for each in records if each.rank)
        | {rank for each in records for rank in each.missing if rank}
        for name, records in by_group.items()
    }


def _done(each: Waiting) -> bool:
    return each.state.lower() in _DONE


def _latest(records: Iterable[Waiting]) -> dict[str, Waiting]:
    """By rank the last operation that it began; of equal numbers the one that is not done."""
    found: dict[str, Waiting] = {}
    for each in records:
        old = found.get(each.rank)
        if old is None or (each.sequence, not _done(each)) >= (old.sequence, not _done(old)):
            found[each.rank] = each
    return found


def _group(name: str, records: Sequence[Waiting], everyone: frozenset[str], where: Mapping[str, str]) -> Group:
    if any(each.state.lower() in (_BEHIND, _AHEAD, _SILENT) for each in records):
        return _by_ras(name, records, everyone, where)
    nameless = [each for each in records if not each.rank and not _done(each)]
    found = _by_records(name, [each for each in records if each.rank], everyone, where)
    more = []
    if found.kind != NOTHING:
        more = _doubts(records, everyone, found.kind != TOGETHER)
    elif nameless:
        text = f"A rank waits in {_operation(nameless[0].operation, nameless[0].size)}{_at(nameless[0].sequence)}."
        found = Group(name, NAMELESS, nameless[0].sequence, nameless[0].operation, nameless[0].size, because=text)
    if nameless:
        whose = "text does not tell its rank" if len(nameless) == 1 else "texts do not tell their ranks"
        more.append(f"{len(nameless)} {whose}: the number of a rank belongs into the name of its dump.")
    return replace(found, because=" ".join((found.because, *more)))


def _doubts(records: Sequence[Waiting], everyone: frozenset[str], absent: bool) -> list[str]:
    """A rank of which two hosts tell, and ranks of the group of which nothing was given (``absent``: say so)."""
    hosts: dict[str, set[str]] = {}
    for each in records:
        if each.rank and each.host:
            hosts.setdefault(each.rank, set()).add(each.host)
    twice = [rank for rank, names in sorted(hosts.items(), key=lambda item: words.order(item[0])) if len(names) > 1]
    said = []
    if twice:
        names = words.listed(set().union(*(hosts[rank] for rank in twice)))
        said.append(
            f"{capital(words.ranks(twice))} is told of by {names}: these are two jobs, or a text has another rank's "
            "number, so what is said here may be wrong."
        )
    if absent and (quiet := _absent(records, everyone)):
        told, all_of_them = len({each.rank for each in records if each.rank}), len(_members(records) | everyone)
        said.append(_only(told, all_of_them, quiet))
    return said


def _members(records: Iterable[Waiting]) -> set[str]:
    return {rank for members in {each.members for each in records} for rank in members if rank}


def _absent(records: Iterable[Waiting], everyone: frozenset[str]) -> list[str]:
    """Ranks of the group of which no text was given, and of which no other says that they did not come."""
    return sorted(_members(records) - everyone, key=words.order)


def _only(told: int, of: int, quiet: Sequence[str]) -> str:
    tells, texts = ("tells" if told == 1 else "tell"), ("text" if len(quiet) == 1 else "texts")
    all_of_them = words.many(of, "rank")
    return f"Of {all_of_them} {told} {tells} of it: give the {texts} (log, dump) of {words.ranks(quiet)} as well."


def _by_records(name: str, records: Sequence[Waiting], everyone: frozenset[str], where: Mapping[str, str]) -> Group:
    latest = _latest(records)
    waiting = {rank: each for rank, each in latest.items() if not _done(each)}
    if not waiting:
        return Group(name)
    last = max(each.sequence for each in waiting.values())
    here = {rank: each for rank, each in waiting.items() if each.sequence == last}
    operation, size, elements = _usual([(each.operation, each.size, each.elements) for each in here.values()])
    group = Group(name, TOGETHER, last, operation, size, _sorted(here), elements=elements)
    if any(pair in operation.lower() for pair in _PAIRS) and len(here) < 2:
        silent: frozenset[str] = frozenset()
    else:
        silent = everyone - set(latest)
    missed = _missed(here.values(), latest)
    behind = {rank for rank, each in latest.items() if each.sequence < last and last >= 0}
    what = _what(group)
    if silent | missed | behind:
        return _late(group, latest, silent, missed, behind, where)
    odd = _mismatch(here, operation, size, elements)
    if odd:
        theirs = _usual([(here[rank].operation, here[rank].size, here[rank].elements) for rank in odd])
        text = (
            f"{capital(_ranks(odd, where))} began {_operation(*theirs)} where {_ranks(group.waiting, where, odd)} "
            f"began {_operation(operation, size, elements)}{_at(last)}: they do not fit, and none of them ends."
        )
        return _with(group, MISMATCH, odd, text)
    queued = [rank for rank, each in here.items() if each.state.lower() in _QUEUED]
    if queued and 2 * len(queued) <= len(here):
        text = (
            f"{capital(_ranks(queued, where))} asked for {what} but the GPU has not begun it: it is still in what "
            f"came before. The other {words.many(len(here) - len(queued), 'rank')} wait in it."
        )
        return _with(group, NOT_BEGUN, queued, text)
    done = [rank for rank, each in latest.items() if _done(each) and each.sequence >= last >= 0]
    if done:
        text = (
            f"{capital(_ranks(done, where))} are done with {what}, {_ranks(here, where)} still "
            f"{'waits' if len(here) == 1 else 'wait'} in it: everybody came, and something was not delivered there."
        )
        return _with(group, PARTLY, list(here), text)
    if quiet := _absent(records, everyone):
        wait = "waits" if len(here) == 1 else "wait"
        text = (
            f"{capital(_ranks(here, where))} {wait} in {what}. {_only(len(latest), len(quiet) + len(everyone), quiet)}"
        )
        text += f" Whether {'it' if len(quiet) == 1 else 'they'} came, no text tells."
        return replace(_with(group, TOGETHER, [], text), absent=tuple(quiet))
    if len(here) == 1:
        text = f"{capital(_ranks(here, where))} waits in {what}, and no other rank tells of it."
        return _with(group, TOGETHER, [], text)
    if last < 0:
        text = (
            f"{words.many(len(here), 'rank')} wait in {what}. No line names their group, so that nobody can tell "
            "whether one is behind: TORCH_NCCL_TRACE_BUFFER_SIZE=2000 has PyTorch record it."
        )
        return _with(group, TOGETHER, [], text)
    who, others = ("none is", "") if everyone else ("none of these is", "a rank that tells nothing, ")
    text = (
        f"All {words.many(len(here), 'rank')} that tell of it wait in {what}, and {who} behind: "
        f"{others}the network between them, or a peer that died without a word."
    )
    return _with(group, TOGETHER, [], text)


def _by_ras(name: str, records: Sequence[Waiting], everyone: frozenset[str], where: Mapping[str, str]) -> Group:
    """Counts that differ for a moment are usual in a job that runs: only the same counts later are a hang."""
    behind = [each for each in records if each.rank and each.state.lower() == _BEHIND]
    ahead = [each for each in records if each.rank and each.state.lower() == _AHEAD]
    silent = sorted(everyone - {each.rank for each in records if each.rank}, key=words.order)
    parts = []
    if silent:
        parts.append(f"Nothing came from {_ranks(silent, where)}.")
    if unnamed := sum(not rank for each in records for rank in each.missing):
        parts.append(f"Nothing came from {words.many(unnamed, 'rank')} that no text names.")
    for each, far in ((behind, "behind"), (ahead, "ahead of")):
        if each:
            ranks = list(dict.fromkeys(one.rank for one in each))
            last = min(one.sequence for one in each) if far == "behind" else max(one.sequence for one in each)
            began = f"{_operation(each[0].operation, 0)}{_at(last)}"
            verb = "is" if len(ranks) == 1 else "are"
            parts.append(f"{capital(_ranks(ranks, where))} {verb} {far} the other ranks: the last begun is {began}.")
    if behind or ahead:
        parts.append("Ask again: only ranks that stay there hang.")
    first = next(iter(behind or ahead), None)
    guilty = silent or list(dict.fromkeys(each.rank for each in behind))
    kind = MISSING if silent else BEHIND
    group = Group(name, kind, first.sequence if first else -1, first.operation if first else "")
    return _with(group, kind, guilty, " ".join(parts) or "Ranks differ, and none is named.")


def _late(
    group: Group,
    latest: Mapping[str, Waiting],
    silent: Iterable[str],
    missed: Iterable[str],
    behind: Iterable[str],
    where: Mapping[str, str],
) -> Group:
    """Those that never came to the operation that the others wait in."""
    parts = []
    if quiet := sorted(set(silent) - set(behind), key=words.order):
        parts.append(f"{_ranks(quiet, where)} never came, and {_tell(quiet)}")
    for sequence in sorted({latest[rank].sequence for rank in behind}):
        ranks = [rank for rank in behind if latest[rank].sequence == sequence]
        state = latest[ranks[0]]
        did = "is done with" if _done(state) else "is still in"
        did = did if len(ranks) == 1 else did.replace("is", "are")
        if sequence < 0 and _done(state):
            parts.append(f"{_ranks(ranks, where)} {'has' if len(ranks) == 1 else 'have'} begun no operation of it")
            continue
        parts.append(f"{_ranks(ranks, where)} {did} {_operation(state.operation, state.size)}{_at(sequence)}")
    if others := sorted(set(missed) - set(silent) - set(behind), key=words.order):
        parts.append(f"{_ranks(others, where)} has not come, the others say")
    guilty = sorted({*silent, *missed, *behind}, key=words.order)
    if behind:  # who is furthest behind holds up the rest
        least = min(latest[rank].sequence for rank in behind)
        guilty = sorted({*silent, *(rank for rank in behind if latest[rank].sequence == least)}, key=words.order)
    wait = "waits" if len(group.waiting) == 1 else "wait"
    text = f"{capital(_ranks(group.waiting, where))} {wait} in {_what(group)}; " + "; ".join(parts) + "."
    return _with(group, BEHIND if behind else MISSING, guilty, text)


def _tell(ranks: Sequence[str]) -> str:
    return "tells nothing" if len(ranks) == 1 else "tell nothing"


def _missed(here: Iterable[Waiting], latest: Mapping[str, Waiting]) -> set[str]:
    """Who others say has not come, unless its own record says that it did."""
    came = {each.rank for each in here}
    return {rank for each in here for rank in each.missing if rank and rank not in came and rank in latest}


def _mismatch(here: Mapping[str, Waiting], operation: str, size: int, elements: int) -> list[str]:
    if any(word in operation.lower() for word in _PAIRS):
        return []
    names = [rank for rank, each in here.items() if each.operation and operation and each.operation != operation]
    if names:
        return list(_sorted(names))
    if any(word in operation.lower().replace("all_gather", "").replace("allgather_", "") for word in _UNEQUAL):
        return []
    return list(
        _sorted(
            rank
            for rank, each in here.items()
            if (each.size and size and each.size != size) or (each.elements and elements and each.elements != elements)
        )
    )


def _usual(values: Sequence[tuple[str, int, int]]) -> tuple[str, int, int]:
    return max(sorted(set(values)), key=values.count)


def _rooted(groups: Sequence[Group], where: Mapping[str, str]) -> Hung:
    """From group to group: whoever is waited for in one may wait itself in another."""
    by_waiter: dict[str, list[Group]] = {}
    for group in groups:
        for rank in group.waiting:
            by_waiter.setdefault(rank, []).append(group)
    roots: list[Group] = []
    chains: list[str] = []
    cycle: list[Group] = []
    for group in groups:
        end, path = group, [group]
        while True:
            follow = [
                other
                for rank in end.guilty
                for other in by_waiter.get(rank, ())
                if other.name != end.name and rank in other.waiting and other.kind != NOTHING
            ]
            if not follow or end.kind in (MISMATCH, PARTLY):
                break
            if follow[0] in path:
                cycle = path[path.index(follow[0]) :]
                break
            end = follow[0]
            path.append(end)
        if not cycle and end not in roots:
            roots.append(end)
        if len(path) > 1 and not cycle:
            chains.append(" waits for ".join(_name(each) for each in path))
    if cycle:
        names = ", ".join(_name(group) for group in cycle)
        because = [f"Ranks wait for each other in a circle ({names}): they began operations in a different order."]
        because += [group.because for group in cycle]
        guilty = sorted({rank for group in cycle for rank in group.guilty}, key=words.order)
        return Hung(tuple(cycle), tuple(guilty), _where(guilty, where), tuple(because), (), where)
    others = [group for group in groups if group not in roots]
    because = [_told(group, len(groups) > 1) for group in roots]
    because += [f"{capital(chain)}." for chain in dict.fromkeys(chains)]
    guilty = sorted({rank for group in roots for rank in group.guilty}, key=words.order)
    missing = logs.HANGS if any(group.kind == TOGETHER for group in roots) and len(where) < 2 else ()
    return Hung((*roots, *others), tuple(guilty), _where(guilty, where), tuple(because), missing, where)


def _by_calls(collectives: Sequence[Collective], where: Mapping[str, str]) -> Hung:
    """Only how often each rank ended a collective: who ended fewer came last."""
    counts: dict[tuple[str, str, int, int], dict[str, int]] = {}
    for each in collectives:
        if each.rank:
            own = counts.setdefault((each.group, each.name, each.size, each.ranks), {})
            own[each.rank] = own.get(each.rank, 0) + len(each.seconds)
    for (communicator, name, size, _unused), own in counts.items():
        most = max(own.values())
        late = [rank for rank, count in own.items() if count < most]
        if late and 2 * len(late) <= len(own) and most > 1:
            text = (
                f"{capital(_ranks(late, where))} ended {min(own[rank] for rank in late)} calls of "
                f"{_operation(name, size)}, the others {most}. A rank that lags may only have been asked earlier."
            )
            group = Group(communicator, BEHIND, most, name, size, _sorted(set(own) - set(late)), _sorted(late), text)
            return Hung((group,), group.guilty, _where(late, where), (text,), logs.HANGS, where)
    return Hung(because=("No text tells what a rank waits in.",), missing=logs.HANGS, where=where)


def _with(group: Group, kind: str, guilty: Iterable[str], because: str) -> Group:
    return replace(group, kind=kind, guilty=_sorted(guilty), because=because)


def _sorted(ranks: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(ranks), key=words.order))


def _where(ranks: Iterable[str], where: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(sorted({where[rank] for rank in ranks if rank in where}))


def _ranks(ranks: Iterable[str], where: Mapping[str, str], but: Iterable[str] = ()) -> str:
    named = [rank for rank in ranks if rank not in set(but)]
    return words.ranks(named, _where(named, where))


def _operation(name: str, size: int, elements: int = 0) -> str:
    much = f" of {_bytes(size)}" if size else f" of {elements} elements" if elements else ""
    return (name or "an operation") + much


def _what(group: Group) -> str:
    return f"{_operation(group.operation, group.size, group.elements)}{_at(group.sequence)}"


def _at(sequence: int) -> str:
    return f" (number {sequence})" if sequence >= 0 else ""


def _name(group: Group) -> str:
    return f"communicator {group.name}" if group.name else "the communicator"


def _told(group: Group, several: bool) -> str:
    return f"{capital(_name(group))}: {group.because}" if several and group.name else group.because


def _bytes(size: int) -> str:
    for unit, length in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= length:
            return f"{size / length:.4g} {unit}"
    return f"{size} bytes"
