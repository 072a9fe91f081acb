# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge Open MPI: whether it sends through UCX, and UCX through the RDMA devices."""

from __future__ import annotations

from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks._look import look
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.stack_installed import (
    NO_RDMA,
    has_rdma,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.mpi import RDMA_TRANSPORTS
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.stack import StackFacts
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ompi_info import OmpiInfo
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ucx_info import UcxInfo

_PML, _UCX = "stack.mpi.pml", "stack.mpi.transports"


def judge(facts: StackFacts, machine: Machine) -> Iterator[Check]:
    """stack.mpi.*"""
    why = _why_not(facts, machine)
    if why:
        yield skipped(_PML, "openmpi", why)
        yield skipped(_UCX, "ucx", why)
        return
    yield look(_PML, "openmpi", facts.ompi, _pml)
    # Of a host without Open MPI nobody knows whether its jobs use UCX.
    yield look(_UCX, "ucx", facts.ucx, _transports)


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
    mine = [one for one in found.transports if one.name.startswith(RDMA_TRANSPORTS)]
    expected = "a transport rc, dc or ud"
    if not mine:
        others = ", ".join(sorted({one.name for one in found.transports}))
        return failed(_UCX, "ucx", others, expected, CAPABILITY)
    names = ", ".join(dict.fromkeys(one.name for one in mine))
    devices = ", ".join(dict.fromkeys(one.device for one in mine))
    return passed(_UCX, "ucx", f"{names} on {devices}", expected, CAPABILITY)
