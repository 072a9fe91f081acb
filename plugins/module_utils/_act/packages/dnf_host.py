# SPDX-License-Identifier: GPL-3.0-or-later
"""What dnf 4 and rpm have on a host: packages, locks, our files, what an interruption left."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
from dataclasses import replace
from functools import cmp_to_key
from typing import Sequence

from ..._ground.command import Output
from . import dnf_text, failures, files, kernels
from .files import File
from .model import Change, Installed, PackageError, Part, Repository, between, matches
from .openpgp import armored
from .run import Runner

_CACHE = "var/cache/dnf"
# Our locks are lifted for the transaction, and so are others': what it would change was compared
# with them before.
_OPTIONS = (
    "--color=never",
    "--setopt=install_weak_deps=0",
    "--setopt=exit_on_lock=1",
    "--setopt=timeout=20",
    "--setopt=retries=2",
    "--setopt=best=1",
    "--disableplugin=versionlock",
)
_MODULE = "nvidia-driver"
# Several versions of these lie beside each other by intent.
_SEVERAL = ("kernel", "gpg-pubkey")


class View:
    """Repository files and a cache in a folder of their own; `close` removes it."""

    def __init__(self, root: str, run: Runner) -> None:
        self._root = root
        self._run = run
        try:
            os.makedirs(os.path.join(root, "var/tmp"), exist_ok=True)
            self.home = tempfile.mkdtemp(prefix="ibready-", dir=os.path.join(root, "var/tmp"))
        except OSError as exc:
            raise PackageError("disk", f"no place in /var/tmp: {exc.strerror}", "free some space there") from exc

    def close(self) -> None:
        # dnf starts an agent of gpg for each repository's keys, which would outlive the folder.
        for place in glob.glob(os.path.join(self.home, "cache", "*", "pubring")):
            with contextlib.suppress(PackageError):
                self._run(["gpgconf", "--homedir", place, "--kill", "all"])
        shutil.rmtree(self.home, ignore_errors=True)

    def fill(
        self,
        repositories: Sequence[Repository],
        keys: dict[str, bytes],
        mine: Sequence[str],
        *,
        all_streams: bool,
    ) -> None:
        """Copy what the host has, without the files in ``mine``, and add what is to be there."""
        repos = os.path.join(self.home, "repos")
        os.makedirs(repos)
        source = os.path.join(self._root, files.YUM_REPOS.lstrip("/"))
        alone = any(repository.alone for repository in repositories)
        if os.path.isdir(source) and not alone:
            for name in sorted(os.listdir(source)):
                if name.endswith(".repo") and name not in mine:
                    shutil.copy2(os.path.join(source, name), os.path.join(repos, name))
        for repository in repositories:
            key = os.path.join(self.home, f"KEY-{repository.name}")
            with open(key, "wb") as stream:
                stream.write(keys[repository.name])
            text = files.repo_file(repository, key, all_streams=all_streams)
            with open(os.path.join(repos, f"ibready-{repository.name}.repo"), "w") as stream2:
                stream2.write(text)
        cache = os.path.join(self._root, _CACHE)
        if os.path.isdir(cache) and not alone:
            # What is known of the distribution's repositories need not be fetched again.
            shutil.copytree(
                cache,
                os.path.join(self.home, "cache"),
                ignore=shutil.ignore_patterns("packages", "*.pid", "ibready-*"),
                symlinks=True,
            )

    def options(self) -> list[str]:
        """Options for dnf, which puts its root before the cache itself."""
        cache = "/" + os.path.relpath(os.path.join(self.home, "cache"), self._root)
        return [f"--setopt=reposdir={self.home}/repos", f"--setopt=cachedir={cache}"]


class DnfHost:
    """Works below ``root``; ``more``: further options for dnf."""

    cache = "/var/tmp"
    holds_in = dnf_text.LOCKS
    kernels = kernels.RPM
    site = False

    def __init__(self, run: Runner, root: str = "/", more: Sequence[str] = ()) -> None:
        self.root = root
        self._run = run
        below = [] if root == "/" else [f"--installroot={root}"]
        self._more = [*_OPTIONS, *below, *more]
        self._rpm = ["rpm"] if root == "/" else ["rpm", f"--root={root}"]
        self._view: View | None = None

    def key_path(self, repository: str) -> str:
        return files.dnf_key(repository)

    def key_data(self, packets: bytes) -> bytes:
        return armored(packets).encode()

    def files(self, repositories: Sequence[Repository], parts: Sequence[Part]) -> list[File]:
        wanted = [
            File(files.dnf_repo(repository.name), files.repo_file(repository, files.dnf_key(repository.name)).encode())
            for repository in repositories
        ]
        wanted += [
            File(files.dnf_module(_MODULE), files.module_file(_MODULE, part.stream).encode())
            for part in parts
            if part.stream
        ]
        known = {file.path for file in wanted} | {files.dnf_key(repository.name) for repository in repositories}
        for pattern in (files.dnf_repo("*"), files.dnf_key("*")):
            for place in sorted(glob.glob(os.path.join(self.root, pattern.lstrip("/")))):
                path = "/" + os.path.relpath(place, self.root)
                if path not in known and files.of_site(path) == self.site:
                    wanted.append(File(path, None))
        return wanted

    def _all(self) -> tuple[Installed, ...]:
        done = self._run([*self._rpm, "--query", "--all", "--queryformat", dnf_text.RPM_QUERY])
        if done.rc != 0:
            raise failures.explain(done.stderr, doing="reading the package database")
        try:
            return dnf_text.packages(done.stdout)
        except dnf_text.TextError as exc:
            raise PackageError("broken", str(exc), "run `rpm --rebuilddb` on the host") from exc

    def installed(self) -> dict[str, Installed]:
        locked = dnf_text.foreign_locks(self._locks())
        mine = dnf_text.our_locks(self._locks())
        found: dict[str, Installed] = {}
        for entry in self._all():
            have = found.get(entry.name)
            if have is None or dnf_text.compare(have.version, entry.version) < 0:
                held = entry.name in mine or matches(entry.name, locked)
                found[entry.name] = replace(entry, held=held)
        return found

    def owned(self, package: str) -> list[str]:
        done = self._run([*self._rpm, "--query", "--list", package])
        # In check mode it may be one that is not there yet.
        if done.rc != 0 and "is not installed" not in done.stdout:
            raise failures.explain(done.stdout, done.stderr, doing=f"listing the files of {package}")
        return done.stdout.splitlines() if done.rc == 0 else []

    def helpers(self) -> list[str]:
        places = ("usr/lib/python3*/site-packages", "usr/lib/python3*/dist-packages")
        roots = [self.root] if self.root == "/" else [self.root, "/"]
        for root in roots:
            for place in places:
                if glob.glob(os.path.join(root, place, "dnf-plugins/versionlock.py")):
                    return []
        return [dnf_text.LOCK_PLUGIN]

    def _locks(self) -> str:
        data = files.read(os.path.join(self.root, dnf_text.LOCKS.lstrip("/")))
        return (data or b"").decode("utf-8", errors="surrogateescape")

    def held(self) -> set[str]:
        """Those of the operator, and ours that are of the installed version."""
        text, have = self._locks(), self.installed()
        mine = {
            name
            for name, number in dnf_text.our_locks(text).items()
            if name not in have or have[name].version == number
        }
        theirs = dnf_text.foreign_locks(text)
        return mine | {name for name in have if matches(name, theirs)}

    def hold(self, parts: Sequence[Part], add: Sequence[str], drop: Sequence[str]) -> None:
        text = dnf_text.edit_locks(self._locks(), add, drop, self.installed())
        files.put(os.path.join(self.root, dnf_text.LOCKS.lstrip("/")), text.encode("utf-8", errors="surrogateescape"))

    def changes_between(self, before: dict[str, Installed], after: dict[str, Installed]) -> list[Change]:
        return between(before, after, lambda entry, other: dnf_text.compare(entry, other) < 0)

    def _doubles(self) -> dict[str, list[Installed]]:
        """Packages that are there in several versions, oldest first, by name and architecture."""
        found: dict[str, list[Installed]] = {}
        for entry in self._all():
            if not entry.name.startswith(_SEVERAL):
                found.setdefault(f"{entry.name}.{entry.arch}", []).append(entry)
        order = cmp_to_key(dnf_text.compare)
        return {
            name: sorted(several, key=lambda entry: order(entry.version))
            for name, several in found.items()
            if len(several) > 1
        }

    def damage(self) -> list[str]:
        return [
            f"{name} is there in {len(several)} versions ({', '.join(entry.version for entry in several)})"
            for name, several in sorted(self._doubles().items())
        ]

    def repair(self, ours: Sequence[Part]) -> list[str]:
        """Take the older versions out of the database: an interrupted upgrade left them.

        Files that the newer version has, too, stay where they are.
        """
        done = []
        for several in self._doubles().values():
            if not any(part.owns(several[0].name) for part in ours):
                raise PackageError(
                    "broken",
                    f"an interrupted transaction left {several[0].name} in several versions, and it"
                    " is not of this plan",
                    "repair it by hand with `dnf remove --duplicates`",
                )
            for entry in several[:-1]:
                name = f"{entry.name}-{entry.version}.{entry.arch}"
                argv = [*self._rpm, "--erase", "--nodeps", "--noscripts", name]
                said = self._run(argv)
                if said.rc != 0:
                    raise failures.explain(said.stderr, doing=f"erasing {name}", changed=True)
                done.append(f"rpm --erase --nodeps --noscripts {name}")
        return done

    def close(self) -> None:
        if self._view is not None:
            self._view.close()
            self._view = None

    def _dnf(self, words: Sequence[str]) -> Output:
        view = self._view.options() if self._view else []
        return self._run(["dnf", *self._more, *view, *words])
