# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the repositories, all but signatures, and keep them by a digest of what they are made of."""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from sandbox import podman
from sandbox.config import REPOSITORY
from sandbox.vendor import apt_repository, catalog, deb, repack, rpm_build
from sandbox.vendor.catalog import HERE, Kind, Repository
from sandbox.vendor.nccl import wheel
from sandbox.vendor.repack import Real

CACHE = REPOSITORY / ".cache/vendor"
# In the node image, where apt knows the distribution's archive.
_FETCH = """\
set -eu
cd "$(mktemp -d)"
apt-get update -qq >&2
for name in $NAMES; do
    apt-cache show "${name}t64" >/dev/null 2>&1 && name="${name}t64"
    apt-get download -qq "$name" >&2
done
tar -cf - *.deb
"""

Say = Callable[[str], None]
Reals = Callable[[], dict[str, Real]]


def install(kind: Kind, image: str, target: Path, say: Say) -> None:
    """Copy the unsigned repositories of a kind to `target`, built if they are not there yet.

    `image` is a node image with apt: the real packages of rdma-core come from its archive.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    made = CACHE / f"{kind}-{digest(kind, image)}"
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.is_dir():
            say(f"building the simulated vendor repositories, {kind} (once)")
            with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
                folder = Path(scratch) / "made"
                folder.mkdir()
                for version in libraries(kind):
                    wheel.library(version, say)
                build(kind, folder, _fetched(kind, image))
                for old in CACHE.glob(f"{kind}-*"):
                    shutil.rmtree(old)
                os.rename(folder, made)
        shutil.copytree(made, target, dirs_exist_ok=True)


def digest(kind: Kind, image: str) -> str:
    """Return a digest of everything that the unsigned repositories depend on."""
    found = hashlib.sha256(f"{kind}\0{image}\0{os.uname().release}".encode())
    for file in sorted(path for path in HERE.rglob("*") if "__pycache__" not in path.parts):
        if file.is_symlink():
            found.update(f"{file.relative_to(HERE)}\0{file.readlink()}\0".encode())
        elif file.is_file():
            mode = file.stat().st_mode & 0o100
            found.update(f"{file.relative_to(HERE)}\0{mode}\0".encode() + file.read_bytes())
    return found.hexdigest()[:16]


def libraries(kind: Kind) -> list[str]:
    """Return the releases of NCCL whose real library some package brings."""
    return sorted(
        {package.nccl for whole in catalog.load(kind) for package in whole.packages if package.nccl},
        key=wheel.number,
    )


def build(kind: Kind, folder: Path, real_debs: Path) -> None:
    """Write every repository of a kind below `folder`; `real_debs` holds what is repacked."""
    reals = repack.read(real_debs)
    inbox = reals["rdma-core"].version.partition("-")[0] if "rdma-core" in reals else "0"
    for repository in catalog.load(kind, catalog.kernel_values(os.uname().release, inbox)):
        target = folder / repository.path
        target.mkdir(parents=True)
        if kind == "deb":
            _apt(repository, target, reals)
        else:
            rpm_build.build(repository, target, reals)


def _apt(repository: Repository, target: Path, reals: dict[str, Real]) -> None:
    paragraphs = []
    for package in repository.packages:
        control, archive = repack.build(package, reals) if package.repack else deb.build(package)
        architecture = repack.fields(control)["Architecture"]
        file = target / deb.file_name(package.name, package.version, architecture)
        file.write_bytes(archive)
        paragraphs.append(apt_repository.paragraph(control, file))
    apt_repository.write_index(target, paragraphs)


def _fetched(kind: Kind, image: str) -> Path:
    """Return the folder with the distribution's packages that are repacked, fetched once."""
    names = repack.wanted(package for repository in catalog.load(kind) for package in repository.packages)
    mark = hashlib.sha256(f"{image}\0{names}".encode()).hexdigest()[:16]
    folder = CACHE / f"real-{mark}"
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            fetched = Path(scratch) / "real"
            fetched.mkdir()
            fetch(image, names, fetched)
            os.rename(fetched, folder)
    return folder


def fetch(image: str, names: tuple[str, ...], folder: Path) -> None:
    """Download the distribution's packages into `folder`, in a container of the node image."""
    done = podman.run(
        [
            "run",
            "--rm",
            # Resolves names wherever the host does.
            "--network=host",
            *podman.ULIMITS,
            f"--env=NAMES={' '.join(names)}",
            image,
            "/bin/sh",
            "-c",
            _FETCH,
        ],
        timeout=300,
    )
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
        # Not by extractall's filter, which Python has since 3.11.4 only: packages lie side by side.
        for member in tar:
            content = tar.extractfile(member)
            if content is not None:
                (folder / Path(member.name).name).write_bytes(content.read())
