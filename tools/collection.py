# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the collection of this checkout as it lies there, in a copy that nobody writes into meanwhile.

python -m tools.collection FOLDER
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LISTED = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")


def copy(root: Path, place: Path) -> None:
    """Copy what git has of a checkout or would take; what it ignores may change at any time."""
    listed = subprocess.run(_LISTED, cwd=root, stdout=subprocess.PIPE, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        source, target = root / name, place / name
        if source.is_symlink() or source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)


def pack(source: Path, folder: Path) -> Path:
    """The archive of a copy, which is the only one in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("ibready-cluster-*.tar.gz"):
        old.unlink()
    galaxy = str(Path(sys.executable).with_name("ansible-galaxy"))
    words = [galaxy, "collection", "build", "--output-path", str(folder), str(source)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    (built,) = folder.glob("ibready-cluster-*.tar.gz")
    return built


def build(folder: Path) -> Path:
    with tempfile.TemporaryDirectory() as place:
        copy(ROOT, Path(place))
        return pack(Path(place), folder)


if __name__ == "__main__":
    print(build(Path(sys.argv[1]).resolve()))
