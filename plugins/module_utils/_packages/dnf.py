# SPDX-License-Identifier: GPL-3.0-or-later
"""dnf 4, as `bring` needs it: what would happen, and doing it."""

from __future__ import annotations

import glob
import os
from typing import Iterable, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._command import Output
from ansible_collections.ibready.cluster.plugins.module_utils._packages import (
    dnf_keys,
    dnf_text,
    failures,
    files,
    locks,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.dnf_host import DnfHost
from ansible_collections.ibready.cluster.plugins.module_utils._packages.dnf_view import View
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import (
    PackageError,
    Part,
    Repository,
    Request,
    Transaction,
    Wanted,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.version_text import fits

_HEADERS = "kernel-devel"
_ARCHES = ("x86_64", "aarch64", "ppc64le")


class Dnf(DnfHost):
    """dnf with a view of its own while it looks; `close` ends that."""

    _repositories: tuple[str, ...] = ()

    def look(
        self,
        repositories: Sequence[Repository],
        keys: dict[str, bytes],
        parts: Sequence[Part],
    ) -> list[str]:
        self.close()
        self._repositories = tuple(f"ibready-{one.name}" for one in repositories)
        mine = [f"{name}.repo" for name in self._repositories]
        mine += [
            os.path.basename(place)
            for place in glob.glob(os.path.join(self.root, files.dnf_repo("*").lstrip("/")))
        ]
        self._view = View(self.root, self._run)
        armor = {name: self.key_data(packets) for name, packets in keys.items()}
        self._view.fill(repositories, armor, mine, all_streams=any(part.stream for part in parts))
        for one in repositories:
            done = self._dnf(["--assumeyes", f"--repo=ibready-{one.name}", "makecache"])
            if done.rc != 0:
                doing = f"reading repository {one.name} ({one.url})"
                raise failures.explain(done.stdout, done.stderr, doing=doing)
        return []

    def acquaint(self, repositories: Sequence[Repository], *, anew: bool) -> list[str]:
        self.close()  # The host's own repositories and cache are meant.
        return dnf_keys.acquaint(self._dnf, self.root, repositories, anew=anew)

    def versions(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        return self._query(names, [])

    def offered(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        return self._query(names, [f"--repo={name}" for name in self._repositories])

    def headers(self, kernel: str) -> tuple[str, Wanted | None]:
        """Of exactly this kernel: the newest ones are of no use to an older one."""
        release, _dot, arch = kernel.rpartition(".")
        version = release if arch in _ARCHES else kernel
        for text in self.versions([_HEADERS]).get(_HEADERS, ()):
            # An rpm's version has no dash where a kernel's own may have one.
            if text.replace("-", "_") == version.replace("-", "_"):
                return f"{_HEADERS}-{version}", Wanted(_HEADERS, text)
        return f"{_HEADERS}-{version}", None

    def _query(self, names: Iterable[str], only: Sequence[str]) -> dict[str, tuple[str, ...]]:
        asked = sorted(set(names))
        if not asked:
            return {}
        words = ["--quiet", *only, "repoquery", "--available", "--queryformat", dnf_text.REPOQUERY]
        done = self._dnf([*words, *asked])
        if done.rc != 0:
            raise failures.explain(done.stdout, done.stderr, doing="looking for the packages")
        try:
            return dnf_text.versions(done.stdout)
        except dnf_text.TextError as exc:
            raise PackageError("failed", str(exc), "tell us dnf's version and this line") from exc

    def request(
        self, parts: Sequence[Part], install: Sequence[Wanted], remove: Sequence[str]
    ) -> Request:
        """Forbid all versions but the pinned one where a repository has the pinned one."""
        exclude: list[str] = []
        for part in parts:
            for pin in part.pins:
                if not pin.version:
                    continue
                for name, offered in self.versions(pin.names).items():
                    if any(fits(text, pin.version) for text in offered):
                        off = [text for text in offered if not fits(text, pin.version)]
                        exclude += [f"{name}-{text}" for text in off]
        return Request(tuple(install), tuple(remove), tuple(dict.fromkeys(exclude)))

    def simulate(self, request: Request) -> Transaction:
        done = self._transaction("--assumeno", request)
        if done.rc != 0 and dnf_text.ABORTED not in f"{done.stdout}{done.stderr}":
            raise failures.explain(done.stdout, done.stderr, doing="choosing the packages")
        try:
            changes = dnf_text.transaction(done.stdout, self.installed())
        except dnf_text.TextError as exc:
            raise PackageError("failed", str(exc), "tell us dnf's version and this line") from exc
        return Transaction(changes, *dnf_text.sizes(done.stdout))

    def leftovers(self, request: Request, brought: Sequence[str]) -> list[str]:
        return []  # dnf takes what nobody needs with what needed it.

    def wait(self, timeout: float) -> None:
        locks.wait(self.root, locks.RPM_LOCKS, locks.DNF_PIDS, timeout)

    def fetch(self, request: Request) -> None:
        done = self._transaction("--assumeyes", request, "--downloadonly")
        if done.rc != 0:
            raise failures.explain(done.stdout, done.stderr, doing="downloading the packages")

    def apply(self, request: Request, timeout: float) -> None:
        done = self._transaction("--assumeyes", request)
        if done.rc != 0:
            raise failures.explain(
                done.stdout, done.stderr, doing="installing the packages", changed=True
            )

    def _transaction(self, answer: str, request: Request, *more: str) -> Output:
        install = [
            f"{one.name}-{one.version}" if one.version else one.name for one in request.install
        ]
        words = [answer, *more, *(f"--exclude={one}" for one in request.exclude), "--allowerasing"]
        if not request.remove:
            return self._dnf([*words, "install", *install])
        if not install:
            return self._dnf([*words, "remove", *request.remove])
        assert self._view is not None
        script = os.path.join(self._view.home, "transaction")
        with open(script, "w") as stream:
            for name in request.remove:
                stream.write(f"remove {name}\n")
            for name in install:
                stream.write(f"install {name}\n")
            stream.write("run\n")
        return self._dnf([*words, "shell", script])
