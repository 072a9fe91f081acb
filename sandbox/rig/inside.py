# SPDX-License-Identifier: GPL-3.0-or-later
"""The rig's end in the container: one order a line on standard input, one answer a line back.

``start`` makes a fabric with an ibsim of its own, the others act on it, ``stop`` ends it: nothing
of one fabric is left for the next. Ends with its standard input. Standard library only.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox.fabric.console import ConsoleError, Ibsim

_POLL_SECONDS = 0.01
# What opensm writes when a sweep has ended, or when it has stepped back behind another one.
_STANDBY = "Entering STANDBY state"
_SWEPT = ("SUBNET UP", "Errors during initialization", _STANDBY)
# What ibsim answers to a counter or a GUID that it has taken.
_DONE = ("has been set to",)

Json = dict[str, Any]


class OrderError(Exception):
    """An order that did not do what it should."""


class Stuck(OrderError):
    """A program that did not end, which is nobody's doing."""


class Manager:
    """An opensm on one HCA."""

    def __init__(self, home: Path, environment: dict[str, str], options: dict[str, str], files: dict[str, str]) -> None:
        home.mkdir(exist_ok=True)
        self._log = home / "log"
        self._read = len(self.log()) if self._log.exists() else 0
        self.standby = False
        for name, text in files.items():
            (home / name).write_text(text)
        own = {name: str(home / name) for name in files}
        config = {**options, **own, "log_file": str(self._log), "dump_files_dir": str(home)}
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

    def log(self) -> str:
        """All that this opensm and those before it on the same HCA have logged."""
        return self._log.read_text(errors="replace")

    def sweep(self) -> None:
        self._child.send_signal(signal.SIGHUP)

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
                raise OrderError(f"opensm ended: {_tail(text)}")
            if time.monotonic() > deadline:
                raise OrderError(f"opensm did not end its sweep: {_tail(text)}")
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        self._child.terminate()
        try:
            self._child.wait(2)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


class Fabric:
    """One fabric, from its start to its end."""

    def __init__(self, order: Json) -> None:
        self._deadline = time.monotonic() + order["seconds"]
        self._umad2sim = order["umad2sim"]
        self._managers: dict[str, Manager] = {}
        self._scratch = tempfile.TemporaryDirectory(prefix="rig-")
        self._work = Path(self._scratch.name)
        netfile = self._work / "netfile"
        netfile.write_text(order["netfile"])
        self._ibsim = Ibsim(["ibsim", "-s", *order["options"], str(netfile)], order["seconds"])

    def stop(self) -> None:
        """End all of it."""
        for manager in self._managers.values():
            manager.stop()
        self._ibsim.stop()
        self._scratch.cleanup()

    def order(self, order: Json) -> Json:
        """Carry out one order and return its answer."""
        orders: dict[str, Callable[[Json], Json]] = {
            "console": self._console,
            "sm": self._sm,
            "end_sm": self._end_sm,
            "sweep": self._sweep,
            "sweep_sm": self._sweep_sm,
            "pause": self._pause,
            "run": self._run,
            "log": self._log,
        }
        return orders[order["do"]](order)

    def _environment(self, host: str) -> dict[str, str]:
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C",
            "LD_PRELOAD": self._umad2sim,
            "SIM_HOST": host,
        }

    def _console(self, order: Json) -> Json:
        """A line for ibsim's console, which says little but what it does not understand."""
        said = self._ibsim.ask(order["line"]).strip()
        if said and not any(word in said for word in _DONE):
            raise OrderError(f"ibsim: {order['line']}: {said}")
        return {}

    def _sm(self, order: Json) -> Json:
        """Start an opensm on a host, and wait for it."""
        host = order["host"]
        home = self._work / f"opensm-{host}"
        self._managers[host] = Manager(home, self._environment(host), order["options"], order["files"])
        self._managers[host].wait(self._deadline)
        return {}

    def _end_sm(self, order: Json) -> Json:
        self._managers.pop(order["host"]).stop()
        return {}

    def _log(self, order: Json) -> Json:
        return {"log": self._managers[order["host"]].log()}

    def _sweep(self, order: Json) -> Json:
        """Have every master look at the fabric again, and wait until it has."""
        masters = [manager for manager in self._managers.values() if not manager.standby]
        for manager in masters:
            manager.sweep()
        for manager in masters:
            manager.wait(self._deadline)
        return {}

    def _sweep_sm(self, order: Json) -> Json:
        """Have one opensm look at the fabric again; one that meets another master never ends."""
        self._managers[order["host"]].sweep()
        return {}

    def _pause(self, order: Json) -> Json:
        time.sleep(order["seconds"])
        return {}

    def _run(self, order: Json) -> Json:
        """Run a program as a client of ibsim on one host, for at most ``limit`` seconds."""
        begun = time.monotonic()
        try:
            done = subprocess.run(
                order["argv"],
                cwd=self._work,
                env=self._environment(order["host"]),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=max(0.1, min(order["limit"], self._deadline - begun)),
            )
        except subprocess.TimeoutExpired:
            raise Stuck(f"{' '.join(order['argv'])}: no end in time") from None
        return {
            "rc": done.returncode,
            "stdout": done.stdout.decode(errors="replace"),
            "stderr": done.stderr.decode(errors="replace"),
            "seconds": time.monotonic() - begun,
        }


def _tail(text: str) -> str:
    return " | ".join(text.strip().splitlines()[-3:]) or "it said nothing"


def serve() -> None:
    """Carry out one order after the other; every error is an answer."""
    fabric: Fabric | None = None
    try:
        for line in sys.stdin:
            order = json.loads(line)
            try:
                if order["do"] == "start":
                    fabric = Fabric(order)
                    answer: Json = {}
                elif fabric is None:
                    raise OrderError("no fabric was started")
                elif order["do"] == "stop":
                    fabric.stop()
                    fabric, answer = None, {}
                else:
                    answer = fabric.order(order)
            except (OrderError, ConsoleError, OSError) as exc:
                answer = {"error": str(exc), "stuck": isinstance(exc, Stuck)}
            print(json.dumps(answer), flush=True)
    finally:
        if fabric is not None:
            fabric.stop()


if __name__ == "__main__":
    serve()
