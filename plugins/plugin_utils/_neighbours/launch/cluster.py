# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts of one job, as every launcher is told of them; or why there can be none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .node import Node
from .options import Options
from .words import LaunchError, endpoint

_SHOWN = 4


@dataclass(frozen=True)
class Cluster:
    """``nodes``: the first is the one that the others meet at. ``gpus``: on each; 0 where the site
    names the processes of hosts without any. ``bound``: whether process i is GPU i's."""

    nodes: tuple[Node, ...]
    processes: int
    port: int
    gpus: int
    bound: bool
    notes: tuple[str, ...] = ()
    absent: Mapping[str, str] = field(default_factory=dict)

    @property
    def head(self) -> Node:
        return self.nodes[0]

    @property
    def total(self) -> int:
        """Processes on all hosts."""
        return self.processes * len(self.nodes)

    @property
    def endpoint(self) -> str:
        return endpoint(self.head.address, self.port)

    @property
    def interface(self) -> str:
        """The interface with the way to the others, where it has one name on all hosts."""
        names = {node.interface for node in self.nodes}
        return next(iter(names)) if len(names) == 1 else ""

    @property
    def rdma(self) -> bool:
        """Whether every host has an RDMA device."""
        return all(node.rdma for node in self.nodes)

    @property
    def rails(self) -> bool:
        """Whether every host has a rail, so that jobs are expected to use RDMA."""
        return all(node.rails for node in self.nodes)

    @property
    def rails_why(self) -> str:
        """Why it is not known whether every host has a rail; "" where it is."""
        unknown = [f"{node.name}: {node.rails_why}" for node in self.nodes if node.rails_why]
        without = [node for node in self.nodes if not node.rails and not node.rails_why]
        return "" if without else "; ".join(unknown)

    def slurm_names(self, node: Node) -> tuple[str, ...]:
        """How Slurm may call it: by its name, or by that up to the first dot where it is alone with
        it."""
        short = node.hostname.partition(".")[0]
        alone = [node.hostname.partition(".")[0] for node in self.nodes].count(short) == 1
        return tuple(dict.fromkeys((node.hostname, *((short,) if alone else ()))))

    @property
    def simulated(self) -> str:
        return "; ".join(dict.fromkeys(node.simulated for node in self.nodes if node.simulated))


def make(nodes: Sequence[Node], absent: Mapping[str, str], options: Options) -> Cluster:
    """The cluster of these hosts; raises LaunchError where a script would be a guess."""
    if not nodes:
        said = "; ".join(f"{name}: {why}" for name, why in list(absent.items())[:_SHOWN])
        raise LaunchError(
            f"no host to launch on ({said or 'the inventory names none'}); next: fix what keeps "
            "the hosts from answering"
        )
    if options.nodes > len(nodes):
        raise LaunchError(
            f"{options.nodes} hosts are asked for, and {len(nodes)} can be used"
            f"{_because(absent)}; next: ask for fewer (launch_nodes, smoke_nodes)"
        )
    chosen = tuple(nodes[: options.nodes] if options.nodes else nodes)
    _refuse_doubles(chosen)
    gpus = _gpus(chosen, options)
    processes = options.processes or gpus
    notes = [f"{node.name}: {note}" for node in chosen for note in node.notes]
    bound = processes == gpus
    if not bound:
        notes.append(f"no process is bound to a NUMA node: {processes} a host, and {gpus} GPUs")
    if len({node.interface for node in chosen}) > 1:
        notes.append("the way to the others has not the same interface on every host")
    return Cluster(chosen, processes, options.port, gpus, bound, tuple(notes), absent)


def _because(absent: Mapping[str, str]) -> str:
    said = "; ".join(f"{name} is {why}" for name, why in list(absent.items())[:_SHOWN])
    return f" ({said})" if said else ""


def _refuse_doubles(nodes: Iterable[Node]) -> None:
    for what in ("hostname", "address"):
        seen: dict[str, str] = {}
        for node in nodes:
            value = getattr(node, what)
            if value in seen:
                raise LaunchError(
                    f"{seen[value]} and {node.name} have one {what}, {value}: no script can tell "
                    "them apart; next: give each its own, or leave one out (--limit)"
                )
            seen[value] = node.name


def _gpus(nodes: Sequence[Node], options: Options) -> int:
    """How many GPUs each host has; 0 where they differ or are not known and the site names the
    processes."""
    counts = {node.name: None if node.gpus is None else len(node.gpus) for node in nodes}
    known = set(counts.values())
    only = next(iter(known)) if len(known) == 1 else None
    if only:
        return only
    if options.processes:
        return 0
    for node in nodes:
        if node.gpus is None:
            raise LaunchError(
                f"{node.name}: how many GPUs it has is unknown ({node.gpus_why or 'nobody looked'}); "
                "next: fix that, or say how many processes a host gets (launch_processes)"
            )
        if not node.gpus:
            raise LaunchError(
                f"{node.name} shows no GPU on its PCI bus; next: leave it out (--limit), or say how "
                "many processes a host gets (launch_processes)"
            )
    said = ", ".join(f"{name} {count}" for name, count in list(counts.items())[:_SHOWN])
    raise LaunchError(
        f"the hosts have not the same number of GPUs ({said}); next: launch on equal ones "
        "(--limit), or say how many processes a host gets (launch_processes)"
    )
