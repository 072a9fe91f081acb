# SPDX-License-Identifier: GPL-3.0-or-later
"""What others set on a host beside what ibready writes: lines, a running subnet manager, edited files of packages."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
from typing import Iterator

from ..._data import boot_sources, managed_files
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..host import dropins, login_limits, observe_boot
from ..host.packages import DPKG
from .contact_facts import Beside

_SLICE = "/sys/fs/cgroup/system.slice"
_BOOT = "/etc/systemd/system/multi-user.target.wants"
_OPENSM = re.compile(r"opensmd?\.service")
_DOCKER = "/etc/docker/daemon.json"
_LIMITS = ("memlock", "nofile")
_MINE = "ibready"
# A host that a converge has settled: what differs there of a package's file may be ours.
_SETTLED = "/var/lib/ibready/stack.json"
_CONFFILE = re.compile(r"^ (/\S{1,400}) ([0-9a-f]{32})$", re.MULTILINE)
# Of one host; more is no list for people.
_MOST = 60


def collect(evidence: Evidence) -> list[Beside]:
    """All of it; what cannot be read is left out, for the checks of a verify say so."""
    shipped = dict(_CONFFILE.findall(ask.text(evidence, DPKG).value or ""))
    found = [*_managers(evidence), *_settings(evidence, shipped), *_containers(evidence)]
    found += _edited(evidence, shipped)
    left = len(found) - _MOST
    more: Beside = {"kind": "more", "what": str(left), "said": "", "where": ""}
    return [*found[:_MOST], *([more] if left > 0 else [])]


def _managers(evidence: Evidence) -> Iterator[Beside]:
    runs = {name for name in ask.names(evidence, _SLICE).value or () if _OPENSM.fullmatch(name)}
    boots = {name for name in ask.names(evidence, _BOOT).value or () if _OPENSM.fullmatch(name)}
    for name in sorted(runs | boots):
        said = [word for word, names in (("active", runs), ("enabled", boots)) if name in names]
        yield {"kind": "manager", "what": name, "said": " and ".join(said), "where": ""}


def _settings(evidence: Evidence, shipped: dict[str, str]) -> Iterator[Beside]:
    """Lines of sysctl.d and limits.d below /etc, but of files that are as their package brought them."""
    folder = dropins.files(evidence, boot_sources.SYSCTL_FOLDERS).value or []
    # The link 99-sysctl.conf leads to it.
    paths = [path for path in folder if not path.endswith("/99-sysctl.conf")]
    for path in (*paths, boot_sources.SYSCTL_CONF):
        if _somebodys(evidence, path, shipped):
            for line in observe_boot.settings(path, ask.text(evidence, path).value or ""):
                yield {"kind": "sysctl", "what": line.key, "said": line.value, "where": path}
    limits = login_limits.lines(evidence).value or ()
    for limit in limits:
        if limit.item in _LIMITS and _somebodys(evidence, limit.path, shipped):
            what = f"{limit.domain} {limit.kind} {limit.item}"
            yield {"kind": "limit", "what": what, "said": limit.value, "where": limit.path}


def _somebodys(evidence: Evidence, path: str, shipped: dict[str, str]) -> bool:
    """Whether an administrator wrote a file, or changed it."""
    if not path.startswith("/etc/") or _MINE in path:
        return False
    return path not in shipped or _is_changed(evidence, path, shipped[path])


def _containers(evidence: Evidence) -> Iterator[Beside]:
    """docker's limits of every container."""
    try:
        raw = json.loads(ask.text(evidence, _DOCKER).value or "{}")
    except (ValueError, RecursionError):
        return  # The role names the line.
    given = raw.get("default-ulimits") if isinstance(raw, dict) else None
    for name in _LIMITS:
        limit = given.get(name) if isinstance(given, dict) else None
        if isinstance(limit, dict) and isinstance(limit.get("Hard"), int):
            yield {"kind": "container", "what": name, "said": str(limit["Hard"]), "where": _DOCKER}


def _edited(evidence: Evidence, shipped: dict[str, str]) -> Iterator[Beside]:
    """Files of packages that ibready would edit in place, and that somebody has edited before."""
    if ask.there(evidence, _SETTLED).value:
        return
    globs = [managed.glob for managed in managed_files.MANAGED]
    for path, digest in sorted(shipped.items()):
        if any(fnmatch.fnmatchcase(path, glob) for glob in globs) and _is_changed(evidence, path, digest):
            yield {"kind": "conffile", "what": path, "said": "edited", "where": path}


def _is_changed(evidence: Evidence, path: str, digest: str) -> bool:
    """Whether a file surely is not as dpkg brought it."""
    data = ask.data(evidence, path).value
    try:
        return data is not None and hashlib.md5(data).hexdigest() != digest
    except ValueError:
        return False  # A host in FIPS mode has no MD5.
