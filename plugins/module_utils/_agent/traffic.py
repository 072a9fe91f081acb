# SPDX-License-Identifier: GPL-3.0-or-later
"""What ports, NVLinks and GPUs carry and do, as metrics.

A source that cannot be read gives no sample at all, and says so in ibready_could_not_look; 0 stands
there only where somebody read 0.
"""

from __future__ import annotations

import re
from typing import Callable

from ansible_collections.ibready.cluster.plugins.module_utils._agent.textfile import (
    COUNTER,
    Family,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.ib_counters import COUNTERS
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Evidence,
    Missing,
    Unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._observe import machine
from ansible_collections.ibready.cluster.plugins.module_utils._parse import (
    gpu_use,
    nvlink_throughput,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import last_word

_BASE = "/sys/class/infiniband"
# Octets divided by four, for the four lanes of a link. Source: the kernel's
# Documentation/ABI/stable/sysfs-class-infiniband, port_xmit_data. Confidence: confirmed.
_OCTETS_A_WORD = 4
_DATA = {"transmit": "port_xmit_data", "receive": "port_rcv_data"}
_PACKETS = {"transmit": "port_xmit_packets", "receive": "port_rcv_packets"}
_WAIT = "port_xmit_wait"
_COUNT = re.compile(r"[0-9]{1,20}")
# What the kernel writes where a port has no such counter.
_NO_COUNT = "N/A"
_MIB = 2**20
_PORT = "of an RDMA port, as its HCA counts it"


class CouldNotLook(Exception):
    """A source that did not tell; the message says why."""


def families(evidence: Evidence) -> tuple[list[Family], list[str]]:
    """The metrics of every source, and why those that are missing are missing."""
    failed = Family("ibready_could_not_look", "Whether this source could not be read.")
    found = [failed]
    why: list[str] = []
    sources: dict[str, Callable[[Evidence], list[Family]]] = {
        "ports": _ports,
        "nvlink": _nvlink,
        "gpus": _gpus,
    }
    for name, read in sources.items():
        try:
            found += read(evidence)
            failed.add(0, source=name)
        except (CouldNotLook, Unavailable, ValueError) as exc:
            failed.add(1, source=name)
            why.append(f"{name}: {exc}")
    return found, why


def _ports(evidence: Evidence) -> list[Family]:
    data = Family("ibready_port_data_bytes_total", f"Data {_PORT}.", COUNTER)
    packets = Family("ibready_port_packets_total", f"Packets {_PORT}.", COUNTER)
    wait = Family(
        "ibready_port_transmit_wait_ticks_total",
        "Ticks in which an RDMA port had data and no credit to send it.",
        COUNTER,
    )
    errors = Family("ibready_port_errors_total", f"Errors {_PORT}.", COUNTER)
    try:
        devices = evidence.list(_BASE)
    except Missing:  # No RDMA driver is loaded; whether one should be is for the checks to say.
        devices = []
    for device in devices:
        for port in evidence.list(f"{_BASE}/{device}/ports"):
            labels = {"device": device, "port": port}
            shown = _Counters(evidence, f"{_BASE}/{device}/ports/{port}")
            for way in _DATA:
                words, count = shown.get(_DATA[way]), shown.get(_PACKETS[way])
                if words is not None:
                    data.add(words * _OCTETS_A_WORD, **labels, direction=way)
                if count is not None:
                    packets.add(count, **labels, direction=way)
            ticks = shown.get(_WAIT)
            if ticks is not None:
                wait.add(ticks, **labels)
            for one in COUNTERS:
                value = shown.get(one.name, "hw_counters" if one.hw else "counters")
                if value is not None:
                    errors.add(value, **labels, counter=one.name)
    return [data, packets, wait, errors]


class _Counters:
    """The counters of one port that its driver shows."""

    def __init__(self, evidence: Evidence, base: str) -> None:
        self._evidence, self._base = evidence, base
        self._names = {home: self._list(home) for home in ("counters", "hw_counters")}

    def _list(self, home: str) -> set[str]:
        try:
            return set(self._evidence.list(f"{self._base}/{home}"))
        except Missing:
            return set()

    def get(self, name: str, home: str = "counters") -> int | None:
        """The value; None where the port has none. Raises CouldNotLook and Unavailable."""
        if name not in self._names[home]:
            return None
        text = self._evidence.read(f"{self._base}/{home}/{name}").strip()
        if text.startswith(_NO_COUNT):
            return None
        if _COUNT.fullmatch(text) is None:
            raise CouldNotLook(f"{self._base}/{home}/{name}: {text[:40]!r} is no number")
        return int(text)


def _nvlink(evidence: Evidence) -> list[Family]:
    carried = Family(
        "ibready_nvlink_data_bytes_total",
        "Data of an NVLink, as its GPU counts it (nvidia-smi nvlink -gt d).",
        COUNTER,
    )
    text = _smi(evidence, "nvlink_throughput")
    for one in nvlink_throughput.parse(text) if text else ():
        way = "transmit" if one.direction == "tx" else "receive"
        carried.add(one.bytes, gpu=str(one.gpu), link=str(one.link), direction=way)
    return [carried]


def _gpus(evidence: Evidence) -> list[Family]:
    busy = Family("ibready_gpu_busy_ratio", "Part of the time in which the GPU ran a kernel.")
    moved = Family("ibready_gpu_memory_busy_ratio", "Part of the time in which memory moved.")
    used = Family("ibready_gpu_memory_used_bytes", "Memory of the GPU that is in use.")
    total = Family("ibready_gpu_memory_bytes", "Memory of the GPU.")
    text = _smi(evidence, "gpu_use")
    for one in gpu_use.parse(text) if text else ():
        for family, value, unit in (
            (busy, one.gpu_percent, 0.01),
            (moved, one.memory_percent, 0.01),
            (used, one.memory_used_mib, _MIB),
            (total, one.memory_total_mib, _MIB),
        ):
            if value is not None:
                family.add(value * unit, gpu=str(one.index))
    return [busy, moved, used, total]


def _smi(evidence: Evidence, name: str) -> str:
    """What nvidia-smi prints; "" on a host without an NVIDIA GPU. Raises CouldNotLook."""
    try:
        done = evidence.run(name)
    except Unavailable as exc:
        functions = machine.pci_functions(evidence)
        if functions.value is None or any(one.is_gpu for one in functions.value):
            raise CouldNotLook(str(exc)) from None
        return ""
    if done.rc != 0:
        said = last_word(done.stdout, done.stderr) or "without a word"
        raise CouldNotLook(f"{name} ended with status {done.rc}: {said}")
    return done.stdout
