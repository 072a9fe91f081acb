# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ansible's own modules would change on a host: files, links, units, and programs that only tell.

Each function takes the options of the module and answers as that would in check mode, with what is
read of them here; an option that is not read makes it `Unknown`, never "nothing to do".
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from typing import Any, Callable, Mapping

from .._ground import units
from .._ground.command import Unavailable, run_by_name
from .._ground.state import diff

_LIMIT_S = 60.0
_LARGEST = 1024 * 1024


class Unknown(Exception):
    """What would be done cannot be told; the message says why."""


def _only(args: Mapping[str, Any], *names: str) -> None:
    foreign = sorted(name for name, value in args.items() if name not in names and value is not None)
    if foreign:
        raise Unknown(f"the option {foreign[0]} is not compared")


def copy(args: Mapping[str, Any]) -> dict[str, Any]:
    """A file with its whole content."""
    _only(args, "dest", "content", "owner", "group", "mode")
    path, wanted = str(args["dest"]), str(args["content"])
    try:
        now = os.lstat(path)
    except FileNotFoundError:
        return {"changed": True, "diff": [diff(path, "", wanted)]}
    if not stat.S_ISREG(now.st_mode) or now.st_size > _LARGEST:
        raise Unknown(f"{path} is no small file")
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
        found = stream.read()
    if found != wanted:
        return {"changed": True, "diff": [diff(path, found, wanted)]}
    return _rights(path, now, args)


def file(args: Mapping[str, Any]) -> dict[str, Any]:
    """A folder, a link, or nothing in that place."""
    path, state = str(args["path"]), args.get("state")
    _only(args, "path", "state", *(("src", "force") if state == "link" else ("owner", "group", "mode")))
    try:
        now = os.lstat(path)
    except FileNotFoundError:
        return {"changed": state != "absent", "diff": [] if state == "absent" else [diff(path, "", f"{state}\n")]}
    if state == "absent":
        return {"changed": True, "diff": [diff(path, "there\n", "")]}
    if state == "link":
        now_at = os.readlink(path) if stat.S_ISLNK(now.st_mode) else "no link"
        changed = now_at != args["src"]
        return {"changed": changed, "diff": [diff(path, f"{now_at}\n", f"{args['src']}\n")] if changed else []}
    if state == "directory" and os.path.isdir(path):
        return _rights(path, os.stat(path), args)
    raise Unknown(f"{path} is not what the state {state} speaks of")


def _rights(path: str, now: os.stat_result, args: Mapping[str, Any]) -> dict[str, Any]:
    try:
        wanted = (
            str(args["mode"]) if args.get("mode") is not None else f"{stat.S_IMODE(now.st_mode):04o}",
            pwd.getpwnam(args["owner"]).pw_uid if args.get("owner") else now.st_uid,
            grp.getgrnam(args["group"]).gr_gid if args.get("group") else now.st_gid,
        )
        mode = int(wanted[0], 8)
    except (KeyError, ValueError) as exc:
        raise Unknown(f"owner, group or mode of {path}: {exc}") from exc
    found = (stat.S_IMODE(now.st_mode), now.st_uid, now.st_gid)
    if found == (mode, *wanted[1:]):
        return {"changed": False}
    before, after = (f"mode {each[0]:04o} owner {each[1]} group {each[2]}\n" for each in (found, (mode, *wanted[1:])))
    return {"changed": True, "diff": [diff(path, before, after)]}


def systemd_service(args: Mapping[str, Any]) -> dict[str, Any]:
    """A unit that runs, or does not, now and at boot."""
    _only(args, "name", "state", "enabled", "daemon_reload")
    name = units.full(str(args["name"]))
    states: dict[Any, bool | None] = {None: None, "started": True, "stopped": False}
    if args.get("state") not in states:
        raise Unknown(f"the state {args['state']} of {name} is an act")
    told = units.told([name], lambda words: str(_run(["systemctl", *words])["stdout"]))[name]
    if not told.there:
        raise Unknown(f"there is no unit {name}")
    try:
        acts = told.acts(name, args.get("enabled"), states[args.get("state")])
    except units.Masked as exc:
        raise Unknown(str(exc)) from exc
    return {"changed": bool(acts), "diff": [diff("units", "", "".join(f"{act}\n" for act in acts))]}


def command(args: Mapping[str, Any]) -> dict[str, Any]:
    """A program that only tells; with ``creates``, whether what it makes is there."""
    _only(args, "argv", "creates")
    if args.get("creates"):
        there = os.path.exists(str(args["creates"]))
        return {"changed": not there, "diff": [] if there else [diff(str(args["creates"]), "", "there\n")]}
    return {"changed": False, **_run([str(word) for word in args["argv"]])}


def _run(argv: list[str]) -> dict[str, Any]:
    try:
        done = run_by_name(argv, _LIMIT_S)
    except Unavailable as exc:
        raise Unknown(str(exc)) from exc
    out = done.stdout.rstrip("\r\n")
    return {"rc": done.rc, "stdout": out, "stdout_lines": out.splitlines(), "stderr": done.stderr}


def look(args: Mapping[str, Any]) -> dict[str, Any]:
    """Whether there is a file."""
    _only(args, "path")
    path = str(args["path"])
    return {"changed": False, "stat": {"exists": os.path.lexists(path), "isdir": os.path.isdir(path)}}


KINDS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "ansible.builtin.copy": copy,
    "ansible.builtin.file": file,
    "ansible.builtin.systemd_service": systemd_service,
    "ansible.builtin.command": command,
    "ansible.builtin.stat": look,
}
