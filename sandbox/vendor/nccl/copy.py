# SPDX-License-Identifier: GPL-3.0-or-later
"""A Python environment on a node with an NCCL of its own, as pip lays it down: for tests."""

from __future__ import annotations

import tempfile

from sandbox import parcel, podman
from sandbox.config import Sandbox
from sandbox.vendor.nccl import slim, wheel

_PACKAGES = "lib/python3.12/site-packages"


def files(version: str, place: str) -> dict[str, tuple[str | bytes, int]]:
    """The library first, and by what pip knows it: path to content and mode."""
    name = wheel.pin(version).partition("==")[0]
    folder = f"{place}/{_PACKAGES}"
    about = f"{folder}/{name.replace('-', '_')}-{version}.dist-info"
    metadata = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        "Summary: SIMULATED: the library alone, without its GPU code\n"
    )
    return {
        f"{folder}/nvidia/nccl/lib/libnccl.so.2": (slim.slim(wheel.library(version)), 0o644),
        f"{about}/INSTALLER": ("pip\n", 0o644),
        f"{about}/METADATA": (metadata, 0o644),
    }


def put(box: Sandbox, node: str, version: str, place: str) -> str:
    """Make an environment at ``place`` with a pinned release; return the library's path."""
    brought = files(version, place)
    tar = parcel.pack({path.lstrip("/"): what for path, what in brought.items()})
    # podman 4.3 leaves what it was given to copy in its temporary directory.
    with tempfile.TemporaryDirectory(dir=box.state) as tmpdir:
        podman.run(["cp", "-", f"{box.container(node)}:/"], stdin=tar, tmpdir=tmpdir)
    return next(iter(brought))


def remove(box: Sandbox, node: str, place: str) -> None:
    """Take the environment away, whole."""
    podman.run(["exec", box.container(node), "rm", "-rf", place])
