# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that manifests treat alike: those of one class of the plan, with equal rails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.ibready.cluster.plugins.module_utils._facts.ib import INFINIBAND
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes import names
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.names import (
    KubernetesError,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.nodes import Hca, Node

ETHERNET = "Ethernet"
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
        return [one.host for one in self.nodes]


def pools(nodes: Sequence[Node]) -> tuple[Pool, ...]:
    """The pools, by name; KubernetesError names the nodes that differ from the rest of theirs."""
    groups: dict[str, list[Node]] = {}
    for one in nodes:
        groups.setdefault(one.group, []).append(one)
    slugs = _slugs(sorted(groups))
    found = []
    for group, members in sorted(groups.items()):
        for one in members:
            _refuse_strange(one)
        _refuse_odd(group, members)
        found.append(Pool(group, slugs[group], names.value(group), tuple(members)))
    _refuse_same_labels(found)
    return tuple(found)


def _slugs(groups: Sequence[str]) -> dict[str, str]:
    """The hardware of each class as a short word, the whole class where that is not enough."""
    short = {one: names.slug(one.partition("_")[2] or one, _SLUG) for one in groups}
    count = Counter(short.values())
    return {
        one: text if count[text] == 1 else names.slug(one, _SLUG) for one, text in short.items()
    }


def _refuse_strange(node: Node) -> None:
    layers = sorted({one.layer or "an unknown layer" for one in node.rails})
    if len(layers) > 1 or layers[0] not in (INFINIBAND, ETHERNET):
        raise KubernetesError(
            f"{node.host}: its rails are {' and '.join(layers)}, and a pod gets rails of one kind. "
            "Next: name those of one kind in nccl_rails"
        )
    blind = [one.name for one in node.rails if not (one.vendor and one.device)]
    if blind:
        raise KubernetesError(
            f"{node.host}: {names.shown(blind)} is not on the PCI bus as far as anybody could see"
            f"{' (simulated node)' if node.simulated else ''}, and device plugins choose by vendor "
            "and device. Next: `ansible -i INVENTORY HOST -m ibready.cluster.node_facts`"
        )


def _shape(node: Node) -> tuple[object, ...]:
    return (tuple((one.layer, one.vendor, one.device) for one in node.rails), node.gpus)


def _words(node: Node) -> str:
    models = Counter(f"{one.vendor}:{one.device}" for one in node.rails)
    rails = " and ".join(f"{count} {node.rails[0].layer} {one}" for one, count in models.items())
    return f"{rails}, {node.gpus} GPUs"


def _refuse_odd(group: str, members: Sequence[Node]) -> None:
    shapes = Counter(_shape(one) for one in members)
    if len(shapes) == 1:
        return
    usual = shapes.most_common(1)[0][0]
    like = next(one for one in members if _shape(one) == usual)
    odd = [one for one in members if _shape(one) != usual]
    said = "; ".join(f"{one.host} has {_words(one)}" for one in odd[:4])
    raise KubernetesError(
        f"class {group}: {said}, {like.host} has {_words(like)}. A pod could not have the same on "
        "each of them. Next: `playbooks/verify.yml` says what is wrong; mend it, or leave the "
        "hosts out with --limit"
    )


def _refuse_same_labels(found: Sequence[Pool]) -> None:
    labels: dict[str, str] = {}
    for one in found:
        if labels.setdefault(one.label, one.group) != one.group:
            raise KubernetesError(
                f"classes {labels[one.label]} and {one.group} would have the label {one.label}"
            )
