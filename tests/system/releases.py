# SPDX-License-Identifier: GPL-3.0-or-later
"""An environment for each release line of ansible-core, with the built collection installed in it."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.system.conftest import ROOT, run

LINES: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load((ROOT / "tests/system/ansible-core.yml").read_text())
TESTED = list(LINES["tested"])
_CACHE = ROOT / ".cache/ansible-core"
# Where version managers keep what may not be on PATH.
_KEPT = (".pyenv/versions/*/bin", ".local/share/uv/python/*/bin", ".local/share/mise/installs/python/*/bin")
_PYTHONS = ("python3.12", "python3.13", "python3.14", "python3.11")
_VERSION = "import sys, venv, ensurepip; print(*sys.version_info[:2], sep='.')"


@dataclass(frozen=True)
class Installed:
    """One release of ansible-core (the folder of its programs), and the collection as a user installs it."""

    programs: Path
    collections: Path

    def run(self, folder: Path, program: str, *argv: str) -> subprocess.CompletedProcess[str]:
        env = {"ANSIBLE_COLLECTIONS_PATH": str(self.collections), "ANSIBLE_INJECT_FACT_VARS": "False"}
        return run(str(self.programs / program), *argv, cwd=folder, env={**env, "PWD": str(folder)})


def install(line: str, archive: Path, folder: Path) -> Installed:
    """The collection under the release of a line; skips the test where no Python runs that one."""
    row = LINES["tested"].get(line) or LINES["refused"][line]
    programs = _environment(line, row["packages"], _python(line, row["python"])) / "bin"
    done = run(
        *(str(programs / "ansible-galaxy"), "collection", "install", "--offline", str(archive)),
        *("-p", str(folder)),
        cwd=archive.parent,
        env={"ANSIBLE_COLLECTIONS_PATH": str(folder)},
    )
    assert done.returncode == 0, done.stdout
    return Installed(programs, folder)


@cache
def _python(line: str, least: str) -> str:
    for path in _pythons():
        # A version manager's on PATH may lead nowhere.
        done = subprocess.run([path, "-c", _VERSION], capture_output=True, text=True, check=False)
        if done.returncode == 0 and _parts(done.stdout) >= _parts(least):
            return path
    pytest.skip(
        f"ansible-core {line} needs Python {least} or later with venv: none is on PATH or kept by pyenv, uv or mise"
    )


def _pythons() -> Iterator[str]:
    yield sys.executable
    for name in _PYTHONS:
        if found := shutil.which(name):
            yield found
        for folder in _KEPT:
            yield from map(str, sorted(Path.home().glob(f"{folder}/{name}")))


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.strip().split(".")))


def _environment(line: str, packages: dict[str, str], python: str) -> Path:
    """A virtual environment with these packages and what requirements.txt pins besides, made once."""
    pins = (ROOT / "requirements.txt").read_text()
    for name, version in packages.items():
        pins = re.sub(rf"(?m)^{name}==.*$", f"{name}=={version}", pins)
    digest = hashlib.sha256(f"{python}\n{pins}".encode()).hexdigest()[:12]
    home = _CACHE / f"{line}-{digest}"
    # Written last.
    file = home / "requirements.txt"
    if not file.exists():
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        (home / "pins.txt").write_text(pins)
        pip = [str(home / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for argv in ([python, "-m", "venv", str(home)], [*pip, "-r", str(home / "pins.txt")]):
            done = run(*argv, cwd=home)
            assert done.returncode == 0, done.stdout
        (home / "pins.txt").rename(file)
    return home


def recap(text: str) -> dict[str, str]:
    """What the last lines of a playbook tell of each host."""
    found = re.findall(r"(?m)^(\S+) +: (ok=.*?) *$", text.partition("PLAY RECAP")[2])
    return {host: " ".join(counts.split()) for host, counts in found}


def results(report: dict[str, Any]) -> dict[str, Any]:
    """Of each host of a report its verdict, and the result of every check."""
    return {
        name: (host["verdict"], sorted((check["id"], check["subject"], check["result"]) for check in host["checks"]))
        for name, host in report["hosts"].items()
    }
