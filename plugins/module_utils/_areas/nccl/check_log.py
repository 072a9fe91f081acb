# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the log of a job: which network it really used, and why it failed."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..._data import nccl_log as data
from ..._evidence.redact import masked
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import PASS, Check, failed, passed, skipped, unknown
from ..._ground.link import ETHERNET, INFINIBAND
from ..._ground.reading import Reading
from ..._parse._nccl_facts import IB, NONE, ROCE, SOCKET, NcclLog, over_tcp
from ..machine.facts import Machine
from . import LOG as LOG_CHECKS, check_log_alike, check_log_collnet, check_log_hosts, check_log_tcp
from .check_log_ranks import RDMA, by, count, is_rdma, names, on_one_host
from .facts import Rdma

LOG = "nccl_log"
_ERRORS = "nccl.log.errors"
_NETWORK = "nccl.log.network"
_GDR = "nccl.log.gdr"
_MIXED = "nccl.log.mixed"
_LINKS = {INFINIBAND: IB, ETHERNET: ROCE}
_ONE_HOST = "all ranks are on one host: nothing crosses a network"
_OMNI_PATH = "hfi1_"
_ELSEWHERE = f"no rank used InfiniBand or RoCE: see {_NETWORK}"
_CUT = "the log ends within a line: what follows is not known"


def judge(
    log: Reading[NcclLog], machine: Machine, expect: Expectations, rdma: tuple[Rdma, ...] = ()
) -> Iterator[Check]:
    """Every nccl.log.* check, unknown where the log cannot be read. ``rdma``: what else tells of its hosts' devices.

    None where nobody gave a log: nothing was looked at, and a skip would say so.
    """
    if log.value is None:
        if not log.missing:
            for entry in LOG_CHECKS:
                yield unknown(entry.id, LOG, log.why or "nobody looked")
        return
    found = [
        _errors(log.value),
        _network(log.value, machine, expect, rdma),
        _gdr(log.value),
        check_log_collnet.judge(log.value, expect),
        check_log_hosts.hcas(log.value, expect),
        _mixed(log.value),
        check_log_hosts.bootstrap(log.value),
        check_log_hosts.version(log.value),
        check_log_alike.judge(log.value, expect),
    ]
    for check in found:
        # What was seen so far is well; a failure stays one, whatever follows.
        whole = not log.value.cut or check.result != PASS
        yield check if whole else unknown(check.id, check.subject, _CUT, observed=check.observed)


def _errors(log: NcclLog) -> Check:
    expected = "no failure, every communicator up"
    first = log.first_cause
    if first is not None:
        where = f" in {first.rank}" if first.rank else ""
        peer = f", with {first.peer}" if first.peer else ""
        hca = f", over {first.hca}" if first.hca else ""
        evidence = {"line": masked(first.text)}
        if first.kind == data.UNREAD and all(rank.said.complete for rank in log.ranks):
            why = f"{masked(first.means)}{where}; {first.cause}"
            check = unknown(_ERRORS, LOG, why, observed=f"{count(log)} came up", remedy=first.remedy)
            return replace(check, evidence=evidence)
        check = failed(
            _ERRORS,
            LOG,
            f"{first.code}{where}{hca}{peer}",
            expected,
            CAPABILITY,
            cause=f"{masked(first.means)}; {first.cause}",
            remedy=first.remedy if not first.peer else f"{first.remedy}; {first.peer} is the other end",
        )
        return replace(check, evidence=evidence)
    silent = [rank for rank in log.ranks if not rank.said.complete]
    if silent:
        return unknown(_ERRORS, LOG, f"no line says that a communicator came up ('Init COMPLETE') in {names(silent)}")
    return passed(_ERRORS, LOG, f"{count(log)} came up", expected, CAPABILITY)


def _network(log: NcclLog, machine: Machine, expect: Expectations, rdma: tuple[Rdma, ...]) -> Check:
    if log.said.network == NONE:
        cause, remedy = check_log_tcp.why(log, rdma)
        return failed(_NETWORK, LOG, "none came up", RDMA, CAPABILITY, cause=cause, remedy=remedy)
    if on_one_host(log):
        return skipped(_NETWORK, LOG, _ONE_HOST)
    networks = by(log.ranks, lambda entry: entry.said.network)
    sockets = networks.pop(SOCKET, [])
    sockets += [rank for rank in log.ranks if over_tcp(rank.said.provider) and not is_rdma(rank)]
    if sockets or log.said.network == SOCKET:
        return check_log_tcp.judge(log, sockets or list(log.ranks), machine, expect, rdma)
    undecided = networks.pop(None, [])
    strange = [network for network in networks if network not in (IB, ROCE)]
    if strange:
        return unknown(_NETWORK, LOG, f"nobody here knows whether {', '.join(str(entry) for entry in strange)} is RDMA")
    if undecided:
        return unknown(_NETWORK, LOG, f"no line tells the network of {names(undecided)}")
    return _as_wanted(log, expect)


def _as_wanted(log: NcclLog, expect: Expectations) -> Check:
    observed = f"{' and '.join(log.said.links) or 'InfiniBand verbs'}: {count(log)}"
    wanted = expect.get("link_layer")
    if wanted is None:
        return passed(_NETWORK, LOG, observed, RDMA, CAPABILITY)
    link = _LINKS[wanted.value]
    # Where it is among others, nccl.log.mixed tells.
    others = [rank for rank in log.ranks if rank.said.links and link not in rank.said.links]
    if others:
        observed = f"{observed}; other than {link}: {names(others)}"
        cause = "NCCL_IB_HCA does not name the rails alone, or a port is in the other mode"
        return failed(_NETWORK, LOG, observed, link, wanted.source, cause=cause)
    unreported = [rank for rank in log.ranks if not rank.said.links]
    if unreported:
        return unknown(_NETWORK, LOG, f"no line tells the link type of {names(unreported)}")
    return passed(_NETWORK, LOG, observed, link, wanted.source)


def _gdr(log: NcclLog) -> Check:
    expected = "/GDRDMA on the channels between hosts"
    if on_one_host(log):
        return skipped(_GDR, LOG, _ONE_HOST)
    ranks = [rank for rank in log.ranks if is_rdma(rank)]
    if not ranks:
        return _of_no_rdma(_GDR, log)
    without = [rank for rank in ranks if rank.said.gdr is False]
    if without:
        able = any(entry.said.gdr_able is False for entry in without)
        cause = "NCCL saw neither peer memory nor DMA-BUF at the HCAs" if able else ""
        listed = {hca.name for hca in log.said.hcas or ()}
        if listed and all(name.startswith(_OMNI_PATH) for name in listed):
            cause = "the HCAs are Omni-Path's (hfi1), whose verbs have no GPUDirect RDMA"
        return failed(_GDR, LOG, f"not in use: {names(without)}", expected, CAPABILITY, cause=cause)
    # A rank that came up and speaks with its own host's alone has no such channel.
    undecided = [rank for rank in log.ranks if rank.said.gdr is None and not (rank.said.complete and rank.said.intra)]
    used = [rank for rank in ranks if rank.said.gdr]
    if undecided or not used:
        return unknown(_GDR, LOG, f"no channel between hosts is told for {names(undecided or ranks)}")
    return passed(_GDR, LOG, f"in use: {names(used)}", expected, CAPABILITY)


def _mixed(log: NcclLog) -> Check:
    expected = "one link type"
    links = sorted({link for rank in log.ranks for link in rank.said.links})
    if len(links) > 1:
        hcas = log.said.hcas or ()
        some = {link: sorted({hca.name for hca in hcas if hca.link == link}) for link in links}
        observed = "; ".join(f"{link}: {', '.join(mine) or '?'}" for link, mine in some.items())
        return failed(_MIXED, LOG, observed, expected, CAPABILITY)
    ranks = [rank for rank in log.ranks if is_rdma(rank)]
    if not ranks:
        return _of_no_rdma(_MIXED, log)
    unreported = [rank for rank in log.ranks if not rank.said.links]
    if unreported:
        return unknown(_MIXED, LOG, f"no line tells the link type of {names(unreported)}")
    return passed(_MIXED, LOG, f"{links[0]}: {count(log)}", expected, CAPABILITY)


def _of_no_rdma(check_id: str, log: NcclLog) -> Check:
    """Nobody used RDMA; or nobody knows what all of the ranks used."""
    undecided = [rank for rank in log.ranks if rank.said.network is None]
    if undecided and log.said.network != SOCKET:
        return unknown(check_id, LOG, f"no line tells the network of {names(undecided)}")
    return skipped(check_id, LOG, _ELSEWHERE)
