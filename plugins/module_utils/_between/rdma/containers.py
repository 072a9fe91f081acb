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
import tempfile
from dataclasses import asdict, dataclass, field
from typing import Any, Mapping

from ..._ask.container import devices, engine, image
from ..._ask.container.engine import Engine, Job
from ..._data.rdma_tests import HOST, PROGRAMS, ROOT, USER
from ..._ground import state
from ..._ground.bound import Bound
from ..._ground.command import Unavailable
from ..._ground.text import last_word
from ..._ground.unit import Run
from ..._parse._container_desired import Desired
from ..bench import unit as units

FOLDER = "/run/ibready-rdma"
PREFIX = "ibready-rdma-"
SERVE, ASK = "serve", "ask"
# Seconds that a shell may take beside its programs; a container's is started and removed, too.
_OVERHEAD, _IN_CONTAINER = 15, 90
_MOST: Bound = 4 * 1024 * 1024
# In the name of an image that is made here, so that nobody else's is taken for it.
_TAG = "rdma"
_TOOLS = ("ibv_devinfo", "timeout")
# rping ends its threads (pthread_exit), for which glibc loads this one; it aborts without.
_LOADED = ("libgcc_s.so.1",)


@dataclass(frozen=True)
class Place:
    """``where``: of _data/rdma_tests; ``side``: SERVE or ASK. ``engine`` and ``image``: of a
    container, None and "" on the host."""

    where: str
    side: str
    engine: Engine | None = None
    image: str = ""
    wish: Desired = field(default_factory=Desired)

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
                return self._whole(stream.read(_MOST + 1))
        except OSError:
            return ""

    @staticmethod
    def _whole(text: str) -> str:
        """With a last line that says so where it is more than is read."""
        more = f"\nit wrote more than {_MOST:,} characters, and the rest is not read\n"
        return text if len(text) <= _MOST else text[:_MOST].rpartition("\n")[0] + more

    def _limit(self, seconds: int) -> int:
        return seconds + (_OVERHEAD if self.engine is None else _IN_CONTAINER)

    def _write(self, script: str, to: str) -> str:
        """The file that the unit's shell runs."""
        os.makedirs(FOLDER, mode=0o700, exist_ok=True)
        words = self._words(script)
        path = f"{FOLDER}/{self.name}.sh"
        state.write(path, f"exec {' '.join(map(shlex.quote, words))}{to}\n", 0o600)
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


class NoContainers(Exception):
    """No container can be started; ``kind``: "no engine" where none is installed."""

    def __init__(self, why: str, kind: str = "") -> None:
        super().__init__(why)
        self.kind = kind


def ready(wish: Desired, made: Mapping[str, Any]) -> tuple[Engine, str, dict[str, Any]]:
    """The engine, an image that it has, and what is to be remembered so that it can go again.

    ``made``: what was remembered. Raises NoContainers.
    """
    try:
        found = engine.find(wish.engine)
        if wish.image:
            found = engine.elsewhere(found, wish.image)
            if not found.has(wish.image):
                _pull(found, wish)
            return found, wish.image, {"engine": asdict(found), "image": ""}
        name = str(made.get("image") or "")
        if not name or not found.has(name):
            name = _make(found)
        return found, name, {"engine": asdict(found), "image": name}
    except engine.NoEngine as exc:
        raise NoContainers(f"no container engine on this host: {exc}", "no engine") from exc
    except Unavailable as exc:
        raise NoContainers(f"no container can be started: {exc}") from exc


def places(side: str, found: Engine, name: str, wish: Desired) -> dict[str, Place]:
    """A container as root and one as another user, by where."""
    return {where: Place(where, side, found, name, wish) for where in (ROOT, USER)}


def remove(made: Mapping[str, Any], *, image_too: bool) -> None:
    """Remove our containers, running or not, and the image that was made here."""
    if not made.get("engine"):
        return
    found = Engine(**made["engine"])
    for side in (SERVE, ASK):
        for where in (ROOT, USER):
            found.remove(Place(where, side).name)
    if image_too and made.get("image"):
        found.forget(str(made["image"]))


def _pull(found: Engine, wish: Desired) -> None:
    if not wish.pull:
        raise Unavailable(wish.image, "not on this host, and nobody allowed it to be pulled")
    done = found.pull(wish.image)
    if done.rc:
        raise Unavailable(wish.image, f"not pulled: {last_word(done.stdout, done.stderr)}")


def _make(found: Engine) -> str:
    """The tiny image of containerverify, with the programs that move data."""
    tree = image.gather((*_TOOLS, *(program.name for program in PROGRAMS.values())), _LOADED)
    with tempfile.TemporaryDirectory(prefix="ibready-") as folder:
        archive = os.path.join(folder, "image.tar")
        name = image.write(tree, archive, _TAG, os.uname().machine)
        if found.has(name):
            return name
        done = found.load(archive)
    if done.rc or not found.has(name):
        found.forget(name)
        raise Unavailable(name, f"not loaded: {last_word(done.stdout, done.stderr)}")
    return name
