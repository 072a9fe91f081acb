# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster's nodes, read and patched by kubectl: a list of words, no shell, and no secret in a message.

kubectl finds its credentials itself, in the kubeconfig of whoever runs Ansible; ibready reads none of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from ....module_utils._evidence.redact import masked
from ....module_utils._ground.bound import Bound
from ....module_utils._ground.command import Output, Unavailable, find_program, run_program
from ....module_utils._ground.text import escaped
from . import node as _node
from .node import ClusterError, Node
from .plan import Held, Host, Limits, Step, holds, judged

Run = Callable[[list[str]], Output]
# Of any name that a kubeconfig may have, those that no terminal would obey.
_CONTEXT = re.compile(r"[A-Za-z0-9][\w.:/@+-]{0,252}", re.ASCII)
_PAGE = 250
# Nodes of a page, with their images and managed fields, have some 50 KB each.
_MOST: Bound = 64 * 1024 * 1024
_PAGES: Bound = 1000
_SERVER_S, _ALL_S = 30, 60.0
_CONFLICT = "(Conflict)"
_NEXT = (
    "`kubectl --context CONTEXT auth can-i patch nodes` as the user who runs Ansible, with their KUBECONFIG "
    "(docs/cordon.md)"
)


class Changed(ClusterError):
    """The node was changed since it was read."""


class Cluster:
    """The nodes of the cluster that a context of the kubeconfig names."""

    def __init__(self, program: str, context: str, run: Run | None = None) -> None:
        if not context:
            raise ClusterError(
                "nobody said which cluster it is. Next: cordon_context, a context of the kubeconfig "
                "(`kubectl config get-contexts -o name`)"
            )
        if not _CONTEXT.fullmatch(context):
            raise ClusterError(f"cordon_context is {escaped(context[:80])}, which is no context's name")
        self._context = context
        self._run = run or (lambda words: _by_program(program, words))

    def nodes(self) -> dict[str, Node]:
        """All nodes, by name; ClusterError."""
        return {node.name: node for node in self._pages()}

    def _pages(self) -> Iterator[Node]:
        more = ""
        for _turn in range(_PAGES):
            query = f"/api/v1/nodes?limit={_PAGE}" + (f"&continue={quote(more, safe='')}" if more else "")
            nodes, more = _node.page(self._said("list the nodes", ["get", "--raw", query]))
            yield from nodes
            if not more:
                return
        raise ClusterError(f"the cluster's nodes have more than {_PAGES} pages")

    def node(self, name: str) -> Node:
        """A node as it is now; ClusterError."""
        return _node.one(self._said(f"read node {name}", ["get", "--raw", f"/api/v1/nodes/{quote(name, safe='')}"]))

    def patch(self, name: str, patch: Any, *, dry: bool) -> Node:
        """The node as the server has it after the patch, or would have it; ClusterError, Changed."""
        words = ["patch", "node", name, "--type=merge", f"--patch={json.dumps(patch)}", "--output=json"]
        words += ["--field-manager=ibready", *(["--dry-run=server"] if dry else [])]
        return _node.one(self._said(f"patch node {name}", words))

    def _said(self, what: str, words: list[str]) -> str:
        try:
            done = self._run([f"--context={self._context}", f"--request-timeout={_SERVER_S}s", *words])
        except Unavailable as exc:
            raise ClusterError(f"kubectl could not {what}: {exc}. Next: {_NEXT}") from None
        if done.rc == 0:
            return done.stdout
        # A cut takes a secret's name away, and leaves the rest of it unknown.
        said = escaped(Output(done.rc, masked(done.stdout), masked(done.stderr)).said)
        if _CONFLICT in done.stderr:
            raise Changed(f"{what}: {said}")
        raise ClusterError(f"kubectl could not {what}: {said}. Next: {_NEXT}")


def _by_program(program: str, words: list[str]) -> Output:
    return run_program("kubectl", [find_program(program), *words], _ALL_S, most=_MOST)


def do(cluster: Cluster, host: Host, step: Step, limits: Limits, at: str, *, dry: bool) -> Step | Held | None:
    """Do the act, and see that it holds. A node that was changed meanwhile is read and judged anew, once: another act
    than the planned is none that somebody was shown, and waits for the next run. None where nothing is due any more;
    ClusterError."""
    try:
        seen = cluster.patch(step.node, step.patch, dry=dry)
    except Changed:
        again = judged(host, cluster.node(step.node), limits, at)
        if not isinstance(again, Step):
            return again
        if (again.back, again.does) != (step.back, step.does):
            return Held(host.name, step.node, "somebody changed it meanwhile", "run this again")
        step = again
        seen = cluster.patch(step.node, step.patch, dry=dry)
    if not holds(step, seen):
        raise ClusterError(
            f"node {step.node} is not as the patch was to leave it. Next: see which webhook or controller of the "
            "cluster changes nodes"
        )
    return step
