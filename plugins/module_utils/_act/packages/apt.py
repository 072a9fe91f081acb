# SPDX-License-Identifier: GPL-3.0-or-later
"""apt, as `bring` needs it: what would happen, and doing it."""

from __future__ import annotations

import os
from typing import Iterable, Sequence

from . import apt_text, failures, files, run
from .apt_host import YES, AptHost, View
from .model import PackageError, Part, Repository, Request, Transaction, Wanted


class Apt(AptHost):
    """apt with a view of its own while it looks; `close` ends that."""

    _addresses: tuple[str, ...] = ()

    def look(self, repositories: Sequence[Repository], keys: dict[str, bytes], parts: Sequence[Part]) -> list[str]:
        mine = [os.path.basename(files.apt_source(repository.name)) for repository in repositories]
        mine += [os.path.basename(path) for path in self._ours(files.APT_SOURCES)]
        mine += [os.path.basename(files.apt_preferences(part.name)) for part in parts]
        self.close()
        self._view = View(self.root)
        self._view.fill(repositories, keys, parts, mine)
        options = [word for entry in self._view.fetching() for word in ("-o", entry)]
        done = self._apt("apt-get", [*options, "update"])
        said = apt_text.complaints(f"{done.stdout}\n{done.stderr}")
        # apt writes file:///x as file:/x.
        self._addresses = tuple(
            repository.url.rstrip("/").replace("file:///", "file:/", 1) for repository in repositories
        )
        for item, address in zip(repositories, self._addresses):
            theirs = [text for _letter, text in said if address in text]
            if theirs:
                raise failures.explain(*theirs, doing=f"reading repository {item.name} ({item.url})")
        if done.rc != 0 and (not said or failures.unreadable(done.stderr)):
            raise failures.explain(done.stdout, done.stderr, doing="reading the repositories")
        return [text for letter, text in said if letter == "E"]

    def versions(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        return apt_text.versions(self._madison(names))

    def offered(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        said = self._madison(names)
        return apt_text.versions(said, self._addresses)

    def headers(self, kernel: str) -> tuple[str, Wanted | None]:
        name = f"linux-headers-{kernel}"
        return name, Wanted(name) if self.versions([name]).get(name) else None

    def _madison(self, names: Iterable[str]) -> str:
        asked = sorted(set(names))
        if not asked:
            return ""
        done = self._apt("apt-cache", ["madison", *asked])
        # What apt could not look into offers nothing, and that is no absence.
        if done.rc != 0:
            raise failures.explain(done.stdout, done.stderr, doing="asking for versions of packages")
        return done.stdout

    def request(self, parts: Sequence[Part], install: Sequence[Wanted], remove: Sequence[str]) -> Request:
        return Request(tuple(install), tuple(remove))

    def simulate(self, request: Request) -> Transaction:
        planned = self._apt("apt-get", ["--simulate", *YES, "install", *named(request)])
        changes = self._changes(planned, "choosing the packages")
        if not changes:
            return Transaction()
        # By what the indexes say: for --print-uris apt-get would work all of it out once more, for seconds.
        moved = [f"{change.name}={change.before}" for change in changes if change.before]
        for change in changes:
            if change.after:
                # Without its architecture a foreign package is not known to apt-cache.
                arch = f":{change.arch}" if change.arch not in ("", "all") else ""
                moved.append(f"{change.name}{arch}={change.after}")
        shown = self._apt("apt-cache", ["show", *moved])
        try:
            return Transaction(changes, *apt_text.sizes(changes, shown.stdout))
        except apt_text.TextError as exc:
            raise PackageError("failed", str(exc), "tell us apt's version and this line") from exc

    def leftovers(self, request: Request, brought: Sequence[str]) -> list[str]:
        words = [*YES, "--simulate", "--auto-remove", "install", *named(request)]
        changes = self._changes(self._apt("apt-get", words), "looking for what is left over")
        return [change.name for change in changes if change.act == "removed" and change.name in brought]

    def wait(self, timeout: float) -> None:
        run.wait(self.root, run.APT_LOCKS, (), timeout)

    def fetch(self, request: Request) -> None:
        done = self._apt("apt-get", [*YES, "--download-only", "install", *named(request)])
        if done.rc != 0:
            raise failures.explain(done.stdout, done.stderr, doing="downloading the packages")

    def apply(self, request: Request, timeout: float) -> None:
        if self._view is not None:
            self._view.keep()
        wait = ["-o", f"DPkg::Lock::Timeout={int(timeout)}"]
        done = self._apt("apt-get", [*wait, *YES, "install", *named(request)])
        if done.rc != 0:
            raise failures.explain(done.stdout, done.stderr, doing="installing the packages", changed=True)


def named(request: Request) -> list[str]:
    """Names as apt takes them: NAME=VERSION to install, NAME- to remove."""
    found = [f"{entry.name}={entry.version}" if entry.version else entry.name for entry in request.install]
    return found + [f"{name}-" for name in request.remove]
