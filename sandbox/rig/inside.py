# SPDX-License-Identifier: GPL-3.0-or-later
"""The rig's end in the container: one job a line on standard input, one answer a line back.

A job has an ibsim of its own, which lives as long as the job: nothing of one job is left for the
next. Ends with its standard input. Standard library only.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox.fabric.console import ConsoleError, Ibsim

_POLL_SECONDS = 0.01
# What opensm writes when a sweep has ended, or when it has stepped back behind another one.
_STANDBY = "Entering STANDBY state"
_SWEPT = ("SUBNET UP", "Errors during initialization", _STANDBY)
# What ibsim answers to a counter that it has taken.
_SET = "has been set to"

Json = dict[str, Any]


class JobError(Exception):
    """A step that did not do what it should."""


class Manager:
    """An opensm on one HCA."""

    def __init__(self, home: Path, environment: dict[str, str], options: dict[str, str]) -> None:
        home.mkdir()
        self._log = home / "log"
        self._read = 0
        self.standby = False
        config = {**options, "log_file": str(self._log)}
        text = "".join(f"{name} {value}\n" for name, value in config.items())
        (home / "opensm.conf").write_text(text)
        self._child = subprocess.Popen(
            ["opensm", "-F", str(home / "opensm.conf")],
            cwd=home,
            env={**environment, "OSM_TMP_DIR": str(home), "OSM_CACHE_DIR": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def sweep(self) -> None:
        self._child.send_signal(signal.SIGHUP)

    def hold(self, still: bool) -> None:
        """Keep the process from running, or let it go on."""
        self._child.send_signal(signal.SIGSTOP if still else signal.SIGCONT)

    def wait(self, deadline: float) -> None:
        """Return when the log tells the end of a sweep that was not told before."""
        while True:
            text = self._log.read_text(errors="replace") if self._log.exists() else ""
            ends = {word: text.rfind(word) for word in _SWEPT}
            last = max(ends, key=lambda word: ends[word])
            if ends[last] >= self._read:
                self._read = len(text)
                self.standby = last == _STANDBY
                return
            if self._child.poll() is not None:
                raise JobError(f"opensm ended: {_tail(text)}")
            if time.monotonic() > deadline:
                raise JobError(f"opensm did not end its sweep: {_tail(text)}")
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        self.hold(still=False)
        self._child.terminate()
        try:
            self._child.wait(2)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


class Job:
    """One fabric, from its start to its end."""

    def __init__(self, request: Json, work: Path) -> None:
        self._work = work
        self._umad2sim = request["umad2sim"]
        self._deadline = time.monotonic() + request["seconds"]
        self._managers: dict[str, Manager] = {}
        self.answers: dict[str, Json] = {}
        netfile = work / "netfile"
        netfile.write_text(request["netfile"])
        self._ibsim = Ibsim(["ibsim", "-s", *request["limits"], str(netfile)], request["seconds"])

    def step(self, step: Json) -> None:
        """Do one step."""
        getattr(self, f"_{step['do']}")(step)

    def stop(self) -> None:
        for manager in self._managers.values():
            manager.stop()
        self._ibsim.stop()

    def _environment(self, host: str) -> dict[str, str]:
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C",
            "LD_PRELOAD": self._umad2sim,
            "SIM_HOST": host,
        }

    def _console(self, step: Json) -> None:
        """A line for ibsim's console, which says little but what it does not understand."""
        said = self._ibsim.ask(step["line"]).strip()
        if said and _SET not in said:
            raise JobError(f"ibsim: {step['line']}: {said}")

    def _sm(self, step: Json) -> None:
        """Start an opensm on a host, and wait for it."""
        host = step["host"]
        home = self._work / f"opensm-{host}"
        self._managers[host] = Manager(home, self._environment(host), step["options"])
        self._managers[host].wait(self._deadline)

    def _sweep(self, step: Json) -> None:
        """Have every master look at the fabric again."""
        masters = [manager for manager in self._managers.values() if not manager.standby]
        for manager in masters:
            manager.sweep()
        for manager in masters:
            manager.wait(self._deadline)

    def _hold_sm(self, step: Json) -> None:
        """Keep an opensm from answering, or let it answer again."""
        self._managers[step["host"]].hold(step["still"])

    def _sweep1(self, step: Json) -> None:
        self._managers[step["host"]].sweep()

    def _end_sm(self, step: Json) -> None:
        self._managers.pop(step["host"]).stop()

    def _pause(self, step: Json) -> None:
        time.sleep(step["seconds"])

    def _run(self, step: Json) -> None:
        """Run a program as a client of ibsim on one host."""
        began = time.monotonic()
        try:
            done = subprocess.run(
                step["argv"],
                cwd=self._work,
                env=self._environment(step["host"]),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=max(0.1, self._deadline - began),
            )
        except subprocess.TimeoutExpired:
            raise JobError(f"{' '.join(step['argv'])}: no end in time") from None
        self.answers[step["name"]] = {
            "rc": done.returncode,
            "stdout": done.stdout.decode(errors="replace"),
            "stderr": done.stderr.decode(errors="replace"),
            "seconds": time.monotonic() - began,
        }


def _tail(text: str) -> str:
    return " | ".join(text.strip().splitlines()[-40:]) or "it said nothing"


@contextmanager
def _job(request: Json) -> Iterator[Job]:
    with tempfile.TemporaryDirectory(prefix="rig-") as work:
        job = Job(request, Path(work))
        try:
            yield job
        finally:
            job.stop()


def carry_out(request: Json) -> Json:
    """Return the outputs by name, or why there are none."""
    try:
        with _job(request) as job:
            for step in request["steps"]:
                job.step(step)
            return {"answers": job.answers}
    except (JobError, ConsoleError, OSError) as exc:
        return {"error": str(exc)}


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(carry_out(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
