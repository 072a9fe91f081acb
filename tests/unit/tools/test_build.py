# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools import build

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


def test_it_holds_the_module_utils_as_they_are(program: Path) -> None:
    source = ROOT / "plugins/module_utils"
    with zipfile.ZipFile(program) as archive:
        for path in source.rglob("*.py"):
            name = path.relative_to(source).as_posix()
            if name not in build._LEFT_OUT:
                assert archive.read(f"{build._PACKAGE}/{name}") == path.read_bytes()


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
