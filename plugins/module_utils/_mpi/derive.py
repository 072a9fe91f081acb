# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of Open MPI's and UCX's files, from what the host has; no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._data.mpi import (
    PRTE_SINCE,
    RDMA_TRANSPORTS,
)
from ansible_collections.ibready.cluster.plugins.module_utils._mpi.conf import Line
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import derive_socket
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive_rails import Rails
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.policy import (
    SOCKET,
    NcclPolicy,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.setting import Setting
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ompi_info import OmpiInfo
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ucx_info import UcxInfo


@dataclass(frozen=True)
class Derived:
    """Lines by file, and what was not written, with the reason."""

    mca: tuple[Line, ...] = ()
    prte: tuple[Line, ...] = ()
    ucx: tuple[Line, ...] = ()
    untold: tuple[str, ...] = ()


@dataclass(frozen=True)
class Site:
    """The site's own lines, by name."""

    mca: Mapping[str, str]
    ucx: Mapping[str, str]


def derive(
    ompi: OmpiInfo,
    ucx: UcxInfo | None,
    rails: Rails,
    socket: str,
    site: Site,
    untold: Sequence[str] = (),
) -> Derived:
    """``socket``: the interface with the way to the other nodes, "" where none is known."""
    reached = rdma(ucx)
    why = list(untold)
    mca = _transport(ompi, reached)
    if not mca:
        why.append(_why_not(ompi, ucx))
    devices = _devices(rails, reached)
    if reached and not devices:
        why.append(f"UCX_NET_DEVICES: {rails.why or 'UCX reaches none of the rails'}")
    reason = "The way to the other nodes."
    new = _major(ompi) >= PRTE_SINCE
    if socket:
        mca.append(Line("btl_tcp_if_include", socket, reason))
        if not new:
            mca.append(Line("oob_tcp_if_include", socket, reason))
    prte = [Line("prte_if_include", socket, reason)] if socket and new else []
    lines = [Line("UCX_NET_DEVICES", devices, f"The rails ({rails.by}).")] if devices else []
    return Derived(_with_site(mca, site.mca), tuple(prte), _with_site(lines, site.ucx), tuple(why))


def rdma(ucx: UcxInfo | None) -> tuple[str, ...]:
    """The devices (mlx5_0:1) that UCX reaches by RDMA, in its order."""
    if ucx is None:
        return ()
    found = [one.device for one in ucx.transports if one.name.startswith(RDMA_TRANSPORTS)]
    return tuple(dict.fromkeys(found))


def interface(host: NcclHost, policy: NcclPolicy) -> tuple[str, str]:
    """The interface that ranks meet on, as for NCCL; "" and why where it cannot be told."""
    for line in derive_socket.lines(host, policy):
        if line.name != SOCKET:
            continue
        if isinstance(line, Setting):
            return line.value.lstrip("="), ""
        return "", f"the interface of TCP: {line.why}"
    return "", ""


def _transport(ompi: OmpiInfo, reached: Sequence[str]) -> list[Line]:
    """UCX, where it is there and reaches a device: without one no rank would start."""
    if not reached or "ucx" not in ompi.components:
        return []
    reason = f"UCX reaches RDMA devices here ({len(reached)} ports)."
    lines = [Line("pml", "ucx", reason), Line("osc", "ucx", reason)]
    if _major(ompi) < PRTE_SINCE:
        lines.append(Line("btl", "^openib", "openib is what UCX took the place of."))
    return lines


def _why_not(ompi: OmpiInfo, ucx: UcxInfo | None) -> str:
    if "ucx" not in ompi.components:
        return "pml=ucx is not written: this Open MPI was built without UCX"
    if ucx is None:
        return "pml=ucx is not written: ucx_info, which tells what UCX reaches, cannot be asked"
    return (
        "pml=ucx is not written, for UCX reaches no RDMA device. Next: run again where"
        " `ucx_info -d` lists one, say after the reboot that loads the RDMA driver"
    )


def _devices(rails: Rails, reached: Sequence[str]) -> str:
    names = [f"{one.device}:{one.num}" for one in rails.ports]
    # A rail that is down today is one again tomorrow, and UCX passes over it.
    return ",".join(names) if any(name in reached for name in names) else ""


def _major(ompi: OmpiInfo) -> int:
    return int("".join(one for one in ompi.release.split(".")[0] if one.isdigit()) or 0)


def _with_site(lines: Sequence[Line], site: Mapping[str, str]) -> tuple[Line, ...]:
    """The site's word in place of ours."""
    kept = [line for line in lines if line.name not in site]
    return (*kept, *(Line(name, value, forced=True) for name, value in site.items()))
