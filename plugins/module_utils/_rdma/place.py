# SPDX-License-Identifier: GPL-3.0-or-later
"""Where programs run on this node: on the host, or in a container; each under a unit of its own.

A unit runs one shell, whose words lie in a file: systemd would expand what it takes for variables.
Its RuntimeMaxSec is the node's own, so all ends where the controller dies; a container, which is no
child of the unit, is removed by its name.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shlex
from dataclasses import dataclass, field

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._bench import unit as units
from ansible_collections.ibready.cluster.plugins.module_utils._data.rdma_tests import HOST, ROOT
from ansible_collections.ibready.cluster.plugins.module_utils._probe import devices, image
from ansible_collections.ibready.cluster.plugins.module_utils._probe.engine import Engine, Job
from ansible_collections.ibready.cluster.plugins.module_utils._probe.wish import Wish
from ansible_collections.ibready.cluster.plugins.module_utils._unit import Run

FOLDER = "/run/ibready-rdma"
PREFIX = "ibready-rdma-"
SERVE, ASK = "serve", "ask"
# Seconds that a shell may take beside its programs; a container's is started and removed, too.
_OVERHEAD, _IN_CONTAINER = 15, 90
_MOST = 4 * 1024 * 1024


@dataclass(frozen=True)
class Place:
    """``where``: of _data/rdma_tests; ``side``: SERVE or ASK. ``engine`` and ``image``: of a
    container, None and "" on the host."""

    where: str
    side: str
    engine: Engine | None = None
    image: str = ""
    wish: Wish = field(default_factory=Wish)

    @property
    def name(self) -> str:
        """Of the unit, and of the container."""
        return f"{PREFIX}{self.side}-{self.where}"

    @property
    def unit(self) -> str:
        return f"{self.name}.service"

    @property
    def output(self) -> str:
        """Where a serving shell writes."""
        return f"{FOLDER}/{self.name}.out"

    def wait(self, run: Run, script: str, seconds: int) -> units.Ended:
        """Run the script to its end; raises Unavailable or UnitError."""
        path = self._write(script, "")
        return units.wait(run, self.unit, _shell(path), self._limit(seconds), more=self._more())

    def start(self, run: Run, script: str, seconds: int) -> None:
        """Start the script, which writes to ``output``; raises Unavailable or UnitError."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.output)
        path = self._write(script, f" >{shlex.quote(self.output)} 2>&1")
        units.start(run, self.unit, _shell(path), self._limit(seconds), more=self._more())

    def told(self) -> str:
        """What a serving shell has written so far; "" where it has not."""
        try:
            with open(self.output, encoding="utf-8", errors="replace") as stream:
                return stream.read(_MOST)
        except OSError:
            return ""

    def _limit(self, seconds: int) -> int:
        return seconds + (_OVERHEAD if self.engine is None else _IN_CONTAINER)

    def _write(self, script: str, to: str) -> str:
        """The file that the unit's shell runs."""
        os.makedirs(FOLDER, mode=0o700, exist_ok=True)
        words = self._words(script)
        path = f"{FOLDER}/{self.name}.sh"
        _state.write(path, f"exec {' '.join(map(shlex.quote, words))}{to}\n", 0o600)
        return path

    def _words(self, script: str) -> list[str]:
        if self.engine is None:
            return [image.SHELL, "-c", script]
        job = Job(
            image=self.image,
            name=self.name,
            user=0 if self.where == ROOT else self.wish.user,
            network=self.wish.network,
            devices=devices.rdma(self.wish),
            options=self.wish.options,
            words=(image.SHELL, "-c", script),
        )
        return self.engine.argv(job)

    def _more(self) -> list[str]:
        """A container gets what the engine gives, or what a login here has: podman hands it on."""
        if self.engine is None:
            return []
        soft, hard = map(_limit_word, resource.getrlimit(resource.RLIMIT_MEMLOCK))
        removal = " ".join(self.engine.removal(self.name))
        return [f"LimitMEMLOCK={soft}:{hard}", "TimeoutStopSec=30", f"ExecStopPost=-{removal}"]


def on_host(side: str) -> Place:
    """The host itself."""
    return Place(HOST, side)


def _shell(path: str) -> list[str]:
    return [image.SHELL, path]


def _limit_word(value: int) -> str:
    return "infinity" if value == resource.RLIM_INFINITY else str(value)
