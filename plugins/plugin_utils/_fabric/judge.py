# SPDX-License-Identifier: GPL-3.0-or-later
"""All fabrics of a cluster: looks and inventory in, one object and checks by host out, no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...module_utils._expect.expectations import CAPABILITY
from ...module_utils._ground.check import FAIL, Check, failed, passed, skipped, unknown
from ...module_utils._parse._topology import SWITCH
from .._slurm.model import Topology
from . import (
    build,
    check_design,
    check_errors,
    check_guids,
    check_hcas,
    check_links,
    check_plan,
    check_rails,
    check_shape,
    check_sharp,
    check_sm,
    check_topology,
    rows,
    tree,
    witness,
)
from .calm import uncollected
from .design import NAME, NOTHING, Wanted
from .model import End, Fabric, Hca, Inventory, guid
from .plan import Planned
from .read import Seen, duplicates, whole_discovery, why_not

TOOL = "fabric.tool.answered"
NEIGHBOURS = "fabric.discovery.neighbours"
ALL = "fabric"
_NO_PLAN = "there is no plan of the cables (ibready_fabric_plan)"
_NO_TOPOLOGY = "no topology file of Slurm was named (ibready_topology_file)"


@dataclass(frozen=True)
class DesiredSettings:
    """What the site says of its fabrics; None where it says nothing.

    ``standbys``: subnet managers in reserve. ``sharp``: whether jobs use it. ``oversubscription``: of
    a leaf, at most, down to up. ``plan``: the cables. ``no_plan``: why there is none. ``design``: what
    the fabric was built as. ``topology``: what the site tells Slurm. ``called``: what a host is called
    there, where that is not its name in the inventory.
    """

    standbys: int | None = None
    sharp: bool | None = None
    oversubscription: float | None = None
    plan: Sequence[Planned] | None = None
    no_plan: str = _NO_PLAN
    design: Wanted | None = None
    topology: Sequence[Topology] | None = None
    called: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """``fabrics``: as report["fabric"]["fabrics"]. ``hosts``: checks of single hosts."""

    fabrics: list[dict[str, Any]] = field(default_factory=list)
    hosts: dict[str, list[Check]] = field(default_factory=dict)


@dataclass
class _One:
    """One fabric on its way. ``partial``: why not all nodes and cables may be known."""

    name: str
    looks: list[Seen]
    fabric: Fabric
    unusable: str = ""
    partial: str = ""
    checks: list[Check] = field(default_factory=list)

    @property
    def host(self) -> str:
        """Who asked."""
        return self.looks[0].host


@dataclass(frozen=True)
class _World:
    """All fabrics by one look at each. ``across``: what takes all of them. ``hosts``: checks by host. ``bad``: ends of
    cables that are misplaced.
    """

    ones: Sequence[_One]
    across: Sequence[Check]
    hosts: Mapping[str, list[Check]]
    bad: Mapping[End, str]

    @property
    def asked(self) -> str:
        """Who asked: all of them, for by that the worlds are told apart."""
        return ", ".join(dict.fromkeys(one.host for one in self.ones))


@uncollected
def judge(looks: Sequence[Seen], inventory: Inventory, wishes: DesiredSettings) -> Judged:
    """Judge every fabric that was looked at, by the looks of two hosts where there are two: what one of them says
    alone is no failure of another host.
    """
    found = groups(looks)
    names = _names(found)
    mine = _by(found, names, inventory, wishes)
    others = [_of_another(group) for group in found]
    theirs = _by(others, names, inventory, wishes) if others != found else mine
    denials = witness.Denials(inventory)
    fabrics = []
    told: dict[tuple[str, str], Check] = {}
    across = denials.held_by(
        [one.host for one, two in zip(mine.ones, theirs.ones, strict=True) if one.host == two.host],
        witness.agreed(witness.Word(mine.asked, mine.across), witness.Word(theirs.asked, theirs.across), (ALL,)),
    )
    for one, two in zip(mine.ones, theirs.ones, strict=True):
        words = witness.agreed(witness.Word(one.host, one.checks), witness.Word(two.host, two.checks), (one.name, ALL))
        checks = [*denials.held_by([one.host] if one.host == two.host else [], words), *across]
        told.update({(check.id, check.subject): check for check in checks})
        fabrics.append(rows.fabric(one.fabric, checks, mine.bad, two.fabric))
        across = []
    return Judged(fabrics, _of_hosts(mine, theirs, told))


def _of_hosts(mine: _World, theirs: _World, told: Mapping[tuple[str, str], Check]) -> dict[str, list[Check]]:
    """What both worlds say of every host; a failure is what came of it among the checks of the fabrics."""
    hosts: dict[str, list[Check]] = {}
    for host in dict.fromkeys((*mine.hosts, *theirs.hosts)):
        one, two = (witness.Word(world.asked, world.hosts.get(host, ())) for world in (mine, theirs))
        hosts[host] = []
        for check in (check for word in witness.agreed(one, two) for check in word.checks):
            named = host if check.subject == "host" else f"{host} {check.subject}"
            same = told.get((check.id, named), check) if check.result == FAIL else check
            hosts[host].append(replace(same, subject=check.subject) if same.result != FAIL else check)
    return hosts


def _of_another(group: list[Seen]) -> list[Seen]:
    """The same looks, first that of another host than the first was of; the same where there is none."""
    other = next((look for look in group if look.host != group[0].host), None)
    return group if other is None else [other, *(look for look in group if look is not other)]


def _by(found: Sequence[list[Seen]], names: Sequence[str], inventory: Inventory, wishes: DesiredSettings) -> _World:
    """The fabrics judged by the first look at each."""
    ones = [_one(group, inventory, name) for group, name in zip(found, names, strict=True)]
    for item in ones:
        item.checks += _tools(item)
        meant = _meant(item, ones, wishes.design)
        if item.unusable:
            item.checks += _sm(item, wishes)
            unseen = unknown(check_design.SWITCHES, item.fabric.name, item.unusable)
            item.checks.append(meant if isinstance(meant, Check) else unseen)
            continue
        item.checks += _by_itself(item, inventory, wishes, meant)
    usable = [entry for entry in ones if not entry.unusable]
    return _World(ones, *_together(ones, usable, inventory, wishes))


def models(looks: Sequence[Seen], inventory: Inventory) -> tuple[list[Fabric], str]:
    """The fabrics as they were seen, and why that may not be all of them, or not as they are."""
    found = groups(looks)
    names = _names(found)
    ones, others = (
        [_one(group, inventory, name) for group, name in zip(some_looks, names, strict=True)]
        for some_looks in (found, map(_of_another, found))
    )
    apart = next((why for one, two in zip(ones, others, strict=True) if (why := _differ(one, two))), "")
    return [entry.fabric for entry in ones if not entry.unusable], _partial(ones) or apart


def _differ(one: _One, two: _One) -> str:
    """How two hosts saw other cables of one fabric; "" where they did not, or one saw none."""
    if one.unusable or two.unusable:
        return ""
    mine, theirs = ({(cable.a, cable.b) for cable in each.fabric.cables} for each in (one, two))
    first = next(iter(sorted(mine ^ theirs)), None)
    if first is None:
        return ""
    odd = one.fabric if first in mine else two.fabric
    cable = " - ".join(odd.end_name(end) for end in first)
    return f"{one.host} and {two.host} see {len(mine ^ theirs)} cables differently, such as {cable}"


def _partial(ones: Sequence[_One]) -> str:
    blind = next((entry.unusable for entry in ones if entry.unusable), "")
    return blind or next((entry.partial for entry in ones if entry.partial), "")


def groups(looks: Sequence[Seen]) -> list[list[Seen]]:
    """Looks at one fabric together, in the order in which they were drawn, those that saw all of it first.

    The asking HCA of the second is a node of the first, or both saw one port of an adapter.
    Of an HCA whose ports are on two fabrics both see the node: they have no switch in common.
    A look without a discovery is at the fabric of the manager that it heard; without one, of its port's name.
    """
    groups: list[tuple[set[str], list[Seen]]] = []
    for look in sorted(looks, key=lambda look: bool(whole_discovery(look.discovery))):
        found = look.discovery.value.facts if look.discovery.value else None
        nodes = {node.guid for node in found.nodes} if found is not None else set()
        switches = {node.guid for node in found.of(SWITCH)} if found is not None else set()
        # Apart from nodes: an HCA's first port may have the GUID of its node, which is on other fabrics as well.
        ports = {f"port {guid}" for guid in look.ports}
        own = ports | {_heard(look)}
        home = next(
            (
                group
                for group in groups
                if (ports if look.node else {_heard(look)}) & group[0]
                or (look.node and look.node in group[0] and (not switches or switches & group[0]))
            ),
            None,
        )
        if home is None:
            groups.append((nodes | own, [look]))
        else:
            home[1].append(look)
            home[0].update(nodes, own)
    return [sorted(group, key=_lacks) for _seen, group in groups]


def _heard(look: Seen) -> str:
    manager = look.sm.value.facts if look.sm.value else None
    return f"manager {guid(manager.guid)}" if manager is not None else look.port


def _lacks(look: Seen) -> tuple[bool, bool]:
    return _size(look) < 2, bool(look.discovery.value and look.discovery.value.incomplete)


def _names(groups: Sequence[Sequence[Seen]]) -> list[str]:
    """Of several fabrics the port that asked; with its host, where that alone is no name."""
    if len(groups) == 1:
        return [ALL]
    looks = [group[0] for group in groups]
    ports = Counter(look.port for look in looks)
    return [look.port if ports[look.port] == 1 else f"{look.port} of {look.asked.partition(' ')[0]}" for look in looks]


def _one(group: list[Seen], inventory: Inventory, name: str) -> _One:
    look = group[0]
    unusable = whole_discovery(look.discovery)
    reported = look.discovery.value
    if unusable or reported is None or reported.facts is None:
        return _One(name, group, Fabric(name, look.asked), unusable or "nobody asked")
    fabric = build.build(name, look.asked, reported.facts, inventory)
    listed = look.links.value.facts if look.links.value else None
    fabric = build.with_lines(fabric, listed)
    alone = build.lone(reported.facts, fabric)
    partial = reported.incomplete
    if alone and not partial:
        partial = f"{alone} links are listed from one end only: the output may be cut"
    return _One(name, group, fabric, "" if fabric.cables else _alone(fabric, look), partial)


def _size(look: Seen) -> int:
    found = look.discovery.value.facts if look.discovery.value else None
    return len(found.nodes) if found is not None else -1


def _alone(fabric: Fabric, look: Seen) -> str:
    return f"{look.asked} has no link: it sees only itself" if len(fabric.nodes) < 2 else ""


def _tools(entry: _One) -> list[Check]:
    checks = []
    for name, reading in entry.looks[0].tools():
        why = why_not(reading)
        reported = reading.value
        if name == "sminfo" and why and check_sm.nobody(entry.looks[0]):
            why = ""  # it asked, and fabric.sm.master says what came of it
        if not why and reported is not None:
            why = reported.incomplete
        if why:
            checks.append(unknown(TOOL, _subject(entry, name), why))
        else:
            seen = f"asked from {entry.fabric.asked}"
            checks.append(passed(TOOL, _subject(entry, name), seen, "an answer", CAPABILITY))
    if entry.unusable and entry.fabric.nodes:
        cause = entry.unusable
        checks.append(
            failed(*(NEIGHBOURS, entry.fabric.asked, "only itself", "at least 1 neighbour", CAPABILITY), cause=cause)
        )
    return checks


def _subject(entry: _One, tool: str) -> str:
    return tool if entry.name == ALL else f"{entry.name} {tool}"


def _meant(entry: _One, ones: Sequence[_One], design: Wanted | None) -> Wanted | Check:
    """The design that this fabric is held against, or the check that says why there is none."""
    name = entry.fabric.name
    if design is None:
        return skipped(check_design.SWITCHES, name, f"{NAME} says nothing")
    if not design.fabric:
        if len(ones) == 1:
            return design
        why = f"there are {len(ones)} fabrics ({', '.join(each.name for each in ones)})"
        return unknown(check_design.SWITCHES, name, f"{why}: `fabric` in {NAME} says whose design it is")
    mine = [each for each in ones if design.fabric in (each.name, *(look.port for look in each.looks))]
    if any(each is entry for each in mine):
        return design
    if mine:
        return skipped(check_design.SWITCHES, name, f"{NAME} is of the fabric of {design.fabric}")
    why = f"{NAME} is of the fabric of {design.fabric}, and no fabric was asked through that port"
    return unknown(check_design.SWITCHES, name, why)


def _sm(entry: _One, wishes: DesiredSettings) -> list[Check]:
    return check_sm.judge(entry.fabric, entry.looks, wishes.standbys)


def _by_itself(entry: _One, inventory: Inventory, wishes: DesiredSettings, meant: Wanted | Check) -> list[Check]:
    """What one fabric shows without the others."""
    fabric, look = entry.fabric, entry.looks[0]
    wanted = NOTHING if isinstance(meant, Check) else meant
    links = build.cut_links(look.links, fabric)
    reported = links.value
    cut = why_not(links) or (reported.incomplete if reported is not None else "") or entry.partial
    seen = len(fabric.nodes)
    neighbour = passed(NEIGHBOURS, fabric.name, f"{seen} nodes", "at least 1 neighbour", CAPABILITY)
    twice = [line for look in entry.looks for line in duplicates(look.discovery.value)]
    return [
        neighbour,
        *check_guids.judge(fabric, inventory, entry.partial, twice),
        *_sm(entry, wishes),
        *check_links.judge(fabric, cut),
        *check_errors.judge(fabric, look, _cut_counters(look)),
        *check_shape.judge(
            fabric,
            entry.partial,
            most=wishes.oversubscription,
            lost=check_errors.uplinks_lost(fabric, look, inventory),
            wanted=wanted,
        ),
        *check_design.spread(fabric, check_shape.uplinks(fabric), wanted, entry.partial),
        *([meant] if isinstance(meant, Check) else check_design.switches(fabric, wanted, entry.partial)),
        *check_sharp.judge(fabric, wishes.sharp, entry.partial),
        *check_hcas.judge_known(fabric, inventory, check_sm.guids(entry.looks), entry.partial),
    ]


def _cut_counters(look: Seen) -> str:
    reported = (look.counters.value, look.again.value)
    return next((entry.incomplete for entry in reported if entry is not None and entry.incomplete), "")


def _together(
    ones: Sequence[_One], usable: Sequence[_One], inventory: Inventory, wishes: DesiredSettings
) -> tuple[list[Check], dict[str, list[Check]], dict[End, str]]:
    """What takes all fabrics: who is on any, and the plan; by host; and ends that are misplaced. Rails are told at
    each fabric."""
    if not ones:
        return [], {}, {}
    fabrics = [entry.fabric for entry in usable]
    partial = _partial(ones)
    compared = check_plan.Compared()
    planned: dict[Hca, str] = {}
    if wishes.plan is not None:
        names = check_plan.Names(fabrics, inventory)
        compared = check_plan.compare(wishes.plan, names)
        planned = check_plan.planned_ends(wishes.plan, inventory, names)
    across, hosts = check_hcas.judge(fabrics, inventory, partial, planned)
    if fabrics:
        by_fabric, by_host = check_rails.judge(fabrics, inventory, {entry.name: entry.partial for entry in usable})
        for item in usable:
            item.checks += by_fabric[item.name]
        for host, checks in by_host.items():
            hosts.setdefault(host, []).extend(checks)
    across += check_plan.judge(wishes.plan, compared, partial, wishes.no_plan)
    grown = tree.build(fabrics, inventory) if wishes.topology is not None else tree.Tree()
    across += check_topology.judge(wishes.topology, _NO_TOPOLOGY, grown, inventory, partial, wishes.called)
    return across, hosts, compared.bad
