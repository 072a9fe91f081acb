# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts of one job, as every launcher is told of them; or why there can be none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ansible_collections.ibready.cluster.plugins.plugin_utils._launch.node import Node
from ansible_collections.ibready.cluster.plugins.plugin_utils._launch.options import Options
from ansible_collections.ibready.cluster.plugins.plugin_utils._launch.words import (
    LaunchError,
    endpoint,
)

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
        names = {one.interface for one in self.nodes}
        return next(iter(names)) if len(names) == 1 else ""

    @property
    def rdma(self) -> bool:
        """Whether every host has an RDMA device."""
        return all(one.rdma for one in self.nodes)

    @property
    def rails(self) -> bool:
        """Whether every host has a rail, so that jobs are expected to use RDMA."""
        return all(one.rails for one in self.nodes)

    @property
    def rails_why(self) -> str:
        """Why it is not known whether every host has a rail; "" where it is."""
        unknown = [f"{one.name}: {one.rails_why}" for one in self.nodes if one.rails_why]
        without = [one for one in self.nodes if not one.rails and not one.rails_why]
        return "" if without else "; ".join(unknown)

    def slurm_names(self, node: Node) -> tuple[str, ...]:
        """How Slurm may call it: by its name, or by that up to the first dot where it is alone with
        it."""
        short = node.hostname.partition(".")[0]
        alone = [one.hostname.partition(".")[0] for one in self.nodes].count(short) == 1
        return tuple(dict.fromkeys((node.hostname, *((short,) if alone else ()))))

    @property
    def simulated(self) -> str:
        return "; ".join(dict.fromkeys(one.simulated for one in self.nodes if one.simulated))


def make(nodes: Sequence[Node], absent: Mapping[str, str], options: Options) -> Cluster:
    """The cluster of these hosts; raises LaunchError where a script would be a guess."""
    if not nodes:
        said = "; ".join(f"{name}: {why}" for name, why in list(absent.items())[:_SHOWN])
        raise LaunchError(
            f"no host to launch on ({said or 'the inventory names none'}); next: mend what keeps "
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
    notes = [f"{one.name}: {note}" for one in chosen for note in one.notes]
    bound = processes == gpus
    if not bound:
        notes.append(f"no process is bound to a NUMA node: {processes} a host, and {gpus} GPUs")
    if len({one.interface for one in chosen}) > 1:
        notes.append("the way to the others has not the same interface on every host")
    return Cluster(chosen, processes, options.port, gpus, bound, tuple(notes), absent)


def _because(absent: Mapping[str, str]) -> str:
    said = "; ".join(f"{name} is {why}" for name, why in list(absent.items())[:_SHOWN])
    return f" ({said})" if said else ""


def _refuse_doubles(nodes: Iterable[Node]) -> None:
    for what in ("hostname", "address"):
        seen: dict[str, str] = {}
        for one in nodes:
            value = getattr(one, what)
            if value in seen:
                raise LaunchError(
                    f"{seen[value]} and {one.name} have one {what}, {value}: no script can tell "
                    "them apart; next: give each its own, or leave one out (--limit)"
                )
            seen[value] = one.name


def _gpus(nodes: Sequence[Node], options: Options) -> int:
    """How many GPUs each host has; 0 where they differ or are not known and the site names the
    processes."""
    counts = {one.name: None if one.gpus is None else len(one.gpus) for one in nodes}
    known = set(counts.values())
    only = next(iter(known)) if len(known) == 1 else None
    if only:
        return only
    if options.processes:
        return 0
    for one in nodes:
        if one.gpus is None:
            raise LaunchError(
                f"{one.name}: how many GPUs it has is unknown ({one.gpus_why or 'nobody looked'}); "
                "next: mend that, or say how many processes a host gets (launch_processes)"
            )
        if not one.gpus:
            raise LaunchError(
                f"{one.name} shows no GPU on its PCI bus; next: leave it out (--limit), or say how "
                "many processes a host gets (launch_processes)"
            )
    said = ", ".join(f"{name} {count}" for name, count in list(counts.items())[:_SHOWN])
    raise LaunchError(
        f"the hosts have not the same number of GPUs ({said}); next: launch on equal ones "
        "(--limit), or say how many processes a host gets (launch_processes)"
    )
