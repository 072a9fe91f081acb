# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._agent import pack
from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect
from tests import cases
from tests.gauntlet import render
from tests.gauntlet.nodes.nccl import PEER
from tools import build

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dist") / "ibready.pyz"
    build.build(ROOT, place)
    return place


def test_the_same_sources_give_the_same_bytes(program: Path, tmp_path: Path) -> None:
    # Another process, for one's history must not show.
    script = f"from pathlib import Path; from tools import build; build.build(Path({str(ROOT)!r}), "
    subprocess.run(
        [sys.executable, "-c", f"{script}Path('again.pyz').absolute())"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        check=True,
        timeout=60,
    )
    assert (tmp_path / "again.pyz").read_bytes() == program.read_bytes()


def test_it_holds_what_it_imports_as_it_is_and_nothing_else(program: Path) -> None:
    source = ROOT / "plugins/module_utils"
    with zipfile.ZipFile(program) as archive:
        texts = {name: archive.read(name) for name in archive.namelist() if name.endswith(".py")}
    mine = {name.removeprefix(f"{pack.PACKAGE}/"): text for name, text in texts.items() if pack.PACKAGE in name}
    whole = {name: text for name, text in mine.items() if text}
    assert [name for name, text in whole.items() if text != (source / name).read_bytes()] == []
    assert {f"_parse/{path.name}" for path in (source / "_parse").glob("*.py")} <= set(whole)
    # Neither what roles change nor what Ansible alone needs.
    assert [
        name for name in whole if name.startswith("_act/") or name in ("_ground/compiled.py", "_verify/module.py")
    ] == []


def test_every_module_of_it_can_be_imported(program: Path) -> None:
    with zipfile.ZipFile(program) as archive:
        names = [name[:-3].replace("/", ".") for name in archive.namelist() if name.endswith(".py")]
    modules = [name.removesuffix(".__init__") for name in names if name.startswith(pack.PACKAGE.replace("/", "."))]
    assert len(modules) > 300
    script = "import sys, importlib\nsys.path.insert(0, sys.argv[1])\n"
    script += f"for name in {modules!r}: importlib.import_module(name)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, str(program)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_it_runs_by_itself_without_site_packages(program: Path, tmp_path: Path) -> None:
    assert program.stat().st_mode & stat.S_IXUSR
    copy = tmp_path / "ibready"
    copy.write_bytes(program.read_bytes())
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(copy), "explain", "ib.port.state"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.startswith("## ib.port.state\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ibready"]


def interpreter(version: str) -> str | None:
    """A Python of this version that runs: installed, or kept by pyenv."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}"), *kept.glob(f"{version}.*/bin/python{version}")]
    for python in map(str, filter(None, found)):
        if subprocess.run([python, "-V"], capture_output=True).returncode == 0:
            return python
    return None


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.12", "3.13"] if cases.ALL else ["3.8", "3.13"])
def test_it_runs_under_other_pythons(program: Path, tmp_path: Path, version: str) -> None:
    # Without its bytecode, which is another Python's.
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no python{version} here")
    node = render.node("hgx-h100-8")
    collect.collect(render.render(node), str(tmp_path), "node7", "now", {"nccl": {"peers": [PEER]}, "container": {}})
    (tmp_path / "expect.json").write_text(json.dumps(node.expect))
    given = ["--bundle", str(tmp_path / "node7"), "--expect", str(tmp_path / "expect.json")]
    done = subprocess.run(
        [python, "-W", "error", str(program), "verify", *given], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
