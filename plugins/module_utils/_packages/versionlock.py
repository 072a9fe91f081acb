# SPDX-License-Identifier: GPL-3.0-or-later
"""dnf's versionlock.list: our entries follow a line that says so; all others are the operator's."""

from __future__ import annotations

import fnmatch
from typing import Collection, Mapping

from ansible_collections.ibready.cluster.plugins.module_utils._packages import dnf_text
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import Installed

PATH = "/etc/dnf/plugins/versionlock.list"
PLUGIN = "python3-dnf-plugin-versionlock"
MARK = "# Held by ibready.cluster.stack_packages:"


def _entries(text: str) -> list[tuple[bool, str]]:
    """Lines, each with whether it is one of our entries; our marks are left out."""
    found = []
    ours = False
    for line in text.splitlines():
        if line == MARK:
            ours = True
            continue
        found.append((ours, line))
        ours = False
    return found


def ours(text: str) -> dict[str, str]:
    """The names that we lock, with the version of each."""
    return dict(dnf_text.lock(line) for mine, line in _entries(text) if mine)


def foreign(text: str) -> list[str]:
    """Names (globs) that the operator locks."""
    names = [dnf_text.lock(line)[0] for mine, line in _entries(text) if not mine]
    return [name for name in names if name]


def is_foreign(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def edit(
    text: str, add: Collection[str], drop: Collection[str], have: Mapping[str, Installed]
) -> str:
    """The file with our entries for ``add`` at their installed versions, without ``drop``.

    Ours come last and in order of their names, so that the same holds give the same bytes.
    """
    lines = [line for mine, line in _entries(text) if not mine]
    kept = {
        dnf_text.lock(line)[0]: line
        for mine, line in _entries(text)
        if mine and dnf_text.lock(line)[0] not in {*add, *drop}
    }
    for name in add:
        if name in have:
            number = have[name].version
            kept[name] = f"{name}-{number if ':' in number else f'0:{number}'}.*"
    for name in sorted(kept):
        lines += [MARK, kept[name]]
    return "\n".join(lines) + "\n" if lines else ""
