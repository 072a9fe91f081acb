# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of `./run test` in lanes side by side.

    python -m tools.lanes molecule-default+system-nodes lint,unit any fabric,nccl then importer

A lane's steps follow each other, whether the one before passed or not; only a step behind "+" needs that one. After
"any" stand steps for whichever lane is done with its own, and after "then" lanes that begin when all before them have
passed. What a step printed is shown whole when it ends. All failures are told at the end, and what was skipped, with
its reason.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from sandbox import lifecycle, podman, purpose
from sandbox.errors import SandboxError
from sandbox.signals import interrupted

ROOT = Path(__file__).resolve().parent.parent
# What only computes gives way to what nodes wait for.
GIVES_WAY = ("lint", "unit", "fuzz", "nccl")
# How long a step has to clean up after a Ctrl-C.
GRACE = 60.0

# How pytest closes a run, and what it and `./run` say of tests and steps that did not run.
_CLOSING = re.compile(r"((?:\d+ [a-z]+, )*\d+ [a-z]+) in \d+\.\d+s")
_COUNT = re.compile(r"(\d+) (passed|failed|error|skipped)")
_SKIPPED = re.compile(r"(?<![^\s\"'])(?:SKIPPED \[(\d+)\] (\S+?:\d+):|==> skipped:) ([^\n\"\x1b]*)")

# What a step prints is read here.
_PLAIN = {"NO_COLOR": "1"}

Argv = Callable[[str], list[str]]
Say = Callable[[str], None]


def of_run(step: str) -> list[str]:
    """Return the command of a step."""
    nice = ["nice", "-n", "10"] if step in GIVES_WAY else []
    return [*nice, str(ROOT / "run"), "test", step]


def say(text: str) -> None:
    # In one piece, for two lanes speak.
    print(f"{text}\n", end="", flush=True)


@dataclass(frozen=True)
class Done:
    """A step that has ended: what it took, and what it cost of the processors, but for containers."""

    step: str
    status: int
    wall: float
    cpu: float
    text: str = ""

    def __str__(self) -> str:
        return f"{self.step:<16} {self.wall:6.0f} s, {self.cpu:5.0f} s of a processor"


def counted(done: Sequence[Done]) -> str:
    """Return how many tests passed, failed and were skipped, as pytest counted them in the steps' outputs."""
    counts = dict.fromkeys(("passed", "failed", "skipped"), 0)
    for step in done:
        for closing in _CLOSING.findall(step.text):
            for number, word in _COUNT.findall(closing):
                counts["failed" if word == "error" else word] += int(number)
    return ", ".join(f"{number} {word}" for word, number in counts.items())


def skipped(done: Sequence[Done]) -> list[str]:
    """Return what the steps said that they left out: how many tests by file and line, and the first reason."""
    numbers: dict[str, int] = {}
    reasons: dict[str, str] = {}
    for number, place, why in (found for step in done for found in _SKIPPED.findall(step.text)):
        place = place or why.strip()
        numbers[place] = numbers.get(place, 0) + int(number or 0)
        reasons.setdefault(place, why.strip())
    return [f"{number} of {place}: {reasons[place]}" if number else place for place, number in numbers.items()]


@dataclass
class Stage:
    """``lanes``: each one's own steps; ``shared``: those that the first lane takes that is done with its own."""

    lanes: list[list[str]] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)

    @property
    def steps(self) -> list[str]:
        return [step for lane in (*self.lanes, self.shared) for chain in lane for step in chain.split("+")]


class Lanes:
    """Lanes at work; an interruption stops them all."""

    def __init__(self, argv: Argv = of_run, tell: Say = say, grace: float = GRACE) -> None:
        self._argv = argv
        self._tell = tell
        self._grace = grace
        self._lock = threading.Lock()
        self._stopped = False
        self._running: dict[int, str] = {}
        self.done: list[Done] = []

    @property
    def failed(self) -> list[Done]:
        return [one for one in self.done if one.status != 0]

    def run(self, stage: Stage) -> None:
        """Return when all have ended."""
        shared = deque(stage.shared)
        with ThreadPoolExecutor(len(stage.lanes)) as pool:
            jobs = [pool.submit(self._lane, steps, shared) for steps in stage.lanes]
            try:
                for job in jobs:
                    job.result()
            except BaseException:
                self.stop()
                raise

    def missing(self, steps: Sequence[str]) -> list[str]:
        """Which of the steps never began, since one that they need failed or all was stopped."""
        ended = {one.step for one in self.done}
        return [step for step in steps if step not in ended]

    def stop(self) -> None:
        """Interrupt what runs, as a Ctrl-C does, and kill what does not end by that."""
        with self._lock:
            self._stopped = True
            groups = list(self._running)
        _signal(groups, signal.SIGINT)
        deadline = time.monotonic() + self._grace
        while self._running and time.monotonic() < deadline:
            time.sleep(0.1)
        _signal(list(self._running), signal.SIGKILL)

    def _lane(self, steps: Sequence[str], shared: deque[str]) -> None:
        mine = deque(steps)
        while mine or shared:
            try:
                chain = (mine or shared).popleft()
            except IndexError:  # The other lane took the last.
                break
            for step in chain.split("+"):
                if not self._step(step):
                    break

    def _step(self, step: str) -> bool:
        """Whether the next may follow."""
        with tempfile.TemporaryFile() as output:
            begun = time.monotonic()
            with self._lock:
                if self._stopped:
                    return False
                # A group, and no session: `nice` counts among processes of a session alone.
                child = subprocess.Popen(
                    self._argv(step),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    process_group=0,
                    env={**os.environ, **_PLAIN},
                )
                self._running[child.pid] = step
            self._tell(f"==> {step}: begins")
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            wall = time.monotonic() - begun
            output.seek(0)
            text = output.read().decode(errors="replace")
            done = Done(step, child.returncode, wall, used.ru_utime + used.ru_stime, text)
            with self._lock:
                del self._running[child.pid]
                self.done.append(done)
                self._tell(self._told(done))
        return done.status == 0

    def _told(self, done: Done) -> str:
        if done.status == 0:
            how = "passed"
        elif self._stopped:
            how = "was stopped"
        else:
            how = f"FAILED with status {done.status}"
        return f"\n==> {done.step}: {how} after {done.wall:.0f} s\n{done.text.rstrip()}"


def _signal(groups: Sequence[int], number: signal.Signals) -> None:
    for group in groups:
        # Of one that runs under sudo its own parent passes the signal on.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def take_away(tell: Say) -> None:
    """Remove what this run's steps left of their sandboxes; nobody else's."""
    ours = purpose.asked()
    for box in lifecycle.made_here():
        try:
            if ours and podman.made_for(box) == {ours}:
                lifecycle.down(box, tell)
        except SandboxError as exc:
            tell(f"{box.name}: {exc}")


def stages(words: Sequence[str]) -> list[Stage]:
    """Read the lanes of each stage."""
    found = [Stage()]
    before = ""
    for word in words:
        if word == "then":
            found.append(Stage())
        elif before == "any":
            found[-1].shared = word.split(",")
        elif word != "any":
            found[-1].lanes.append(word.split(","))
        before = word
    return found


def main(words: Sequence[str]) -> int:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, interrupted)
    begun = time.monotonic()
    lanes = Lanes()
    stopped = ""
    try:
        for stage in stages(words):
            if not lanes.failed:
                lanes.run(stage)
    except SandboxError as exc:
        stopped = str(exc)
    say(f"\n==> {time.monotonic() - begun:.0f} s in all")
    for done in lanes.done:
        say(f"    {done}")
    never = lanes.missing([step for stage in stages(words) for step in stage.steps])
    if never:
        say(f"\n==> never began: {', '.join(never)}")
    left = skipped(lanes.done)
    if left:
        say("\n==> left out:")
    for line in left:
        say(f"    {line}")
    say(f"\n{counted(lanes.done)}")
    # Steps that passed may leave nodes to each other.
    take_away(say)
    if not lanes.failed and not stopped:
        return 0
    why = stopped or "; ".join(f"status {done.status} while: {done.step}" for done in lanes.failed)
    print(f"\nrun: {why}; the lines of each such step say what failed", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
