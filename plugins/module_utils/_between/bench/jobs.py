# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a job run on this host now? A benchmark would disturb it, and be disturbed by it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from ..._areas.machine import observe as machine
from ..._data.bench import DAEMONS
from ..._evidence.sources import Evidence
from ..._ground.command import Unavailable, find_program
from ..._ground.unit import Run
from ..._rails import users as _rdma_users

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
    jobs = [
        f"{name}[{pid}] has an RDMA device open"
        for pid, name, target in _rdma_users.open_files(root)
        if target.startswith(_VERBS) and name not in DAEMONS
    ]
    jobs += _computing(evidence, root, run)
    blind = "" if os.geteuid() == 0 else "not root: what other users' programs hold cannot be seen"
    return Found(tuple(dict.fromkeys(jobs)), (blind,) if blind else ())


def _computing(evidence: Evidence, root: str, run: Run) -> list[str]:
    """Programs on the GPUs: as the driver tells, else who holds a GPU's device open."""
    bus = machine.pci_functions(evidence)
    if bus.value is not None and not any(function.is_gpu for function in bus.value):
        return []
    try:
        output = run([find_program("nvidia-smi"), *_ASK], 30.0)
    except Unavailable:
        return _holders(root)
    if output.rc != 0:
        return _holders(root)
    found = []
    for line in filter(None, map(str.strip, output.stdout.splitlines())):
        if line.startswith("No running"):  # older releases say so
            continue
        pid, _mark, name = line.partition(",")
        if not pid.strip().isdigit():
            # "[N/A], ...": something computes, and the driver does not say who.
            return _holders(root) or [f"nvidia-smi names a program that computes: {line}"]
        found.append(f"{name.strip() or '?'}[{pid.strip()}] computes on a GPU")
    return found


def _holders(root: str) -> list[str]:
    return [
        f"{name}[{pid}] has a GPU open"
        for pid, name, target in _rdma_users.open_files(root, "/dev/nvidia")
        if _GPU.fullmatch(target) and name not in DAEMONS
    ]
