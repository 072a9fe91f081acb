# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of a job that ran on the hosts: judged once, and laid at the doors of its hosts."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ...module_utils._areas.machine.facts import Machine
from ...module_utils._areas.nccl import check_log as judged
from ...module_utils._areas.nccl.check_log_ranks import is_rdma
from ...module_utils._evidence import ask
from ...module_utils._evidence.given import Given
from ...module_utils._evidence.sources import Live
from ...module_utils._expect import waivers as _waivers
from ...module_utils._expect.expectations import Expectations, Expected
from ...module_utils._ground.check import FAIL, Check
from ...module_utils._ground.reading import Reading
from ...module_utils._parse import nccl_log
from ...module_utils._parse._nccl_facts import NcclLog, Rank
from .._hosts.hosts import Host
from .finding import JOB

_LOG = "nccl_log"
_RAILS = ("link_layer", "hcas", "hcas_min")


def read(path: str) -> Reading[NcclLog]:
    """The log in a file of the controller; unknown with the reason where it cannot be read."""
    return ask.command(Given(Live(), {_LOG: path}), _LOG, nccl_log.parse, ok=None)


def judge(log: Reading[NcclLog], hosts: Sequence[Host], today: datetime.date) -> dict[str, list[Check]]:
    """Its checks, by host: a failure of each host that it is about, all else of the job itself."""
    found: dict[str, list[Check]] = {}
    waivers = {host.name: host.waivers for host in hosts}
    for check in judged.judge(log, _machine(hosts), expectations(hosts)):
        names = _about(check, log.value, hosts) if log.value and check.result == FAIL else ()
        for name in names or (JOB,):
            found.setdefault(name, []).extend(_waivers.apply([check], waivers.get(name, ()), name, today))
    return found


def _machine(hosts: Sequence[Host]) -> Machine:
    """A bus without HCAs where every host is known to have none: there a job over TCP is as it should be."""
    bare = hosts and all(host.ib is not None and not host.ib.cas and host.ib.bus.value == () for host in hosts)
    return Machine(pci=Reading(())) if bare else Machine()


def expectations(hosts: Sequence[Host]) -> Expectations:
    """What is expected of every host alike; of hosts with HCAs, that a job uses them."""
    reported = [host.expect for host in hosts if host.ib is not None]
    values: dict[str, Expected] = {}
    if reported:
        for key, wanted in reported[0].values.items():
            others = [entry.get(key) for entry in reported]
            if all(other is not None and other.value == wanted.value for other in others):
                values[key] = wanted
    with_hcas = [host for host in hosts if host.ib is not None and host.ib.on_fabric().cas]
    if with_hcas and not values.keys() & set(_RAILS):
        values["hcas_min"] = Expected(1, f"fleet {len(with_hcas)}/{len(hosts)}")
    ignored = set.intersection(*(set(entry.ignore) for entry in reported)) if reported else set()
    return Expectations(values, sorted(ignored))


def _about(check: Check, log: NcclLog, hosts: Sequence[Host]) -> list[str]:
    """The inventory's names of the hosts that a failure is about."""
    ranks = _RANKS.get(check.id, _all)(log)
    shown = dict.fromkeys(rank.host for rank in ranks if rank.host)
    return [name for name in (named(entry, hosts) for entry in shown) if name]


def named(shown: str, hosts: Sequence[Host]) -> str:
    """The host that calls itself so, or is called so by the inventory; "" where none is.

    Without a domain only where that is one host's name alone.
    """
    known = {host.name: {host.name, str(host.node.get("hostname") or host.name)} for host in hosts}
    exact = [name for name, names in known.items() if shown in names]
    short = shown.partition(".")[0]
    near = [name for name, names in known.items() if short in {name.partition(".")[0] for name in names}]
    if exact:
        return exact[0]
    return near[0] if len(near) == 1 else ""


def _all(log: NcclLog) -> list[Rank]:
    return list(log.ranks)


def _without_rdma(log: NcclLog) -> list[Rank]:
    return [rank for rank in log.ranks if not is_rdma(rank)]


def _without_gdr(log: NcclLog) -> list[Rank]:
    return [rank for rank in log.ranks if is_rdma(rank) and rank.said.gdr is False]


def _fewest_hcas(log: NcclLog) -> list[Rank]:
    counted = [(len(rank.said.hcas or ()), rank) for rank in log.ranks]
    fewest = min((number for number, _unused in counted), default=0)
    return [entry for number, entry in counted if number == fewest]


def _first_to_fail(log: NcclLog) -> list[Rank]:
    first = log.first_cause
    return [rank for rank in log.ranks if first is not None and rank.name == first.rank]


def _odd_version(log: NcclLog) -> list[Rank]:
    usual = Counter(rank.said.version for rank in log.ranks).most_common(1)
    return [rank for rank in log.ranks if usual and rank.said.version != usual[0][0]]


_RANKS: Mapping[str, Callable[[NcclLog], list[Rank]]] = {
    "nccl.log.network": _without_rdma,
    "nccl.log.gdr": _without_gdr,
    "nccl.log.hcas": _fewest_hcas,
    "nccl.log.errors": _first_to_fail,
    "nccl.log.version": _odd_version,
}
