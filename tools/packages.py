# SPDX-License-Identifier: GPL-3.0-or-later
"""The node program for package managers: a deb, an rpm and a wheel in dist/.

    python -m tools.packages

The same sources, date and packaging tools give the same bytes. The date is SOURCE_DATE_EPOCH, or that
of the commit. There is no bytecode in them: nobody knows here which Python a node has.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "collections"))

from ansible_collections.ibready.cluster.plugins.module_utils._agent import pack
from tools import wheel

NAME = "ibready"
SUMMARY = "Is this host ready for RDMA training?"
DESCRIPTION = (
    "Judges one node of a GPU cluster with InfiniBand or RoCE: drivers, GPUs,",
    "NVLink, rails, NCCL's settings. Says what is wrong, by which line of which",
    "tool, and what to do; reads logs and outputs that somebody pasted as well.",
)
PYTHON = "/usr/bin/python3"
# Where no commit tells a date: the first that a zip can hold.
NO_DATE = 315532800
_COPYRIGHT = """\
ibready, from {url}

Copyright: {author}

Free software under the GNU General Public License, version 3 or any later
one (GPL-3.0-or-later). On Debian systems its whole text is in
/usr/share/common-licenses/GPL-3.
"""
_CONTROL = """\
Package: ibready
Version: {version}
Architecture: all
Maintainer: {author}
Installed-Size: {size}
Depends: python3 (>= 3.8)
Section: admin
Priority: optional
Homepage: {url}
Description: {summary}
{description}
"""
# Files are taken as they are. Nothing tells when, where or with which settings of a user it was built.
_SPEC = """\
%global __os_install_post %{{nil}}
%global _build_id_links none
%global _binary_payload w6.gzdio
%global _buildhost localhost
%global use_source_date_epoch_as_buildtime 1
Name: ibready
Version: {version}
Release: 1
Summary: {summary}
License: GPL-3.0-or-later
URL: {url}
BuildArch: noarch
AutoReqProv: no
Requires: python3 >= 3.8
%description
{description}
%install
mkdir -p %{{buildroot}}
cp -a {tree}/. %{{buildroot}}
%files
%defattr(-,root,root)
/usr/bin/ibready
/usr/share/man/man1/ibready.1
/usr/share/bash-completion/completions/ibready
%dir /usr/share/licenses/ibready
%license /usr/share/licenses/ibready/LICENSE
"""


class PackagingError(Exception):
    """A package that could not be built; the message says why, and what to do."""


@dataclasses.dataclass(frozen=True)
class Release:
    """What is built: the version, who and where from by galaxy.yml, and the date of the sources."""

    version: str
    author: str
    url: str
    epoch: int

    @property
    def packaged(self) -> str:
        """The version as dpkg and rpm sort it: a candidate (1.0.0-rc.1) before what it becomes."""
        return self.version.replace("-", "~", 1)


def epoch(root: Path = ROOT) -> int:
    """The date of the sources, in seconds."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None and not (root / ".git").exists():
        return NO_DATE
    told = given if given is not None else run("git", "-C", str(root), "log", "-1", "--format=%ct").strip()
    if not told.isascii() or not told.isdigit():
        raise PackagingError(f"SOURCE_DATE_EPOCH is {told!r}; next: give seconds since 1970, or unset it")
    return int(told)


def release(root: Path = ROOT) -> Release:
    told = yaml.safe_load((root / "galaxy.yml").read_text())
    return Release(str(told["version"]), told["authors"][0], told["repository"], epoch(root))


def run(*argv: str, env: dict[str, str] | None = None) -> str:
    """What a tool prints; its complaint becomes the error."""
    try:
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise PackagingError(f"{argv[0]} is not here; next: apt install dpkg rpm git") from None
    if done.returncode != 0:
        raise PackagingError(f"{argv[0]} ended with {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def _environment(home: str, made: Release) -> dict[str, str]:
    """Nothing of the user's own: neither macros nor language."""
    return {"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": str(made.epoch)}


def tree(top: Path, files: dict[str, bytes], made: Release) -> Path:
    """Lay these files out below ``top``, the same whoever does it and when."""
    for name, data in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755 if name.startswith("usr/bin/") else 0o644)
    for path in [top, *top.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
        os.utime(path, (made.epoch, made.epoch))
    return top


def _common(root: Path) -> dict[str, bytes]:
    sources = pack.sources(str(root / "plugins/module_utils"))
    return {
        "usr/bin/ibready": pack.program(sources, PYTHON, compiled=False),
        "usr/share/man/man1/ibready.1": (root / "tools/ibready.1").read_bytes(),
        "usr/share/bash-completion/completions/ibready": (root / "tools/completion.bash").read_bytes(),
    }


def deb(root: Path, made: Release, dist: Path) -> Path:
    """Write dist/ibready_VERSION_all.deb."""
    words = {**dataclasses.asdict(made), "version": made.packaged, "summary": SUMMARY}
    files = {**_common(root), "usr/share/doc/ibready/copyright": _COPYRIGHT.format(**words).encode()}
    sums = [f"{hashlib.md5(data, usedforsecurity=False).hexdigest()}  {name}" for name, data in sorted(files.items())]
    about = "\n".join(f" {line}" for line in DESCRIPTION)
    control = _CONTROL.format(**words, description=about, size=-(-sum(map(len, files.values())) // 1024))
    files |= {"DEBIAN/control": control.encode(), "DEBIAN/md5sums": "".join(f"{line}\n" for line in sums).encode()}
    path = dist / f"{NAME}_{made.packaged}_all.deb"
    with tempfile.TemporaryDirectory(prefix="ibready-deb-") as home:
        top = tree(Path(home) / "tree", files, made)
        # By one thread: how many there are shows in what xz writes.
        argv = ["dpkg-deb", "--build", "--root-owner-group", "-Zxz", "--threads-max=1", str(top), str(path)]
        run(*argv, env=_environment(home, made))
    return path


def rpm(root: Path, made: Release, dist: Path) -> Path:
    """Write dist/ibready-VERSION-1.noarch.rpm."""
    files = {**_common(root), "usr/share/licenses/ibready/LICENSE": (root / "LICENSE").read_bytes()}
    path = dist / f"{NAME}-{made.packaged}-1.noarch.rpm"
    with tempfile.TemporaryDirectory(prefix="ibready-rpm-") as home:
        words = {**dataclasses.asdict(made), "version": made.packaged, "summary": SUMMARY}
        top = tree(Path(home) / "tree", files, made)
        spec = Path(home) / "ibready.spec"
        spec.write_text(_SPEC.format(**words, description="\n".join(DESCRIPTION), tree=top))
        where = [f"--define=_topdir {home}/rpm", f"--define=_rpmdir {dist}", "--define=_rpmfilename " + path.name]
        run("rpmbuild", "-bb", "--quiet", "--target=noarch", *where, str(spec), env=_environment(home, made))
    return path


def modules(root: Path) -> dict[str, bytes]:
    """What the program is made of, as a package of its own.

    Under the collection's name Ansible would take it for the collection.
    """
    sources = pack.sources(str(root / "plugins/module_utils"))
    place = f"{pack.PACKAGE}/"
    return {f"{NAME}/{name.removeprefix(place)}": data for name, data in sources.items() if name.startswith(place)}


# By the tool that writes it.
_MAKERS = {"dpkg-deb": deb, "rpmbuild": rpm}


def build(root: Path, dist: Path, without: Collection[str] = ()) -> list[Path]:
    """Write all of them but those of the tools ``without``, and remove those of other versions."""
    made = release(root)
    dist.mkdir(parents=True, exist_ok=True)
    about = wheel.About(NAME, made.version, SUMMARY, " ".join(DESCRIPTION), made.author, made.url)
    wheeled = wheel.build(dist, modules(root), about, (root / "LICENSE").read_bytes())
    written = [*(make(root, made, dist) for tool, make in _MAKERS.items() if tool not in without), wheeled]
    for pattern in (f"{NAME}_*_all.deb", f"{NAME}-*-1.noarch.rpm", f"{NAME}-*-py3-none-any.whl"):
        for path in dist.glob(pattern):
            if path not in written:
                path.unlink()
    return written


def main() -> int:
    lacking = [tool for tool in _MAKERS if shutil.which(tool) is None]
    try:
        for path in build(ROOT, ROOT / "dist", lacking):
            print(f"{path.relative_to(ROOT)} sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}")
    except PackagingError as exc:
        print(f"packages: {exc}", file=sys.stderr)
        return 1
    for tool in lacking:
        print(f"dist: no {_MAKERS[tool].__name__}, for {tool} is not here; next: install it where you want one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
