# SPDX-License-Identifier: GPL-3.0-or-later
"""All filters: what playbooks plan for many hosts, and tell of them. plugins/filter/NAME.yml documents each."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible.release import __version__
from ansible.utils.display import Display

from ...module_utils._act.packages import failures
from ...module_utils._between.ibping import DEADLINE
from ...module_utils._data.bench import TESTS
from .._answers import apart, ping, tcp
from .._bisect import live, seen as bisection
from .._fabric import gather, report as fabrics
from .._fleet import firewall_nodes as nodes, nccl_plan, tcp_plan as tcp_round
from .._fleet.bench import plan as bench_rounds, reported, switches
from .._fleet.ping import again, plan as ping_rounds, schedule, walk
from .._fleet.ping.leaves import leaves
from .._fleet.rdma import incast as incasts, plan as rdma_rounds
from .._ground import address
from .._ground.plain import plain
from .._hosts import hosts as _hosts
from .._plan.plan import lack
from .._site import expected as _expected, firmware_turn, gate_kept, imex, nccl_peers as peers, reached as _reached

Variables = Mapping[str, Any]

# Of leases: another run wrote these words, on a host that may be anybody's by now.
_SHOWN = 120
_WORDS = ("what", "who", "since", "until")
_NAMED = 5


def bench_plan(
    hostvars: Variables,
    hosts: Sequence[str],
    tests: Sequence[str],
    partners: int | str = 3,
    seconds: int | str = 5,
    tcp_port: int | str = bench_rounds.TCP_PORT,
    forks: int | str = 5,
) -> dict[str, Any]:
    """Who measures against whom in which round; hosts of which nothing is known stay out."""
    strange = [test for test in tests if test not in TESTS]
    if strange:
        raise AnsibleFilterError(f"bench_tests: {strange[0]!r} is none of {', '.join(TESTS)}; next: leave it out")
    seen = reported.gather(hostvars, list(hosts))
    desired = bench_rounds.Desired(list(tests), int(partners), int(seconds), int(tcp_port), int(forks))
    return apart.together(
        seen, lambda some: bench_rounds.plan({entry.name: entry.member for entry in some}, desired), reported.lost
    )


def bisect_round(hostvars: Variables, hosts: Sequence[str], wish: Variables | None = None) -> dict[str, Any]:
    """The next round of a search for what is slow, from all answers so far; without waves where it is at an end."""
    try:
        return bisection.made(hostvars, hosts, bisection.desired(wish or {}))[0]
    except bisection.BisectError as exc:
        raise AnsibleFilterError(str(exc)) from exc


def bench_switches(
    hostvars: Variables, hosts: Sequence[str], names: Sequence[str], what: Sequence[str]
) -> list[dict[str, Any]]:
    """Which jobs run with what switched off, and by which environment of each host."""
    try:
        return apart.together(
            reported.gather(hostvars, list(hosts)),
            lambda some: switches.plan(some, list(names), list(what)),
            reported.lost,
        )
    except ValueError as exc:
        raise AnsibleFilterError(str(exc)) from exc


def bisect_asks(questions: Sequence[Variables], hostvars: Variables) -> list[dict[str, Any]]:
    """Those questions of a wave whose server is there."""
    servers = {str(question["server"]) for question in questions}
    return live.asks(questions, {name: hostvars.get(name, {}).get("ibready_bench_serving") for name in servers})


def expected(variables: Variables) -> dict[str, Any]:
    """What the checks expect of a host."""
    return _expected.of(variables)


def fabric_plan(hostvars: Variables, hosts: Sequence[str], lot: int | str) -> dict[str, list[dict[str, Any]]]:
    """Which hosts ask which fabric, as the lot draws them; those of which nothing is known do not ask."""
    drawn = _number("ibready_fabric_seed", lot, 0, 0)
    asking = apart.together(
        _hosts.gather(hostvars, list(hosts)),
        lambda some: gather.askers({entry.name: gather.ports_of(entry) for entry in some}, drawn),
        _hosts.lost,
    )
    return {host: [{"device": device, "port": port} for device, port in ports] for host, ports in asking.items()}


def firewall_nodes(hostvars: Variables, hosts: Sequence[str], networks: Sequence[str] = ()) -> dict[str, Any]:
    """The addresses from which each host reaches the others, and whether it told them itself."""
    try:
        found = nodes.nodes(hostvars, hosts, networks.split(",") if isinstance(networks, str) else networks)
    except nodes.NodesError as exc:
        raise AnsibleFilterError(str(exc)) from None
    _warn(nodes.unseen(found))
    return found


def firmware_turns(hostvars: Variables, hosts: Sequence[str], batch: Sequence[str]) -> dict[str, str]:
    """Of each host of a batch the host that has to run new firmware before it; "" where its turn is now."""
    return firmware_turn.turns(hostvars, hosts, batch)


def gate_refused(settings: Variables, wish: Variables) -> str:
    """Why the health agent could keep no gate with these variables; "" where it could."""
    return gate_kept.refused(settings, wish)


def imex_domains(hostvars: Variables, hosts: Sequence[str]) -> dict[str, imex.Domain]:
    """The domain of every host that shares GPU memory with others, or may."""
    return imex.domains(hostvars, hosts)


def incast_plan(
    hostvars: Variables,
    hosts: Sequence[str],
    receivers: Sequence[str] = (),
    senders: int | str = "",
    seconds: int | str = "",
    port: int | str = "",
    forks: int | str = 5,
) -> dict[str, Any]:
    """Which hosts write to one port at once, in which round; raises where a variable cannot be used."""
    desired = incasts.Desired(
        receivers=_receivers(receivers, hosts),
        senders=_number("ibready_incast_senders", senders, incasts.SENDERS, 2, 32),
        seconds=_number("ibready_incast_seconds", seconds, incasts.SECONDS, 5, 120),
        port=_number("ibready_rdma_port", port, rdma_rounds.PORT, 1024, 65000),
        forks=_number("forks", forks, 5, 1, 10_000),
    )
    if desired.senders >= desired.forks:
        raise AnsibleFilterError(
            f"ibready_incast_senders: {desired.senders} senders and a receiver have to be at work at once, and Ansible "
            f"works on {desired.forks} hosts at a time; next: --forks {desired.senders + 1}, or fewer senders"
        )
    return apart.together(
        _hosts.gather(hostvars, list(hosts)), lambda some: incasts.plan(some, hostvars, desired), _hosts.lost
    )


def _receivers(receivers: Sequence[str], hosts: Sequence[str]) -> list[str]:
    if isinstance(receivers, str) or not isinstance(receivers, Sequence):
        raise AnsibleFilterError(f"ibready_incast_receivers must be a list of hosts, not {receivers!r}")
    strange = [str(name) for name in receivers if name not in hosts]
    if strange:
        raise AnsibleFilterError(
            f"ibready_incast_receivers: {strange[0]!r} is no host that this run reached; next: leave it out"
        )
    return [str(name) for name in receivers]


def incast_parts(made: Variables, hostvars: Variables, number: int | str) -> dict[str, dict[str, Any]]:
    """What each host does in one round; an incast with a host that has a job now is left out."""
    return incasts.parts(made, hostvars, int(number))


def lease_told(hostvars: Variables, hosts: Sequence[str]) -> str:
    """Which other run has hosts that this one wants; "" where none has."""
    held: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for name in hosts:
        holder = _holder(_hosts.variables(hostvars, name))
        if holder is not None:
            words = {key: plain(str(holder.get(key)))[:_SHOWN] for key in _WORDS}
            told = held.setdefault((words["what"], words["who"]), [])
            told.append((words["since"], words["until"], name))
    return "; ".join(
        f"{what} by {who} is at work since {min(told)[0]} on {_names(told)}, until "
        f"{max(until for _since, until, _name in told)} at the latest"
        for (what, who), told in held.items()
    )


def _holder(variables: Variables) -> Variables | None:
    for key in ("ibready_lease", "ibready_lease_first"):
        answer = variables.get(key)
        holder = answer.get("holder") if isinstance(answer, Mapping) else None
        if isinstance(holder, Mapping):
            return holder
    return None


def _names(told: Sequence[tuple[str, str, str]]) -> str:
    names = [name for _since, _until, name in told]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def nccl_derive(hostvars: Variables, hosts: Sequence[str], compare: Sequence[str] = ()) -> dict[str, Any]:
    """The lines of nccl.conf of every host that told what they are derived from."""
    found, unsure = nccl_plan.derived(hostvars, hosts, compare)
    _warn(unsure)
    return found


def _warn(texts: Iterable[str]) -> None:
    for text in texts:
        Display().warning(plain(text))


def nccl_peers(hostvars: Variables, hosts: Sequence[str]) -> list[str]:
    """Where the inventory has those of the hosts that are nodes."""
    return peers.peers(hostvars, peers.nodes(hostvars, hosts), peers.MOST_PEERS)


def node_address(hostvars: Variables, host: str) -> str:
    """Where the others reach a host, as the inventory says."""
    return address.of(host, hostvars[host])


def package_failure(said: str) -> dict[str, str]:
    """What a package manager's words mean, or nothing."""
    known = failures.first(said)
    return {"kind": known.kind, "cause": known.cause, "next": known.following} if known else {}


def plan_lack(plan: Any, role: str, packages: bool = True) -> str:
    """Why a role cannot go by this plan, and the next step; nothing where it can."""
    return plain(lack.lack(plan, role, packages=packages))


def ping_again(hostvars: Variables, plan: Variables) -> dict[str, Any]:
    """Who is asked a second time, and by whom; nothing where nothing was lost."""
    answered, _unused = apart.each(
        plan["hosts"],
        lambda name: ping.answers(_hosts.variables(hostvars, name), "ibready_pings")[0],
    )
    pings = [ping.ping(name, entry) for name, mine in answered.items() for entry in mine]
    known = {(host, rail): leaf for host, rail, leaf in plan["leaves"]}
    asked = again.again(plan, pings, known)
    return {client: walk.questions(plan, client, mine) for client, mine in asked.items()}


def ping_plan(
    hostvars: Variables,
    hosts: Sequence[str],
    deadline: int | str = "",
    full_mesh: int | str = "",
    rounds: int | str = "",
    seed: int | str = "",
    budget: int | str = "",
    forks: int | str = 1,
    at_once: int | str = "",
    fabric: Variables | None = None,
) -> dict[str, Any]:
    """Who serves and who asks whom in which round; hosts of which nothing is known stay out."""
    seen = _hosts.gather(hostvars, list(hosts))
    options = ping_rounds.Options(
        deadline=_number("ibready_ping_deadline", deadline, DEADLINE, 1),
        full=_number("ibready_ping_full_mesh", full_mesh, schedule.FULL, 0),
        rounds=_number("ibready_ping_rounds", rounds, schedule.ROUNDS, 1),
        seed=_number("ibready_ping_seed", seed, int(f"{datetime.now(UTC):%Y%m%d}"), 0),
        budget=_number("ibready_ping_budget", budget, 0, 0),
        forks=_number("forks", forks, 1, 1),
        at_once=_number("ibready_ping_at_once", at_once, ping_rounds.AT_ONCE, 1),
    )

    def made(some: Sequence[_hosts.Host]) -> dict[str, Any]:
        taking_part = {host.name: _hosts.participant(host) for host in some}
        known = _found(some, hostvars, hosts) if fabric is None else fabric
        rails = {name: list(who.rails) for name, who in taking_part.items()}
        return ping_rounds.plan(taking_part, replace(options, leaves=leaves(known, rails)))

    return apart.together(seen, made, _hosts.lost)


def _found(seen: Sequence[_hosts.Host], hostvars: Variables, hosts: Sequence[str]) -> Variables:
    """The fabrics as this run saw them; {} where it did not ask."""
    asked = fabrics.asked(hostvars, hosts)
    return fabrics.judged(seen, asked, datetime.now(UTC).date())[0] if asked is not None else {}


def ping_questions(made: Variables, host: str, visit: int) -> list[dict[str, Any]]:
    """The questions of one host in one visit."""
    return walk.of_visit(made, host, visit)


def rdma_part(made: Variables, host: str, number: int | str) -> dict[str, Any]:
    """One host's part of one round."""
    return rdma_rounds.part(made, host, int(number))


def rdma_plan(
    hostvars: Variables,
    hosts: Sequence[str],
    partners: int | str = "",
    port: int | str = "",
    forks: int | str = 5,
) -> dict[str, Any]:
    """Who moves data to whom in which round; hosts of which nothing is known stay out."""
    desired = rdma_rounds.Desired(
        partners=_number("ibready_rdma_partners", partners, rdma_rounds.PARTNERS, 1, 64),
        port=_number("ibready_rdma_port", port, rdma_rounds.PORT, 1024, 65000),
        forks=_number("forks", forks, 5, 1, 10_000),
        run=uuid.uuid4().hex,
    )
    return apart.together(
        _hosts.gather(hostvars, list(hosts)),
        lambda some: rdma_rounds.plan({host.name: host.rdma for host in some if host.rdma is not None}, desired),
        _hosts.lost,
    )


def _number(name: str, value: int | str, default: int, least: int, most: int | None = None) -> int:
    if value == "":
        return default
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if number < least or (most is not None and number > most):
        wanted = f"a whole number from {least} on" if most is None else f"from {least} to {most}"
        raise AnsibleFilterError(f"{name} must be {wanted}, not {value!r}")
    return number


def reached(groups: Mapping[str, Sequence[str]], hostvars: Variables) -> str:
    """The hosts that answered the contact, as the pattern of a play. Without ``hostvars`` plays are only listed."""
    members = groups.get(_reached.GROUP)
    # Of thousands of hosts it takes a second, so it is asked where nobody is in the group.
    answers = {} if members else _answers(hostvars, "ibready_node")
    with _refusing():
        return _reached.pattern(members or not hostvars, answers, __version__)


def visited(groups: Mapping[str, Sequence[str]], hostvars: Variables) -> str:
    """The hosts that answered the visit, as the pattern of a play. Without ``hostvars`` plays are only listed."""
    with _refusing():
        return _reached.visited(groups["all"], _answers(hostvars, "ibready_ibverify")) if hostvars else "all"


def _answers(hostvars: Variables, key: str) -> dict[str, Any]:
    found = {name: _hosts.variables(hostvars, name).get(key) for name in hostvars}
    return {name: answer for name, answer in found.items() if answer is not None}


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except _reached.ReachedError as exc:
        raise AnsibleFilterError(str(exc)) from exc


def tcp_lease(hosts: Sequence[str], forks: int | str, timeout: float | str = 3) -> int:
    """The lease of every listener of a run."""
    return tcp_round.lease(len(hosts), int(forks), float(timeout))


def tcp_plan(hostvars: Variables, hosts: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Who connects to whom, on which ports; hosts whose answers cannot be used stay out."""
    answered, _unused = apart.each(hosts, lambda name: tcp.told(name, hostvars[name]))
    return tcp_round.plan(answered)
