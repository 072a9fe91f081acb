# SPDX-License-Identifier: GPL-3.0-or-later
"""`./run build` on a machine that is neither Debian nor Ubuntu: the node program needs Python alone."""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from pathlib import Path

from tests.system.conftest import ROOT, run

# What such a machine has not.
ABSENT = ("apt-get", "dpkg-query", "dpkg-deb", "rpmbuild")
NEEDS = ("run", "requirements.txt", "requirements-test.txt", "galaxy.yml", "LICENSE")


def _programs(folder: Path) -> Path:
    """Every program of this machine but those."""
    folder.mkdir()
    for place in map(Path, os.environ["PATH"].split(os.pathsep)):
        for path in place.iterdir() if place.is_dir() else ():
            if path.name not in ABSENT and not (folder / path.name).is_symlink():
                (folder / path.name).symlink_to(path)
    return folder


def _checkout(top: Path) -> Path:
    """What of a checkout is built from, with a .venv in which all that requirements.txt lists is installed."""
    for name in ("tools", "plugins"):
        shutil.copytree(ROOT / name, top / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in NEEDS:
        shutil.copy(ROOT / name, top / name)
    (top / "collections/ansible_collections/ibready").mkdir(parents=True)
    (top / "collections/ansible_collections/ibready/cluster").symlink_to(top)
    python = top / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    shutil.copy(top / "requirements.txt", top / ".venv/.requirements")
    return top


def test_without_apt_it_builds_the_program_and_the_wheel_and_says_what_is_left_out(tmp_path: Path) -> None:
    path = str(_programs(tmp_path / "bin"))
    top = _checkout(tmp_path / "checkout")
    env = {"PATH": path, "PYTHONPATH": "", "SOURCE_DATE_EPOCH": "1700000000"}
    done = run("./run", "build", cwd=top, env=env)
    assert done.returncode == 0, done.stdout
    built = sorted(path.suffix for path in (top / "dist").iterdir())
    assert built == [".pyz", ".whl"]
    assert zipfile.is_zipfile(top / "dist/ibready.pyz")
    for kind, tool in (("deb", "dpkg-deb"), ("rpm", "rpmbuild")):
        assert f"dist: no {kind}, for {tool} is not here; next: " in done.stdout
