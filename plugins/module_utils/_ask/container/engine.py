# SPDX-License-Identifier: GPL-3.0-or-later
"""The container engines of a host: which one is there, and how each is told to run something.

docker, podman and nerdctl understand the same words; ctr, which comes with containerd, has its own.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Callable, Sequence

from ..._ground.command import Output, Unavailable, find_program, run_program
from ..._ground.text import last_word
from ..._parse._container_desired import CONTAINERD, DOCKER, HOST, PODMAN

# Seconds: a question to the engine, loading a small image, fetching a large one.
_ASK, LOAD, PULL = 20.0, 120.0, 900.0
# An ibready image and its containers, apart from what Kubernetes and others have.
_NAMESPACE = "ibready"
# Where containerd keeps what somebody else fetched: by ctr and nerdctl, and for Kubernetes.
_NAMESPACES = ("default", "k8s.io")
_CTR = "ctr"
_PROGRAMS = ((DOCKER, "docker"), (PODMAN, "podman"), (CONTAINERD, "nerdctl"), (CONTAINERD, _CTR))
_NAMES = {program: name for name, program in _PROGRAMS}
# What serves the last program that could ask it, and what brings that program.
_SERVICES = {"docker": ("dockerd", "docker-cli"), _CTR: ("containerd", "containerd.io")}


@dataclass(frozen=True)
class Job:
    """One container: what runs in it, as whom, with what of the host. ``mounts``: files, read-only
    and at their own path; ``gpus``: the engine's own word for all GPUs is wanted."""

    image: str
    name: str
    user: int
    network: str = HOST
    devices: tuple[str, ...] = ()
    mounts: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    gpus: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Engine:
    """``program``: absolute path. ``namespace``: containerd's, "" for the others."""

    name: str
    program: str
    version: str
    namespace: str = ""

    @property
    def by_ctr(self) -> bool:
        """Whether ctr is all there is to ask containerd with."""
        return self.program.rpartition("/")[2] == _CTR

    def run(self, *words: str, timeout: float = _ASK) -> Output:
        """One command of the engine; Unavailable where it does not end in time."""
        return run_program(self.name, [self.program, *self._space, *words], timeout)

    def has(self, image: str) -> bool:
        """Whether the image is on this host; Unavailable where the engine does not say."""
        if self.by_ctr:
            done = self.run("images", "list", "--quiet", f"name=={image}")
            if done.rc:
                raise Unavailable(self.name, last_word(done.stdout, done.stderr))
            return image in done.stdout.split()
        return self.run("image", "inspect", image).rc == 0

    def load(self, archive: str) -> Output:
        """Take an image out of a file that `docker save` might have written."""
        words = ("images", "import") if self.by_ctr else ("load", "--input")
        return self.run(*words, archive, timeout=LOAD)

    def pull(self, image: str) -> Output:
        """Fetch an image from where its name leads."""
        words = ("images", "pull") if self.by_ctr else ("pull",)
        return self.run(*words, image, timeout=PULL)

    def forget(self, image: str) -> None:
        """Remove an image's name, and with its last one the image."""
        words = ("images", "remove") if self.by_ctr else ("rmi", "--force")
        with contextlib.suppress(Unavailable):
            self.run(*words, image)

    def remove(self, name: str) -> None:
        """Remove a container, running or not; nothing where it is gone already."""
        steps: Sequence[tuple[str, ...]] = (("rm", "--force", name),)
        if self.by_ctr:
            steps = (
                ("tasks", "kill", "--signal", "SIGKILL", name),
                ("tasks", "delete", "--force", name),
                ("containers", "delete", name),
                ("snapshots", "remove", name),
            )
        for words in steps:
            with contextlib.suppress(Unavailable):
                self.run(*words)

    def start(self, job: Job, timeout: float) -> Output:
        """Run a container to its end and give what it printed."""
        return self.run(*self._words(job), timeout=timeout)

    def argv(self, job: Job) -> list[str]:
        """The whole command that runs a container to its end, for who starts it elsewhere."""
        return [self.program, *self._space, *self._words(job)]

    def removal(self, name: str) -> list[str]:
        """One command that removes a container, running or not."""
        words = ("tasks", "delete", "--force", name) if self.by_ctr else ("rm", "--force", name)
        return [self.program, *self._space, *words]

    @property
    def _space(self) -> tuple[str, ...]:
        return ("--namespace", self.namespace) if self.namespace else ()

    def _words(self, job: Job) -> list[str]:
        return _ctr(job) if self.by_ctr else _docker(job)


def _docker(job: Job) -> list[str]:
    words = ["run", "--rm", "--pull=never", f"--name={job.name}", f"--user={job.user}:{job.user}"]
    words += [f"--network={job.network}", "--ipc=host", "--cap-add=IPC_LOCK"]
    words += [f"--device={device}" for device in job.devices]
    words += [f"--volume={mount}:{mount}:ro" for mount in job.mounts]
    words += ["--gpus=all"] if job.gpus else []
    entry, *rest = job.words
    return [*words, *job.options, f"--entrypoint={entry}", job.image, *rest]


def _ctr(job: Job) -> list[str]:
    """ctr keeps an image's entrypoint; it has no word for the host's /dev/shm but a mount."""
    words = ["run", "--rm", f"--user={job.user}:{job.user}", "--cap-add=CAP_IPC_LOCK"]
    words += ["--net-host" if job.network == HOST else "--cni"]
    words += ["--mount", "type=bind,src=/dev/shm,dst=/dev/shm,options=rbind:rw"]
    words += [f"--device={device}" for device in job.devices]
    for mount in job.mounts:
        words += ["--mount", f"type=bind,src={mount},dst={mount},options=rbind:ro"]
    return [*words, *job.options, job.image, job.name, *job.words]


def find(wanted: str = "") -> Engine:
    """The engine of this name, or the first that is on the host: docker, podman, containerd.

    Unavailable where none is, or where the one that is there does not answer.
    """
    for name, program in _PROGRAMS:
        if wanted not in ("", name):
            continue
        path = _path(program)
        service, package = _SERVICES.get(program, ("", ""))
        if not path and service and _path(service):
            raise Unusable(name, f"{service} is here without the program {program} ({package})")
        if not path:
            continue
        found = _asked(name, path)
        if wanted in ("", found.name):
            return found
    programs = [program for name, program in _PROGRAMS if wanted in ("", name)]
    why = f"not installed (no {' or '.join(programs)} in PATH)"
    raise NoEngine(wanted or "container engine", why)


def _path(program: str) -> str:
    try:
        return find_program(program)
    except Unavailable as exc:
        if "not installed" in exc.reason:
            return ""
        raise Unusable(_NAMES.get(program, program), exc.reason) from exc


class NoEngine(Unavailable):
    """We looked, and there is none."""


class Unusable(Unavailable):
    """It is there and does not work; ``what``: its name."""


def _asked(name: str, path: str) -> Engine:
    program = path.rpartition("/")[2]
    words = _VERSION.get(program, ("version", "--format", "{{.Server.Version}}"))
    try:
        done = run_program(name, [path, *words], _ASK)
        if program == "docker" and "podman" in run_program(name, [path, "--version"], _ASK).stdout:
            # Podman in docker's clothes: what it does is podman's.
            return _asked(PODMAN, find_program("podman"))
    except Unavailable as exc:
        raise Unusable(name, exc.reason) from exc
    version = _VERSIONS.get(program, str.strip)(done.stdout)
    if done.rc or not version:
        said = last_word(done.stdout, done.stderr) or f"ended with status {done.rc}"
        raise Unusable(name, said)
    return Engine(name, path, version, _NAMESPACE if name == CONTAINERD else "")


def _of_ctr(text: str) -> str:
    """The server's version: the client's comes first."""
    server = text.partition("Server:")[2]
    lines = [line.split(":", 1) for line in server.splitlines() if ":" in line]
    return next((value.strip() for key, value in lines if key.strip() == "Version"), "")


_VERSION: dict[str, tuple[str, ...]] = {
    "podman": ("version", "--format", "{{.Client.Version}}"),
    "nerdctl": ("version", "--format", "{{(index .Server.Components 0).Version}}"),
    _CTR: ("version",),
}
_VERSIONS: dict[str, Callable[[str], str]] = {_CTR: _of_ctr}


def elsewhere(engine: Engine, image: str) -> Engine:
    """Containerd as it has this image: in whichever namespace; the others as they are."""
    if engine.name != CONTAINERD:
        return engine
    for space in _NAMESPACES:
        other = Engine(engine.name, engine.program, engine.version, space)
        if other.has(image):
            return other
    return Engine(engine.name, engine.program, engine.version, _NAMESPACES[0])
