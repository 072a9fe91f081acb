# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the log of a job: which network it really used, and why it failed."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks import nccl_log_hosts
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    PASS,
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.nccl_log_ranks import (
    by,
    count,
    is_rdma,
    names,
    on_one_host,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_log as data
from ansible_collections.ibready.cluster.plugins.module_utils._entries import nccl_log as entries
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    CAPABILITY,
    Expectations,
    Expected,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import (
    MELLANOX,
    Machine,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nccl_facts import (
    IB,
    NONE,
    ROCE,
    SOCKET,
    NcclLog,
    Rank,
)

LOG = "nccl_log"
_ERRORS = "nccl.log.errors"
_NETWORK = "nccl.log.network"
_GDR = "nccl.log.gdr"
_MIXED = "nccl.log.mixed"
_RDMA = "InfiniBand or RoCE"
_LINKS = {"InfiniBand": IB, "Ethernet": ROCE}
_ONE_HOST = "all ranks are on one host: nothing crosses a network"
_ELSEWHERE = f"no rank used InfiniBand or RoCE: see {_NETWORK}"
_CUT = "the log ends within a line: what follows is not known"


def judge(log: Reading[NcclLog], machine: Machine, expect: Expectations) -> Iterator[Check]:
    """Every nccl.log.* check, unknown where the log cannot be read.

    None where nobody gave a log: nothing was looked at, and a skip would say so.
    """
    if log.value is None:
        if not log.missing:
            for one in entries.ENTRIES:
                yield unknown(one.id, LOG, log.why or "nobody looked")
        return
    found = [
        _errors(log.value),
        _network(log.value, machine, expect),
        _gdr(log.value),
        nccl_log_hosts.hcas(log.value, expect),
        _mixed(log.value),
        nccl_log_hosts.bootstrap(log.value),
        nccl_log_hosts.version(log.value),
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
        check = failed(
            _ERRORS,
            LOG,
            f"{first.code}{where}{hca}{peer}",
            expected,
            CAPABILITY,
            cause=f"{first.means}; {first.cause}",
            remedy=first.remedy,
        )
        return replace(check, evidence={"line": first.text})
    silent = [one for one in log.ranks if not one.said.complete]
    if silent:
        why = f"no line says that a communicator came up ('Init COMPLETE') in {names(silent)}"
        return unknown(_ERRORS, LOG, why)
    return passed(_ERRORS, LOG, f"{count(log)} came up", expected, CAPABILITY)


def _network(log: NcclLog, machine: Machine, expect: Expectations) -> Check:
    if log.said.network == NONE:
        return failed(_NETWORK, LOG, "none came up", _RDMA, CAPABILITY, cause=_why(log))
    if on_one_host(log):
        return skipped(_NETWORK, LOG, _ONE_HOST)
    networks = by(log.ranks, lambda one: one.said.network)
    sockets = networks.pop(SOCKET, [])
    if sockets or log.said.network == SOCKET:
        return _tcp(log, sockets or list(log.ranks), machine, expect)
    undecided = networks.pop(None, [])
    strange = [network for network in networks if network not in (IB, ROCE)]
    if strange:
        why = f"nobody here knows whether {', '.join(str(one) for one in strange)} is RDMA"
        return unknown(_NETWORK, LOG, why)
    if undecided:
        return unknown(_NETWORK, LOG, f"no line tells the network of {names(undecided)}")
    return _as_wanted(log, expect)


def _as_wanted(log: NcclLog, expect: Expectations) -> Check:
    observed = f"{' and '.join(log.said.links) or 'InfiniBand verbs'}: {count(log)}"
    wanted = expect.get("link_layer")
    if wanted is None:
        return passed(_NETWORK, LOG, observed, _RDMA, CAPABILITY)
    link = _LINKS[wanted.value]
    # Where it is among others, nccl.log.mixed tells.
    others = [one for one in log.ranks if one.said.links and link not in one.said.links]
    if others:
        observed = f"{observed}; other than {link}: {names(others)}"
        cause = "NCCL_IB_HCA does not name the rails alone, or a port is in the other mode"
        return failed(_NETWORK, LOG, observed, link, wanted.source, cause=cause)
    untold = [one for one in log.ranks if not one.said.links]
    if untold:
        return unknown(_NETWORK, LOG, f"no line tells the link type of {names(untold)}")
    return passed(_NETWORK, LOG, observed, link, wanted.source)


def _tcp(log: NcclLog, ranks: list[Rank], machine: Machine, expect: Expectations) -> Check:
    observed = f"TCP: {names(ranks)}"
    rdma = _has_rdma(log, machine, expect)
    if rdma is None:
        why = "nobody could tell whether this host has RDMA devices"
        return unknown(_NETWORK, LOG, why, observed=observed)
    if not rdma:
        return skipped(_NETWORK, LOG, f"no HCA on the PCI bus; {observed}")
    source = next((one.source for one in _rails(expect)), CAPABILITY)
    return failed(_NETWORK, LOG, observed, _RDMA, source, cause=_why(log))


def _rails(expect: Expectations) -> list[Expected]:
    wanted = (expect.get(key) for key in ("link_layer", "hcas", "hcas_min"))
    return [one for one in wanted if one is not None]


def _has_rdma(log: NcclLog, machine: Machine, expect: Expectations) -> bool | None:
    """None as well where only an Ethernet controller that may do RDMA is there."""
    if _rails(expect) or log.said.hcas:
        return True
    if any(one.vendor == MELLANOX or one.class_code[:4] == "0207" for one in machine.hcas):
        return True
    return False if machine.pci.known and not machine.hcas else None


def _why(log: NcclLog) -> str:
    """What the log says against the network that it should have been; "" where it says nothing."""
    told = dict.fromkeys(
        f"{one.means}: {one.cause}"
        for one in log.failures
        if one.kind in (data.ERROR, data.LOSS) and one.code in _AGAINST
    )
    return "; ".join(told)


_AGAINST = ("no_ib_device", "no_libibverbs", "ib_disabled", "ifname_not_found")


def _gdr(log: NcclLog) -> Check:
    expected = "/GDRDMA on the channels between hosts"
    if on_one_host(log):
        return skipped(_GDR, LOG, _ONE_HOST)
    ranks = [one for one in log.ranks if is_rdma(one)]
    if not ranks:
        return _of_no_rdma(_GDR, log)
    without = [one for one in ranks if one.said.gdr is False]
    if without:
        able = any(one.said.gdr_able is False for one in without)
        cause = "NCCL saw neither peer memory nor DMA-BUF at the HCAs" if able else ""
        return failed(_GDR, LOG, f"not in use: {names(without)}", expected, CAPABILITY, cause=cause)
    # A rank that came up and speaks with its own host's alone has no such channel.
    undecided = [
        one
        for one in log.ranks
        if one.said.gdr is None and not (one.said.complete and one.said.intra)
    ]
    used = [one for one in ranks if one.said.gdr]
    if undecided or not used:
        why = f"no channel between hosts is told for {names(undecided or ranks)}"
        return unknown(_GDR, LOG, why)
    return passed(_GDR, LOG, f"in use: {names(used)}", expected, CAPABILITY)


def _mixed(log: NcclLog) -> Check:
    expected = "one link type"
    links = sorted({link for one in log.ranks for link in one.said.links})
    if len(links) > 1:
        hcas = log.said.hcas or ()
        some = {link: sorted({one.name for one in hcas if one.link == link}) for link in links}
        observed = "; ".join(f"{link}: {', '.join(mine) or '?'}" for link, mine in some.items())
        return failed(_MIXED, LOG, observed, expected, CAPABILITY)
    ranks = [one for one in log.ranks if is_rdma(one)]
    if not ranks:
        return _of_no_rdma(_MIXED, log)
    untold = [one for one in log.ranks if not one.said.links]
    if untold:
        return unknown(_MIXED, LOG, f"no line tells the link type of {names(untold)}")
    return passed(_MIXED, LOG, f"{links[0]}: {count(log)}", expected, CAPABILITY)


def _of_no_rdma(check_id: str, log: NcclLog) -> Check:
    """Nobody used RDMA; or nobody knows what all of the ranks used."""
    undecided = [one for one in log.ranks if one.said.network is None]
    if undecided and log.said.network != SOCKET:
        return unknown(check_id, LOG, f"no line tells the network of {names(undecided)}")
    return skipped(check_id, LOG, _ELSEWHERE)
