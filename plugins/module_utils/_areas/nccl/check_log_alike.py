# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold the hosts of a job against each other: plugin, HCAs, interface, driver and every setting that a log tells."""

from __future__ import annotations

from typing import Dict, Iterator, List

from ..._data.nccl_variables import FILE, OWN
from ..._evidence.redact import masked
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.text import few
from ..._parse._nccl_facts import Evidence, NcclLog
from .check_log_ranks import by, on_one_host

LOG = "nccl_log"
_ALIKE = "nccl.log.alike"
# Of these every host has to have told.
_EVERY = ("interface", "HCAs")
_NAMED, _SEEN = 3, 6
# By what is compared and its value: the hosts that have it.
_Values = Dict[str, Dict[str, List[str]]]


def judge(log: NcclLog, expect: Expectations) -> Check:
    """nccl.log.alike: of all hosts of the log together. Network and release have checks of their own."""
    if on_one_host(log) or len(log.hosts) < 2:
        return skipped(_ALIKE, LOG, "the log tells of one host")
    values = _values(log, expect)
    expected = "the same on every host"
    odd = [_odd(what, of) for what, of in values.items() if len(of) > 1]
    if odd:
        return failed(_ALIKE, LOG, masked(few(odd, _NAMED, "; ")), expected, CAPABILITY)
    for what in _EVERY:
        told = {host for hosts in values.get(what, {}).values() for host in hosts}
        silent = [host for host in log.hosts if host not in told]
        # Without RDMA no host lists HCAs, which nccl.log.network tells.
        if silent and (told or what == "interface"):
            return unknown(_ALIKE, LOG, f"no line tells the {what} of {few(silent, _NAMED)}")
    seen = [f"{what}: {value or 'none'}" for what, of in values.items() for value in of]
    return passed(_ALIKE, LOG, masked(few(seen, _SEEN, "; ")), expected, CAPABILITY)


def _values(log: NcclLog, expect: Expectations) -> _Values:
    found: _Values = {}
    ranks = by([rank for rank in log.ranks if rank.host], lambda rank: rank.host)
    names = sorted({name for rank in log.ranks for name, _value in rank.said.settings})
    for host, some in ranks.items():
        told: dict[str, set[str]] = {}
        for rank in some:
            for what, value in (*_told(rank.said, expect), *rank.said.settings):
                told.setdefault(what, set()).add(value)
        for name in names:
            # One line may be lost; that none of several ranks tells it is the host's.
            if name not in told and len(some) > 1 and "interface" in told:
                told[name] = {"not set"}
        for what, values in told.items():
            if OWN.get(what) != FILE:
                found.setdefault(what, {}).setdefault(" and ".join(sorted(values)), []).append(host)
    return found


def _told(said: Evidence, expect: Expectations) -> Iterator[tuple[str, str]]:
    if said.plugin is not None:
        yield "network plugin", said.plugin
    if said.hcas is not None:
        yield "HCAs", ", ".join(sorted({hca.name for hca in said.hcas if not expect.ignores(hca.name)}))
    if said.bootstrap is not None:
        yield "interface", said.bootstrap.name
    if said.cuda_driver is not None:
        yield "CUDA of the driver", said.cuda_driver


def _odd(what: str, of: dict[str, list[str]]) -> str:
    """Who differs from most; where most are not alike, who has what."""
    common = max(of, key=lambda value: len(of[value]))
    most = 2 * len(of[common]) > sum(map(len, of.values()))
    parts = [f"{few(hosts, _NAMED)} ({value or 'none'})" for value, hosts in of.items() if not most or value != common]
    return f"{what}: {few(parts, _NAMED)}" + (f", the others ({common or 'none'})" if most else "")
