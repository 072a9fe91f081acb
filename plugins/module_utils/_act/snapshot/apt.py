# SPDX-License-Identifier: GPL-3.0-or-later
"""apt and dpkg, as a snapshot needs them."""

from __future__ import annotations

import os
from typing import Mapping, Sequence

from ..packages import apt_text, failures, files
from ..packages.apt import Apt
from ..packages.apt_host import View
from ..packages.model import APT, Request, Transaction, Wanted
from .files import is_repository
from .model import Package, Packages

_FOLDERS = {
    files.APT_SOURCES: "sources.list.d",
    files.APT_PREFERENCES: "preferences.d",
    files.APT_KEYRINGS: "keyrings",
}


class _View(View):
    """The host's own sources and pins, and those of a snapshot in place of ours."""

    def fill_with(self, kept: Mapping[str, bytes]) -> None:
        for folder in ("lists/partial", *_FOLDERS.values()):
            os.makedirs(os.path.join(self.home, folder))
        for source in (files.APT_SOURCES, files.APT_PREFERENCES):
            place = os.path.join(self._root, source.lstrip("/"))
            names = os.listdir(place) if os.path.isdir(place) else []
            mine = [name for name in names if is_repository(f"{source}/{name}")]
            self._copy(source, _FOLDERS[source], mine)
        self._copy("/var/lib/apt/lists", "lists", ("lock",))
        for path, data in kept.items():
            folder, name = os.path.split(path)
            if folder in _FOLDERS:
                # The keyrings are not on the host yet.
                there = f"{files.APT_KEYRINGS}/ibready-".encode()
                here = f"{self.home}/keyrings/ibready-".encode()
                text = data.replace(there, here) if folder == files.APT_SOURCES else data
                self._write(os.path.join(self.home, _FOLDERS[folder], name), text)


class SnapshotApt(Apt):
    """apt that can be read as a whole, and put back as a whole."""

    def packages(self) -> Packages:
        listed, words = self.database()
        found = {self._named(entry.name, entry.arch): entry for entry in listed}
        automatic = self._apt("apt-mark", ["showauto"])
        if automatic.rc != 0:
            raise failures.explain(automatic.stderr, doing="apt-mark showauto")
        rows = [line.split(" ") for line in words.splitlines()]
        residue = {self._named(row[3], row[4]) for row in rows if row[2] == "config-files"}
        return Packages(
            APT,
            frozenset(Package(name, item.version) for name, item in found.items()),
            frozenset(automatic.stdout.split()) & frozenset(found),
            frozenset(name for name, item in found.items() if item.held),
            frozenset(residue),
        )

    def _named(self, name: str, arch: str) -> str:
        return name if arch in (self._arch(), "all") else f"{name}:{arch}"

    def plain(self, package: Package) -> str:
        return package.name.partition(":")[0]

    def wanted(self, package: Package) -> Wanted:
        return Wanted(package.name, package.version)

    def unwanted(self, package: Package) -> str:
        return package.name

    def look_at(self, kept: Mapping[str, bytes]) -> list[str]:
        self.close()
        view = _View(self.root)
        self._view = view
        view.fill_with(kept)
        done = self._apt("apt-get", ["update"])
        said = apt_text.complaints(f"{done.stdout}\n{done.stderr}")
        return [text for letter, text in said if letter == "E"]

    def simulate(self, request: Request) -> Transaction:
        if not request.install and not request.remove:
            return Transaction()
        return super().simulate(request)

    def purge(self, residue: Sequence[str]) -> None:
        done = self._run(["dpkg", *self._dpkg, *self._forced(), "--purge", *residue])
        if done.rc != 0:
            raise failures.explain(done.stdout, done.stderr, doing=f"purging {', '.join(residue)}", changed=True)

    def _forced(self) -> list[str]:
        """What apt would tell dpkg besides (tests work in a root of their own)."""
        head = "Dpkg::Options::="
        words = [entry[len(head) :] for entry in self._more if entry.startswith(head)]
        return [word for word in words if not word.startswith(("--root=", "--force-conf"))]

    def mark(self, automatic: Sequence[str], manual: Sequence[str]) -> None:
        for verb, names in (("auto", automatic), ("manual", manual)):
            if names:
                done = self._apt("apt-mark", [verb, *names])
                if done.rc != 0:
                    raise failures.explain(done.stdout, done.stderr, doing=f"apt-mark {verb}", changed=True)

    def hold_names(self, add: Sequence[str], drop: Sequence[str]) -> None:
        self.hold((), add, drop)
