# SPDX-License-Identifier: GPL-3.0-or-later
"""From a host, the site's policy and the other nodes to the lines of nccl.conf; no I/O.

A line is written where NCCL would not do the right thing by itself, and where it is known what the
right thing is; what is not known is told, never guessed.
"""

from __future__ import annotations

from typing import Iterable, Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._nccl import (
    derive_gdr,
    derive_rails,
    derive_roce,
    derive_socket,
    registry,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive_rails import Rails
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derived import (
    Derived,
    Untold,
    one_line,
    setting,
    untold,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.fleet import FleetView
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.policy import (
    HCA,
    NcclPolicy,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.setting import Setting

DISABLE, TOPO = "NCCL_IB_DISABLE", "NCCL_TOPO_FILE"
_NO_RDMA = "no RDMA device, and no HCA on the PCI bus"
# Not read by NCCL while the first is set.
_IN_VAIN = {derive_roce.INDEX: derive_roce.FAMILY}


def is_idle(host: NcclHost) -> bool:
    """Whether NCCL has nothing to do there: neither a GPU nor the library."""
    return host.gpus.value == () and host.nccl.value is None and host.nccl.missing


def derive(host: NcclHost, policy: NcclPolicy, fleet: FleetView | None) -> Derived:
    """The lines, what could not be told, and what is left out. ``fleet``: None where only this host
    is known. The same input always gives the same answer, in the same order."""
    rails = derive_rails.rails(host, policy)
    found = list(_lines(host, rails, policy, fleet))
    lines = {one.name: one for one in found if isinstance(one, Setting)}
    for name in sorted(policy.variables):
        instead = f", in place of {lines[name].value}" if name in lines else ""
        lines[name] = setting(name, policy.variables[name], f"nccl_conf_variables{instead}")
    for first, second in _IN_VAIN.items():
        if first in policy.variables and second not in policy.variables:
            lines.pop(second, None)
    answered = {*policy.variables, *policy.forbid}
    return Derived(
        settings=tuple(one for name, one in lines.items() if name not in policy.forbid),
        untold=tuple(one for one in found if isinstance(one, Untold) and one.name not in answered),
        left_out=rails.left_out,
        remarks=tuple(one_line(one) for one in _remarks(host, rails, policy)),
    )


def _lines(
    host: NcclHost, rails: Rails, policy: NcclPolicy, fleet: FleetView | None
) -> Iterator[Setting | Untold]:
    nccl = host.release
    if host.ports.value == ():
        yield setting(DISABLE, 1, _NO_RDMA)
    elif rails.ports:
        yield derive_rails.line(rails, nccl)
        if rails.missing:
            absent = ", ".join(rails.missing)
            yield untold(HCA, f"nccl_rails names {absent}, which this host does not have")
    else:
        yield untold(HCA, rails.why)
    yield from derive_socket.lines(host, policy)
    ours: Iterable[Setting | Untold] = ()
    if host.ports.value != ():
        ours = (
            *derive_roce.addresses(host, rails, fleet),
            *derive_roce.marks(host, rails, policy),
        )
    if policy.topo_file:
        ours = (*ours, setting(TOPO, policy.topo_file, "nccl_topo_file"))
    for one in ours:
        if isinstance(one, Untold) or not registry.is_default(one.name, one.value, nccl):
            yield one
    yield from derive_gdr.lines(host, rails, policy)


def _remarks(host: NcclHost, rails: Rails, policy: NcclPolicy) -> Iterator[str]:
    yield from rails.remarks
    yield from derive_gdr.remarks(host, rails, policy)
    if host.simulated:
        yield f"simulated node: {host.simulated}"
