# SPDX-License-Identifier: GPL-3.0-or-later
"""Who moves data to whom, and when: rounds in which every host either serves or asks.

The effort of a run does not grow with the cluster: every host meets a few others. Two hosts alone
meet both ways, for the programs send more one way than the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ....module_utils._between.rdma.tried import Rail
from ....module_utils._data.rdma_tests import CM, HOST, LEASE_MOST, LIMITS, ROOT, TESTS, USER
from ....module_utils._ground.link import INFINIBAND
from ..._answers.rdma import Reported
from ..._hosts import rounds as _rounds

PORT = 18700
PARTNERS = 2
# Logging in, starting modules, and starting containers, in seconds a round.
_OVERHEAD, _IN_CONTAINERS = 60, 180


@dataclass(frozen=True)
class Desired:
    """``partners``: how many others a host meets. ``port``: the first port at which two ends meet.
    ``forks``: on how many hosts Ansible works at a time. ``run``: tells this run from others."""

    partners: int = PARTNERS
    port: int = PORT
    forks: int = 5
    run: str = ""


def pairs(hosts: Sequence[str], partners: int) -> list[list[tuple[str, str]]]:
    """Rounds of (client, server); a host asks as often as it serves, or once more or less."""
    if len(hosts) < 2:
        return []
    if len(hosts) == 2:
        return [[(hosts[0], hosts[1])], [(hosts[1], hosts[0])]][:partners]
    # With an odd number one host sits out each turn.
    turns = min(partners + len(hosts) % 2, _rounds.tournament(len(hosts)))
    rounds = []
    for turn in range(turns):
        met = _rounds.meetings(len(hosts), turn)
        rounds.append([(hosts[entry], hosts[two]) for entry, two in met])
    return _both_ways(rounds)


def _both_ways(rounds: Sequence[Sequence[tuple[str, str]]]) -> list[list[tuple[str, str]]]:
    """The same pairs, turned along walks as long as they can be: who was asked asks next."""
    left: dict[str, list[tuple[int, str]]] = {}
    for number, met in enumerate(rounds):
        for entry, two in met:
            left.setdefault(entry, []).append((number, two))
            left.setdefault(two, []).append((number, entry))
    found: list[list[tuple[str, str]]] = [[] for _turn in rounds]

    def walk(at: str) -> None:
        while left[at]:
            number, other = left[at].pop(0)
            left[other].remove((number, at))
            found[number].append((at, other))
            at = other

    # One from every host that has an odd number left; all that then begin end where they began.
    for name in left:
        if len(left[name]) % 2:
            walk(name)
    for name in left:
        walk(name)
    return found


def _lonely(rails: Mapping[str, Iterable[str]], rounds: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """More rounds, for rails on which a host meets nobody though another one has such a rail: not
    all hosts have the same. ``rails``: by host."""
    has: dict[str, list[str]] = {}
    for name, some in rails.items():
        for rail in some:
            has.setdefault(rail, []).append(name)
    met = {pair for entry in rounds for pair in entry.items()}
    seen = {(name, rail) for pair in met for name in pair for rail in _both(rails, *pair)}
    found: list[dict[str, str]] = []
    for rail, names in has.items():
        left = [name for name in names if (name, rail) not in seen]
        while left and len(names) > 1:
            item = left.pop(0)
            two = left.pop(0) if left else next(name for name in names if name != item)
            seen |= {(name, other) for name in (item, two) for other in _both(rails, item, two)}
            free = (some for some in found if not {item, two} & {*some, *some.values()})
            room = next(free, None)
            if room is None:
                room = {}
                found.append(room)
            room[item] = two
    return found


def _both(rails: Mapping[str, Iterable[str]], text: str, two: str) -> set[str]:
    return set(rails[text]) & set(rails[two])


def plan(hosts: Mapping[str, Reported], wish: Desired) -> dict[str, Any]:
    """``rounds``: each maps clients to servers. ``hosts``: what `part` needs of each. ``lease``:
    how long a server may be needed, in seconds."""
    able = sorted(name for name, host in hosts.items() if host.takes_part)
    rounds = [dict(met) for met in pairs(able, wish.partners)]
    rounds = [
        {client: server for client, server in met.items() if _shared(hosts[client], hosts[server])} for met in rounds
    ]
    rounds = [met for met in rounds if met]
    rounds += _lonely({name: hosts[name].host.rails for name in able}, rounds)
    longest = max(
        (
            -(-len(met) // wish.forks) * max(_seconds(hosts[client], hosts[server]) for client, server in met.items())
            for met in rounds
        ),
        default=0,
    )
    inside = any(hosts[name].host.containers for name in able)
    return {
        "run": wish.run,
        "port": wish.port,
        "rounds": rounds,
        "hosts": {name: _kept(hosts[name]) for name in able} if rounds else {},
        "lease": min(longest + _OVERHEAD + (_IN_CONTAINERS if inside else 0), LEASE_MOST),
    }


def part(made: Mapping[str, Any], name: str, number: int) -> dict[str, Any]:
    """What one host does in one round: ``ends``, or ``questions`` and ``server``, as rdma_data
    takes them; all empty where it sits out."""
    met = made["rounds"][number]
    client, server = name, met.get(name, "")
    if not server:
        client, server = next(((entry, two) for entry, two in met.items() if two == name), ("", ""))
    empty = {"ends": [], "questions": [], "server": "", "container": {}}
    if not client:
        return empty
    hosts = made["hosts"]
    asks = name == client
    tests = [
        _end(made, client, server, rail, where, test, at, asks)
        for at, (rail, where, test) in enumerate(_tests(hosts[client], hosts[server]))
    ]
    tests = [test for test in tests if test["test"] != CM or test["address"]]
    found = {**empty, "container": hosts[name]["container"]}
    if not asks:
        return {**found, "ends": tests}
    to = hosts[server]["address"]
    return {**found, "questions": [{**test, "to": to} for test in tests], "server": server}


def _kept(told: Reported) -> dict[str, Any]:
    """Only what a round needs: the plan is a variable of every host."""
    return {
        "address": told.address,
        "container": dict(told.container) if told.host.containers else {},
        "containers": told.host.containers,
        "rails": {name: asdict(rail) for name, rail in told.host.rails.items()},
    }


def _tests(client: Mapping[str, Any], server: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    shared = [name for name in client["rails"] if name in server["rails"]]
    places = (HOST, ROOT, USER) if client["containers"] and server["containers"] else (HOST,)
    return [(rail, where, test) for rail in shared for where in places for test in TESTS]


def _end(
    made: Mapping[str, Any],
    client: str,
    server: str,
    rail: str,
    where: str,
    test: str,
    at: int,
    asks: bool,
) -> dict[str, Any]:
    asking = Rail(**made["hosts"][client]["rails"][rail])
    serving = Rail(**made["hosts"][server]["rails"][rail])
    own = asking if asks else serving
    return {
        "where": where,
        "test": test,
        "device": own.device,
        "port": own.port,
        "gid_index": -1 if own.kind == INFINIBAND else own.gid_index,
        "mtu": min(asking.mtu, serving.mtu),
        "tcp_port": made["port"] + at,
        "address": serving.address,
        "soft": asking.soft or serving.soft,
        "rail": rail,
        "client": client,
        "server": server,
        "run": made["run"],
    }


def _shared(told: Reported, two: Reported) -> bool:
    return bool(set(told.host.rails) & set(two.host.rails))


def _seconds(told: Reported, two: Reported) -> int:
    """Seconds until a client is through, where all its tests use up their limits."""
    rails = len(set(told.host.rails) & set(two.host.rails))
    places = 3 if told.host.containers and two.host.containers else 1
    return rails * places * sum(LIMITS.values())
