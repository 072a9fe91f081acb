# SPDX-License-Identifier: GPL-3.0-or-later
"""A file of our own for podman, which has no service: limits and shared memory of containers."""

from __future__ import annotations

import json
import re
from typing import Mapping

from . import model, tomltext
from .model import Change, Desired, EngineFileError, Plan

HEADER = "# Written by ibready.cluster.container_engines. The next run undoes changes made by hand.\n"
_ULIMITS = ("containers", "default_ulimits")
_SHM = ("containers", "shm_size")
_FOLDER = "/etc/containers/containers.conf.d/"
# In a list: what files before this one have stays. Source: containers.conf(5), since podman 5.0.
_APPEND = re.compile(r",?\s*\{\s*append\s*=\s*true\s*\}")


def plan(path: str, before: str | None, others: Mapping[str, str], wish: Desired) -> Plan:
    """Our file as it is to be; EngineError where another that podman reads cannot be read.

    ``others``: the files that podman reads besides ours, by path, in podman's order.
    """
    made = Plan(path, before, None)
    site, late = _site(path, others)
    lines = []
    ours = {"memlock": wish.memlock, "nofile": wish.nofile}
    limits = {name: f"{name}={value}:{value}" for name, value in ours.items() if value is not None}
    shm = str(wish.shm_bytes()) if wish.shm_size else ""  # In bytes: podman takes g for 1000 ** 3. Seen with 5.4.2.
    if not wish.replace:
        for item in site.get(_ULIMITS, []):
            name = item.partition("=")[0]
            if item != limits.get(name, item):
                limits.pop(name)
                made.left[f"default_ulimits.{name}"] = model.kept("containers.conf", item)
        if shm and site.get(_SHM, [shm]) != [shm]:
            made.left["shm_size"], shm = model.kept("containers.conf", site[_SHM][0]), ""
    if limits:
        # One list, of which the last file that has it decides.
        kept = [entry for entry in site.get(_ULIMITS, []) if entry.partition("=")[0] not in limits]
        lines.append(f"default_ulimits = {json.dumps([*kept, *limits.values()])}")
        for item in site.get(_ULIMITS, []):
            name = item.partition("=")[0]
            if name in limits and item != limits[name]:
                made.overridden.append(Change(f"default_ulimits.{name}", item, limits[name]))
    if shm:
        lines.append(f'shm_size = "{shm}"')
        was = site.get(_SHM)
        if was and was != [shm]:
            made.overridden.append(Change("shm_size", was[0], shm))
    for key, place in late.items():
        made.left[key[-1]] = f"{place}, which podman reads after ours, sets it"
    if lines:
        made.after = "\n".join([f"{HEADER}[containers]", *lines]) + "\n"
    if made.changed:
        made.changes.append(Change("containers", before, made.after))
    return made


def _site(path: str, others: Mapping[str, str]) -> tuple[dict[tuple[str, str], list[str]], dict[tuple[str, str], str]]:
    """What the site's files ahead of ours say of our keys, and which file after ours says more."""
    site: dict[tuple[str, str], list[str]] = {}
    late: dict[tuple[str, str], str] = {}
    behind = False
    for place, text in others.items():
        behind = behind or (place > path and place.startswith(_FOLDER))
        try:
            read = tomltext.parse(text)
        except tomltext.TomlError as exc:
            raise EngineFileError(f"{place}: {exc}", "fix it: podman reads it, too") from exc
        for key in (_ULIMITS, _SHM):
            raw = read.raw(key)
            if raw is None:
                continue
            if behind:
                late[key] = place
            elif key == _SHM:
                site[key] = tomltext.texts(f"[{raw}]") or []
            else:
                earlier = site.get(key, []) if _APPEND.search(raw) else []
                site[key] = [*earlier, *(tomltext.texts(_APPEND.sub("", raw)) or [])]
    return site, late
