# SPDX-License-Identifier: GPL-3.0-or-later
"""dnf 4 and rpm, as `bring` needs them."""

from __future__ import annotations

import glob
import os
from dataclasses import replace
from functools import cmp_to_key
from typing import Iterable, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._command import Output
from ansible_collections.ibready.cluster.plugins.module_utils._packages import (
    dnf_text,
    failures,
    files,
    locks,
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
    Request,
    Transaction,
    Wanted,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.openpgp import armored
from ansible_collections.ibready.cluster.plugins.module_utils._packages.run import Runner
from ansible_collections.ibready.cluster.plugins.module_utils._parse.version_text import fits

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


class Dnf:
    """Works below ``root``; ``more``: further options for dnf."""

    cache = "/var/tmp"
    holds_in = versionlock.PATH

    def __init__(self, run: Runner, root: str = "/", more: Sequence[str] = ()) -> None:
        self.root = root
        self._run = run
        below = [] if root == "/" else [f"--installroot={root}"]
        self._more = [*_OPTIONS, *below, *more]
        self._rpm = ["rpm"] if root == "/" else ["rpm", f"--root={root}"]
        self._view: View | None = None
        self._repositories: tuple[str, ...] = ()

    # What is to be on the disk

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
                if path not in known:
                    wanted.append(File(path, None))
        return wanted

    # What is there

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

    def headers_package(self, kernel: str) -> str:
        return "kernel-devel"

    def helpers(self) -> list[str]:
        places = ("usr/lib/python3*/site-packages", "usr/lib/python3*/dist-packages")
        roots = [self.root] if self.root == "/" else [self.root, "/"]
        for root in roots:
            for place in places:
                if glob.glob(os.path.join(root, place, "dnf-plugins/versionlock.py")):
                    return []
        return [versionlock.PLUGIN]

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

    # What could be

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
        self._view = View(self.root)
        armor = {name: self.key_data(packets) for name, packets in keys.items()}
        self._view.fill(repositories, armor, mine, all_streams=any(part.stream for part in parts))
        for one in repositories:
            done = self._dnf(["--assumeyes", f"--repo=ibready-{one.name}", "makecache"])
            if done.rc != 0:
                doing = f"reading repository {one.name} ({one.url})"
                raise failures.explain(done.stdout, done.stderr, doing=doing)
        return []

    def acquaint(self, repositories: Sequence[Repository], *, anew: bool) -> list[str]:
        """Without it `dnf upgrade` asks for each key, and `dnf check-update` in a script fails."""
        strange = [
            one.name
            for one in repositories
            if one.repo_gpgcheck and (anew or not self._knows_key(one.name))
        ]
        if not strange:
            return []
        self.close()
        only = [f"--repo=ibready-{name}" for name in strange]
        if self._dnf(["--assumeyes", *only, "makecache"]).rc == 0:
            return []
        return [
            f"dnf could not read {', '.join(strange)} once more to remember their keys, and will"
            " ask for them; `dnf --assumeyes makecache` on the host tells why"
        ]

    def _knows_key(self, name: str) -> bool:
        # dnf keeps them beside the index, in a folder named by a digest of the address.
        place = f"var/cache/dnf/ibready-{name}-{'[0-9a-f]' * 16}/pubring"
        return bool(glob.glob(os.path.join(self.root, place)))

    def close(self) -> None:
        if self._view is not None:
            self._view.close()
            self._view = None

    def versions(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        return self._query(names, [])

    def offered(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        return self._query(names, [f"--repo={name}" for name in self._repositories])

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

    # Doing it

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

    # Holds

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

    def _dnf(self, words: Sequence[str]) -> Output:
        view = self._view.options() if self._view else []
        return self._run(["dnf", *self._more, *view, *words])
