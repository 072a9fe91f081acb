# SPDX-License-Identifier: GPL-3.0-or-later
"""How perftest is told to send from the memory of the GPU that is nearest to an HCA."""

from __future__ import annotations

import os

from ansible_collections.ibready.cluster.plugins.module_utils._command import Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence, Live
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import near
from ansible_collections.ibready.cluster.plugins.module_utils._observe import machine
from ansible_collections.ibready.cluster.plugins.module_utils._unit import Run

_WHAT = "GPUDirect"
_DEVICES = "/sys/class/infiniband"
# Without it CUDA counts the fastest GPU first, and the number would mean another one.
_ORDER = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def options(run: Run, path: str, device: str) -> tuple[list[str], dict[str, str]]:
    """Options and environment for ``path``; Unavailable with the reason where there are none."""
    said = run([path, "--help"], 20.0)
    shown = said.stdout + said.stderr
    if "--use_cuda" not in shown:
        raise Unavailable(_WHAT, f"{path} was built without CUDA (--help names no --use_cuda)")
    evidence = Live()
    index = nearest(evidence, device)
    argv = [f"--use_cuda={index}"]
    if not os.path.isdir("/sys/module/nvidia_peermem"):
        if "--use_cuda_dmabuf" not in shown:
            raise Unavailable(_WHAT, f"no nvidia_peermem, and {path} knows no --use_cuda_dmabuf")
        argv.append("--use_cuda_dmabuf")
    return argv, dict(_ORDER)


def nearest(evidence: Evidence, device: str) -> int:
    """The number of the nearest GPU in the order of the PCI bus; raises Unavailable."""
    functions = machine.pci_functions(evidence)
    if functions.value is None:
        raise Unavailable(_WHAT, functions.why)
    address = os.path.basename(evidence.link(f"{_DEVICES}/{device}/device"))
    own = [one for one in functions.value if one.address == address]
    cards = sorted((one for one in functions.value if _card(one)), key=lambda one: one.address)
    if not own or not cards:
        raise Unavailable(_WHAT, f"no PCI function {address} of {device}, or no GPU")
    distances = [near.distance(own[0], one) for one in cards]
    if not all(distances):
        raise Unavailable(_WHAT, f"which GPU is near {device} cannot be told from the PCI bus")
    return min(range(len(cards)), key=lambda at: near.WORDS.index(distances[at]))


def _card(one: PciFunction) -> bool:
    return one.is_gpu and not one.virtual
