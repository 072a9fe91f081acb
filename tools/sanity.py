# SPDX-License-Identifier: GPL-3.0-or-later
"""`ansible-test sanity` of the collection as it is built.

    python -m tools.sanity [TEST...]

Without a word all tests but those in `SLOW`; with the word all, those too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".cache/sanity"
PLACE = HOME / "ansible_collections/ibready/cluster"
# Each reads a thousand files; pylint had not ended after ten minutes, and ruff and mypy read them as well.
SLOW = ("pylint", "import")
# ansible-test fetches pip from a server of its own; Python brings one.
BOOTSTRAP = """import runpy
import sys
sys.argv = ["ensurepip", "--default-pip"]
runpy.run_module("ensurepip", run_name="__main__")
"""


def build() -> None:
    """Lay the built collection out as ansible-test wants it: below ansible_collections, in git."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    galaxy = str(Path(sys.executable).with_name("ansible-galaxy"))
    built = HOME / "built"
    subprocess.run(
        [galaxy, "collection", "build", "--force", "--output-path", str(built), str(ROOT)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(PLACE, filter="data")
    archive.unlink()
    for words in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *words], cwd=PLACE, check=True)


def bootstrap() -> None:
    cache = HOME / ".ansible/test/cache"
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "get_pip_24_2.py").write_text(BOOTSTRAP)


def words(given: Sequence[str]) -> list[str]:
    """The words for ansible-test: which tests."""
    if list(given) == ["all"]:
        return []
    if given:
        return [word for test in given for word in ("--test", test)]
    return [word for test in SLOW for word in ("--skip-test", test)]


def main(given: Sequence[str]) -> int:
    build()
    bootstrap()
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    program = str(Path(sys.executable).with_name("ansible-test"))
    argv = [program, "sanity", "--color", "no", "--python", python, *words(given)]
    return subprocess.run(argv, cwd=PLACE, env={**os.environ, "HOME": str(HOME)}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
