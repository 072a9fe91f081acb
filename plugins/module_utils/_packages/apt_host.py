# SPDX-License-Identifier: GPL-3.0-or-later
"""What apt and dpkg have on a host: packages, holds, our files, and what an interruption left."""

from __future__ import annotations

import os
from typing import Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._command import Output
from ansible_collections.ibready.cluster.plugins.module_utils._packages import (
    apt_text,
    failures,
    files,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.apt_view import View
from ansible_collections.ibready.cluster.plugins.module_utils._packages.changes import between
from ansible_collections.ibready.cluster.plugins.module_utils._packages.files import File
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import (
    Change,
    Installed,
    PackageError,
    Part,
    Repository,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.run import Runner

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


class AptHost:
    """Works below ``root``; ``more``: further options for apt (tests point it elsewhere)."""

    cache = "/var/cache/apt/archives"
    holds_in = ""
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
                files.apt_source(one.name),
                files.source_list(one, files.apt_key(one.name)).encode(),
            )
            for one in repositories
        ]
        for part in parts:
            text = files.preferences(part, repositories)
            wanted.append(File(files.apt_preferences(part.name), text.encode() or None))
        known = {one.path for one in wanted} | {files.apt_key(one.name) for one in repositories}
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
            if name.startswith("ibready-")
            and name.endswith((".list", ".gpg"))
            and files.of_site(name) == self.site
        ]

    def installed(self) -> dict[str, Installed]:
        done = self._run(["dpkg-query", *self._dpkg, "--show", f"--showformat={apt_text.QUERY}"])
        # Status 1 with no words: nothing is installed at all.
        if done.rc not in (0, 1):
            raise failures.explain(done.stderr, doing="reading the package database")
        try:
            listed = apt_text.installed(done.stdout)
        except apt_text.TextError as exc:
            raise PackageError("broken", str(exc), "look at dpkg's database") from exc
        found: dict[str, Installed] = {}
        for one in listed:
            if one.name not in found or one.arch in (self._arch(), "all"):
                found[one.name] = one
        return found

    def _arch(self) -> str:
        if not hasattr(self, "_native"):
            self._native = self._run(["dpkg", "--print-architecture"]).stdout.strip()
        return self._native

    def owned(self, package: str) -> list[str]:
        return self._run(["dpkg-query", *self._dpkg, "--listfiles", package]).stdout.splitlines()

    def acquaint(self, repositories: Sequence[Repository], *, anew: bool) -> list[str]:
        return []  # Each source names its keyring.

    def helpers(self) -> list[str]:
        return []

    def held(self) -> set[str]:
        return {one.name for one in self.installed().values() if one.held}

    def hold(self, parts: Sequence[Part], add: Sequence[str], drop: Sequence[str]) -> None:
        for verb, names in (("hold", add), ("unhold", drop)):
            if not names:
                continue
            done = self._apt("apt-mark", [verb, *names])
            if done.rc != 0:
                raise failures.explain(
                    done.stdout, done.stderr, doing=f"apt-mark {verb}", changed=True
                )

    def changes_between(
        self, before: dict[str, Installed], after: dict[str, Installed]
    ) -> list[Change]:
        return between(before, after, self._older)

    def _older(self, one: str, other: str) -> bool:
        return self._run(["dpkg", "--compare-versions", one, "lt", other]).rc == 0

    def damage(self) -> list[str]:
        found = []
        updates = os.path.join(self.root, "var/lib/dpkg/updates")
        try:
            if any(name.isdigit() for name in os.listdir(updates)):
                found.append("dpkg was interrupted in the middle of a change")
        except OSError:
            pass
        broken = [one.name for one in self.installed().values() if not one.whole]
        return found + [f"{name} is not installed to the end" for name in sorted(broken)]

    def repair(self, ours: Sequence[Part]) -> list[str]:
        """Let dpkg and apt end what was begun; what removes others' packages is refused."""
        done = ["dpkg --configure -a"]
        configured = self._run(
            ["dpkg", *self._dpkg, "--force-confdef", "--force-confold", "--configure", "-a"]
        )
        if self._check() is None and not self.damage():
            return done
        # apt mends what is missing or not configured; what was torn it leaves unless it is named.
        torn = sorted(one.name for one in self.installed().values() if one.torn)
        fix = ["--fix-broken", *(["--reinstall"] if torn else []), "install", *torn]
        planned = self._apt("apt-get", ["--simulate", *YES, *fix])
        changes = self._changes(planned, "looking how the packages could be repaired")
        foreign = [
            one.name
            for one in changes
            if one.act == "removed" and not any(part.owns(one.name) for part in ours)
        ]
        if foreign:
            raise PackageError(
                "broken",
                "packages are left half installed, and to repair them apt would remove"
                f" {', '.join(foreign)}",
                "repair them by hand with `apt-get --fix-broken install`",
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
        done = self._apt("apt-get", ["check"])
        return None if done.rc == 0 else failures.said(done.stderr)

    def close(self) -> None:
        if self._view is not None:
            self._view.close()
            self._view = None

    def _changes(self, done: Output, doing: str) -> tuple[Change, ...]:
        if done.rc != 0:
            # What cannot be fulfilled stands in the output, above the E: line.
            below = done.stdout.partition("unmet dependencies:")[2]
            missing = [line for line in below.splitlines() if "Depends" in line or "Conf" in line]
            raise failures.explain(*missing, done.stderr, doing=doing)
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
