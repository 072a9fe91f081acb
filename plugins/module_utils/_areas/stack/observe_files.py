# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the files that ibready wrote, and what lies in their place that is no file."""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase

from ..._data.managed_files import LEFT_OUT, MANAGED
from ..._data.nccl_reading import SYSTEM_FILE
from ..._evidence import ask
from ..._evidence.pasted import NOT_GIVEN
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._parse import mounts
from .facts import OurFiles

MOUNTS = "/proc/self/mounts"
# What the host was brought to: where it is, site.yml was here, and nccl.conf is ours as well.
BROUGHT = "/var/lib/ibready/stack.json"
_OURS = "ibready"
# Folders of drop-ins and of links, for units of ours: of whoever put them there.
_FOLDERS = (".d", ".wants", ".requires")


def observe(evidence: Evidence) -> Reading[OurFiles]:
    """Every path of ours that is there, by its name; missing where there is none."""
    globs = [entry.glob for entry in MANAGED if _OURS in posixpath.basename(entry.glob)]
    if ask.there(evidence, BROUGHT).value:
        globs.append(SYSTEM_FILE)
    found: list[str] = []
    unseen = ""
    for glob in globs:
        folder, name = posixpath.split(glob)
        # Globs with * in the folder are left out: what lies there are mostly systemd's own links.
        names = Reading([]) if "*" in folder else ask.names(evidence, folder)
        if names.value is None and not names.missing:
            if NOT_GIVEN not in names.why:
                return Reading(None, names.why)
            unseen = names.why
        found += [f"{folder}/{one}" for one in names.value or () if fnmatchcase(one, name)]
    paths = [path for path in dict.fromkeys(found) if path not in LEFT_OUT and not path.endswith(_FOLDERS)]
    if not paths:
        return Reading(None, unseen or "ibready wrote no file on this host", True)
    mounted = ask.file(evidence, MOUNTS, mounts.parse)
    if mounted.value is None:
        return Reading(None, mounted.why)
    points = {mount.point for mount in mounted.value}
    wrong = [f"{path} is {what}" for path in paths if (what := _what(evidence, path, path in points))]
    return Reading(OurFiles(len(paths), tuple(wrong)))


def _what(evidence: Evidence, path: str, mounted: bool) -> str:
    """What is in the place of a file of ours; "" where it is a file."""
    target = ask.link(evidence, path).value
    if target is not None:
        return f"a link to {target}"
    if mounted:
        return "a mount of something else"
    if ask.names(evidence, path).known:
        return "a folder"
    return "no regular file" if "not a regular file" in ask.data(evidence, path).why else ""
