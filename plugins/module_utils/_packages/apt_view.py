# SPDX-License-Identifier: GPL-3.0-or-later
"""A view of the host for apt that already knows the new repositories, while the host does not."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from typing import Sequence

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._packages import files
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import (
    PackageError,
    Part,
    Repository,
)

_LISTS = "/var/lib/apt/lists"
# Lists of the host that are younger than this are taken as they are.
_FRESH_S = 3600.0


class View:
    """Package lists, sources and pins in a folder of their own; `close` removes it."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._alone = False
        try:
            self.home = tempfile.mkdtemp(prefix="ibready-", dir=os.path.join(root, "var/tmp"))
        except OSError as exc:
            raise PackageError(
                "disk", f"no place in /var/tmp: {exc.strerror}", "free some space there"
            ) from exc
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
            _state.make_folder(os.path.join(self.home, folder))
        self._alone = any(one.alone for one in repositories)
        if not self._alone:
            self._copy(files.APT_SOURCES, "sources.list.d", mine)
            self._copy(_LISTS, "lists", ("lock",))
        self._copy(files.APT_PREFERENCES, "preferences.d", mine)
        self._fresh = not self._alone and self._look_at_lists()
        os.makedirs(os.path.join(self.home, "ours"))
        for one in repositories:
            key = os.path.join(self.home, "keyrings", f"ibready-{one.name}.gpg")
            self._write(key, keys[one.name])
            for folder in ("sources.list.d", "ours"):
                self._write(
                    os.path.join(self.home, folder, f"ibready-{one.name}.list"),
                    files.source_list(one, key).encode(),
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
