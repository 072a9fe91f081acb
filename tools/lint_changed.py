# SPDX-License-Identifier: GPL-3.0-or-later
"""Lint what differs from the main branch: `./run lint`. `./run lint all` looks at everything.

Types are looked at as a whole: a change here is an error elsewhere.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Where a change may have begun, the best first.
BRANCHES = ("origin/main", "main")
# What ansible-lint reads; the rest of our YAML is data.
ANSIBLE = ("inventories/", "molecule/", "playbooks/", "roles/", "site.yml", "tests/system/")


def git(*argv: str) -> str | None:
    """Return what git says; None where it says nothing good."""
    done = subprocess.run(["git", *argv], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def changed() -> list[str] | None:
    """The files that differ, new ones as well; None where nobody can tell."""
    bases = (git("merge-base", "HEAD", branch) for branch in BRANCHES)
    base = next((found for found in bases if found), "HEAD").strip()
    differ = git("diff", "--name-only", "--diff-filter=d", "-z", base)
    new = git("ls-files", "--others", "--exclude-standard", "-z")
    if differ is None or new is None:
        return None
    return sorted({name for name in f"{differ}{new}".split("\0") if name and (ROOT / name).is_file()})


def commands(files: Sequence[str]) -> Iterator[list[str]]:
    """The linters to run."""
    python = [name for name in files if name.endswith(".py")]
    yaml = [name for name in files if name.endswith((".yml", ".yaml"))]
    ansible = [name for name in yaml if name.startswith(ANSIBLE)]
    if python:
        yield ["ruff", "check", *python]
        yield ["ruff", "format", "--check", *python]
    yield ["mypy"]
    if yaml:
        yield ["yamllint", "--strict", *yaml]
    if ansible:
        yield ["ansible-lint", *ansible]
    yield [sys.executable, "-m", "tools.generate", "--check"]
    yield [sys.executable, "-m", "tools.budget"]


def main() -> int:
    files = changed()
    if files is None:
        print("lint: git does not tell what changed: use `./run lint all`", file=sys.stderr)
        return 1
    print(f"{len(files)} files differ from the main branch")
    failed = 0
    for argv in commands(files):
        done = subprocess.run(argv, cwd=ROOT, check=False)
        failed += done.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
