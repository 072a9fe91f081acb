# SPDX-License-Identifier: GPL-3.0-or-later
"""A view of the host for dnf that already knows the new repositories, while the host does not."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
from typing import Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._packages import files
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import (
    PackageError,
    Repository,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.run import Runner

_CACHE = "var/cache/dnf"


class View:
    """Repository files and a cache in a folder of their own; `close` removes it."""

    def __init__(self, root: str, run: Runner) -> None:
        self._root = root
        self._run = run
        try:
            os.makedirs(os.path.join(root, "var/tmp"), exist_ok=True)
            self.home = tempfile.mkdtemp(prefix="ibready-", dir=os.path.join(root, "var/tmp"))
        except OSError as exc:
            raise PackageError(
                "disk", f"no place in /var/tmp: {exc.strerror}", "free some space there"
            ) from exc

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
        alone = any(one.alone for one in repositories)
        if os.path.isdir(source) and not alone:
            for name in sorted(os.listdir(source)):
                if name.endswith(".repo") and name not in mine:
                    shutil.copy2(os.path.join(source, name), os.path.join(repos, name))
        for one in repositories:
            key = os.path.join(self.home, f"KEY-{one.name}")
            with open(key, "wb") as stream:
                stream.write(keys[one.name])
            text = files.repo_file(one, key, all_streams=all_streams)
            with open(os.path.join(repos, f"ibready-{one.name}.repo"), "w") as stream2:
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
