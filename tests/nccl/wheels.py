# SPDX-License-Identifier: GPL-3.0-or-later
"""The real library, from the wheels that requirements/ names with their sums; never kept in git.

Only libnccl.so.2 is kept, below .cache/nccl of the checkout, until `./run clean`. Its licence does
not let us pass it on.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = Path(__file__).parent / "requirements"
KEPT = ROOT / ".cache/nccl"
_INSIDE = "nvidia/nccl/lib/libnccl.so.2"
# A wheel is 200 to 400 MB.
_SECONDS = 1200


def versions() -> list[str]:
    """The pinned versions, the oldest first."""
    return sorted((path.stem for path in REQUIREMENTS.glob("*.txt")), key=number)


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def library(version: str) -> Path:
    """The library of this version, downloaded where it is not here; with pip's configuration."""
    place = KEPT / version / "libnccl.so.2"
    if place.exists():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=KEPT) as folder:
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
                *("--no-cache-dir", "--disable-pip-version-check", "--progress-bar", "off"),
                *("--only-binary", ":all:", "--require-hashes"),
                *("--requirement", str(REQUIREMENTS / f"{version}.txt"), "--dest", folder),
            ],
            check=True,
            timeout=_SECONDS,
        )
        (wheel,) = Path(folder).glob("*.whl")
        begun = Path(folder) / "libnccl.so.2"
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(_INSIDE) as inside,
            open(begun, "wb") as stream,
        ):
            shutil.copyfileobj(inside, stream, 1024 * 1024)
        begun.replace(place)
    return place
