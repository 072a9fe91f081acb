# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes as the API server tells them: whether they take pods, and what ibready did to them; no I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

# What a node that ibready took out has: the taint where the site allows taints, and in any case the annotation, which
# remembers what was done to it.
TAINT = "ibready.io/not-ready"
MARK = "ibready.io/cordon"
EFFECT = "NoSchedule"


class ClusterError(ValueError):
    """The cluster cannot be asked, or its answer not be understood; the message has the cause and the next step."""


@dataclass(frozen=True)
class Mark:
    """What ibready did to a node. ``at``: when. ``checks``: ids of those that failed."""

    cordoned: bool
    tainted: bool
    at: str
    checks: tuple[str, ...]

    def text(self) -> str:
        """As the annotation has it."""
        return json.dumps(asdict(self), sort_keys=True)


@dataclass(frozen=True)
class Node:
    """``version``: what a patch has to name, to change what was seen and nothing newer. ``ready``: kubelet's word.
    ``mark``: None where there is none. ``strange``: the annotation is there, and is not as ibready writes it, or has no
    word of a taint that is there."""

    name: str
    version: str
    unschedulable: bool
    taints: Sequence[Mapping[str, Any]]
    ready: bool
    mark: Mark | None = None
    strange: bool = False

    @property
    def tainted(self) -> bool:
        """Whether it has the taint that is ours."""
        return any(taint["key"] == TAINT for taint in self.taints)

    @property
    def out(self) -> bool:
        """Whether it takes no pods of jobs, whoever saw to that."""
        return self.unschedulable or self.tainted or not self.ready


def page(text: str) -> tuple[list[Node], str]:
    """The nodes of one page of a NodeList, and how the next is asked for ("" for none); ClusterError."""
    found = _json(text)
    if found.get("kind") != "NodeList" or not isinstance(found.get("items"), list):
        raise ClusterError(f"the API server's list of nodes is none (kind {str(found.get('kind'))[:40]!r})")
    return [_node(entry) for entry in found["items"]], _text(_dict(found, "metadata"), "continue")


def one(text: str) -> Node:
    """The same of a single node; ClusterError."""
    found = _json(text)
    if found.get("kind") != "Node":
        raise ClusterError(f"the API server's answer is no node (kind {str(found.get('kind'))[:40]!r})")
    return _node(found)


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ClusterError(f"the API server's answer is no JSON: {exc}") from None
    if not isinstance(found, dict):
        raise ClusterError("the API server's answer is no object")
    return found


def _node(raw: Any) -> Node:
    if not isinstance(raw, dict):
        raise ClusterError("a node of the API server's list is no object")
    metadata, spec = _dict(raw, "metadata"), _dict(raw, "spec")
    name, version = _text(metadata, "name"), _text(metadata, "resourceVersion")
    if not name or not version:
        raise ClusterError("a node of the API server's answer has no name or no resourceVersion")
    unschedulable = spec.get("unschedulable", False)
    taints = spec.get("taints") or []
    if not isinstance(unschedulable, bool) or not isinstance(taints, list) or not all(map(_is_taint, taints)):
        raise ClusterError(f"node {name}: spec.unschedulable or spec.taints is not as Kubernetes has them")
    kept = _dict(metadata, "annotations").get(MARK)
    mark = None if kept is None else _mark(kept)
    found = Node(name, version, unschedulable, tuple(taints), _is_ready(raw, name), mark, kept is not None and not mark)
    return replace(found, strange=True) if found.tainted and not (mark and mark.tainted) else found


def _is_taint(raw: Any) -> bool:
    return isinstance(raw, dict) and bool(_text(raw, "key")) and bool(_text(raw, "effect"))


def _is_ready(raw: Mapping[str, Any], name: str) -> bool:
    conditions = _dict(raw, "status").get("conditions") or []
    if not isinstance(conditions, list) or not all(isinstance(entry, dict) for entry in conditions):
        raise ClusterError(f"node {name}: status.conditions is no list of objects")
    return any(entry.get("type") == "Ready" and entry.get("status") == "True" for entry in conditions)


def _mark(text: Any) -> Mark | None:
    """None for what ibready did not write: anybody who may change the node may write there."""
    try:
        found = json.loads(text)
        mark = Mark(**found)
    except (TypeError, ValueError, RecursionError):
        return None
    flags = isinstance(mark.cordoned, bool) and isinstance(mark.tainted, bool) and isinstance(mark.at, str)
    if not flags or not isinstance(mark.checks, list) or not all(isinstance(entry, str) for entry in mark.checks):
        return None
    return replace(mark, checks=tuple(mark.checks))


def _dict(raw: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = raw.get(key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ClusterError(f"the API server's answer has a {key} that is no object")
    return found


def _text(raw: Mapping[str, Any], key: str) -> str:
    found = raw.get(key, "")
    return found if isinstance(found, str) else ""
