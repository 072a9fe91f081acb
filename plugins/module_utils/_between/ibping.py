# SPDX-License-Identifier: GPL-3.0-or-later
"""Run ibping on this node: servers as transient systemd units, and single questions.

A server unit carries a lease (RuntimeMaxSec): when the controller dies, is interrupted or loses
the host, the server ends by itself.
"""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Callable, Protocol, Sequence

from .._ground import unit as _unit
from .._ground.command import Output, Unavailable
from .._ground.text import ParseError
from .._ground.unit import UnitError, said
from .._parse import ibping
from .._rails.ib_ports import LAST_UNICAST_LID

# Seconds that one question may take, where nobody says otherwise.
DEADLINE = 15
UNIT_PREFIX = "ibready-ibping-"
_DEVICE = re.compile(r"\A[A-Za-z0-9_.:-]{1,63}\Z")


class Runner(Protocol):
    """Run argv; ``timeout`` and ``interrupt`` in seconds as in command.run_program."""

    def __call__(self, argv: list[str], timeout: float, interrupt: float | None = None) -> Output: ...


@dataclass(frozen=True)
class Endpoint:
    """A local port to serve on or to ask from."""

    device: str
    port: int

    @property
    def unit(self) -> str:
        return f"{UNIT_PREFIX}{self.device}-{self.port}.service"


@dataclass(frozen=True)
class Question:
    """Ask ``lid`` from a local port; ``rail`` and ``server`` only label the answer.

    With ``hostname``, an answer from a host of another name is no answer: the LID has moved.
    """

    endpoint: Endpoint
    lid: int
    rail: str
    server: str
    hostname: str = ""


def endpoint(raw: dict[str, Any]) -> Endpoint:
    """Check one {device, port}; raises ValueError, for the name goes into argv and unit names."""
    if not _DEVICE.match(raw["device"]):
        raise ValueError(f"{raw['device']!r} is not an RDMA device name")
    if not 1 <= raw["port"] <= 254:
        raise ValueError(f"port {raw['port']} of {raw['device']} is not between 1 and 254")
    return Endpoint(raw["device"], raw["port"])


def start(
    run: Runner,
    ibping_path: str,
    ends: list[Endpoint],
    lease: int,
    sleep: Callable[[float], None] = time.sleep,
) -> list[str]:
    """Start a server on every port (a stale one is replaced) and see each of them stay up."""
    stop(run, [end.unit for end in ends])
    for end in ends:
        output = run(_server_argv(ibping_path, end, lease), 30.0)
        if output.rc != 0:
            raise UnitError(f"{end.unit} not started: {said(output)}; next: `systemctl status {end.unit}`")
    sleep(0.3)
    for end in ends:
        if not _unit.active(run, end.unit):
            sleep(1.5)  # Restart= gives a server that died at start one more second.
        if not _unit.active(run, end.unit):
            log = run(["journalctl", "--no-pager", "-n", "5", "-o", "cat", "-u", end.unit], 10.0)
            raise UnitError(
                f"{end.unit} did not stay up: {said(log)}; next: run `ibping -S -C {end.device} "
                f"-P {end.port}` by hand on this host"
            )
    return [end.unit for end in ends]


def running(run: Runner) -> list[str]:
    """The server units of ours that exist on this node, in whatever state."""
    return _unit.running(run, UNIT_PREFIX)


def stop(run: Runner, units: list[str]) -> list[str]:
    """Stop those of ``units`` that exist; returns them. Raises UnitError if one survives."""
    found = [unit for unit in running(run) if unit in units]
    _unit.stop(run, found)
    return found


def ask(
    run: Runner, ibping_path: str, question: Question, count: int, timeout_ms: int, deadline: float
) -> dict[str, Any]:
    """Ping one LID. ``untested`` says why nothing can be said; loss is data, not an error."""
    entry = question.endpoint
    argv = [ibping_path, "-C", entry.device, "-P", str(entry.port), "-c", str(count), "-f"]
    argv += ["-t", str(timeout_ms), "-L", str(question.lid)]
    answer: dict[str, Any] = {"rail": question.rail, "server": question.server, "untested": ""}
    try:
        output = run(argv, deadline + 5, deadline)
    except Unavailable as exc:
        return {**answer, "untested": f"ibping from {entry.device}: {exc.reason}"}
    try:
        parsed = ibping.parse(output.stdout)
    except ParseError as exc:
        return {**answer, "untested": f"ibping from {entry.device}: {said(output) or exc}"}
    doubt = _doubt(output, parsed, question, count, deadline)
    if doubt:
        return {**answer, "untested": f"ibping from {entry.device}: {doubt}"}
    return {
        **answer,
        "sent": parsed.sent,
        "received": parsed.received,
        "rtt_avg": parsed.rtt_ms.avg if parsed.rtt_ms and parsed.received else None,
        "rtt_max": parsed.rtt_ms.max if parsed.rtt_ms and parsed.received else None,
    }


def ask_all(
    ask_one: Callable[[Question], dict[str, Any]], questions: Sequence[Question], at_once: int
) -> list[dict[str, Any]]:
    """The answers in the questions' order; up to ``at_once`` ports ask at a time.

    A port asks its questions one after the other.
    """
    if at_once == 1:
        return [ask_one(question) for question in questions]
    ports: dict[Endpoint, list[int]] = {}
    for number, question in enumerate(questions):
        ports.setdefault(question.endpoint, []).append(number)
    answers: dict[int, dict[str, Any]] = {}

    def ask_from(numbers: list[int]) -> None:
        answers.update({number: ask_one(questions[number]) for number in numbers})

    with ThreadPoolExecutor(max_workers=at_once) as pool:
        # A list, so that whatever one of them raises is raised here.
        list(pool.map(ask_from, ports.values()))
    return [answers[number] for number in range(len(questions))]


def _doubt(output: Output, parsed: ibping.Ibping, question: Question, count: int, deadline: float) -> str:
    """Why these statistics do not answer this question; "" where they do."""
    if output.rc != 0:
        return f"it ended with status {output.rc}: {said(output)}"
    if parsed.target_path != f"Lid {question.lid}":
        return f"it pinged {parsed.target_path!r} instead of LID {question.lid}"
    name = parsed.target_host.split(".")[0]
    if question.hostname and parsed.received and name != question.hostname.split(".")[0]:
        return f"LID {question.lid} was answered by {name or 'a host without a name'}"
    if parsed.sent < count and parsed.received == parsed.sent:
        return f"it sent only {parsed.sent} of {count} pings in {deadline:g} s"
    return ""


def _server_argv(ibping_path: str, endpoint: Endpoint, lease: int) -> list[str]:
    return [
        "systemd-run",
        f"--unit={endpoint.unit}",
        "--collect",
        "--quiet",
        f"--description=ibready: ibping server on {endpoint.device} port {endpoint.port}",
        f"--property=RuntimeMaxSec={lease}",
        # Restart on a crash and on ibping's own error exit, never when the lease has run out.
        "--property=Restart=on-abort",
        "--property=RestartForceExitStatus=255",
        "--property=RestartSec=1",
        "--property=TimeoutStopSec=5",
        ibping_path,
        "-S",
        "-C",
        endpoint.device,
        "-P",
        str(endpoint.port),
    ]


def parse_questions(raw: list[dict[str, Any]]) -> tuple[Question, ...]:
    """Check the module's ``questions``; raises ValueError naming the bad one."""
    result = []
    for entry in raw:
        if not 1 <= entry["lid"] <= LAST_UNICAST_LID:
            raise ValueError(f"LID {entry['lid']} is not a unicast LID (1 to {LAST_UNICAST_LID})")
        hostname = entry.get("hostname", "")
        result.append(Question(endpoint(entry), entry["lid"], entry["rail"], entry["server"], hostname))
    return tuple(result)
