# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a launcher that parse its arguments, from the release that requirements/ pins."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = Path(__file__).parent / "requirements"
KEPT = ROOT / ".cache/launchers"
_SECONDS = 300
# The smallest wheel of torch; its Python is that of all.
_MORE = {
    "torch": ("--only-binary=:all:", "--platform=macosx_11_0_arm64", "--python-version=3.11"),
    "accelerate": ("--only-binary=:all:",),
    "oneflow": ("--only-binary=:all:",),
    "deepspeed": ("--no-binary=:all:",),
    "horovod": ("--no-binary=:all:",),
}
FILES = {
    "torch": ("torch/distributed/run.py", "torch/distributed/argparse_util.py"),
    "accelerate": ("accelerate/commands/launch.py", "accelerate/commands/utils.py"),
    "deepspeed": ("deepspeed/launcher/runner.py", "deepspeed/launcher/constants.py"),
    "horovod": ("horovod/runner/launch.py", "horovod/runner/common/util/hosts.py"),
    "oneflow": ("oneflow/distributed/launch.py",),
}


def files(name: str) -> Path:
    """The folder with the package's files, fetched where they are not here."""
    wanted = (REQUIREMENTS / f"{name}.txt").read_text().split()[0]
    place = KEPT / wanted.replace("==", "-")
    if not all((place / one).is_file() for one in FILES[name]):
        with tempfile.TemporaryDirectory() as scratch:
            _unpacked(_fetched(name, Path(scratch)), FILES[name], place)
    return place


def _fetched(name: str, folder: Path) -> Path:
    """The release; pip refuses one with another sum."""
    argv = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    argv += ["--disable-pip-version-check", "--progress-bar=off", "--no-input", "--require-hashes"]
    argv += [*_MORE[name], f"--requirement={REQUIREMENTS / name}.txt", f"--dest={folder}"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=_SECONDS)
    assert done.returncode == 0, f"pip cannot fetch {name}: {done.stderr.strip()}"
    (found,) = folder.iterdir()
    return found


def _unpacked(release: Path, names: tuple[str, ...], place: Path) -> None:
    for name in names:
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_member(release, name))


def _member(release: Path, name: str) -> bytes:
    if release.suffix == ".whl":
        with zipfile.ZipFile(release) as wheel:
            return wheel.read(name)
    with tarfile.open(release) as archive:
        stream = archive.extractfile(f"{release.name.removesuffix('.tar.gz')}/{name}")
        assert stream is not None
        return stream.read()
