# SPDX-License-Identifier: GPL-3.0-or-later
"""``nvidia-smi nvlink`` and ``nvidia-smi topo -m`` for GPUs that NVSwitches join."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandbox.hardware.board import GPU, Function

_ERRORS = ("Replay Errors", "Recovery Errors", "CRC Errors")
_CAPS = (
    "P2P is",
    "Access to system memory",
    "P2P atomics",
    "System memory atomics",
    "SLI is",
    "Link is",
)
_LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
"""


def links(heads: Sequence[str], spec: Mapping[str, Any], what: str) -> Iterator[str]:
    """``heads``: the line of each GPU; ``what``: status, errors or caps. Every link is up."""
    for head in heads:
        yield head
        for link in range(int(spec["nvlinks"])):
            if what == "status":
                yield f"\t Link {link}: {spec['nvlink_gbps']} GB/s"
            elif what == "errors":
                yield from (f"\t Link {link}: {name}: 0" for name in _ERRORS)
            else:
                yield from (f"\t Link {link}, {name} supported: true" for name in _CAPS)


def topology(gpus: Sequence[Function], nics: Sequence[Function], links_each: int, cpus: int) -> str:
    """The matrix of GPUs and of the HCAs that are RDMA devices now."""
    ends = [*gpus, *nics]
    names = [gpu.name for gpu in gpus] + [f"NIC{at}" for at in range(len(nics))]
    nodes = max((gpu.numa for gpu in gpus), default=0) + 1
    head = [*names, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]
    lines = ["\t\x1b[4m" + "\t".join(head) + "\x1b[0m"]
    for name, entry in zip(names, ends, strict=True):
        cells = [_cell(entry, other, links_each) for other in ends]
        if entry.kind == GPU:
            first, after = entry.numa * cpus // nodes, (entry.numa + 1) * cpus // nodes
            cells += [f"{first}-{after - 1}", f"{entry.numa}\t", "N/A"]
        lines.append("\t".join([name, *cells]))
    legend = "".join(f"  NIC{at}: {nic.name}\n" for at, nic in enumerate(nics))
    return "\n".join(lines) + "\n" + _LEGEND + (f"\nNIC Legend:\n\n{legend}\n" if legend else "")


def _cell(function: Function, other: Function, links_each: int) -> str:
    if function is other:
        return " X "
    if function.kind == other.kind == GPU:
        return f"NV{links_each}"
    if function.path[0] == other.path[0]:
        return "PIX"
    return "NODE" if function.numa == other.numa else "SYS"
