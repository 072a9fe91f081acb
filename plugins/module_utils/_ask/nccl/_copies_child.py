# SPDX-License-Identifier: GPL-3.0-or-later
"""Look for copies of NCCL and for what leads to them; prints what _parse/nccl_copies reads.

Run by its source, as a program that can be ended: a folder may be on a file system that does not
answer. Runs nothing that it finds, stays on local file systems, and stops after some seconds or
folders; says where it could not look. Tells nothing of a folder but what it looks for.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import sys

from ..._ground.regular import NotRegular, open_regular
from ._host_files import Host, is_persons, settings

SECONDS = 8.0
FOLDERS = 40_000
DEPTH = 4
LIBRARY, SOFTWARE, WHEEL, CONDA = "library folder", "software folder", "pip wheel", "conda"
# Where vendors and administrators keep software; users' homes are added.
_TREES = ("/opt", "/usr/local", "/srv")
# Folders of libraries that are looked into without a search.
_FOLDERS = (
    *("/usr/lib/*-linux-gnu", "/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib"),
    "/opt/nvidia/hpc_sdk/*/*/comm_libs/nccl/lib",
    "/opt/nvidia/hpc_sdk/*/*/comm_libs/*/nccl/lib",
)
# Of Python's packages, those that bring a libnccl.
_PACKAGES = ("nvidia/nccl/lib", "nvidia/cu13/lib", "torch/lib", "cupy/.data/lib")
# Names that hold other things, or too many.
_SKIP = frozenset(
    [
        "bin",
        "build",
        "cache",
        "data",
        "datasets",
        "dist",
        "doc",
        "docs",
        "include",
        "lib",
        "lib64",
        "libexec",
        "locale",
        "man",
        "node_modules",
        "pkgs",
        "proc",
        "sbin",
        "share",
        "site-packages",
        "src",
        "target",
        "test",
        "tests",
        "tmp",
    ]
)
_HIDDEN = frozenset(
    [
        ".conda",
        ".local",
        ".mamba",
        ".micromamba",
        ".pyenv",
        ".venv",
        ".venvs",
        ".virtualenv",
        ".virtualenvs",
    ]
)
_NAME = re.compile(r"libnccl\.so(?:\.[0-9]+)*")
_VERSION = re.compile(rb"NCCL version ([0-9.]{3,20})\+cuda([0-9.]{3,9})\0")
# The text is among the constants, ahead of the GPU code.
_HEAD = 48 * 1024 * 1024
_PIECE = 1024 * 1024


class Search:
    """One look at a host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._seen: set[tuple[int, int]] = set()

    def run(self) -> list[tuple[str, ...]]:
        """Every line of the answer."""
        homes = self._host.homes()
        for folder, who in settings(self._host, homes):
            if self._host.local(folder):
                self._folder(folder, who)
        for pattern in _FOLDERS:
            for folder in self._host.matching(pattern):
                self._folder(folder, LIBRARY)
        for prefix in ("/usr", "/usr/local"):
            self._prefix(prefix)
        for tree in dict.fromkeys([*_TREES, *filter(is_persons, homes)]):
            self._tree(tree)
        return self._host.lines

    def _tree(self, top: str) -> None:
        """Everything that looks like a place of libraries, the nearest folders first."""
        if not self._host.local(top):
            return
        try:
            device = os.stat(self._host.at(top)).st_dev
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as exc:
            self._host.unseen(top, exc)
            return
        level = [top]
        for depth in range(DEPTH + 1):
            below: list[str] = []
            for folder in level:
                if self._host.stopped(top):
                    return
                below += self._look(folder, device, deeper=depth < DEPTH)
            level = below

    def _look(self, folder: str, device: int, *, deeper: bool) -> list[str]:
        """The folders below to look into next."""
        below = []
        libraries = False
        try:
            for entry in self._host.entries(folder):
                path = f"{folder}/{entry.name}"
                if _NAME.fullmatch(entry.name):
                    self._copy(path, SOFTWARE)
                elif entry.name in ("lib", "lib64"):
                    libraries = True
                elif deeper and self._wanted(entry, path, device):
                    below.append(path)
        except NotADirectoryError:
            return []
        except OSError as exc:
            self._host.unseen(folder, exc)
        if libraries:
            self._prefix(folder)
        return sorted(below)

    def _wanted(self, entry: os.DirEntry[str], path: str, device: int) -> bool:
        name = entry.name
        if name in _SKIP or (name.startswith(".") and name not in _HIDDEN):
            return False
        # The table of mounts goes first: what does not answer is never touched.
        if self._host.remote_mount(path):
            return self._host.local(path)
        with contextlib.suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                if entry.stat(follow_symlinks=False).st_dev == device:
                    return True
                self._host.unseen(path, "another file system is mounted here")
        return False

    def _prefix(self, prefix: str) -> None:
        """What is installed below a folder with ``lib``: /usr, a conda or virtual environment."""
        conda = os.path.isdir(self._host.at(f"{prefix}/conda-meta"))
        for folder in ("lib", "lib64"):
            self._folder(f"{prefix}/{folder}", CONDA if conda else LIBRARY)
        start = glob.escape(self._host.at(prefix))
        for packages in sorted(glob.glob(f"{start}/lib*/python3*/*-packages")):
            for inside in _PACKAGES:
                self._folder(self._host.told(f"{packages}/{inside}"), WHEEL)

    def _folder(self, folder: str, how: str) -> None:
        try:
            names = [entry.name for entry in self._host.entries(folder) if _NAME.fullmatch(entry.name)]
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as exc:
            self._host.unseen(folder, exc)
            return
        for name in sorted(names):
            self._copy(f"{folder}/{name}", how)

    def _copy(self, path: str, how: str) -> None:
        """Say a library once, whatever its names."""
        host = self._host
        try:
            real = os.path.realpath(host.at(path))
        except OSError as exc:  # its owner changes names meanwhile
            host.unseen(path, exc)
            return
        if not real.startswith(host.root + "/") or not host.local(host.told(real)):
            return
        version = cuda = ""
        try:
            with open(open_regular(real), "rb", buffering=0) as stream:
                reported = os.fstat(stream.fileno())
                if (reported.st_dev, reported.st_ino) in self._seen:
                    return
                self._seen.add((reported.st_dev, reported.st_ino))
                version, cuda = self._version(stream.fileno())
        except (FileNotFoundError, NotRegular):
            return
        except OSError as exc:
            host.unseen(path, exc)
        host.say("copy", path, host.told(real), version, cuda, how)

    def _version(self, fd: int) -> tuple[str, str]:
        left = b""
        for at in range(0, _HEAD, _PIECE):
            piece = os.pread(fd, _PIECE, at)
            match = _VERSION.search(left + piece)
            if match is not None:
                return match[1].decode(), match[2].decode()
            if not piece or self._host.late():
                break
            left = piece[-64:]
        return "", ""


def plain(word: str) -> str:
    """One word of a line: without what parts words and lines, and what cannot be written."""
    word = word.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\0", "")


def main() -> None:
    """Print the lines, and how many there were."""
    lines = Search(Host("/", SECONDS, FOLDERS)).run()
    text = "".join("\t".join(plain(word) for word in line) + "\n" for line in lines)
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.buffer.write(f"{text}end\t{len(lines)}\n".encode())
        sys.stdout.flush()
