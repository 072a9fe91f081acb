# SPDX-License-Identifier: GPL-3.0-or-later
"""dnf as `wanted_files` needs it: a scratch root that has fewer packages than the host."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from typing import Any, Collection, Sequence

from ..._ground import strict
from . import dnf_text, failures
from .dnf import Dnf
from .model import Change, PackageError, Request
from .run import Runner
from .wanted_files import PackageFile

_COPIED = ("etc/yum.repos.d", "etc/dnf", "etc/yum", "var/cache/dnf")
_DATABASES = ("var/lib/rpm", "usr/lib/sysimage/rpm")

# Run by dnf's own Python, which need not be Ansible's: dnf 4 prints no sums.
PROGRAM = r"""
import json, os, sys
import dnf, hawkey

with open(sys.argv[1]) as stream:
    order = json.load(stream)
base = dnf.Base()
conf = base.conf
conf.read()
conf.installroot = order["root"]
conf.substitutions.update_from_etc(order["root"])
conf.reposdir = [order["repos"]]
conf.cachedir = order["cache"]
if order["release"]:
    conf.substitutions["releasever"] = order["release"]
base.read_all_repos()
base.fill_sack(load_system_repo=False)
found, chosen = [], []
for name, version, arch in order["packages"]:
    epoch, colon, rest = version.rpartition(":")
    number, _, release = rest.rpartition("-")
    query = base.sack.query(flags=hawkey.IGNORE_EXCLUDES).filter(
        name=name, epoch=int(epoch or 0), version=number, release=release, arch=arch)
    for package in query:
        kind, digest = package.chksum or (0, b"")
        found.append({
            "name": name, "version": version, "file": os.path.basename(package.location),
            "address": package.remote_location() or "", "size": package.downloadsize,
            "sha256": digest.hex() if kind == hawkey.CHKSUM_SHA256 else "",
        })
        chosen.append(package)
        break
if order["folder"]:
    wanted = set(order["files"])
    chosen = [one for one in chosen if os.path.basename(one.location) in wanted]
    conf.destdir = order["folder"]
    for one in chosen:
        one.repo.pkgdir = order["folder"]
    base.download_packages(chosen)
print("IBREADY" + json.dumps(found))
"""


class DnfFiles(Dnf):
    """``without``: installed packages that do not count as there."""

    def __init__(self, run: Runner, without: Collection[str], host: str = "/", more: Sequence[str] = ()) -> None:
        self._scratch = tempfile.mkdtemp(prefix="ibready-", dir=os.path.join(host, "var/tmp"))
        try:
            _fill(self._scratch, host)
            super().__init__(run, self._scratch, more)
            self._take_away(without)
        except BaseException:
            shutil.rmtree(self._scratch, ignore_errors=True)
            raise
        self._release = [entry[len("--releasever=") :] for entry in more if "--releasever=" in entry]
        self._asked: tuple[Change, ...] = ()

    def _take_away(self, without: Collection[str]) -> None:
        here = [name for name in self.installed() if name in set(without)]
        if not here:
            return
        argv = [*self._rpm, "--erase", "--justdb", "--nodeps", "--noscripts", "--notriggers"]
        done = self._run([*argv, "--allmatches", *sorted(here)])
        if done.rc != 0:
            raise failures.explain(done.stderr, doing="taking packages out of a copy of rpm's list")

    def helpers(self) -> list[str]:
        return [] if dnf_text.LOCK_PLUGIN in self.installed() else [dnf_text.LOCK_PLUGIN]

    def end(self) -> None:
        """Remove all that was made."""
        self.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def listed(self, request: Request) -> list[PackageFile]:
        self._asked = tuple(change for change in self.simulate(request).changes if change.after)
        found = [PackageFile(**entry) for entry in self._program([], "")]
        missing = {entry.name for entry in self._asked} - {file.name for file in found}
        unsummed = [file.name for file in found if not file.sha256]
        if missing or unsummed:
            raise PackageError(
                "checksum",
                f"dnf tells no SHA256 of {', '.join(sorted({*missing, *unsummed}))}",
                "see which repository it is with `dnf repoquery`; it needs an index with SHA256",
            )
        return found

    def bring(self, wanted: Sequence[PackageFile], folder: str) -> None:
        self._program([file.file for file in wanted], folder)

    def _program(self, files: Sequence[str], folder: str) -> list[dict[str, Any]]:
        if self._view is None:
            raise AssertionError("a look comes first")
        home = self._view.home
        order = {
            "root": self.root,
            "repos": os.path.join(home, "repos"),
            "cache": os.path.join(home, "cache"),
            "release": "".join(self._release),
            "packages": [[change.name, change.after, change.arch] for change in self._asked],
            "files": list(files),
            "folder": folder,
        }
        script, given = os.path.join(home, "files.py"), os.path.join(home, "files.json")
        for path, text in ((script, PROGRAM), (given, json.dumps(order))):
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text)
        done = self._run([interpreter("/usr/bin/dnf"), script, given])
        line = next((line for line in done.stdout.splitlines() if line.startswith("IBREADY")), "")
        if done.rc != 0 or not line:
            doing = "downloading the packages" if folder else "listing the package files"
            raise failures.explain(done.stdout, done.stderr, doing=doing)
        found: list[dict[str, Any]] = strict.loads(line[len("IBREADY") :])
        return found


def interpreter(program: str) -> str:
    """The Python that a program is run by, from its first line."""
    with open(program, "rb") as stream:
        words = stream.readline(200).decode("utf-8", "replace").lstrip("#!").split()
    return words[0] if words and words[0].startswith("/usr/") else "/usr/bin/python3"


def _fill(scratch: str, host: str) -> None:
    for place in (*_COPIED, *_DATABASES):
        source = os.path.join(host, place)
        if os.path.isdir(source) and not os.path.islink(source):
            shutil.copytree(
                source,
                os.path.join(scratch, place),
                symlinks=True,
                ignore=shutil.ignore_patterns("packages", "*.pid", ".rpm.lock", "ibready-*"),
            )
    os.makedirs(os.path.join(scratch, "var/tmp"), exist_ok=True)
    os.makedirs(os.path.join(scratch, "usr"), exist_ok=True)
