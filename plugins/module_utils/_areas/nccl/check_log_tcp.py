# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge a job that goes over TCP: why, by its own log, and whether its hosts could do better."""

from __future__ import annotations

from dataclasses import replace

from ..._data import nccl_log as data
from ..._expect.expectations import CAPABILITY, Expectations, Expected
from ..._ground.check import Check, failed, skipped, unknown
from ..._ground.text import few
from ..._parse._nccl_facts import SOCKET, NcclLog, Rank, over_tcp
from ..machine.facts import MELLANOX, Machine
from .check_log_ranks import RDMA, is_rdma, names, on_one_host
from .facts import Rdma

LOG = "nccl_log"
_NETWORK = "nccl.log.network"
_NO_PORT = "no_ib_device"
_NAMED = 3
# What keeps NCCL from RDMA, the surest first.
_AGAINST = (
    "ib_disabled",
    "no_libibverbs",
    _NO_PORT,
    "ib_device_not_opened",
    "net_not_found",
    "ofi_no_provider",
    "ofi_tcp",
    "ofi_failed",
    "ifname_not_found",
)
_UNSAID = (
    "no line of the log says why: NCCL_DEBUG=INFO prints it when the job starts, before the network; "
    "NCCL_NET and a network plugin choose it, too"
)


def judge(
    log: NcclLog, ranks: list[Rank], machine: Machine, expect: Expectations, seen: tuple[Rdma, ...] = ()
) -> Check:
    """nccl.log.network of a job of which these ranks go over TCP."""
    observed = f"the job goes over TCP: {names(ranks)}"
    rdma = _has_rdma(log, machine, expect, seen)
    cause, remedy = why(log, seen)
    if rdma is False:
        said = f"; its log says: {cause}" if cause else ""
        return replace(skipped(_NETWORK, LOG, f"no HCA on the PCI bus{_whose(log, seen)}{said}"), observed=observed)
    if rdma is None and (on_one_host(log) is None or machine.pci.known):
        doubt = "nobody could tell whether this host has RDMA devices"
        if on_one_host(log) is None:
            doubt = f"the log does not tell whether other hosts took part, and {doubt}"
        because = f"because {cause}" if cause else _UNSAID
        return unknown(_NETWORK, LOG, f"{observed}, {because}; {doubt}", observed=observed, remedy=remedy)
    if not cause and log.said.hcas:
        usable = ", ".join(dict.fromkeys(hca.name for hca in log.said.hcas))
        cause = f"NCCL lists {usable} as usable, and no line says why it took TCP: NCCL_NET, or a network plugin"
    source = next((rail.source for rail in _rails(expect)), CAPABILITY)
    check = failed(_NETWORK, LOG, observed, RDMA, source, cause=cause or _UNSAID, remedy=remedy)
    # Hosts that nobody knows an HCA of may have none.
    return check if rdma else replace(check, severity="warning")


def why(log: NcclLog, seen: tuple[Rdma, ...]) -> tuple[str, str]:
    """What the log says against the network that it should have been, and the next step of the surest of it;
    "" where it says nothing."""
    found = {
        failure.code: failure
        for failure in reversed(log.failures)
        if failure.kind in (data.ERROR, data.LOSS) and failure.code in _AGAINST
    }
    against = {
        f"{known.means}: {known.cause}": known.remedy for known in (found.get(code) for code in _AGAINST) if known
    }
    if dict(log.said.settings).get("NCCL_NET", "").rstrip(".").lower() == SOCKET.lower():
        against = {"NCCL_NET asks for TCP: it is Socket": "remove NCCL_NET", **against}
    more = _of_ports(log, seen) if _NO_PORT in found else ()
    return "; ".join((*against, *more)), next(iter(against.values()), "")


def _of_ports(log: NcclLog, seen: tuple[Rdma, ...]) -> tuple[str, ...]:
    """What is known beside NCCL's word that there is no port for it."""
    named = dict(log.said.settings).get("NCCL_IB_HCA")
    counted = next((tool for tool in seen if tool.active is not None), None)
    return (
        *((f"NCCL_IB_HCA is {named}",) if named else ()),
        *((f"{counted.tool} shows {counted.active or 'no'} Active ports",) if counted else ()),
    )


def _whose(log: NcclLog, seen: tuple[Rdma, ...]) -> str:
    """Of which of the job's hosts the bus was shown; "" of the host that is judged itself."""
    if not seen:
        return ""
    shown = sorted({tool.host.partition(".")[0] for tool in seen if tool.host})
    if not shown:
        ran = f"; the job ran on {few(log.hosts, _NAMED)}" if log.hosts else ""
        return f" of one host, which no line names{ran}"
    others = [host for host in log.hosts if host.partition(".")[0] not in shown]
    return f" of {few(shown, _NAMED)}" + (f"; nobody showed that of {few(others, _NAMED)}" if others else "")


def _rails(expect: Expectations) -> list[Expected]:
    wanted = (expect.get(key) for key in ("link_layer", "hcas", "hcas_min"))
    return [item for item in wanted if item is not None]


def _has_rdma(log: NcclLog, machine: Machine, expect: Expectations, seen: tuple[Rdma, ...]) -> bool | None:
    """None as well where only an Ethernet controller that may do RDMA is there.

    Libfabric's plugin is there for the sake of such a device: over TCP it has lost one.
    """
    if _rails(expect) or log.said.hcas or any(tool.devices for tool in seen):
        return True
    if any(map(is_rdma, log.ranks)):
        return True
    if any(hca.vendor == MELLANOX or hca.class_code[:4] == "0207" for hca in machine.hcas):
        return True
    if seen or (machine.pci.known and not machine.hcas):
        return False
    return True if any(over_tcp(rank.said.provider) for rank in log.ranks) else None
