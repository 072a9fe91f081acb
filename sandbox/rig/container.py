# SPDX-License-Identifier: GPL-3.0-or-later
"""The rig's container: an instance of the sandbox's fabric image without a network."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sandbox import image, podman
from sandbox.config import REPOSITORY
from sandbox.errors import SandboxError
from sandbox.parcel import UMAD2SIM
from sandbox.rig.orders import Order
from sandbox.rig.topology import SWITCH, Topology, netfile

_PROGRAMS = "/opt/ibready"
# How long a container of the image takes to start, at most.
_START_SECONDS = 30


# A program may take as long as its fabric is there.
_NO_LIMIT = 1e6
# What libibmad says when nothing came back for seconds; ibsim answers at once, or tells that it
# does not, whatever is wrong with the fabric.
_LOST = "recv failed: Connection timed out"


class Stuck(SandboxError):
    """The simulated wire failed, not the simulated fabric: ask a new one."""


@dataclass(frozen=True)
class Answer:
    """What a program printed, its exit status and how long it took."""

    rc: int
    stdout: str
    stderr: str
    seconds: float


class Fabric:
    """A running fabric; ended by whoever started it."""

    def __init__(self, rig: Rig, name: str, deadline: float) -> None:
        self._rig = rig
        self._name = name
        self._deadline = deadline

    def do(self, orders: Iterable[Order]) -> None:
        """Carry out some orders, one after the other."""
        for order in orders:
            self._ask(order)

    def run(self, host: str, argv: Sequence[str], limit: float = _NO_LIMIT) -> Answer:
        """Run a program as a client of ibsim on one host (ibsim's id of its HCA).

        Raises Stuck where it did not end within `limit` seconds, or ibsim lost what it was told.
        """
        order = {"do": "run", "host": host, "argv": list(argv), "limit": limit}
        answer = Answer(**self._ask(order))
        if _LOST in answer.stderr:
            raise Stuck(f"the rig, {self._name}: {argv[0]}: {answer.stderr.strip()}")
        return answer

    def log(self, host: str) -> str:
        """What the opensm of a host (ibsim's id of its HCA) has logged."""
        return str(self._ask({"do": "log", "host": host})["log"])

    def _ask(self, order: Order) -> Order:
        try:
            return self._rig.ask(order, self._deadline)
        except SandboxError as exc:
            raise type(exc)(f"the rig, {self._name}, {order['do']}: {exc}") from None


class Rig:
    """One container; one fabric at a time."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        self._left = b""

    @contextlib.contextmanager
    def fabric(self, topology: Topology, seconds: float = 20) -> Iterator[Fabric]:
        """Start ibsim with a topology; all of it ends with the block, `seconds` are for all."""
        deadline = time.monotonic() + seconds
        order = {
            "do": "start",
            "netfile": netfile(topology),
            "options": _options(topology),
            "umad2sim": UMAD2SIM,
            "seconds": seconds,
        }
        self.ask(order, deadline + _START_SECONDS)
        try:
            yield Fabric(self, topology.name, deadline)
        finally:
            self.ask({"do": "stop"}, deadline)

    def ask(self, order: Order, deadline: float) -> Order:
        """Send one order and return its answer."""
        pipe = self._child.stdin
        if pipe is None:
            raise SandboxError("the container has no standard input")
        with contextlib.suppress(BrokenPipeError):
            pipe.write(json.dumps(order).encode() + b"\n")
            pipe.flush()
        # The container keeps to the same limit, and can say what did not end.
        answer: Order = json.loads(self._line(deadline + 10))
        if "error" in answer:
            raise (Stuck if answer["stuck"] else SandboxError)(answer["error"])
        return answer

    def _line(self, deadline: float) -> bytes:
        pipe = self._child.stdout
        if pipe is None:
            raise SandboxError("the container has no standard output")
        pieces = [self._left]
        while b"\n" not in pieces[-1]:
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            piece = os.read(pipe.fileno(), 1 << 20) if ready else b""
            if not piece:
                raise SandboxError("the container has ended" if ready else "no answer")
            pieces.append(piece)
        line, _, self._left = b"".join(pieces).partition(b"\n")
        return line


def _options(topology: Topology) -> list[str]:
    """ibsim's options: room for a fabric larger than it expects, and GUIDs as the fabric says."""
    switches = [node for node in topology.nodes if node.kind == SWITCH]
    ports = sum(node.ports + 1 for node in topology.nodes)
    return ["-I", "-N", str(len(topology.nodes)), "-S", str(len(switches)), "-P", str(ports)]


@contextlib.contextmanager
def rig(say: Callable[[str], None] = print, seconds: int = 900) -> Iterator[Rig]:
    """A container for some fabrics; it is gone afterwards, and after `seconds` in any case."""
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
