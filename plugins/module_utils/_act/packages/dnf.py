# SPDX-License-Identifier: GPL-3.0-or-later
"""dnf 4, as `bring` needs it: what would happen, and doing it."""

from __future__ import annotations

import glob
import os
import shutil
from typing import Callable, Iterable, Sequence

from ..._ground.command import Output
from ..._parse.version_text import fits
from . import dnf_text, failures, files, run
from .dnf_host import DnfHost, View
from .model import PackageError, Part, Repository, Request, Transaction, Wanted

# dnf names the folder by the repository and a digest of its address.
_DIGEST = "[0-9a-f]" * 16
_HEADERS = "kernel-devel"
_ARCHES = ("x86_64", "aarch64", "ppc64le")


def _acquaint(
    dnf: Callable[[Sequence[str]], Output],
    root: str,
    repositories: Sequence[Repository],
    *,
    anew: bool,
) -> list[str]:
    """Have dnf read the indexes once, and so take the keys; a warning where it could not."""
    strange = [
        repository.name
        for repository in repositories
        if repository.repo_gpgcheck and (anew or not _known(root, repository.name))
    ]
    if not strange:
        return []
    for name in strange:
        for place in _known(root, name):
            shutil.rmtree(place, ignore_errors=True)
    only = [f"--repo=ibready-{name}" for name in strange]
    if root != "/":
        # dnf looks for a key outside of its root.
        keys = {name: os.path.join(root, files.dnf_key(name).lstrip("/")) for name in strange}
        only += [f"--setopt=ibready-{name}.gpgkey=file://{key}" for name, key in keys.items()]
    if dnf(["--assumeyes", *only, "makecache"]).rc == 0:
        return []
    return [
        f"dnf could not read {', '.join(strange)} once more to remember their keys, and will ask"
        " for them; `dnf --assumeyes makecache` on the host tells why"
    ]


def _known(root: str, name: str) -> list[str]:
    """Where dnf keeps the keys of a repository of ours."""
    return glob.glob(os.path.join(root, f"var/cache/dnf/ibready-{name}-{_DIGEST}/pubring"))


class Dnf(DnfHost):
    """dnf with a view of its own while it looks; `close` ends that."""

    _repositories: tuple[str, ...] = ()

    def look(self, repositories: Sequence[Repository], keys: dict[str, bytes], parts: Sequence[Part]) -> list[str]:
        self.close()
        self._repositories = tuple(f"ibready-{repository.name}" for repository in repositories)
        mine = [f"{name}.repo" for name in self._repositories]
        mine += [
            os.path.basename(place) for place in glob.glob(os.path.join(self.root, files.dnf_repo("*").lstrip("/")))
        ]
        self._view = View(self.root, self._run)
        armor = {name: self.key_data(packets) for name, packets in keys.items()}
        self._view.fill(repositories, armor, mine, all_streams=any(part.stream for part in parts))
        for repository in repositories:
            done = self._dnf(["--assumeyes", f"--repo=ibready-{repository.name}", "makecache"])
            if done.rc != 0:
                doing = f"reading repository {repository.name} ({repository.url})"
                raise failures.explain(done.stdout, done.stderr, doing=doing)
        return []

    def acquaint(self, repositories: Sequence[Repository], *, anew: bool) -> list[str]:
        self.close()  # The host's own repositories and cache are meant.
        return _acquaint(self._dnf, self.root, repositories, anew=anew)

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

    def request(self, parts: Sequence[Part], install: Sequence[Wanted], remove: Sequence[str]) -> Request:
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
        run.wait(self.root, run.RPM_LOCKS, run.DNF_PIDS, timeout)

    def fetch(self, request: Request) -> None:
        done = self._transaction("--assumeyes", request, "--downloadonly")
        if done.rc != 0:
            raise failures.explain(done.stdout, done.stderr, doing="downloading the packages")

    def apply(self, request: Request, timeout: float) -> None:
        done = self._transaction("--assumeyes", request)
        if done.rc != 0:
            raise failures.explain(done.stdout, done.stderr, doing="installing the packages", changed=True)

    def _transaction(self, answer: str, request: Request, *more: str) -> Output:
        install = [f"{entry.name}-{entry.version}" if entry.version else entry.name for entry in request.install]
        words = [answer, *more, *(f"--exclude={entry}" for entry in request.exclude), "--allowerasing"]
        if not request.remove:
            return self._dnf([*words, "install", *install])
        if not install:
            return self._dnf([*words, "remove", *request.remove])
        if self._view is None:
            raise AssertionError("a look comes first")
        script = os.path.join(self._view.home, "transaction")
        with open(script, "w") as stream:
            for name in request.remove:
                stream.write(f"remove {name}\n")
            for name in install:
                stream.write(f"install {name}\n")
            stream.write("run\n")
        return self._dnf([*words, "shell", script])
