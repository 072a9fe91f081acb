# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the site's topology.conf or topology.yaml says of hosts and switches what the fabrics say.

Names of switches mean nothing to Slurm (topology.conf(5)), so switches are compared by the hosts below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from ...module_utils._expect.expectations import INVENTORY
from ...module_utils._ground.check import Check, failed, passed, skipped, unknown
from .._slurm.hostlist import fold
from .._slurm.model import BLOCK, TREE, Topology
from .model import Inventory
from .say import settled, some
from .tree import Part, Tree

NODES = "fabric.topology.nodes"
LEAF = "fabric.topology.leaf"
SWITCHES = "fabric.topology.switches"
BLOCKS = "fabric.topology.blocks"
TOPOLOGY_CHECKS = (NODES, LEAF, SWITCHES, BLOCKS)
SUBJECT = "topology"


def judge(
    said: Sequence[Topology] | None,
    why: str,
    tree: Tree,
    inventory: Inventory,
    partial: str,
    called: Mapping[str, str],
) -> list[Check]:
    """Every check of TOPOLOGY_CHECKS. ``why``: there is no file (``said`` None). ``called``: the
    NodeName of hosts whose name in the inventory is another."""
    if said is None:
        return [skipped(check, SUBJECT, why) for check in TOPOLOGY_CHECKS]
    hosts = {*tree.path, *tree.off, *inventory.cliques}
    of = {called.get(host, host): host for host in sorted(hosts)}
    trees = [_Held(topology, tree, of) for topology in said if topology.kind == TREE]
    checks = _of_trees(trees, tree, partial, called)
    return checks + _of_blocks([topology for topology in said if topology.kind == BLOCK], inventory, of, called)


class _Held:
    """One tree of the file, by the hosts of the inventory."""

    def __init__(self, topology: Topology, tree: Tree, of: Mapping[str, str]) -> None:
        self.said = topology
        self._tree = tree
        self.nodes = {node for switch in topology.switches for node in switch.nodes}
        self.strange = self.nodes - set(of)
        self.below = {
            name: frozenset(of[node] for node in nodes if node in of) for name, nodes in topology.below().items()
        }
        self.misplaced: set[str] = set()

    def leaves(self) -> list[Check]:
        """Hosts that the file has beside others than the fabric has them."""
        wrong = []
        for switch in self.said.switches:
            parts: dict[str, list[str]] = {}
            for host in self.below[switch.name] if switch.nodes else ():
                if host in self._tree.path:
                    parts.setdefault(self._tree.path[host][0].name, []).append(host)
            if not parts:
                continue
            mine = max(parts, key=lambda name: (len(parts[name]), name == switch.name, name))
            for name, hosts in sorted(parts.items()):
                if name != mine:
                    self.misplaced.update(hosts)
                    part = self._tree.path[hosts[0]][0]
                    seen = f"below {switch.name} (line {switch.line}), with {fold(parts[mine])} of {mine}"
                    wrong.append(failed(LEAF, fold(hosts), seen, f"below {_shown(self._tree, part)}", INVENTORY))
        return wrong

    def joints(self) -> list[Check]:
        """Switches of the file that join other hosts than any of the fabric, and the other way round."""
        mentioned = {host for switch in self.said.switches if switch.nodes for host in self.below[switch.name]}
        found: dict[frozenset[str], Part] = {}
        for part, hosts in _hosts(self._tree).items():
            found.setdefault(frozenset(hosts & mentioned) - self.misplaced, part)
        said: dict[frozenset[str], list[str]] = {}
        for switch in self.said.switches:
            mine = frozenset(host for host in self.below[switch.name] if host in self._tree.path) - self.misplaced
            said.setdefault(mine, []).append(f"{switch.name} (line {switch.line})")
        wrong = []
        for mine, names in said.items():
            if mine and mine not in found:
                cause = "the fabric joins them with others or not at all: the file is older than the fabric"
                wrong.append(
                    failed(
                        *(SWITCHES, names[0].partition(" ")[0], f"{some(names)} above {fold(mine)} alone"),
                        *(f"what the fabric has: {self._nearest(mine)}", INVENTORY),
                        cause=cause,
                    )
                )
        for mine, part in found.items():
            if mine and mine not in said and len(mine) > 1:
                what = _shown(self._tree, part)
                seen = f"no switch above {fold(mine)} alone"
                wrong.append(failed(SWITCHES, part.name, seen, f"one, for {what} joins them", INVENTORY))
        known = {*self._tree.names.values(), *(part.name for part in self._tree.parts)}
        for switch in self.said.switches:
            if not switch.nodes and not switch.children and switch.name not in known:
                seen = f"line {switch.line}, with no host below it"
                wrong.append(failed(SWITCHES, switch.name, seen, "a switch of the fabric", INVENTORY))
        return wrong

    def _nearest(self, hosts: Collection[str]) -> str:
        """The least part of the tree that all of them are below."""
        paths = [self._tree.path[host] for host in hosts]
        part = next((part for part in paths[0] if all(part in path for path in paths)), None)
        return "no switch above all of these" if part is None else _shown(self._tree, part)


def _hosts(tree: Tree) -> dict[Part, set[str]]:
    found: dict[Part, set[str]] = {}
    for host, path in tree.path.items():
        for part in path:
            found.setdefault(part, set()).add(host)
    return found


def _shown(tree: Tree, part: Part) -> str:
    real = tree.real(part)
    return f"{part.name} ({some(real)})" if real and real != [part.name] else part.name


def _of_trees(trees: Sequence[_Held], tree: Tree, partial: str, called: Mapping[str, str]) -> list[Check]:
    if not trees:
        return [skipped(check, SUBJECT, "there is no tree in the file") for check in (NODES, LEAF, SWITCHES)]
    nodes = set().union(*(held.nodes for held in trees))
    missing = [host for host in tree.path if called.get(host, host) not in nodes]
    lost = [failed(NODES, fold(missing), "in no switch", "below a switch", INVENTORY)] if missing else []
    seen = f"{len(tree.path) - len(missing)} hosts"
    strange = set().union(*(held.strange for held in trees))
    more = f"; not judged, for they are in no inventory: {fold(strange)}" if strange else ""
    leaves = [check for held in trees for check in held.leaves()]
    joints = [check for held in trees for check in held.joints()]
    dark: dict[tuple[str, str], list[str]] = {}
    for host, why in tree.off.items():
        if host not in tree.bare:
            dark.setdefault((LEAF if called.get(host, host) in nodes else NODES, why), []).append(host)
    untold = [unknown(check, fold(hosts), f"their place is not known: {why}") for (check, why), hosts in dark.items()]
    if not tree.path and not partial:
        partial = "no host was seen on a switch"
    return [
        *settled(NODES, SUBJECT, lost, f"{seen}{more}", "every host below a switch", partial=partial, source=INVENTORY),
        *settled(
            *(LEAF, SUBJECT, leaves, seen, "below the leaves of the fabric"),
            partial=partial,
            of_absence=True,
            source=INVENTORY,
        ),
        *([] if partial else untold),
        *settled(
            *(SWITCHES, SUBJECT, joints, seen, "joined as the fabric joins them"),
            partial=partial,
            of_absence=True,
            source=INVENTORY,
        ),
    ]


def _of_blocks(
    said: Sequence[Topology], inventory: Inventory, of: Mapping[str, str], called: Mapping[str, str]
) -> list[Check]:
    if not said:
        return [skipped(BLOCKS, SUBJECT, "there are no blocks in the file")]
    wrong, untold = [], set()
    held: dict[str, set[str]] = {}
    for topology in said:
        for block in topology.blocks:
            hosts = [of[node] for node in block.nodes if node in of]
            cliques = Counter(clique for host in hosts if (clique := inventory.cliques.get(host)))
            untold |= {host for host in hosts if inventory.cliques.get(host) is None}
            where = f"in {block.name} (line {block.line})"
            if topology.sizes and len(block.nodes) < topology.sizes[0]:
                seen = f"{len(block.nodes)} nodes (line {block.line})"
                wrong.append(failed(BLOCKS, block.name, seen, f"BlockSizes: at least {topology.sizes[0]}", INVENTORY))
            if not cliques:
                continue
            mine = max(cliques, key=lambda clique: (cliques[clique], clique))
            held.setdefault(mine, set()).add(block.name)
            for host in hosts:
                clique = inventory.cliques.get(host)
                if clique is not None and clique != mine:
                    other = f"its NVLink domain {clique}" if clique else "no block of an NVLink domain: it has none"
                    wrong.append(failed(BLOCKS, host, f"{where}, of NVLink domain {mine}", other, INVENTORY))
    for clique, blocks in held.items():
        if len(blocks) > len(said):
            seen = f"divided among {some(sorted(blocks))}"
            wrong.append(failed(BLOCKS, clique, seen, "one block for an NVLink domain", INVENTORY))
    nodes = {node for topology in said for block in topology.blocks for node in block.nodes}
    for host, clique in sorted(inventory.cliques.items()):
        if clique and called.get(host, host) not in nodes and held:
            wrong.append(failed(BLOCKS, host, "in no block", f"that of NVLink domain {clique}", INVENTORY))
    if wrong:
        return wrong
    if untold:
        why = f"{fold(untold)} did not tell the NVLink domain of their GPUs"
        return [unknown(BLOCKS, SUBJECT, why)]
    if not held:
        return [
            skipped(BLOCKS, SUBJECT, "no host of these blocks is of an NVLink domain, so nothing says what they are")
        ]
    return [passed(BLOCKS, SUBJECT, f"{len(held)} NVLink domains", "a block for each", INVENTORY)]
