# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge Open MPI: whether it sends through UCX, and UCX through the RDMA devices."""

from __future__ import annotations

from typing import Iterator

from ..._data.mpi import RDMA_TRANSPORTS, UCX_FILE
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.look import look
from ..._parse.ompi_info import OmpiInfo
from ..._parse.ucx_info import UcxInfo
from ..machine.facts import Machine
from .check_installed import NO_RDMA, has_rdma
from .facts import StackFacts
from .mpi_limits import devices_without_rdma, tls_without_rdma

_PML, _UCX, _CONF = "stack.mpi.pml", "stack.mpi.transports", "stack.mpi.ucx_conf"


def judge(facts: StackFacts, machine: Machine) -> Iterator[Check]:
    """stack.mpi.*"""
    why = _why_not(facts, machine)
    if why:
        yield skipped(_PML, "openmpi", why)
        yield skipped(_UCX, "ucx", why)
        yield skipped(_CONF, UCX_FILE, why)
        return
    yield look(_PML, "openmpi", facts.ompi, _pml)
    # Of a host without Open MPI nobody knows whether its jobs use UCX.
    yield look(_UCX, "ucx", facts.ucx, _transports)
    yield from _conf(facts)


def _conf(facts: StackFacts) -> Iterator[Check]:
    """What every job of the host reads before its own environment."""
    if facts.ucx_conf.value is None and not facts.ucx_conf.missing:
        yield unknown(_CONF, UCX_FILE, facts.ucx_conf.why)
        return
    if facts.ucx.value is None:
        yield unknown(_CONF, UCX_FILE, facts.ucx.why)
        return
    found = facts.ucx_conf.value or {}
    reached = [transport for transport in facts.ucx.value.transports if transport.name.startswith(RDMA_TRANSPORTS)]
    devices = [entry.device.partition(":")[0] for entry in reached]
    tls, names = found.get("UCX_TLS", ""), found.get("UCX_NET_DEVICES", "")
    wrong = [f"UCX_TLS={tls}"] if tls and tls_without_rdma(tls) else []
    wrong += [f"UCX_NET_DEVICES={names}"] if names and devices_without_rdma(names, devices) else []
    expected = "nothing that keeps UCX from RDMA"
    if wrong:
        remedy = f"take {' and '.join(wrong)} out of {UCX_FILE}; role mpi writes the rails there"
        yield failed(_CONF, UCX_FILE, ", ".join(wrong), expected, CAPABILITY, remedy=remedy)
        return
    shown = [f"{name}={found[name]}" for name in ("UCX_TLS", "UCX_NET_DEVICES") if name in found]
    yield passed(_CONF, UCX_FILE, ", ".join(shown) or "no limit", expected, CAPABILITY)


def _why_not(facts: StackFacts, machine: Machine) -> str:
    """Why nothing is judged; "" where it is."""
    if facts.ompi.missing:
        return "Open MPI is not installed; containers bring their own"
    if has_rdma(facts, machine) is False:
        return NO_RDMA
    if machine.surely_simulated:
        return f"simulated node ({machine.surely_simulated}): no program can open its RDMA devices"
    return ""


def _pml(found: OmpiInfo) -> Check:
    expected = "pml ucx"
    observed = f"Open MPI {found.release}, pml {found.pml or 'not limited'}"
    if "ucx" not in found.components:
        cause = "this Open MPI was built without UCX: between nodes its jobs use TCP"
        listed = ", ".join(found.components)
        return failed(_PML, "openmpi", f"components {listed}", expected, CAPABILITY, cause=cause)
    if not found.takes_ucx:
        cause = f"a setting leaves UCX out: {found.source or 'its source is not told'}"
        return failed(_PML, "openmpi", observed, expected, CAPABILITY, cause=cause)
    return passed(_PML, "openmpi", observed, expected, CAPABILITY)


def _transports(found: UcxInfo) -> Check:
    mine = [transport for transport in found.transports if transport.name.startswith(RDMA_TRANSPORTS)]
    expected = "a transport rc, dc or ud"
    if not mine:
        others = ", ".join(sorted({transport.name for transport in found.transports}))
        return failed(_UCX, "ucx", others, expected, CAPABILITY)
    names = ", ".join(dict.fromkeys(entry.name for entry in mine))
    devices = ", ".join(dict.fromkeys(entry.device for entry in mine))
    return passed(_UCX, "ucx", f"{names} on {devices}", expected, CAPABILITY)
