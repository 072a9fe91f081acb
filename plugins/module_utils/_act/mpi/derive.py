# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of Open MPI's and UCX's files from what the host has, in a block of ours; no I/O.

The block is one of ``name = value`` lines, beside the lines of others. Of two lines that set the
same the last counts in these files, so it stands last: at the end, or before the first
``[section]``. What the site sets itself is the site's and is left out of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import AbstractSet, Mapping, Sequence

from ..._data.mpi import PRTE_SINCE, RDMA_TRANSPORTS
from ..._expect.nccl_policy import SOCKET, NcclPolicy
from ..._ground import keyvalue
from ..._ground.keyvalue import ConfError
from ..._nccl import derive_socket
from ..._nccl.derive_rails import Rails
from ..._nccl.derived import Setting
from ..._nccl.host import NcclHost
from ..._parse.ompi_info import OmpiInfo
from ..._parse.ucx_info import UcxInfo

BEGIN = "# Begin of what ibready.cluster.mpi_conf writes. The next run undoes changes up to the end."
END = "# End of what ibready.cluster.mpi_conf writes."
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,120}")
_SECTION = re.compile(r"\s*\[.*\]\s*")


@dataclass(frozen=True)
class Line:
    """``forced``: the site's own word, which stands above its file."""

    name: str
    value: str
    reason: str = ""
    forced: bool = False


@dataclass(frozen=True)
class Merged:
    """``kept``: names that the site's own lines set, so that ours were left out."""

    text: str
    kept: tuple[str, ...] = ()


def merge(text: str, lines: Sequence[Line], defaults: Mapping[str, Sequence[str]] | None = None) -> Merged:
    """The file with these lines and no others of ours; without any, our block goes.

    ``defaults``: values by name that are the distribution's and not the site's.
    """
    for line in lines:
        _check(line)
    above, _ours, below = keyvalue.parts(text, BEGIN, END)
    others = [*above, *below]
    theirs = _set_by_site(others, defaults or {})
    mine = [line for line in lines if line.forced or line.name not in theirs]
    kept = tuple(line.name for line in lines if line not in mine)
    if not mine:
        return Merged("".join(others), kept)
    at = next((n for n, other in enumerate(others) if _SECTION.fullmatch(other)), len(others))
    head, tail = others[:at], others[at:]
    if head and not head[-1].endswith("\n"):
        # Debian's file ends without one, and the next line would become a part of its last.
        head[-1] += "\n"
    return Merged("".join([*head, *_block(mine), *tail]), kept)


def _check(line: Line) -> None:
    keyvalue.refuse(line.name, line.value, _NAME)
    if not line.value:
        raise ConfError(f"{line.name}: it has no value")


def _block(lines: Sequence[Line]) -> list[str]:
    found = [f"{BEGIN}\n"]
    for line in lines:
        found += [f"# {line.reason}\n"] if line.reason else []
        found.append(f"{line.name}={line.value}\n")
    return [*found, f"{END}\n"]


def _set_by_site(lines: Sequence[str], defaults: Mapping[str, Sequence[str]]) -> AbstractSet[str]:
    """The names that lines before the first section set, but for what a distribution writes."""
    head = takewhile(lambda line: not _SECTION.fullmatch(line), lines)
    return {name for name, value in keyvalue.settings(head).items() if value not in defaults.get(name, ())}


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
    found = [transport.device for transport in ucx.transports if transport.name.startswith(RDMA_TRANSPORTS)]
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
    names = [f"{port.device}:{port.num}" for port in rails.ports]
    # A rail that is down today is one again tomorrow, and UCX passes over it.
    return ",".join(names) if any(name in reached for name in names) else ""


def _major(ompi: OmpiInfo) -> int:
    return int("".join(word for word in ompi.release.split(".")[0] if word.isdigit()) or 0)


def _with_site(lines: Sequence[Line], site: Mapping[str, str]) -> tuple[Line, ...]:
    """The site's word in place of ours."""
    kept = [line for line in lines if line.name not in site]
    return (*kept, *(Line(name, value, forced=True) for name, value in site.items()))
