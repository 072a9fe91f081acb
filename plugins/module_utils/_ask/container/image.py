# SPDX-License-Identifier: GPL-3.0-or-later
"""A tiny image of the host's own files: a shell, libibverbs with its providers, ibv_devinfo.

Written as `docker save` writes one, which docker, podman and containerd can all load. Nothing is
fetched. What it proves is the host's packages and the engine; a job's own image has to be named.
"""

from __future__ import annotations

import glob
import hashlib
import io
import json
import os
import re
from typing import TYPE_CHECKING, Iterable

from ..._data.rdma_packages import LIBRARY_FOLDERS
from ..._ground.command import Unavailable, find_program, run_by_name

if TYPE_CHECKING:
    import tarfile

NAME = "localhost/ibready-probe"
LABEL = "made by ibready from this host's own files; not for anything else"
_LIBRARIES = ("libibverbs.so.1", "librdmacm.so.1", "libibverbs/lib*-rdmav*.so")
_FILES = ("/etc/os-release", "/etc/libibverbs.d/*.driver")
SHELL = "/bin/sh"
_PROGRAMS = ("ibv_devinfo",)
_LOADED = re.compile(r"(?:=> )?(/[^ ]{1,400}) \(0x")
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_HOPS = 40
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Tree:
    """Files, links and folders of the host, at the places where the host has them."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.links: dict[str, str] = {}
        self.modes: dict[str, int] = {}

    def add(self, path: str) -> str:
        """Take over a file and every link on the way to it; gives the file's own place."""
        place = "/"
        rest = path.strip("/").split("/")
        hops = 0
        while rest:
            here = os.path.normpath(os.path.join(place, rest.pop(0)))
            if os.path.islink(here):
                hops += 1
                if hops > _HOPS:
                    raise Unavailable(path, "too many links")
                self.links[here] = os.readlink(here)
                target = os.path.normpath(os.path.join(os.path.dirname(here), self.links[here]))
                rest = target.strip("/").split("/") + rest
                place = "/"
            else:
                place = here
        if place not in self.files:
            try:
                with open(place, "rb") as stream:
                    self.files[place] = stream.read()
                self.modes[place] = 0o755 if os.access(place, os.X_OK) else 0o644
            except OSError as exc:
                raise Unavailable(place, (exc.strerror or str(exc)).lower()) from exc
        return place

    def layer(self) -> bytes:
        """One tar of all, the same for the same files."""
        import tarfile  # Most visits make no image.

        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for folder in ("dev", "etc", "proc", "run", "sys", "tmp"):
                archive.addfile(_member(folder, tarfile.DIRTYPE, 0o755))
            for path, text in sorted(self.links.items()):
                link = _member(path, tarfile.SYMTYPE, 0o777)
                link.linkname = text
                archive.addfile(link)
            for path, data in sorted(self.files.items()):
                file = _member(path, tarfile.REGTYPE, self.modes[path])
                file.size = len(data)
                archive.addfile(file, io.BytesIO(data))
        return out.getvalue()


def _member(path: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    import tarfile

    info = tarfile.TarInfo(path.lstrip("/"))
    info.type, info.mode = kind, mode
    return info


def gather(programs: Iterable[str] = _PROGRAMS, libraries: Iterable[str] = ()) -> Tree:
    """Everything that goes in. Unavailable where the host has not even a shell.

    ``libraries``: what the programs load only while they run.
    """
    tree = Tree()
    wanted = [SHELL, *_there(programs)]
    names = (*_LIBRARIES, *libraries)
    for folder in LIBRARY_FOLDERS:
        wanted += [path for name in names for path in sorted(glob.glob(f"{folder}/{name}"))]
    for path in wanted:
        tree.add(path)
        for library in needed(path):
            tree.add(library)
    for pattern in _FILES:
        for path in sorted(glob.glob(pattern)):
            tree.add(path)
    return tree


def _there(programs: Iterable[str]) -> list[str]:
    found = []
    for name in programs:
        try:
            found.append(find_program(name))
        except Unavailable:
            continue
    return found


def needed(path: str) -> list[str]:
    """The libraries that the linker loads for a program or library of this host."""
    done = run_by_name(["ldd", path], 20.0)
    return [] if done.rc else _LOADED.findall(done.stdout)


def write(tree: Tree, path: str, tag: str, machine: str) -> str:
    """Write the archive to ``path``; gives the image's name, which ``tag`` makes its own."""
    layer = tree.layer()
    digest = hashlib.sha256(layer).hexdigest()
    name = f"{NAME}:{digest[:12]}-{tag}"
    config = {
        "architecture": _MACHINES.get(machine, machine),
        "os": "linux",
        "created": "1970-01-01T00:00:00Z",
        "config": {
            "Env": [_PATH],
            "Cmd": ["/bin/sh"],
            "Labels": {"org.opencontainers.image.description": LABEL},
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        "history": [{"created": "1970-01-01T00:00:00Z", "created_by": LABEL}],
    }
    reported = json.dumps(config, sort_keys=True).encode()
    about = f"{hashlib.sha256(reported).hexdigest()}.json"
    manifest = [{"Config": about, "RepoTags": [name], "Layers": [f"{digest}/layer.tar"]}]
    import tarfile

    with tarfile.open(path, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for member, data in (
            (about, reported),
            (f"{digest}/layer.tar", layer),
            ("manifest.json", json.dumps(manifest).encode()),
        ):
            info = _member(member, tarfile.REGTYPE, 0o644)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return name
