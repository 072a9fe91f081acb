# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a job run on this host now? A benchmark would disturb it, and be disturbed by it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ansible_collections.ibready.cluster.plugins.module_utils import _rdma_users
from ansible_collections.ibready.cluster.plugins.module_utils._bench.unit import Run
from ansible_collections.ibready.cluster.plugins.module_utils._command import (
    Unavailable,
    find_program,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.bench import DAEMONS
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._observe import machine
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import last_word

_VERBS = ("/dev/infiniband/uverbs", "/dev/infiniband/rdma_cm")
_GPU = re.compile(r"/dev/nvidia[0-9]{1,4}")
_ASK = ("--query-compute-apps=pid,process_name", "--format=csv,noheader")


@dataclass(frozen=True)
class Found:
    """``jobs``: what runs, a sentence each. ``unknown``: why it may be more than that."""

    jobs: tuple[str, ...]
    unknown: tuple[str, ...]


def look(evidence: Evidence, root: str, run: Run) -> Found:
    """Programs with a verbs device open that are no daemons, and those that compute on a GPU."""
    jobs = []
    for pid, name, target in _rdma_users.open_files(root):
        if target.startswith(_VERBS) and name not in DAEMONS:
            jobs.append(f"{name}[{pid}] has an RDMA device open")
    computing, why = _computing(evidence, root, run)
    return Found(tuple(dict.fromkeys((*jobs, *computing))), (why,) if why else ())


def _computing(evidence: Evidence, root: str, run: Run) -> tuple[list[str], str]:
    """Programs on the GPUs, and why that may not be all."""
    bus = machine.pci_functions(evidence)
    if bus.value is not None and not any(one.is_gpu for one in bus.value):
        return [], ""
    try:
        output = run([find_program("nvidia-smi"), *_ASK], 30.0)
    except Unavailable as exc:
        if "not installed" in exc.reason:
            # Without the driver's tool: who computes holds a GPU's device open.
            return _holders(root), ""
        return [], f"whether a GPU computes cannot be told: {exc}"
    if output.rc != 0:
        said = last_word(output.stdout, output.stderr) or f"status {output.rc}"
        return [], f"whether a GPU computes cannot be told: nvidia-smi: {said}"
    found = []
    for line in output.stdout.splitlines():
        pid, _, name = line.partition(",")
        if pid.strip().isdigit():
            found.append(f"{name.strip() or '?'}[{pid.strip()}] computes on a GPU")
    return found, ""


def _holders(root: str) -> list[str]:
    return [
        f"{name}[{pid}] has a GPU open"
        for pid, name, target in _rdma_users.open_files(root, "/dev/nvidia")
        if _GPU.fullmatch(target) and name not in DAEMONS
    ]
