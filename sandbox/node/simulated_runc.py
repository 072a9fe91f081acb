#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the real runc for an engine inside a simulated node, on a container that fits the node.

What is changed in the container's description before runc reads it:

* its /sys is the node's, with the simulated hardware;
* files of simulated devices become the null device: nothing stands behind their numbers;
* limits that the machine below lets nobody raise are lowered to what it gives.
"""

from __future__ import annotations

import json
import os
import resource
import stat
import sys
from typing import Any, NoReturn

REAL = ("/usr/sbin/runc", "/usr/bin/runc")
SIMULATED = ("/dev/infiniband/", "/dev/nvidia", "/dev/gdrdrv")
_NULL = {"type": "c", "major": 1, "minor": 3}
_BRINGS_BUNDLE = ("create", "run")
_LIMITS = {
    "RLIMIT_MEMLOCK": resource.RLIMIT_MEMLOCK,
    "RLIMIT_NOFILE": resource.RLIMIT_NOFILE,
    "RLIMIT_NPROC": resource.RLIMIT_NPROC,
}
# 64 bits without a sign, as runc writes "unlimited".
_INFINITE = 2**64 - 1


def bundle(words: list[str]) -> str | None:
    """Return the directory of the container that a command line makes; None where it makes none."""
    if not any(word in _BRINGS_BUNDLE for word in words):
        return None
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in ("--bundle", "-b"):
            return value if equals else (words[at + 1] if at + 1 < len(words) else None)
    return "."


def fit(description: dict[str, Any], ceilings: dict[str, int]) -> dict[str, Any]:
    """Return the description as the node can run it; ``ceilings``: hard limits by name."""
    changed: dict[str, Any] = json.loads(json.dumps(description))
    for rlimit in changed.get("process", {}).get("rlimits") or []:
        ceiling = ceilings.get(rlimit["type"], _INFINITE)
        rlimit["hard"], rlimit["soft"] = min(rlimit["hard"], ceiling), min(rlimit["soft"], ceiling)
    for mount in changed.get("mounts") or []:
        if mount["destination"] == "/sys" and mount.get("type") in ("sysfs", "none", "bind"):
            mount.update(type="bind", source="/sys", options=["rbind", "ro", "nosuid", "nodev"])
    linux = changed.get("linux", {})
    numbers = set()
    for device in linux.get("devices") or []:
        if device["path"].startswith(SIMULATED):
            numbers.add((device["major"], device["minor"]))
            device.update(_NULL)
    rules = linux.get("resources", {})
    if rules.get("devices"):
        rules["devices"] = [
            device for device in rules["devices"] if (device.get("major"), device.get("minor")) not in numbers
        ]
    return changed


def ceilings() -> dict[str, int]:
    """Return this process's hard limits by runc's names."""
    found = {name: resource.getrlimit(number)[1] for name, number in _LIMITS.items()}
    return {name: value for name, value in found.items() if value != resource.RLIM_INFINITY}


def main(words: list[str]) -> NoReturn:
    real = next((path for path in REAL if os.path.exists(path)), None)
    if real is None:
        sys.exit("runc: not installed")
    directory = bundle(words)
    if directory is not None:
        place = os.path.join(directory, "config.json")
        with open(place) as file:
            description = json.load(file)
        mode = stat.S_IMODE(os.stat(place).st_mode)
        fresh = place + ".simulated"
        with open(fresh, "w") as file:
            json.dump(fit(description, ceilings()), file)
        os.chmod(fresh, mode)
        os.replace(fresh, place)
    os.execv(real, [real, *words])


if __name__ == "__main__":
    main(sys.argv[1:])
