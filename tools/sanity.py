# SPDX-License-Identifier: GPL-3.0-or-later
"""`ansible-test sanity` of the collection as it is built.

    python -m tools.sanity [TEST...]

Without a word all tests, but those in `SLOW` over what differs from the main branch alone. With the
word all, and with IBREADY_CASES=all, those too over everything.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools import collection
from tools.lint_changed import changed

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".cache/sanity"
PLACE = HOME / "ansible_collections/ibready/cluster"
# Each reads a thousand files, for more than four minutes of a processor.
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
    shutil.unpack_archive(collection.build(HOME / "built"), PLACE)
    for words in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *words], cwd=PLACE, check=True)


def bootstrap() -> None:
    cache = HOME / ".ansible/test/cache"
    cache.mkdir(parents=True, exist_ok=True)
    for release in ("24_2", "25_2"):  # Of ansible-core 2.19, and of those after it.
        (cache / f"get_pip_{release}.py").write_text(BOOTSTRAP)


def of(names: Sequence[str], option: str = "--test") -> list[str]:
    return [word for name in names for word in (option, name)]


def slow_part(files: Sequence[str] | None) -> list[list[str]]:
    """The words for the slow tests of these files; of everything where nobody can tell which."""
    if files is None:
        return [of(SLOW)]
    python = [name for name in files if name.startswith("plugins/") and name.endswith(".py")]
    return [[*of(SLOW), *python]] if python else []


def runs(given: Sequence[str]) -> list[list[str]]:
    """The words for each run of ansible-test: which tests, and of which files where not of all."""
    if list(given) == ["all"] or (not given and os.environ.get("IBREADY_CASES") == "all"):
        return [[]]
    if given:
        return [of(given)]
    return [of(SLOW, "--skip-test"), *slow_part(changed())]


def main(given: Sequence[str]) -> int:
    if shutil.which("shellcheck") is None:
        print("sanity: ansible-test would skip a test, for shellcheck is missing; next: install it", file=sys.stderr)
        return 1
    build()
    bootstrap()
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    program = str(Path(sys.executable).with_name("ansible-test"))
    failed = 0
    for words in runs(given):
        argv = [program, "sanity", "--color", "no", "--python", python, *words]
        failed += subprocess.run(argv, cwd=PLACE, env={**os.environ, "HOME": str(HOME)}).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
