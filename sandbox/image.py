# SPDX-License-Identifier: GPL-3.0-or-later
"""The images, built from the host's own package archive and kept by a digest of the recipe."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox import apt, podman
from sandbox.config import REPOSITORY
from sandbox.errors import SandboxError

NODE = "localhost/ibready-node"
NODE_EL = "localhost/ibready-node-el"
FABRIC = "localhost/ibready-fabric"
# Of the benchmarks, which build it upon the node's (tests/perf/fleet_nodes.py).
NODE_PERF = "localhost/ibready-node-perf"
# Of the hosts with real packages (sandbox/real).
REAL = "localhost/ibready-real"
# A node with packages of the distribution on top, by the digest of what installed them.
NODE_PREPARED = "localhost/ibready-node-prepared"
# The nodes of a sandbox as they were when it was saved (sandbox/saved.py); its name and the node's are the tag.
SAVED = "localhost/ibready-saved"
_OURS = (NODE, NODE_EL, NODE_PERF, FABRIC, REAL, NODE_PREPARED, SAVED)

# A freshly installed server, without a single InfiniBand package.
PACKAGES = (
    "ca-certificates",
    "dbus",
    "iproute2",
    "libnl-3-200",
    "libnl-route-3-200",
    "openssh-server",
    "perl",
    "procps",
    "python3",
    "python3-apt",
    "sudo",
    "systemd-sysv",
    "udev",
)
LOCK = REPOSITORY / ".sandbox/images.lock"
_HERE = Path(__file__).parent
_NODE_SETUP = (_HERE / "node/setup.sh", _HERE / "node/ubuntu.sh")
_EL_SETUP = _HERE / "node/el.sh"
_FABRIC_SETUP = _HERE / "fabric/setup.sh"
_CARRIED_OPTIONS = ("Acquire::http::Proxy", "Acquire::https::Proxy", "Acquire::Check-Valid-Until")


@dataclass(frozen=True)
class Recipe:
    """All that an image depends on."""

    distribution: apt.Distribution
    apt_options: tuple[str, ...]

    @property
    def node(self) -> str:
        return f"{NODE}:{self._digest(*_NODE_SETUP)}"

    @property
    def node_el(self) -> str:
        return f"{NODE_EL}:{self._digest(*_NODE_SETUP, _EL_SETUP)}"

    @property
    def fabric(self) -> str:
        return f"{FABRIC}:{self._digest(*_NODE_SETUP, _FABRIC_SETUP)}"

    def node_of(self, system: str) -> str:
        """Return the image of the nodes of an operating system: ubuntu or el."""
        return {"ubuntu": self.node, "el": self.node_el}[system]

    def _digest(self, *scripts: Path) -> str:
        inputs = [repr(self), repr(mmdebstrap_argv(self, ["SETUP"]))]
        inputs += [script.read_text() for script in scripts]
        return hashlib.sha256("\0".join(inputs).encode()).hexdigest()[:16]


def recipe() -> Recipe:
    return Recipe(apt.host(), carried_apt_options())


def carried_apt_options() -> tuple[str, ...]:
    """Ask the host's apt for what others need too to reach the same archive."""
    done = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=False)
    return carried_options(done.stdout)


def carried_options(dump: str) -> tuple[str, ...]:
    """Pick from ``apt-config dump`` what the nodes need too to reach the same archive."""
    found = []
    for line in dump.splitlines():
        name, _, value = line.partition(" ")
        if name in _CARRIED_OPTIONS and value not in ('"";', ""):
            found.append(line.strip())
    return tuple(found)


def mmdebstrap_argv(what: Recipe, setup: list[str]) -> list[str]:
    """Return the command that writes the node's file system as a tar to standard output."""
    source = what.distribution
    argv = [
        "mmdebstrap",
        "--quiet",
        "--variant=minbase",
        f"--include={','.join(PACKAGES)}",
        f"--components={','.join(source.components)}",
        # A node's file system is thrown away: there is nothing to make safe on the disk.
        "--dpkgopt=force-unsafe-io",
        "--dpkgopt=path-exclude=/usr/share/man/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
    ]
    argv += [f"--aptopt={option}" for option in what.apt_options]
    for script in setup:
        argv += [
            f"--customize-hook=upload {shlex.quote(script)} /setup.sh",
            '--customize-hook=chroot "$1" sh /setup.sh',
            '--customize-hook=rm "$1/setup.sh"',
        ]
    return [*argv, source.suite, "-", source.mirror]


def ensure(say: Callable[[str], None], system: str = "ubuntu") -> Recipe:
    """Build what is missing for nodes of a system; return the recipe, which knows the names."""
    what = recipe()
    with alone():
        _ensure(what, say, system)
    return what


def prepared(base: str, script: str, say: Callable[[str], None]) -> str:
    """Return the image of a node on which a shell script has run, with the distribution's archive to be had.

    Made once: it is kept by the digest of the base image's name and of the script.
    """
    digest = hashlib.sha256(f"{base}\0{script}".encode()).hexdigest()[:16]
    tag = f"{NODE_PREPARED}:{digest}"
    with alone():
        if tag not in tags():
            say("building the image of a prepared node (once)")
            _build_upon(base, f"set -e\n{script}\n".encode(), tag)
    return tag


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Wait until no other sandbox builds images: several may come up at once."""
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _ensure(what: Recipe, say: Callable[[str], None], system: str) -> None:
    have = set(tags())
    if what.node not in have:
        say(f"building the node image from {what.distribution.suite} (once, about half a minute)")
        _build_node(what)
    if what.fabric not in have:
        say("building the fabric image")
        _build_upon(what.node, _FABRIC_SETUP.read_bytes(), what.fabric)
    if system == "el" and what.node_el not in have:
        say("building the image of the EL stand-in")
        _build_upon(what.node, _EL_SETUP.read_bytes(), what.node_el)


def tags() -> list[str]:
    """Return the full names of the images of ours that exist."""
    listed = json.loads(podman.text(["images", "--format", "json"]) or "[]") or []
    names = [name for image in listed for name in image.get("Names") or []]
    return [name for name in names if name.rpartition(":")[0] in _OURS]


def remove(names: Iterable[str], say: Callable[[str], None]) -> list[str]:
    """Remove images by name, except those that a container still uses; return the removed."""
    removed = []
    # Those that stand on the node image go before it.
    for name in sorted(names, key=lambda name: (name.startswith(f"{NODE}:"), not name.startswith(SAVED), name)):
        done = podman.run(["rmi", name], check=False)
        if done.returncode == 0:
            removed.append(name)
        else:
            say(f"kept {name}: {done.stderr.decode(errors='replace').strip().splitlines()[-1]}")
    return removed


def _build_node(what: Recipe) -> None:
    with scratch() as folder:
        scripts = [str(shutil.copy(script, folder)) for script in _NODE_SETUP]
        made_from = f"{what.distribution.mirror} {what.distribution.suite}"
        build(mmdebstrap_argv(what, scripts), what.node, folder, made_from)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder for what mmdebstrap reads and writes."""
    with tempfile.TemporaryDirectory(prefix="ibready-image-") as name:
        yield Path(name)


def build(mmdebstrap: Sequence[str], tag: str, folder: Path, made_from: str) -> None:
    """Make an image of what mmdebstrap writes."""
    with tempfile.TemporaryFile() as log:
        command = [*podman.prefix(), *mmdebstrap]
        try:
            maker = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                # It hangs up its whole process group when it fails, and we are in ours.
                start_new_session=True,
                env={**os.environ, "TMPDIR": str(folder)},
            )
        except FileNotFoundError:
            raise SandboxError(f"{command[0]} is not installed: apt install {command[0]}") from None
        try:
            taker = subprocess.run(
                podman.argv("import", "--quiet", "-", tag),
                stdin=maker.stdout,
                capture_output=True,
                check=False,
            )
        except BaseException:
            _stop(maker)
            raise
        finally:
            # Closed first: otherwise mmdebstrap waits for ever for somebody to read its tar.
            if maker.stdout is not None:
                maker.stdout.close()
            status = maker.wait()
        if status != 0:
            podman.run(["rmi", "--force", tag], check=False)
            raise SandboxError(
                f"mmdebstrap failed on {made_from}:\n{_tail(log.fileno())}\n"
                "Check that `apt-get update` works on this host"
            )
        if taker.returncode != 0:
            raise SandboxError(f"podman import: {taker.stderr.decode(errors='replace').strip()}")


def _stop(maker: subprocess.Popen[bytes]) -> None:
    """End mmdebstrap and its children; what it wrote lies in our scratch directory."""
    # Not its own clean-up on SIGTERM: that waits for children that have ended already. One that
    # runs under sudo is not ours to kill: it ends when it finds that nobody reads its output.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(maker.pid, signal.SIGKILL)


def _tail(handle: int, size: int = 1500) -> str:
    end = os.lseek(handle, 0, os.SEEK_END)
    return os.pread(handle, size, max(0, end - size)).decode(errors="replace").strip()


def _build_upon(base: str, setup: bytes, image: str) -> None:
    """Make an image of another one and a script that runs in it."""
    name = f"ibready-image-build-{os.getpid()}"
    try:
        podman.run(
            [
                "run",
                "--interactive",
                f"--name={name}",
                # Resolves names wherever the host does.
                "--network=host",
                *podman.ULIMITS,
                base,
                "/bin/sh",
            ],
            stdin=setup,
            timeout=600,
        )
        podman.run(["commit", "--quiet", name, image])
    finally:
        podman.run(["rm", "--force", "--time", "0", "--ignore", name], check=False)
