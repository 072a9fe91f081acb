# SPDX-License-Identifier: GPL-3.0-or-later
"""What the log of the smoke job proves: right sums, over what hosts spoke, and why over TCP or not at all; no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Mapping

from ..._areas.stack.mpi_limits import devices_without_rdma, leaves_out, tls_without_rdma
from ..._parse.mpi_log import OFFERED, REFUSED, MpiLog, Transport
from .settings import ENVIRONMENT

TLS, DEVICES, PML, BTL, NO_UCX, NO_DEVICE, UNANSWERED = (
    "mpi.ucx_tls",
    "mpi.ucx_net_devices",
    "mpi.pml",
    "mpi.btl",
    "mpi.without_ucx",
    "mpi.no_rdma_transport",
    "mpi.ud_unanswered",
)
PASS, FAIL, UNKNOWN = "pass", "fail", "unknown"
TCP = frozenset(("tcp",))
# UCX's names, and that of Open MPI's own verbs transport before release 5.
RDMA = frozenset(
    (
        *("rc", "rc_x", "rc_v", "rc_verbs", "rc_mlx5", "dc", "dc_x", "dc_mlx5"),
        *("ud", "ud_x", "ud_v", "ud_verbs", "ud_mlx5", "srd", "openib"),
    )
)


@dataclass(frozen=True)
class Fallback:
    """``id``: one of the above. ``host``: where it was seen first."""

    id: str
    host: str
    cause: str
    remedy: str


def fallback(log: MpiLog, settings: Mapping[str, Any]) -> Fallback | None:
    """The first reason in the order in which one hides the next; None where nothing tells.

    ``settings``: what settings.py saw, by host. The log's word on the environment counts more.
    """
    reported = [host for host, _what in (*log.layers, *log.ucx)]
    hosts = sorted({*settings, *reported})
    for host in log.unanswered:
        return _unanswered(host)
    for look in (_open_mpi, _transports, _devices, _refused, _left_out):
        for host in hosts:
            for found in look(log, host, settings.get(host, {})):
                return found
    return None


def _unanswered(host: str) -> Fallback:
    """Every transport of UCX through RDMA begins with datagrams to the other host."""
    cause = f"nobody acknowledged the RDMA datagrams (UD) that UCX sent from {host}"
    remedy = (
        "see that UDP 4791 gets through (RoCE: a firewall, another MTU), by `ibv_ud_pingpong`"
        " between the hosts. On devices that are no mlx (irdma, soft RoCE) UCX up to 1.18 may drop"
        " them itself: try UCX_UD_VERBS_ETH_DGID_CHECK=n (smoke_environment; openucx/ucx 10209)"
    )
    return Fallback(UNANSWERED, host, cause, remedy)


def _open_mpi(log: MpiLog, host: str, told: Mapping[str, Any]) -> Iterator[Fallback]:
    """A parameter that leaves the PML ucx out: what UCX would take does not matter then."""
    if not log.ucx and not log.layers and not told:
        return
    pml, source = _parameter(told, "pml")
    if not leaves_out(pml, "ucx"):
        return
    cause = f"{source} on {host} says pml={pml}, which leaves UCX out"
    btl, by = _parameter(told, "btl")
    if btl and "tcp" in btl and not btl.startswith("^"):
        cause += f" (and {by} says btl={btl})"
    yield Fallback(PML, host, cause, _drop(source, "pml", "pml=ucx (role mpi writes it)"))


def _transports(log: MpiLog, host: str, told: Mapping[str, Any]) -> Iterator[Fallback]:
    value, source = _variable(log, host, told, "UCX_TLS")
    if value and tls_without_rdma(value):
        cause = f"{source} on {host} says UCX_TLS={value}, which has no transport of RDMA in it"
        yield Fallback(TLS, host, cause, _drop(source, "UCX_TLS", "rc, ud or dc beside the others"))


def _devices(log: MpiLog, host: str, told: Mapping[str, Any]) -> Iterator[Fallback]:
    value, source = _variable(log, host, told, "UCX_NET_DEVICES")
    there = tuple(told.get("devices", ()))
    if value and devices_without_rdma(value, there):
        has = f" (it has {', '.join(there)})" if there else ""
        cause = f"{source} on {host} says UCX_NET_DEVICES={value}, and none of these is an RDMA device of the host{has}"
        desired = f"{there[0]}:1" if there else "the host's RDMA devices, with their ports"
        yield Fallback(DEVICES, host, cause, _drop(source, "UCX_NET_DEVICES", desired))


def _refused(log: MpiLog, host: str, told: Mapping[str, Any]) -> Iterator[Fallback]:
    if (_short(host), REFUSED) not in _states(log):
        return
    btl, by = _parameter(told, "btl")
    if btl and "tcp" in btl and not btl.startswith("^"):
        cause = f"{by} on {host} says btl={btl}, and UCX found no device that Open MPI takes it for"
        yield Fallback(BTL, host, cause, _drop(by, "btl", "pml=ucx (role mpi writes it)"))
        return
    cause = f"UCX found no RDMA transport on {host} that Open MPI takes it for"
    remedy = (
        "`ucx_info -d` there, as the same user, shows what UCX reaches; a device that is no mlx"
        " counts only with pml=ucx (role mpi writes it)"
    )
    yield Fallback(NO_DEVICE, host, cause, remedy)


def _left_out(log: MpiLog, host: str, told: Mapping[str, Any]) -> Iterator[Fallback]:
    """Open MPI ran and never opened its component: it has none, or no file tells why."""
    chose = {_short(layer) for layer, _layer in log.layers}
    if _short(host) not in chose or (_short(host), OFFERED) in _states(log):
        return
    cause = f"Open MPI on {host} did not try UCX at all"
    yield Fallback(NO_UCX, host, cause, "`ompi_info | grep ucx` there shows whether it was built with UCX")


def _states(log: MpiLog) -> set[tuple[str, str]]:
    return {(_short(host), what) for host, what in log.ucx}


def _short(host: str) -> str:
    """Open MPI may cut a name at its first dot."""
    return host.partition(".")[0]


def _variable(log: MpiLog, host: str, told: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Value and who says so: the job's environment before any file."""
    for variable, key, value in log.variables:
        if key == name and _short(variable) == _short(host):
            return value, ENVIRONMENT
    known = told.get("ucx", {}).get(name, {})
    return known.get("value", ""), known.get("source") or "a setting"


def _parameter(told: Mapping[str, Any], name: str) -> tuple[str, str]:
    known = told.get("mca", {}).get(name, {})
    source = known.get("source", "")
    shown = source.replace("file (", "").rstrip(")") if source.startswith("file (") else source
    return known.get("value", ""), shown or "a setting"


def _drop(source: str, name: str, instead: str) -> str:
    where = "what starts the job" if source == ENVIRONMENT else source
    return f"take {name} out of {where}, or set it to {instead}"


@dataclass(frozen=True)
class Verdict:
    """``result``: PASS, FAIL or UNKNOWN, with ``why`` in a sentence. ``transports``: in words, what
    hosts spoke to each other by; empty where the log does not tell. ``cause``: the id of what keeps
    the job from RDMA (_between/smoke/verdict), "" where that is not known."""

    result: str
    why: str
    transports: tuple[str, ...] = ()
    cause: str = ""


def judge(
    log: MpiLog,
    ranks: int,
    hosts: int,
    *,
    rails: bool,
    rails_why: str = "",
    simulated: str = "",
    fallback: Fallback | None = None,
) -> Verdict:
    """``ranks``, ``hosts``: how many there had to be. ``rails``: whether RDMA is expected of every
    host, and ``rails_why``: why that is not known; of simulated HCAs it is not, for no data goes
    through them. ``fallback``: why RDMA was not taken, if it was not."""
    reported = _in_words(log.between)
    wrong = _wrong(log, ranks, hosts)
    if wrong:
        return Verdict(FAIL, wrong, reported)
    if not log.between:
        why = "every sum is right, and the log does not tell over what the hosts spoke"
        return Verdict(UNKNOWN, why)
    strange = [transport for transport in log.between if transport.name not in TCP | RDMA]
    slow = [transport for transport in log.between if transport.name in TCP]
    if rails and not simulated:
        if slow:
            who = ", ".join(sorted({transport.host for transport in slow}))
            why = f"RDMA is expected, and {who} fell back to TCP"
            if fallback is not None:
                why += f": {fallback.cause}; next: {fallback.remedy}"
                return Verdict(FAIL, why, reported, fallback.id)
            why += "; next: `ucx_info -d` there, as the same user, shows why UCX finds no RDMA"
            return Verdict(FAIL, f"{why} transport", reported)
        if strange:
            names = ", ".join(sorted({transport.name for transport in strange}))
            why = f"RDMA is expected, and whether {names} is RDMA is not known"
            return Verdict(UNKNOWN, why, reported)
    silent = _silent(log)
    if silent:
        why = f"every sum is right, and the log does not tell over what {', '.join(silent)} spoke"
        return Verdict(UNKNOWN, why, reported)
    if rails_why and (slow or strange) and not simulated:
        why = f"whether RDMA is expected is unknown ({rails_why}), and the hosts spoke"
        return Verdict(UNKNOWN, f"{why} {'; '.join(reported)}", reported)
    why = f"{ranks} processes on {hosts} hosts, every sum is right, over {'; '.join(reported)}"
    if slow and (rails or rails_why):
        why += f"; TCP is all there is: no data goes through simulated HCAs ({simulated})"
    elif slow:
        why += "; RDMA is not expected: not every host has a rail"
    return Verdict(PASS, why, reported)


def _wrong(log: MpiLog, ranks: int, hosts: int) -> str:
    """What is wrong with the processes themselves; "" where nothing is."""
    bad = [rank for rank in log.ranks if not rank.right]
    if bad:
        said = bad[0].said or "no more is told"
        return f"rank {bad[0].rank} on {bad[0].host} has a wrong sum: {said}"
    sizes = sorted({rank.size for rank in log.ranks})
    if sizes == [1] and ranks > 1:
        return (
            "each process was alone: the MPI that it called is not that of mpirun; next: build it (mpi4py, torch) "
            "against the MPI of mpirun, or start the job by the mpirun of the MPI that it calls"
        )
    silent = sorted(set(range(ranks)) - {rank.rank for rank in log.ranks})
    if silent:
        return f"rank {', '.join(map(str, silent[:8]))} did not say that its sum is right"
    if sizes != [ranks]:
        return f"the processes were {' or '.join(map(str, sizes))} and not {ranks}"
    seen = {rank.host for rank in log.ranks}
    return "" if len(seen) == hosts else f"they ran on {len(seen)} hosts and not on {hosts}"


def _silent(log: MpiLog) -> list[str]:
    """The hosts whose processes told nothing of the way to others; Open MPI may cut a name at its
    first dot."""
    reported = {transport.host.partition(".")[0] for transport in log.between}
    return sorted({rank.host for rank in log.ranks if rank.host.partition(".")[0] not in reported})


def _in_words(between: Iterable[Transport]) -> tuple[str, ...]:
    """``tcp (eth0) by ucx``, each once."""
    return tuple(
        dict.fromkeys(
            f"{transport.name}{f' ({transport.device})' if transport.device else ''} by {transport.layer}"
            for transport in between
        )
    )
