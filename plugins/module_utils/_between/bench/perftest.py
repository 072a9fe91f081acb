# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the programs of perftest on this node: servers that take one client each, and questions."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from typing import Any, Callable

from ..._areas.machine import observe as machine
from ..._data.bench import BANDWIDTH, PROGRAMS, WRITE_BW_GPU
from ..._evidence.sources import Evidence, Live
from ..._ground import unit as _unit
from ..._ground.command import Unavailable, find_program
from ..._ground.text import ParseError
from ..._ground.unit import Run
from ..._nccl import near
from ..._parse import perftest
from . import unit

_WHAT = "GPUDirect"
_DEVICES = "/sys/class/infiniband"
NO_GID = -1
# Without it CUDA counts the fastest GPU first, and the number would mean another one.
_ORDER = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
PREFIX = "ibready-perftest-"
# What meeting, registering memory and printing may take beside the measurement itself.
OVERHEAD_S = 15
# A forgotten server must not outlive a working day.
LEASE_MOST = 6 * 3600
SECONDS_MOST = 600
_DEVICE = re.compile(r"\A[A-Za-z0-9_.-]{1,63}\Z")
_HOST = re.compile(r"\A[A-Za-z0-9][A-Za-z0-9_.:-]{0,254}\Z")
# One queue pair alone does not fill a link of 400 Gb/s on every processor.
_BANDWIDTH = ("--report_gbits", "-q", "4", "-s", "1048576")
_LATENCY = ("-n", "1000")
# A server that finds no device, or its port in use, is gone by then.
_FIRST_S = 0.5
# By itself, well or not; else it was ended.
_ENDED = ("success", "exit-code")


def _options(run: Run, path: str, device: str) -> tuple[list[str], dict[str, str]]:
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
    own = [function for function in functions.value if function.address == address]
    gpus = (function for function in functions.value if function.is_gpu and not function.virtual)
    cards = sorted(gpus, key=lambda function: function.address)
    if not own or not cards:
        raise Unavailable(_WHAT, f"no PCI function {address} of {device}, or no GPU")
    distances = [near.distance(own[0], card) for card in cards]
    if not all(distances):
        raise Unavailable(_WHAT, f"which GPU is near {device} cannot be told from the PCI bus")
    return min(range(len(cards)), key=lambda at: near.WORDS.index(distances[at]))


@dataclass(frozen=True)
class End:
    """One end of one measurement: the local RDMA port, which test, and the TCP port to meet at. ``gid_index``: NO_GID
    for the program's own choice. ``traffic_class``: of RoCE packets, 0 for none."""

    device: str
    port: int
    test: str
    tcp_port: int
    gid_index: int = NO_GID
    traffic_class: int = 0

    @property
    def unit(self) -> str:
        return f"{PREFIX}{self.tcp_port}.service"


def end(raw: dict[str, Any]) -> End:
    """Check one; raises ValueError, for its words go into argv and unit names."""
    if not _DEVICE.match(raw["device"]):
        raise ValueError(f"{raw['device']!r} is not an RDMA device name")
    if not 1 <= raw["port"] <= 254:
        raise ValueError(f"port {raw['port']} of {raw['device']} is not between 1 and 254")
    if not 1024 <= raw["tcp_port"] <= 65535:
        raise ValueError(f"TCP port {raw['tcp_port']} is not between 1024 and 65535")
    index, mark = raw.get("gid_index", NO_GID), raw.get("traffic_class", 0)
    if not NO_GID <= index <= 1023 or not 0 <= mark <= 255:
        raise ValueError(f"GID index {index} or traffic class {mark} of {raw['device']} is none")
    return End(raw["device"], raw["port"], raw["test"], raw["tcp_port"], index, mark)


def address(text: str) -> str:
    """Check where the other end is; raises ValueError."""
    if not _HOST.match(text):
        raise ValueError(f"{text!r} is no address of a host")
    return text


def serve(
    run: _unit.Run,
    ends: list[End],
    seconds: int,
    lease: int,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[int, str]:
    """Start a server for each; returns why those that are gone already are, by TCP port."""
    _unit.stop(run, _unit.running(run, PREFIX))
    begun = time.time()
    failed: dict[int, str] = {}
    for end in ends:
        try:
            argv, env = _argv(run, end, seconds)
            unit.start(run, end.unit, argv, lease, env=env)
        except (Unavailable, _unit.UnitError) as exc:
            failed[end.tcp_port] = str(exc)
    sleep(_FIRST_S)
    for end in ends:
        if end.tcp_port not in failed and not _unit.active(run, end.unit):
            failed[end.tcp_port] = complaint(unit.log(run, end.unit, begun), PROGRAMS[end.test])
    return failed


def ask(run: _unit.Run, end: End, server: str, seconds: int) -> dict[str, Any]:
    """Measure against ``server``. ``untested``: why there are no numbers, or ""; ``lost``: for data does not get
    through."""
    limit = limit_of(end.test, seconds)
    name = f"{PREFIX}ask-{end.tcp_port}.service"
    try:
        argv, env = _argv(run, end, seconds)
        ended = unit.wait(run, name, [*argv, server], limit, env=env)
    except (Unavailable, _unit.UnitError) as exc:
        return {"untested": str(exc)}
    try:
        parsed = perftest.parse(ended.stdout)
    except ParseError as exc:
        text = "\n".join((ended.stdout, ended.stderr))
        said = complaint(text, PROGRAMS[end.test], str(exc))
        if ended.result in _ENDED:
            return {"untested": said, "lost": perftest.lost(text)}
        if ended.result == "timeout":
            return {"untested": ended.why(limit)}
        return {"untested": f"{PROGRAMS[end.test]}: it was ended from outside ({ended.result})"}
    if ended.result != "success":
        return {"untested": f"{PROGRAMS[end.test]}: {ended.why(limit)}"}
    return _numbers(end.test, parsed)


def limit_of(test: str, seconds: int) -> int:
    """Seconds after which one measurement is ended."""
    return OVERHEAD_S + (seconds if test in BANDWIDTH else 0)


def complaint(text: str, program: str, otherwise: str = "") -> str:
    """What a program of perftest said of its failure, in one line."""
    said = otherwise
    try:
        perftest.parse(text)
        said = said or "it ended before it was asked"
    except ParseError as exc:
        if exc.line and exc.reason == perftest.NO_TABLE:
            said = exc.line
        said = said or (str(exc) if exc.line else "it ended and said nothing")
    return f"{program}: {said}"


def _argv(run: _unit.Run, end: End, seconds: int) -> tuple[list[str], dict[str, str]]:
    path = find_program(PROGRAMS[end.test])
    argv = [path, "-d", end.device, "-i", str(end.port), "-p", str(end.tcp_port), "-F"]
    argv += ["-x", str(end.gid_index)] if end.gid_index != NO_GID else []
    argv += [f"--tclass={end.traffic_class}"] if end.traffic_class else []
    argv += [*_BANDWIDTH, "-D", str(seconds)] if end.test in BANDWIDTH else [*_LATENCY]
    if end.test != WRITE_BW_GPU:
        return argv, {}
    more, env = _options(run, path, end.device)
    return [*argv, *more], env


def _numbers(test: str, parsed: perftest.Perftest) -> dict[str, Any]:
    if test in BANDWIDTH and parsed.bandwidth:
        return {"untested": "", "gbps": round(parsed.bandwidth[-1].gbps, 3)}
    if test not in BANDWIDTH and parsed.latency:
        entry = parsed.latency[-1]
        return {"untested": "", "usec": entry.typical, "p99_usec": entry.p99}
    return {"untested": f"{PROGRAMS[test]} printed the table of another test"}
