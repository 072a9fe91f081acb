# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that the agent tells Prometheus: the verdict, what it cost, and what ports, NVLinks and GPUs carry."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import Callable

from .._areas.machine import observe as machine
from .._data.ib_counters import COUNTERS
from .._evidence.sources import Evidence, Missing, Unavailable
from .._ground import check as _model, state
from .._ground.text import last_word
from .._ground.version import VERSION
from .._parse import gpu_use, nvlink_throughput
from . import textfile
from .look import Look
from .textfile import COUNTER, Family

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
FILE = "ibready.prom"
_VERDICTS = (_model.READY, _model.DEGRADED, _model.NOT_READY, _model.UNKNOWN_VERDICT)


class CouldNotLook(Exception):
    """A source that did not tell; the message says why."""


def traffic_families(evidence: Evidence) -> tuple[list[Family], list[str]]:
    """The metrics of every source, and why those that are missing are missing."""
    failed = Family("ibready_could_not_look", "1 if this source could not be read.")
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
            for counter in COUNTERS:
                value = shown.get(counter.name, "hw_counters" if counter.hw else "counters")
                if value is not None:
                    errors.add(value, **labels, counter=counter.name)
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
    for entry in nvlink_throughput.parse(text) if text else ():
        way = "transmit" if entry.direction == "tx" else "receive"
        carried.add(entry.bytes, gpu=str(entry.gpu), link=str(entry.link), direction=way)
    return [carried]


def _gpus(evidence: Evidence) -> list[Family]:
    busy = Family("ibready_gpu_busy_ratio", "Fraction of time in which the GPU ran a kernel.")
    moved = Family("ibready_gpu_memory_busy_ratio", "Fraction of time in which GPU memory was read or written.")
    used = Family("ibready_gpu_memory_used_bytes", "GPU memory in use.")
    total = Family("ibready_gpu_memory_bytes", "Total GPU memory.")
    text = _smi(evidence, "gpu_use")
    for use in gpu_use.parse(text) if text else ():
        for family, value, unit in (
            (busy, use.gpu_percent, 0.01),
            (moved, use.memory_percent, 0.01),
            (used, use.memory_used_mib, _MIB),
            (total, use.memory_total_mib, _MIB),
        ):
            if value is not None:
                family.add(value * unit, gpu=str(use.index))
    return [busy, moved, used, total]


def _smi(evidence: Evidence, name: str) -> str:
    """What nvidia-smi prints; "" on a host without an NVIDIA GPU. Raises CouldNotLook."""
    try:
        done = evidence.run(name)
    except Unavailable as exc:
        functions = machine.pci_functions(evidence)
        if functions.value is None or any(function.is_gpu for function in functions.value):
            raise CouldNotLook(str(exc)) from None
        return ""
    if done.rc != 0:
        said = last_word(done.stdout, done.stderr) or "without a word"
        raise CouldNotLook(f"{name} ended with status {done.rc}: {said}")
    return done.stdout


def of_look(seen: Look) -> list[Family]:
    """The verdict and its checks, when it was given and what it cost."""
    info = Family("ibready_agent_info", "The agent that wrote this file.")
    info.add(1, version=VERSION, **({"simulated": seen.simulated} if seen.simulated else {}))
    verdict = Family("ibready_verdict", "1 for the verdict of the last look.")
    for entry in _VERDICTS:
        verdict.add(int(entry == seen.verdict), verdict=entry)
    checks = Family("ibready_checks", "Number of checks by area and result; waived checks are a result of their own.")
    counts = Counter((check.id.split(".")[0], "waived" if check.waived else check.result) for check in seen.checks)
    for (area, result), count in sorted(counts.items()):
        checks.add(count, area=area, result=result)
    trouble = Family("ibready_trouble", "A check that failed or could not look.")
    for key in sorted({(check.id, check.subject, check.result, check.severity) for check in seen.trouble}):
        trouble.add(1, **dict(zip(("check", "subject", "result", "severity"), key)))
    found = [info, verdict, checks, trouble]
    for name, words, value in (
        ("timestamp_seconds", "When the last look ended, in seconds since 1970.", seen.looked_at),
        ("duration_seconds", "How long the last look took.", seen.seconds),
        ("cpu_seconds", "CPU time of the last look, with the tools it ran.", seen.cpu_seconds),
        ("peak_memory_bytes", "The most memory that a process of it had.", seen.peak_bytes),
    ):
        found.append(Family(f"ibready_look_{name}", words))
        found[-1].add(value)
    return found


def write(directory: str, seen: Look, evidence: Evidence) -> list[str]:
    """Write the file at once; why some sources are missing. Raises OSError, FormatError."""
    if not os.path.isdir(directory):
        raise NotADirectoryError(f"{directory}: no such directory")
    place = os.path.join(directory, FILE)
    if seen.why:
        # What kept it from looking may hang this as well, and the last verdict would stand on.
        state.write(place, textfile.render(of_look(seen)), 0o644)
    carried, why = traffic_families(evidence)
    state.write(place, textfile.render([*of_look(seen), *carried]), 0o644)
    return why
