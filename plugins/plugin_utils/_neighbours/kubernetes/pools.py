# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that manifests treat alike: those of one class of the plan, with equal rails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ....module_utils._ground.link import ETHERNET, INFINIBAND
from . import names
from .names import KubernetesError
from .nodes import Hca, Node

_SLUG = 36


@dataclass(frozen=True)
class Pool:
    """``slug``: what names of manifests carry. ``label``: the value of the label of its nodes."""

    group: str
    slug: str
    label: str
    nodes: tuple[Node, ...]

    @property
    def first(self) -> Node:
        """Any of the nodes, where all are alike."""
        return self.nodes[0]

    @property
    def rails(self) -> tuple[Hca, ...]:
        return self.first.rails

    @property
    def layer(self) -> str:
        """InfiniBand or Ethernet."""
        return self.rails[0].layer

    @property
    def is_infiniband(self) -> bool:
        return self.layer == INFINIBAND

    @property
    def gpus(self) -> int:
        return self.first.gpus

    @property
    def hosts(self) -> list[str]:
        return [node.host for node in self.nodes]


def pools(nodes: Sequence[Node]) -> tuple[Pool, ...]:
    """The pools, by name; KubernetesError names the nodes that differ from the rest of theirs."""
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        groups.setdefault(node.group, []).append(node)
    slugs = _slugs(sorted(groups))
    found = []
    for group, members in sorted(groups.items()):
        for member in members:
            _refuse_strange(member)
        _refuse_odd(group, members)
        found.append(Pool(group, slugs[group], names.value(group), tuple(members)))
    _refuse_same_names(found)
    return tuple(found)


def _slugs(groups: Sequence[str]) -> dict[str, str]:
    """The hardware of each class as a short word, the whole class where that is not enough."""
    short = {group: names.slug(group.partition("_")[2] or group, _SLUG) for group in groups}
    count = Counter(short.values())
    return {entry: text if count[text] == 1 else names.slug(entry, _SLUG) for entry, text in short.items()}


def _refuse_strange(node: Node) -> None:
    layers = sorted({rail.layer or "an unknown layer" for rail in node.rails})
    if len(layers) > 1 or layers[0] not in (INFINIBAND, ETHERNET):
        raise KubernetesError(
            f"{node.host}: its rails are {' and '.join(layers)}, and a pod gets rails of one kind. "
            "Next: name those of one kind in nccl_rails"
        )
    blind = [rail.name for rail in node.rails if not (rail.vendor and rail.device)]
    if blind:
        raise KubernetesError(
            f"{node.host}: {names.shown(blind)} is not on the PCI bus as far as anybody could see"
            f"{' (simulated node)' if node.simulated else ''}, and device plugins choose by vendor "
            "and device. Next: `ansible -i INVENTORY HOST -m ibready.cluster.node_facts`"
        )


def _shape(node: Node) -> tuple[object, ...]:
    return (tuple((rail.layer, rail.vendor, rail.device) for rail in node.rails), node.gpus)


def _words(node: Node) -> str:
    models = Counter(f"{rail.vendor}:{rail.device}" for rail in node.rails)
    rails = " and ".join(f"{count} {node.rails[0].layer} {model}" for model, count in models.items())
    return f"{rails}, {node.gpus} GPUs"


def _refuse_odd(group: str, members: Sequence[Node]) -> None:
    shapes = Counter(_shape(member) for member in members)
    if len(shapes) == 1:
        return
    usual = shapes.most_common(1)[0][0]
    like = next(member for member in members if _shape(member) == usual)
    odd = [member for member in members if _shape(member) != usual]
    said = "; ".join(f"{node.host} has {_words(node)}" for node in odd[:4])
    raise KubernetesError(
        f"class {group}: {said}, {like.host} has {_words(like)}. A pod could not have the same on "
        "each of them. Next: `playbooks/verify.yml` says what is wrong; fix it, or leave the "
        "hosts out with --limit"
    )


def _refuse_same_names(found: Sequence[Pool]) -> None:
    for said in ([(pool.label, pool.group) for pool in found], [(pool.slug, pool.group) for pool in found]):
        known: dict[str, str] = {}
        for name, group in said:
            if not name:
                raise KubernetesError(
                    f"class {group} makes no name that Kubernetes takes. Next: leave it out (--limit)"
                )
            if known.setdefault(name, group) != group:
                raise KubernetesError(
                    f"classes {known[name]} and {group} would have the one name {name} in manifests. Next: render the "
                    "nodes of each by themselves (--limit)"
                )
