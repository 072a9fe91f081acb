# SPDX-License-Identifier: GPL-3.0-or-later
"""What dnf 4 and rpm have on a host: packages, locks, our files, what an interruption left."""

from __future__ import annotations

import glob
import os
from dataclasses import replace
from functools import cmp_to_key
from typing import Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._command import Output
from ansible_collections.ibready.cluster.plugins.module_utils._packages import (
    dnf_text,
    failures,
    files,
    rpm_version,
    versionlock,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.changes import between
from ansible_collections.ibready.cluster.plugins.module_utils._packages.dnf_view import View
from ansible_collections.ibready.cluster.plugins.module_utils._packages.files import File
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import (
    Change,
    Installed,
    PackageError,
    Part,
    Repository,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.openpgp import armored
from ansible_collections.ibready.cluster.plugins.module_utils._packages.run import Runner

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


class DnfHost:
    """Works below ``root``; ``more``: further options for dnf."""

    cache = "/var/tmp"
    holds_in = versionlock.PATH
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
            File(files.dnf_repo(one.name), files.repo_file(one, files.dnf_key(one.name)).encode())
            for one in repositories
        ]
        wanted += [
            File(files.dnf_module(_MODULE), files.module_file(_MODULE, part.stream).encode())
            for part in parts
            if part.stream
        ]
        known = {one.path for one in wanted} | {files.dnf_key(one.name) for one in repositories}
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
        locked = versionlock.foreign(self._locks())
        mine = versionlock.ours(self._locks())
        found: dict[str, Installed] = {}
        for one in self._all():
            have = found.get(one.name)
            if have is None or rpm_version.compare(have.version, one.version) < 0:
                held = one.name in mine or versionlock.is_foreign(one.name, locked)
                found[one.name] = replace(one, held=held)
        return found

    def owned(self, package: str) -> list[str]:
        return self._run([*self._rpm, "--query", "--list", package]).stdout.splitlines()

    def helpers(self) -> list[str]:
        places = ("usr/lib/python3*/site-packages", "usr/lib/python3*/dist-packages")
        roots = [self.root] if self.root == "/" else [self.root, "/"]
        for root in roots:
            for place in places:
                if glob.glob(os.path.join(root, place, "dnf-plugins/versionlock.py")):
                    return []
        return [versionlock.PLUGIN]

    def _locks(self) -> str:
        data = files.read(os.path.join(self.root, versionlock.PATH.lstrip("/")))
        return (data or b"").decode("utf-8", errors="surrogateescape")

    def held(self) -> set[str]:
        """Those of the operator, and ours that are of the installed version."""
        text, have = self._locks(), self.installed()
        mine = {
            name
            for name, number in versionlock.ours(text).items()
            if name not in have or have[name].version == number
        }
        theirs = versionlock.foreign(text)
        return mine | {name for name in have if versionlock.is_foreign(name, theirs)}

    def hold(self, parts: Sequence[Part], add: Sequence[str], drop: Sequence[str]) -> None:
        text = versionlock.edit(self._locks(), add, drop, self.installed())
        files.put(
            os.path.join(self.root, versionlock.PATH.lstrip("/")),
            text.encode("utf-8", errors="surrogateescape"),
        )

    def changes_between(
        self, before: dict[str, Installed], after: dict[str, Installed]
    ) -> list[Change]:
        return between(before, after, lambda one, other: rpm_version.compare(one, other) < 0)

    def _doubles(self) -> dict[str, list[Installed]]:
        """Packages that are there in several versions, oldest first, by name and architecture."""
        found: dict[str, list[Installed]] = {}
        for one in self._all():
            if not one.name.startswith(_SEVERAL):
                found.setdefault(f"{one.name}.{one.arch}", []).append(one)
        order = cmp_to_key(rpm_version.compare)
        return {
            name: sorted(several, key=lambda one: order(one.version))
            for name, several in found.items()
            if len(several) > 1
        }

    def damage(self) -> list[str]:
        return [
            f"{name} is there in {len(several)} versions"
            f" ({', '.join(one.version for one in several)})"
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
            for one in several[:-1]:
                name = f"{one.name}-{one.version}.{one.arch}"
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
