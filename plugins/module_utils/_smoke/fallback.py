# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a job went over TCP, or did not start at all: which setting, on which host; no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from ansible_collections.ibready.cluster.plugins.module_utils._mpi.limits import (
    devices_without_rdma,
    leaves_out,
    tls_without_rdma,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.mpi_log import (
    OFFERED,
    REFUSED,
    MpiLog,
)
from ansible_collections.ibready.cluster.plugins.module_utils._smoke.settings import ENVIRONMENT

TLS, DEVICES, PML, BTL, NO_UCX, NO_DEVICE, UNANSWERED = (
    "mpi.ucx_tls",
    "mpi.ucx_net_devices",
    "mpi.pml",
    "mpi.btl",
    "mpi.without_ucx",
    "mpi.no_rdma_transport",
    "mpi.ud_unanswered",
)


@dataclass(frozen=True)
class Fallback:
    """``id``: one of the above. ``host``: where it was seen first."""

    id: str
    host: str
    cause: str
    remedy: str


def find(log: MpiLog, settings: Mapping[str, Any]) -> Fallback | None:
    """The first reason in the order in which one hides the next; None where nothing tells.

    ``settings``: what _smoke/settings saw, by host. The log's word on the environment counts more.
    """
    told = [host for host, _what in (*log.layers, *log.ucx)]
    hosts = sorted({*settings, *told})
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
        cause = (
            f"{source} on {host} says UCX_NET_DEVICES={value}, and none of these is an RDMA device"
            f" of the host{has}"
        )
        wish = f"{there[0]}:1" if there else "the host's RDMA devices, with their ports"
        yield Fallback(DEVICES, host, cause, _drop(source, "UCX_NET_DEVICES", wish))


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
    chose = {_short(one) for one, _layer in log.layers}
    if _short(host) not in chose or (_short(host), OFFERED) in _states(log):
        return
    cause = f"Open MPI on {host} did not try UCX at all"
    yield Fallback(
        NO_UCX, host, cause, "`ompi_info | grep ucx` there shows whether it was built with UCX"
    )


def _states(log: MpiLog) -> set[tuple[str, str]]:
    return {(_short(host), what) for host, what in log.ucx}


def _short(host: str) -> str:
    """Open MPI may cut a name at its first dot."""
    return host.partition(".")[0]


def _variable(log: MpiLog, host: str, told: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Value and who says so: the job's environment before any file."""
    for one, key, value in log.variables:
        if key == name and _short(one) == _short(host):
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
