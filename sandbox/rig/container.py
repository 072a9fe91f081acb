# SPDX-License-Identifier: GPL-3.0-or-later
"""The rig's container: an instance of the sandbox's fabric image without a network."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox import image, podman
from sandbox.config import REPOSITORY
from sandbox.errors import SandboxError
from sandbox.parcel import UMAD2SIM
from sandbox.rig.topology import SWITCH, Topology, netfile

_PROGRAMS = "/opt/ibready"
# Without timed sweeps: a job asks for those that it needs.
_OPENSM = {"sweep_on_trap": "FALSE", "sweep_interval": "0", "force_log_flush": "TRUE"}


@dataclass(frozen=True)
class Answer:
    """What a program printed, its exit status and how long it took."""

    rc: int
    stdout: str
    stderr: str
    seconds: float


Step = dict[str, Any]


def console(line: str) -> Step:
    """A line for ibsim's console."""
    return {"do": "console", "line": line}


def sm(host: str, **options: str) -> Step:
    """Start opensm on a host (ibsim's id of its HCA), with options of its configuration file."""
    return {"do": "sm", "host": host, "options": {**_OPENSM, **options}}


def end_sm(host: str) -> Step:
    """End the opensm of a host."""
    return {"do": "end_sm", "host": host}


def hold_sm(host: str, *, still: bool) -> Step:
    """Keep the opensm of a host from answering, or let it answer again."""
    return {"do": "hold_sm", "host": host, "still": still}


def sweep() -> Step:
    """Have every opensm look again."""
    return {"do": "sweep"}


def pause(seconds: float) -> Step:
    """Let time go by."""
    return {"do": "pause", "seconds": seconds}


def run(name: str, host: str, argv: Sequence[str]) -> Step:
    """Run a program on a host; its output is the answer `name`."""
    return {"do": "run", "name": name, "host": host, "argv": list(argv)}


class Rig:
    """One container; one job at a time."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        self._left = b""

    def do(
        self, topology: Topology, steps: Sequence[Step], seconds: float = 20
    ) -> dict[str, Answer]:
        """Start ibsim with a topology, do the steps, end everything; return the answers by name."""
        request = {
            "netfile": netfile(topology),
            "limits": _limits(topology),
            "umad2sim": UMAD2SIM,
            "seconds": seconds,
            "steps": list(steps),
        }
        pipe = self._child.stdin
        if pipe is None:
            raise SandboxError("the rig has no standard input")
        with contextlib.suppress(BrokenPipeError):
            pipe.write(json.dumps(request).encode() + b"\n")
            pipe.flush()
        answer = json.loads(self._line(time.monotonic() + seconds + 10))
        if "error" in answer:
            raise SandboxError(f"the rig of {topology.name}: {answer['error']}")
        return {name: Answer(**told) for name, told in answer["answers"].items()}

    def _line(self, deadline: float) -> bytes:
        pipe = self._child.stdout
        if pipe is None:
            raise SandboxError("the rig has no standard output")
        while b"\n" not in self._left:
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            piece = os.read(pipe.fileno(), 1 << 20) if ready else b""
            if not piece:
                raise SandboxError(
                    "the rig's container has ended" if ready else "the rig does not answer"
                )
            self._left += piece
        line, _, self._left = self._left.partition(b"\n")
        return line


def _limits(topology: Topology) -> list[str]:
    """ibsim's options: room for a fabric larger than it expects, and GUIDs as the fabric says."""
    switches = [node for node in topology.nodes if node.kind == SWITCH]
    ports = sum(node.ports + 1 for node in topology.nodes)
    return ["-I", "-N", str(len(topology.nodes)), "-S", str(len(switches)), "-P", str(ports)]


@contextlib.contextmanager
def rig(say: Callable[[str], None] = print, seconds: int = 900) -> Iterator[Rig]:
    """A container for some jobs; it is gone afterwards, and after `seconds` in any case."""
    recipe = image.ensure(say)
    child = subprocess.Popen(
        podman.argv(
            "run",
            "--rm",
            "--interactive",
            # Whatever runs inside, nobody else can be disturbed.
            "--network=none",
            f"--timeout={seconds}",
            *podman.ULIMITS,
            f"--volume={REPOSITORY / 'sandbox'}:{_PROGRAMS}/sandbox:ro",
            f"--env=PYTHONPATH={_PROGRAMS}",
            recipe.fabric,
            "python3",
            "-m",
            "sandbox.rig.inside",
        ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield Rig(child)
    finally:
        with contextlib.suppress(BrokenPipeError):
            child.communicate(timeout=10)
