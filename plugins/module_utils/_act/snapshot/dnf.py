# SPDX-License-Identifier: GPL-3.0-or-later
"""dnf 4 and rpm, as a snapshot needs them. Holds are a file (versionlock.list), and go with it."""

from __future__ import annotations

import os
from typing import Mapping, Sequence

from ..packages import failures, files
from ..packages.dnf import Dnf
from ..packages.dnf_host import View
from ..packages.model import DNF, Request, Transaction, Wanted
from .files import is_repository
from .model import Package, Packages

_KEY = "gpg-pubkey"
_MANUAL = ["repoquery", "--userinstalled", "--queryformat", "%{name}.%{arch}\\n"]


class _View(View):
    """The host's own repositories, and those of a snapshot in place of ours."""

    def fill_with(self, kept: Mapping[str, bytes]) -> None:
        source = os.path.join(self._root, files.YUM_REPOS.lstrip("/"))
        names = os.listdir(source) if os.path.isdir(source) else []
        mine = [name for name in names if is_repository(f"{files.YUM_REPOS}/{name}")]
        self.fill((), {}, mine, all_streams=False)
        streams = any(os.path.dirname(path) == files.DNF_MODULES for path in kept)
        for path, data in kept.items():
            folder, name = os.path.split(path)
            there, here = f"file://{files.RPM_KEYS}/", f"file://{self.home}/"
            if folder == files.YUM_REPOS:
                # The keys are not on the host yet; streams are told by the snapshot's versions.
                text = data.decode("utf-8", "surrogateescape").replace(there, here)
                text += "module_hotfixes=1\n" if streams else ""
                self._put(os.path.join(self.home, "repos", name), text)
            elif folder == files.RPM_KEYS:
                self._put(os.path.join(self.home, name), data.decode("ascii", "surrogateescape"))

    def _put(self, path: str, text: str) -> None:
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)


class SnapshotDnf(Dnf):
    """dnf that can be read as a whole, and put back as a whole."""

    def packages(self) -> Packages:
        found = frozenset(Package(f"{entry.name}.{entry.arch}", entry.version) for entry in self._all())
        manual = self._dnf(["--quiet", *_MANUAL])
        if manual.rc != 0:
            raise failures.explain(manual.stderr, doing="asking dnf which packages were asked for")
        asked = frozenset(manual.stdout.split())
        keys = self._run([*self._rpm, "--query", _KEY, "--queryformat", f"{_KEY}-{_PRINT}\\n"])
        if keys.rc != 0 and "is not installed" not in keys.stdout:
            raise failures.explain(keys.stderr, doing="asking rpm for its keys")
        return Packages(
            DNF,
            found,
            frozenset(package.name for package in found) - asked,
            frozenset(),
            frozenset(keys.stdout.split() if keys.rc == 0 else ()),
        )

    def plain(self, package: Package) -> str:
        return package.name.rpartition(".")[0]

    def wanted(self, package: Package) -> Wanted:
        name, _dot, arch = package.name.rpartition(".")
        return Wanted(name, f"{package.version}.{arch}")

    def unwanted(self, package: Package) -> str:
        name, _dot, arch = package.name.rpartition(".")
        return f"{name}-{package.version}.{arch}"

    def look_at(self, kept: Mapping[str, bytes]) -> list[str]:
        self.close()
        view = _View(self.root, self._run)
        self._view = view
        view.fill_with(kept)
        done = self._dnf(["--assumeyes", "makecache"])
        return [failures.said(done.stdout, done.stderr)] if done.rc != 0 else []

    def simulate(self, request: Request) -> Transaction:
        if not request.install and not request.remove:
            return Transaction()
        self._see_view()
        return super().simulate(request)

    def apply(self, request: Request, timeout: float) -> None:
        self._see_view()
        super().apply(request, timeout)

    def _see_view(self) -> None:
        """A transaction that only removes asks no repository, and yet needs a place."""
        if self._view is None:
            self._view = _View(self.root, self._run)
            self._view.fill((), {}, (), all_streams=False)

    def purge(self, residue: Sequence[str]) -> None:
        done = self._run([*self._rpm, "--erase", *residue])
        if done.rc != 0:
            raise failures.explain(done.stderr, doing=f"erasing {', '.join(residue)}", changed=True)

    def mark(self, automatic: Sequence[str], manual: Sequence[str]) -> None:
        for verb, names in (("remove", automatic), ("install", manual)):
            if names:
                done = self._dnf(["--assumeyes", "mark", verb, *names])
                if done.rc != 0:
                    raise failures.explain(done.stdout, done.stderr, doing=f"dnf mark {verb}", changed=True)

    def hold_names(self, add: Sequence[str], drop: Sequence[str]) -> None:
        pass  # They are in the file.


_PRINT = "%{VERSION}-%{RELEASE}"
