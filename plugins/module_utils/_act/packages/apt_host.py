# SPDX-License-Identifier: GPL-3.0-or-later
"""What apt and dpkg have on a host: packages, holds, our files, what an interruption left, and a view with more."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from typing import Sequence

from ..._data import apt_options
from ..._ground import whole
from ..._ground.command import Output
from ..._parse import unmet
from . import apt_text, failures, files, kernels
from .files import File
from .model import Change, Installed, PackageError, Part, Repository, between
from .run import Runner

_LISTS = "/var/lib/apt/lists"
# Lists of the host that are younger than this are taken as they are.
_FRESH_S = 3600.0
# Holds are ours or were refused before; the simulation shows what would change, so nothing more
# may be asked. Configuration files that somebody changed are kept.
_OPTIONS = (
    "APT::Ignore-Hold=true",
    "APT::Install-Recommends=false",
    "Acquire::Retries=2",
    "Acquire::http::Timeout=20",
    "Acquire::https::Timeout=20",
    "Dpkg::Options::=--force-confdef",
    "Dpkg::Options::=--force-confold",
    "Dpkg::Use-Pty=0",
)
YES = ("--yes", "--allow-downgrades", "--allow-change-held-packages")


class View:
    """Package lists, sources and pins in a folder of their own; `close` removes it."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._alone = False
        try:
            self.home = tempfile.mkdtemp(prefix="ibready-", dir=os.path.join(root, "var/tmp"))
        except OSError as exc:
            raise PackageError("disk", f"no place in /var/tmp: {exc.strerror}", "free some space there") from exc
        # apt fetches as a user of its own, who has to read the keys and write the lists.
        os.chmod(self.home, 0o755)
        self._fresh = False

    def close(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)

    def fill(
        self,
        repositories: Sequence[Repository],
        keys: dict[str, bytes],
        parts: Sequence[Part],
        mine: Sequence[str],
    ) -> None:
        """Copy what the host has, without the files in ``mine``, and add what is to be there."""
        for folder in ("lists/partial", "sources.list.d", "preferences.d", "keyrings"):
            whole.make_folder(os.path.join(self.home, folder))
        self._alone = any(repository.alone for repository in repositories)
        if not self._alone:
            self._copy(files.APT_SOURCES, "sources.list.d", mine)
            self._copy(_LISTS, "lists", ("lock",))
        self._copy(files.APT_PREFERENCES, "preferences.d", mine)
        self._fresh = not self._alone and self._look_at_lists()
        os.makedirs(os.path.join(self.home, "ours"))
        for repository in repositories:
            key = os.path.join(self.home, "keyrings", f"ibready-{repository.name}.gpg")
            self._write(key, keys[repository.name])
            for folder in ("sources.list.d", "ours"):
                self._write(
                    os.path.join(self.home, folder, f"ibready-{repository.name}.list"),
                    files.source_list(repository, key).encode(),
                )
        for part in parts:
            text = files.preferences(part, repositories)
            if text:
                place = os.path.join(self.home, "preferences.d", f"ibready-{part.name}")
                self._write(place, text.encode())

    def _look_at_lists(self) -> bool:
        """Whether somebody fetched the host's own lists a short time ago."""
        home = os.path.join(self._root, _LISTS.lstrip("/"))
        try:
            known = any(name.endswith("Release") for name in os.listdir(home))
            return known and time.time() - os.stat(home).st_mtime < _FRESH_S
        except OSError:
            return False

    def keep(self) -> None:
        """Give the host the lists that were fetched, as `apt-get update` does."""
        place = os.path.join(self._root, _LISTS.lstrip("/"))
        for name in sorted(os.listdir(os.path.join(self.home, "lists"))):
            source = os.path.join(self.home, "lists", name)
            if name == "lock" or not os.path.isfile(source):
                continue
            staged = os.path.join(place, "partial", f"ibready-{name[-200:]}")
            try:
                shutil.copy2(source, staged)
                os.replace(staged, os.path.join(place, name))
            except OSError:
                whole.drop(staged)
                return  # The next `apt-get update` fetches them.

    def fetching(self) -> list[str]:
        """Options for `apt-get update`: what has to be fetched at all."""
        if not self._fresh:
            return []
        return [
            "Dir::Etc::sourcelist=/dev/null",
            f"Dir::Etc::sourceparts={self.home}/ours/",
            "APT::Get::List-Cleanup=false",
        ]

    def _write(self, path: str, data: bytes) -> None:
        with open(path, "wb") as stream:
            stream.write(data)
        os.chmod(path, 0o644)

    def _copy(self, source: str, folder: str, without: Sequence[str]) -> None:
        place = os.path.join(self._root, source.lstrip("/"))
        try:
            names = sorted(os.listdir(place))
        except FileNotFoundError:
            return
        for name in names:
            path = os.path.join(place, name)
            if name not in without and os.path.isfile(path):
                shutil.copy2(path, os.path.join(self.home, folder, name))

    def lists(self) -> list[str]:
        """Options for apt: package lists and caches of this view, all else the host's."""
        found = [f"Dir::State::lists={self.home}/lists/"]
        found += [f"Dir::Cache::pkgcache={self.home}/pkgcache.bin"]
        return [*found, f"Dir::Cache::srcpkgcache={self.home}/srcpkgcache.bin"]

    def all(self) -> list[str]:
        """Options for apt: sources and pins of this view too."""
        return [
            *self.lists(),
            f"Dir::Etc::sourceparts={self.home}/sources.list.d/",
            f"Dir::Etc::preferencesparts={self.home}/preferences.d/",
            f"Dir::Log::Planner={self.home}/eipp.log",
            "Acquire::Languages=none",
            *(["Dir::Etc::sourcelist=/dev/null"] if self._alone else []),
        ]


class AptHost:
    """Works below ``root``; ``more``: further options for apt (tests point it elsewhere)."""

    cache = "/var/cache/apt/archives"
    holds_in = ""
    kernels = kernels.DEB
    site = False

    def __init__(self, run: Runner, root: str = "/", more: Sequence[str] = ()) -> None:
        self.root = root
        self._run = run
        self._more = [*_OPTIONS, *more]
        self._dpkg = [] if root == "/" else [f"--root={root}"]
        self._view: View | None = None

    def key_path(self, repository: str) -> str:
        return files.apt_key(repository)

    def key_data(self, packets: bytes) -> bytes:
        return packets

    def files(self, repositories: Sequence[Repository], parts: Sequence[Part]) -> list[File]:
        wanted = [
            File(
                files.apt_source(repository.name),
                files.source_list(repository, files.apt_key(repository.name)).encode(),
            )
            for repository in repositories
        ]
        for part in parts:
            text = files.preferences(part, repositories)
            wanted.append(File(files.apt_preferences(part.name), text.encode() or None))
        known = {file.path for file in wanted} | {files.apt_key(repository.name) for repository in repositories}
        for folder in (files.APT_SOURCES, files.APT_KEYRINGS):
            for path in self._ours(folder):
                if path not in known:
                    wanted.append(File(path, None))
        return wanted

    def _ours(self, folder: str) -> list[str]:
        try:
            names = os.listdir(os.path.join(self.root, folder.lstrip("/")))
        except OSError:
            return []
        return [
            f"{folder}/{name}"
            for name in sorted(names)
            if name.startswith("ibready-") and name.endswith((".list", ".gpg")) and files.of_site(name) == self.site
        ]

    def database(self) -> tuple[tuple[Installed, ...], str]:
        """The whole package database, and as dpkg words it."""
        done = self._run(["dpkg-query", *self._dpkg, "--show", f"--showformat={apt_text.QUERY}"])
        # Status 1 with no words: nothing is installed at all.
        if done.rc not in (0, 1):
            raise failures.explain(done.stderr, doing="reading the package database")
        try:
            return apt_text.installed(done.stdout), done.stdout
        except apt_text.TextError as exc:
            raise PackageError("broken", str(exc), "look at dpkg's database") from exc

    def installed(self) -> dict[str, Installed]:
        found: dict[str, Installed] = {}
        for entry in self.database()[0]:
            if entry.name not in found or entry.arch in (self._arch(), "all"):
                found[entry.name] = entry
        return found

    def _arch(self) -> str:
        if not hasattr(self, "_native"):
            done = self._run(["dpkg", "--print-architecture"])
            if done.rc != 0:
                raise failures.explain(done.stderr, doing="asking dpkg for its architecture")
            self._native = done.stdout.strip()
        return self._native

    def owned(self, package: str) -> list[str]:
        done = self._run(["dpkg-query", *self._dpkg, "--listfiles", package])
        # Status 1: it is not installed, which in check mode it may be.
        if done.rc not in (0, 1):
            raise failures.explain(done.stderr, doing=f"listing the files of {package}")
        return done.stdout.splitlines()

    def acquaint(self, repositories: Sequence[Repository], *, anew: bool) -> list[str]:
        return []  # Each source names its keyring.

    def helpers(self) -> list[str]:
        return []

    def held(self) -> set[str]:
        return {entry.name for entry in self.installed().values() if entry.held}

    def hold(self, parts: Sequence[Part], add: Sequence[str], drop: Sequence[str]) -> None:
        for verb, names in (("hold", add), ("unhold", drop)):
            if not names:
                continue
            done = self._apt("apt-mark", [verb, *names])
            if done.rc != 0:
                raise failures.explain(done.stdout, done.stderr, doing=f"apt-mark {verb}", changed=True)

    def changes_between(self, before: dict[str, Installed], after: dict[str, Installed]) -> list[Change]:
        return between(before, after, self._older)

    def _older(self, text: str, other: str) -> bool:
        done = self._run(["dpkg", "--compare-versions", text, "lt", other])
        if done.rc not in (0, 1):
            raise failures.explain(done.stderr, doing=f"comparing version {text} with {other}")
        return done.rc == 0

    def damage(self) -> list[str]:
        found = []
        updates = os.path.join(self.root, "var/lib/dpkg/updates")
        try:
            if any(name.isdigit() for name in os.listdir(updates)):
                found.append("dpkg was interrupted in the middle of a change")
        except FileNotFoundError:
            pass
        except OSError as exc:
            found.append(f"{updates} cannot be read: {exc.strerror}")
        broken = [entry.name for entry in self.installed().values() if not entry.whole]
        found += [f"{name} is not installed to the end" for name in sorted(broken)]
        if found:
            return found  # What half an installation lacks, its own end brings.
        done = self._asked()
        lacking = list(unmet.parse(done.stdout))
        return lacking or ([] if done.rc == 0 else [f"apt-get check: {failures.said(done.stderr)}"])

    def repair(self, ours: Sequence[Part]) -> list[str]:
        """Let dpkg and apt end what was begun; what removes others' packages is refused."""
        done = ["dpkg --configure -a"]
        configured = self._run(["dpkg", *self._dpkg, "--force-confdef", "--force-confold", "--configure", "-a"])
        if self._check() is None and not self.damage():
            return done
        said = (configured.stdout, configured.stderr)
        doing = f"repairing the package database ({'; '.join(self.damage())})"
        if failures.of_build(*said):
            raise failures.explain(*said, doing=doing, changed=True)  # apt would only build it once more.
        # apt mends what is missing or not configured; what was torn it leaves unless it is named.
        torn = sorted(entry.name for entry in self.installed().values() if entry.torn)
        fix = ["--fix-broken", *(["--reinstall"] if torn else []), "install", *torn]
        planned = self._apt("apt-get", ["--simulate", *YES, *fix])
        changes = self._changes(planned, "looking how the packages could be repaired")
        foreign = [
            change.name
            for change in changes
            if change.act == "removed" and not any(part.owns(change.name) for part in ours)
        ]
        if foreign:
            raise PackageError(
                "broken",
                "packages are left half installed, or lack others, and to repair them apt would remove"
                f" {', '.join(foreign)}",
                "see with `apt-get --simulate --fix-broken install` what would go, and decide by hand whether it may",
                failures.said(configured.stdout, configured.stderr),
                changed=True,
            )
        fixed = self._apt("apt-get", [*YES, *fix])
        if fixed.rc != 0 or self.damage():
            raise failures.explain(
                fixed.stdout,
                fixed.stderr,
                configured.stdout,
                configured.stderr,
                doing=f"repairing the package database ({'; '.join(self.damage())})",
                changed=True,
            )
        return [*done, " ".join(["apt-get", *fix])]

    def _check(self) -> str | None:
        done = self._asked()
        return None if done.rc == 0 else failures.said(done.stderr)

    def _asked(self) -> Output:
        """apt's own word on what is installed; a question stands in nobody's way, and waits for nobody."""
        return self._apt("apt-get", apt_options.CHECK[1:])

    def close(self) -> None:
        if self._view is not None:
            self._view.close()
            self._view = None

    def _changes(self, done: Output, doing: str) -> tuple[Change, ...]:
        if done.rc != 0:
            # What cannot be fulfilled stands in the output, above the E: line.
            raise failures.explain(*unmet.parse(done.stdout), done.stderr, doing=doing)
        try:
            return apt_text.simulated(done.stdout)
        except apt_text.TextError as exc:
            raise PackageError("failed", str(exc), "tell us apt's version and this line") from exc

    def _apt(self, program: str, words: Sequence[str]) -> Output:
        options = [*self._more, *(self._view.all() if self._view else ())]
        argv = [program, "--quiet"] if program == "apt-get" else [program]
        for option in options:
            argv += ["-o", option]
        return self._run([*argv, *words])
