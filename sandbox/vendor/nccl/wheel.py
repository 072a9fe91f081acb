# SPDX-License-Identifier: GPL-3.0-or-later
"""The real library of a release, from the wheel that requirements/ names with its sum.

Only libnccl.so.2 is kept, below .cache/nccl of the checkout, until `./run clean`. Its licence does
not let us pass it on.
"""

from __future__ import annotations

import contextlib
import fcntl
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from sandbox.config import REPOSITORY
from sandbox.errors import SandboxError

REQUIREMENTS = Path(__file__).parent / "requirements"
KEPT = REPOSITORY / ".cache/nccl"
MACHINE = "x86_64"
_INSIDE = "nvidia/nccl/lib/libnccl.so.2"
# A wheel is 200 to 350 MB.
_SECONDS = 1200
_BROKEN = re.compile(r"connection broken by '(.+)': /")
_OBJECT = re.compile(r"<[^>]*>: ?")
_SCRATCH = "fetching-"

Say = Callable[[str], None]


def versions() -> list[str]:
    """The pinned releases, the oldest first."""
    return sorted((path.stem for path in REQUIREMENTS.glob("*.txt")), key=number)


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def pin(version: str) -> str:
    """How pip calls this release: ``nvidia-nccl-cu13==2.29.7``."""
    file = REQUIREMENTS / f"{version}.txt"
    if not file.is_file():
        raise SandboxError(
            f"NCCL {version}: no wheel is pinned, only those of {', '.join(versions())}: "
            f"add {file.relative_to(REPOSITORY)}"
        )
    return file.read_text().split()[0]


def library(version: str, say: Say = lambda _text: None) -> Path:
    """The library of a release, fetched where it is not here; by pip, as pip is configured."""
    wanted = pin(version)
    place = KEPT / version / "libnccl.so.2"
    if place.is_file():
        return place
    if platform.machine() != MACHINE:
        raise SandboxError(
            f"{wanted}: the pinned wheels are for {MACHINE}, and this machine is "
            f"{platform.machine()}: use one of {MACHINE}"
        )
    with _alone():
        if not place.is_file():
            say(f"fetching {wanted} (some hundred MB, once)")
            with tempfile.TemporaryDirectory(dir=KEPT, prefix=_SCRATCH) as scratch:
                place.parent.mkdir(exist_ok=True)
                _unpacked(_fetched(version, wanted, Path(scratch))).replace(place)
    return place


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Keep others from fetching the same; sweep away what was cut off in the middle."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for old in KEPT.glob(f"{_SCRATCH}*"):
            shutil.rmtree(old)
        yield


def _fetched(version: str, wanted: str, folder: Path) -> Path:
    """The wheel; pip refuses one with another sum."""
    argv = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    argv += ["--disable-pip-version-check", "--progress-bar", "off", "--no-input"]
    argv += ["--only-binary", ":all:", "--require-hashes"]
    argv += ["--requirement", str(REQUIREMENTS / f"{version}.txt"), "--dest", str(folder)]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=_SECONDS, cwd=folder)
    except subprocess.TimeoutExpired:
        raise _refused(wanted, f"pip was not done after {_SECONDS} s") from None
    if done.returncode != 0:
        raise _refused(wanted, _cause(done.stderr) or f"pip: status {done.returncode}")
    (wheel,) = folder.glob("*.whl")
    return wheel


def _cause(said: str) -> str:
    """What pip means: its errors, and why it could not connect, which it only warns of."""
    lines = said.strip().splitlines()
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    broken = [_OBJECT.sub("", found[1]) for found in map(_BROKEN.search, lines) if found]
    return " ".join([*(errors or lines[-1:]), *broken[-1:]])


def _refused(wanted: str, why: str) -> SandboxError:
    return SandboxError(
        f"cannot fetch {wanted}, which holds NVIDIA's library: {why}\n"
        f"Fix what keeps `{sys.executable} -m pip download --no-deps {wanted}` from working here "
        "(pip's own configuration says where packages come from), and run this again: "
        f"what is below {KEPT} by then is not fetched again"
    )


def _unpacked(wheel: Path) -> Path:
    out = wheel.with_name("libnccl.so.2")
    with (
        zipfile.ZipFile(wheel) as archive,
        archive.open(_INSIDE) as inside,
        out.open("wb") as stream,
    ):
        shutil.copyfileobj(inside, stream, 1024 * 1024)
    return out
