# SPDX-License-Identifier: GPL-3.0-or-later
"""A compute fabric on paper: so many nodes by a design, and what that takes. Pure arithmetic.

Links are spread evenly: from every leaf the same number to each of its spines, from every spine to each of its cores.
So a level may have more switches than would carry it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Mapping

from .._data.designs import DESIGNS, Design, Row

_OPEN = ("gpus_per_node", "rails", "radix", "rate")
# More than any fabric has, and few enough to count with.
_MOST = 10**7
_RADIX = 4096


class DesignError(ValueError):
    """What was asked for cannot be built so; the message says why, and what can."""


@dataclass(frozen=True)
class Sizes:
    """What a fabric of the design has, of all planes together; what is of single switches, of each.

    ``places``: of nodes, ``reserved`` of them for managers. ``down``, ``uplinks``: links of a full leaf.
    ``pair_links``: of a leaf to each of its spines. ``spine_uplinks``, ``core_links``: the same of a spine.
    ``cables``, ``spare`` (ports that nothing is planned for): by tier. ``notes``: what does not fit, or is more than
    it seems to take, and why.
    """

    design: str
    title: str
    network: str
    nodes: int
    gpus: int
    units: int
    unit_nodes: int
    places: int
    reserved: int
    tiers: int
    planes: int
    pods: int
    leaves: int
    spines: int
    cores: int
    radix: int
    rate_gbps: int
    node_gbps: int
    down: int
    uplinks: int
    pair_links: int
    spine_uplinks: int
    core_links: int
    oversubscription: float
    cables: Mapping[str, int]
    spare: Mapping[str, int]
    notes: tuple[str, ...]
    published: str
    source: str
    confidence: str


def asked(name: str, given: Mapping[str, Any]) -> Sizes:
    """Size what was asked for: nodes or gpus, and what else of the options is not None; raises DesignError."""
    design = chosen(name, given)
    nodes, gpus = given.get("nodes"), given.get("gpus")
    if (nodes is None) == (gpus is None):
        raise DesignError("either `nodes` or `gpus` says how many")
    over = given.get("oversubscription")
    if nodes is None:
        nodes = -(-gpus // design.gpus_per_node) if gpus else 0
    found = size(design, nodes, 1.0 if over is None else over, given.get("manager_ports"))
    if gpus is None or gpus == found.gpus:
        return found
    left = f"{gpus} GPUs are no whole nodes of {design.gpus_per_node}: {found.nodes} nodes have {found.gpus}"
    return replace(found, notes=(left, *found.notes))


def chosen(name: str, given: Mapping[str, int | None]) -> Design:
    """The design of this name with the numbers that were given; raises DesignError."""
    if name not in DESIGNS:
        raise DesignError(f"there is no design {name!r}; known are {', '.join(sorted(DESIGNS))}")
    design = DESIGNS[name]
    changed: dict[str, Any] = {key: value for key, value in given.items() if value is not None and key in _OPEN}
    for key, value in changed.items():
        most = _RADIX if key != "rate" else _MOST
        if not 1 <= value <= most:
            raise DesignError(f"{key} is {value}, and has to be 1 to {most}")
        if design.rows and value != getattr(design, key):
            raise DesignError(
                f"{key} of {name} is {getattr(design, key)} as published, not {value}; "
                "next: design rail-fat-tree, which takes other numbers"
            )
    return replace(design, **changed)


def size(design: Design, nodes: int, over: float = 1.0, manager_ports: int | None = None) -> Sizes:
    """Size it; ``over``: down to up bandwidth of a leaf. Raises DesignError where it cannot be built."""
    ports = design.manager_ports if manager_ports is None else manager_ports
    if not 1 <= nodes <= _MOST:
        raise DesignError(f"{nodes} nodes: it has to be 1 to {_MOST}")
    if not 1.0 <= over <= design.radix:  # "nan" is neither
        raise DesignError(f"oversubscription {over:g}: it has to be 1 (as much up as down) to {design.radix}")
    if not 0 <= ports <= design.radix:
        raise DesignError(f"{ports} ports of managers: it has to be 0 to {design.radix}")
    notes: list[str] = []
    group, uplinks = _leaf(design, over)
    unit = design.unit or group
    reserved = -(-ports // design.rails)
    units = -(-(nodes + reserved) // unit)
    if units > -(-nodes // unit):
        notes.append(
            f"{nodes} nodes leave the {ports} ports of managers no place in {units - 1} units: unit {units} begins for "
            f"them. It is not needed with {(units - 1) * unit - reserved} nodes, or without managers (0 ports)"
        )
    if nodes % design.rack:
        racks = -(-nodes // design.rack)
        notes.append(f"{nodes} nodes are no whole racks of {design.rack}: {racks} racks have {racks * design.rack}")
    leaves = units * -(-unit // group) * design.rails
    tree = _two(design.radix, leaves, uplinks, notes)
    if tree is None:
        most = design.radix * (design.radix // 2 // (leaves // units)) * unit - reserved
        tree = _three(design.radix, units, leaves // units, uplinks, most, notes)
    planes = design.planes
    links = (nodes * design.rails * planes, leaves * uplinks * planes, tree.spines * tree.up * planes)
    if nodes * design.rails + ports <= design.radix and not design.rows:
        notes.append(f"all {nodes * design.rails + ports} ports would fit one switch of {design.radix}")
    cables = [each // design.links_per_cable for each in links]
    found = Sizes(
        design=design.name,
        title=design.title,
        network=design.network,
        nodes=nodes,
        gpus=nodes * design.gpus_per_node,
        units=units,
        unit_nodes=unit,
        places=units * unit,
        reserved=reserved,
        tiers=3 if tree.cores else 2,
        planes=planes,
        pods=tree.pods,
        leaves=leaves * planes,
        spines=tree.spines * planes,
        cores=tree.cores * planes,
        radix=design.radix,
        rate_gbps=design.rate,
        node_gbps=design.rails * planes * design.rate,
        down=group,
        uplinks=uplinks,
        pair_links=tree.pair,
        spine_uplinks=tree.up,
        core_links=tree.core_pair,
        oversubscription=round(group / uplinks, 3),
        cables={"node-leaf": cables[0] + ports, "leaf-spine": cables[1], "spine-core": cables[2]},
        spare={
            "leaf": leaves * planes * design.radix - links[0] - links[1] - ports,
            "spine": tree.spines * planes * design.radix - links[1] - links[2],
            "core": tree.cores * planes * design.radix - links[2],
        },
        notes=tuple(notes),
        published="",
        source=design.source,
        confidence=design.confidence,
    )
    return replace(found, published=_published(design, found, managed=bool(ports)))


@dataclass(frozen=True)
class _Tree:
    """What is above the leaves of one plane."""

    pods: int
    spines: int
    pair: int
    up: int = 0
    cores: int = 0
    core_pair: int = 0


def _leaf(design: Design, over: float) -> tuple[int, int]:
    """Nodes on a leaf, and its uplinks: whole racks, no more of them than the ratio lets up."""
    most = int(design.radix * over / (1 + over) + 1e-9)
    group = most // design.rack * design.rack
    if not group or most >= design.radix:
        raise DesignError(
            f"a leaf of {design.radix} ports has {most} down at {over:g}:1: no room for "
            f"{design.rack} node{'s that stay together' if design.rack > 1 else ''} and an uplink"
        )
    group = min(group, design.unit) if design.unit else group
    return group, -int(-group / over // 1)


def _spread(below: int, links: int, ports: int) -> int:
    """How many switches take ``links`` of each of ``below``, evenly; 0 where they cannot with so many ports."""
    least = -(-below * links // ports)
    return next((many for many in range(max(1, least), links + 1) if not links % many), 0)


def _two(radix: int, leaves: int, uplinks: int, notes: list[str]) -> _Tree | None:
    """Every leaf on every spine; None where there are more leaves than a spine has ports."""
    spines = _spread(leaves, uplinks, radix)
    if not spines:
        notes.append(f"{leaves} leaves are more than the {radix} ports of a spine: it takes a third tier")
        return None
    _uneven(spines, leaves, uplinks, radix, "spines", notes)
    return _Tree(1, spines, uplinks // spines)


def _three(radix: int, units: int, of_unit: int, uplinks: int, most: int, notes: list[str]) -> _Tree:
    """Pods of whole units; core group i joins the i-th spines of all pods. ``most``: nodes of the largest."""
    half = radix // 2
    fit = half // of_unit
    if not fit:
        raise DesignError(
            f"a unit of {of_unit} leaves is more than the {half} ports that lead down from a spine below cores; "
            "next: switches with more ports, or fewer rails"
        )
    pods = -(-units // fit)
    if pods > radix:
        raise DesignError(f"{pods} pods are more than the {radix} ports of a core: three tiers end at {most} nodes")
    leaves = -(-units // pods) * of_unit
    spines = _spread(leaves, uplinks, half)
    _uneven(spines, leaves, uplinks, half, "spines in each pod", notes)
    pair = uplinks // spines
    up = leaves * pair
    group = _spread(pods, up, radix)
    _uneven(group, pods, up, radix, "cores in each group", notes)
    return _Tree(pods, pods * spines, pair, up, spines * group, up // group)


def _uneven(many: int, below: int, links: int, ports: int, what: str, notes: list[str]) -> None:
    least = -(-below * links // ports)
    if many > least:
        notes.append(f"{many} {what}, where the ports of {least} would do: {links} links part evenly over {many}")


def _published(design: Design, found: Sizes, *, managed: bool) -> str:
    """Whether the document has this size, and what it says otherwise."""
    row = next((row for row in design.rows if (row.nodes, row.managed) == (found.nodes, managed)), None)
    if row is None:
        if not design.rows:
            return "computed: no counts of this design are published here to hold it against"
        return f"computed: the document has no row of {found.nodes} nodes{'' if managed else ' without managers'}"
    where = f"{row.table}, SU count {row.units}"
    why = dict(row.wrong)
    wrong = [
        f"{name} {there}, not {here} ({why.get(name, 'as here')})" for name, there, here in differences(row, found)
    ]
    return f"published with other numbers: {'; '.join(wrong)}; {where}" if wrong else f"as published: {where}"


def differences(row: Row, found: Sizes) -> list[tuple[str, Any, Any]]:
    """Field, what is published, what was computed: of all fields in which they differ."""
    names = ("units", "nodes", "gpus", "leaves", "spines", "cores")
    both = [(name, getattr(row, name), getattr(found, name)) for name in names]
    both += [(f"cables {tier}", there, found.cables[tier]) for tier, there in zip(found.cables, row.cables)]
    return [(name, there, here) for name, there, here in both if there != here]
