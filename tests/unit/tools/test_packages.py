# SPDX-License-Identifier: GPL-3.0-or-later
"""The node program as deb, rpm and wheel: each is unpacked or installed, and what comes out runs."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._agent import program
from tools import packages, wheel

ROOT = Path(__file__).resolve().parents[3]
VERSION = yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"]
MADE = packages.Release("1.2.0-rc.1", "somebody", "https://example.com/x", 1700000000)
# As Debian and Ubuntu package rpmbuild; without these nothing here can be tried.
LACKING = [tool for tool in ("dpkg-deb", "rpmbuild", "rpm2cpio", "rpm") if not shutil.which(tool)]
pytestmark = [pytest.mark.skipif(bool(LACKING), reason=f"not here: {', '.join(LACKING)}"), pytest.mark.thorough]


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All packages, beside those of an earlier version and a file of somebody's."""
    place = tmp_path_factory.mktemp("dist")
    for name in (
        "ibready_0.0.9_all.deb",
        "ibready-0.0.9-1.noarch.rpm",
        "ibready-0.0.9-py3-none-any.whl",
        "ibready.pyz",
    ):
        (place / name).write_text("")
    packages.build(ROOT, place)
    return place


def output(*argv: str | Path, **env: str) -> str:
    done = subprocess.run(
        [str(word) for word in argv],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **env},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def runs(*argv: str | Path) -> None:
    """This is the program, whole: it explains a check, and reads what somebody pasted."""
    assert output(*argv, "--version") == f"ibready {VERSION}\n"
    assert output(*argv, "explain", "ib.port.state").startswith("## ib.port.state\n")
    assert json.loads(output(*argv, "parse", "meminfo", "/proc/meminfo"))


def test_there_is_one_of_each_and_nothing_of_earlier_versions(dist: Path) -> None:
    assert sorted(path.name for path in dist.iterdir()) == [
        f"ibready-{VERSION}-1.noarch.rpm",
        f"ibready-{VERSION}-py3-none-any.whl",
        "ibready.pyz",
        f"ibready_{VERSION}_all.deb",
    ]


def test_the_same_sources_give_the_same_bytes(dist: Path, tmp_path: Path) -> None:
    """Later, for another user with rights and macros of their own, below another path."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".rpmmacros").write_text("%_buildhost elsewhere\n%packager somebody\n%_binary_payload w1.gzdio\n")
    script = "from pathlib import Path; from tools import packages; import os; os.umask(0o077); "
    script += f"packages.build(Path({str(ROOT)!r}), Path({str(tmp_path)!r}))"
    where = {"PYTHONPATH": str(ROOT), "HOME": str(home), "TMPDIR": str(home), "TZ": "Asia/Tokyo"}
    output(sys.executable, "-c", script, **where)
    made = [path for path in dist.iterdir() if path.suffix != ".pyz"]
    assert len(made) == 3
    assert [path.name for path in made if path.read_bytes() != (tmp_path / path.name).read_bytes()] == []


def test_a_deb_brings_the_program(dist: Path, tmp_path: Path) -> None:
    (path,) = dist.glob("*.deb")
    output("dpkg-deb", "--raw-extract", path, tmp_path)
    runs(tmp_path / "usr/bin/ibready")
    fields = dict(line.split(": ", 1) for line in output("dpkg-deb", "--field", path).splitlines() if line[0] != " ")
    assert (fields["Version"], fields["Architecture"], fields["Depends"]) == (VERSION, "all", "python3 (>= 3.8)")
    listed = output("dpkg-deb", "--contents", path).splitlines()
    assert {line.split()[1] for line in listed} == {"root/root"}
    assert [line.split()[-1] for line in listed if line[0] == "-"] == [
        "./usr/bin/ibready",
        "./usr/share/bash-completion/completions/ibready",
        "./usr/share/doc/ibready/copyright",
        "./usr/share/man/man1/ibready.1",
    ]
    sums = (tmp_path / "DEBIAN/md5sums").read_text().splitlines()
    files = {name: hashlib.md5((tmp_path / name).read_bytes()).hexdigest() for name in (line[34:] for line in sums)}
    assert [f"{digest}  {name}" for name, digest in files.items()] == sums
    assert len(files) == 4


def test_an_rpm_brings_the_program(dist: Path, tmp_path: Path) -> None:
    (path,) = dist.glob("*.rpm")
    told = output("rpm", "-qp", "--qf", "%{VERSION} %{ARCH} %{BUILDHOST} %{BUILDTIME}", path, HOME=str(tmp_path))
    assert told == f"{VERSION} noarch localhost {packages.epoch()}"
    assert "python3 >= 3.8" in output("rpm", "-qp", "--requires", path, HOME=str(tmp_path)).splitlines()
    listed = output(
        "rpm", "-qp", "--qf", "[%{FILENAMES} %{FILEUSERNAME} %{FILEMODES:perms}\n]", path, HOME=str(tmp_path)
    )
    assert listed.splitlines() == [
        "/usr/bin/ibready root -rwxr-xr-x",
        "/usr/share/bash-completion/completions/ibready root -rw-r--r--",
        "/usr/share/licenses/ibready root drwxr-xr-x",
        "/usr/share/licenses/ibready/LICENSE root -rw-r--r--",
        "/usr/share/man/man1/ibready.1 root -rw-r--r--",
    ]


def test_both_hold_the_same_program_for_the_system_s_python(dist: Path, tmp_path: Path) -> None:
    (deb,), (rpm,) = dist.glob("*.deb"), dist.glob("*.rpm")
    output("dpkg-deb", "--extract", deb, tmp_path / "deb")
    (tmp_path / "rpm.cpio").write_bytes(subprocess.run(["rpm2cpio", str(rpm)], capture_output=True, check=True).stdout)
    brought = (tmp_path / "deb/usr/bin/ibready").read_bytes()
    assert brought.startswith(b"#!/usr/bin/python3\n")
    assert brought in (tmp_path / "rpm.cpio").read_bytes()


def test_a_wheel_brings_the_command(dist: Path, tmp_path: Path) -> None:
    (path,) = dist.glob("*.whl")
    output(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    output(python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", path)
    runs(tmp_path / "venv/bin/ibready")
    # Nothing that Ansible would take for the collection.
    assert not list((tmp_path / "venv").rglob("ansible_collections"))
    output(python, "-m", "pip", "uninstall", "--quiet", "--yes", "--disable-pip-version-check", "ibready")
    assert not list((tmp_path / "venv").rglob("*ibready*"))


def test_a_wheel_lists_its_files(dist: Path) -> None:
    (path,) = dist.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        record = archive.read(names[-1]).decode().splitlines()
        lines = [wheel.line(name, archive.read(name)).strip() for name in names[:-1]]
    assert [*lines, f"{names[-1]},,"] == record
    assert {name.partition("/")[0] for name in names} == {"ibready", f"ibready-{VERSION}.dist-info"}


def test_a_candidate_sorts_before_what_it_becomes(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    path = packages.deb(ROOT, MADE, tmp_path)
    assert path.name == "ibready_1.2.0~rc.1_all.deb"
    older = ["dpkg", "--compare-versions", output("dpkg-deb", "--field", path, "Version").strip(), "lt", "1.2.0"]
    output(*older)
    about = wheel.About("ibready", MADE.version, "", "", "", "")
    assert wheel.build(tmp_path, {}, about, b"").name == "ibready-1.2.0rc1-py3-none-any.whl"


def test_the_date_is_given_or_the_commits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert packages.epoch() == int(output("git", "-C", ROOT, "log", "-1", "--format=%ct"))
    assert packages.epoch(tmp_path) == packages.NO_DATE
    (tmp_path / ".git").mkdir()
    with pytest.raises(packages.PackagingError, match="git ended with 128"):
        packages.epoch(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert packages.epoch() == 1700000000
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(packages.PackagingError, match="give seconds since 1970"):
        packages.epoch()


def test_the_manual_has_every_command() -> None:
    page = (ROOT / "tools/ibready.1").read_text()
    section = page.partition(".SH COMMANDS")[2].partition(".SH EXIT STATUS")[0]
    told = [line.removeprefix(".B ") for line in section.splitlines() if line.startswith(".B ")]
    (commands,) = (action for action in program._parser()._actions if isinstance(action.choices, dict))
    assert sorted(told) == sorted(commands.choices)
