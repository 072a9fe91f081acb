# SPDX-License-Identifier: GPL-3.0-or-later
"""podman, for one sandbox: acts on objects with the sandbox's label and exact name only."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sandbox import purpose
from sandbox.config import Sandbox
from sandbox.errors import SandboxError

LABEL = "ibready.sandbox"
# Without CAP_SYS_RESOURCE podman's own, higher limits are refused.
ULIMITS = ("--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096")


def prefix() -> list[str]:
    """Return how a program is called with root's rights from here."""
    return [] if os.geteuid() == 0 else ["sudo", "-n"]


def argv(*args: str, tmpdir: str = "") -> list[str]:
    """Return podman's command line. runc where there is one: crun refuses hybrid cgroups."""
    runtime = ["--runtime", "runc"] if shutil.which("runc") or os.path.exists("/usr/sbin/runc") else []
    environment = ["env", f"TMPDIR={tmpdir}"] if tmpdir else []
    return [*prefix(), *environment, "podman", *runtime, *args]


def run(
    args: Sequence[str],
    *,
    stdin: bytes | None = None,
    timeout: float = 120,
    check: bool = True,
    tmpdir: str = "",
) -> subprocess.CompletedProcess[bytes]:
    """Run podman; its last line of complaint becomes the error."""
    command = argv(*args, tmpdir=tmpdir)
    try:
        done = subprocess.run(
            command,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            timeout=timeout,
            # A Ctrl-C at the terminal is ours to act on; podman still has to clean up then.
            start_new_session=True,
        )
    except FileNotFoundError:
        raise SandboxError(
            f"{command[0]} is not installed: install podman and runc (apt install podman runc)"
        ) from None
    except subprocess.TimeoutExpired:
        raise SandboxError(f"podman {args[0]} did not end within {timeout:.0f} s") from None
    if check and done.returncode != 0:
        said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        cause = said[-1] if said else f"exit status {done.returncode}"
        raise SandboxError(f"podman {' '.join(args[:2])}: {cause}")
    return done


def text(args: Sequence[str], *, timeout: float = 120) -> str:
    return run(args, timeout=timeout).stdout.decode(errors="replace").strip()


@dataclass(frozen=True)
class Thing:
    """One container, volume or network: whose it is ("" without our label), and if it runs.

    `made_for` is the mark of the process that a container was made for, "" without one.
    """

    name: str
    owner: str
    running: bool = False
    made_for: str = ""


def owned(things: Sequence[Thing], names: Sequence[str], owner: str) -> list[str]:
    """Return which of `names` exist; refuse what somebody else made, or another checkout uses.

    What another checkout left behind may be taken over: it runs no longer, or the process that it
    was made for has ended.
    """
    existing = {thing.name: thing for thing in things}
    found = [existing[name] for name in names if name in existing]
    for thing in found:
        if not thing.owner:
            raise SandboxError(
                f"{thing.name} exists and is no sandbox's (no label {LABEL}): remove it yourself, "
                "or choose another --name"
            )
        used = thing.running and not purpose.ended(thing.made_for)
        if used and thing.owner != owner:
            raise SandboxError(
                f"{thing.name} is the sandbox of {thing.owner}: run `./run clean` in that "
                "checkout, or choose another --name and --subnet"
            )
    return [thing.name for thing in found]


def _listed(kind: str) -> list[Thing]:
    args = {
        "container": ["ps", "--all", "--format", "json"],
        "volume": ["volume", "ls", "--format", "json"],
        "network": ["network", "ls", "--format", "json"],
    }[kind]
    found: list[Thing] = []
    for item in json.loads(text(args) or "[]") or []:
        name = item.get("Names") or item.get("Name") or item.get("name")
        labels = item.get("Labels") or item.get("labels") or {}
        names = [name] if isinstance(name, str) else name
        running = item.get("State") == "running"
        made_for = labels.get(purpose.LABEL, "")
        found += [Thing(each, labels.get(LABEL, ""), running, made_for) for each in names]
    return found


def present(box: Sandbox, kind: str) -> list[str]:
    """Return the sandbox's own objects of a kind: container, volume or network."""
    names = {
        "container": box.containers,
        "volume": box.volumes,
        "network": (box.network,),
    }[kind]
    return owned(_listed(kind), names, box.owner)


def made_for(box: Sandbox) -> set[str]:
    """Return the marks of the processes that the sandbox's containers were made for."""
    return {thing.made_for for thing in _listed("container") if thing.name in box.containers}


def remove(box: Sandbox) -> list[str]:
    """Remove what there is of the sandbox and return the names."""
    found = {kind: present(box, kind) for kind in ("container", "volume", "network")}
    if found["container"]:
        _remove_containers(box, found["container"])
    if found["volume"]:
        run(["volume", "rm", *found["volume"]])
    if found["network"]:
        run(["network", "rm", *found["network"]])
    return [name for names in found.values() for name in names]


def _remove_containers(box: Sandbox, names: Sequence[str]) -> None:
    force = ["rm", "--force", "--time", "0"]
    try:
        run([*force, *names])
    except SandboxError:
        # One that was killed together with its monitor counts as running until podman fails here.
        left = present(box, "container")
        if left:
            run([*force, *left])


def forget(images: Sequence[str]) -> None:
    """Remove those of these images that exist."""
    there = [name for name in images if run(["image", "exists", name], check=False).returncode == 0]
    if there:
        run(["rmi", *there])


def inspect(container: str, what: str) -> Any:
    """Return one Go template value of a container as Python data."""
    return json.loads(text(["container", "inspect", "--format", "{{json " + what + "}}", container]))
