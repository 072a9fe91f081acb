#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""First program of a node container: what the kernel shows is made the node's own, then systemd.

* Kernel parameters that are not per container are replaced by private copies, so that a node's
  ``sysctl -w vm.zone_reclaim_mode=1`` is seen by the node and never by the host.
* A container engine may make groups and store layers: groups writable, storage on a volume.
* /sys/class, /sys/bus/pci, /sys/module, /proc/driver show the simulated hardware and what the
  simulated kernel has loaded of its drivers, instead of the host's.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from typing import NamedTuple

from sandbox.hardware.mounts import show_hardware

SYSFS = "/srv/simulated-sysfs/infiniband"
HOLD = "/run/ibready-hold"
NET_CORE = "/proc/sys/net/core"
MOUNTINFO = "/proc/self/mountinfo"
GROUPS = "/sys/fs/cgroup"
ENGINES = "/srv/engines"
MARK = "/etc/ibready-sandbox.json"
# Where docker, containerd and podman store what they hold.
_STORES = ("docker", "containerd", "containers")

# In these the host's real files stay in place: they belong to the container's namespaces.
_PRIVATE: dict[str, tuple[str, ...]] = {
    "/proc/sys/vm": (),
    "/proc/sys/fs": ("mqueue",),
    "/proc/sys/kernel": (
        "hostname",
        "domainname",
        "msg_next_id",
        "msgmax",
        "msgmnb",
        "msgmni",
        "ns_last_pid",
        "random",
        "sem",
        "sem_next_id",
        "shm_next_id",
        "shm_rmid_forced",
        "shmall",
        "shmmax",
        "shmmni",
    ),
    "/sys/module": (),
    "/sys/kernel/mm": (),
}
# Classes that show hardware which the node has of its own.
OWN_CLASSES = ("infiniband", "dmi")


def mount(*argv: str) -> None:
    subprocess.run(["mount", *argv], check=True)


def private_copy(directory: str, real: tuple[str, ...]) -> None:
    """Put a writable copy of a /proc/sys directory over it, except for the names in `real`."""
    os.makedirs(HOLD, exist_ok=True)
    mount("--bind", directory, HOLD)
    mount("-t", "tmpfs", "-o", "mode=755", "private-sysctl", directory)
    for here, subdirectories, names in os.walk(HOLD):
        below = os.path.relpath(here, HOLD)
        if below == ".":
            subdirectories[:] = [name for name in subdirectories if name not in real]
        target = os.path.normpath(os.path.join(directory, below))
        os.makedirs(target, exist_ok=True)
        for name in names:
            if below == "." and name in real:
                continue
            copy_file(os.path.join(here, name), os.path.join(target, name))
    for name in real:
        source = os.path.join(HOLD, name)
        if not os.path.exists(source):
            continue
        target = os.path.join(directory, name)
        if os.path.isdir(source):
            os.makedirs(target, exist_ok=True)
        else:
            open(target, "w").close()
        mount("--bind", source, target)
    subprocess.run(["umount", "--lazy", HOLD], check=True)


def writable(directory: str) -> tuple[str, ...]:
    """Return the names that the container may really set."""
    return tuple(name for name in os.listdir(directory) if os.stat(os.path.join(directory, name)).st_mode & 0o200)


def copy_file(source: str, target: str) -> None:
    """Copy a parameter with its permissions; root may write each copy."""
    try:
        with open(source, "rb") as file:
            content = file.read()
    except OSError:  # some can only be written
        content = b""
    with open(target, "wb") as file:
        file.write(content)
    os.chmod(target, os.stat(source).st_mode & 0o777 | 0o200)


def simulate_class() -> None:
    """Put a /sys/class over the host's, in which hardware of the node's own can be shown."""
    links: dict[str, str] = {}
    classes = os.listdir("/sys/class")
    for name in classes:
        for entry in os.listdir(os.path.join("/sys/class", name)):
            path = os.path.join("/sys/class", name, entry)
            if os.path.islink(path):
                links[path] = os.readlink(path)
    os.makedirs(HOLD, exist_ok=True)
    mount("--bind", "/sys/class/net", HOLD)
    mount("-t", "tmpfs", "-o", "mode=755", "simulated-class", "/sys/class")
    for name in classes:
        if not name.startswith(OWN_CLASSES):
            os.mkdir(os.path.join("/sys/class", name))
    for path, aim in links.items():
        if os.path.isdir(os.path.dirname(path)) and not path.startswith("/sys/class/net/"):
            os.symlink(aim, path)
    # Network interfaces come and go: this one stays the kernel's.
    mount("--bind", HOLD, "/sys/class/net")
    subprocess.run(["umount", "--lazy", HOLD], check=True)


def tell_ceiling() -> None:
    """Write into the node's mark how much memory its processes may lock at most, in bytes."""
    ceiling = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    if ceiling == resource.RLIM_INFINITY:
        return
    with open(MARK) as file:
        mark = json.load(file)
    if mark.get("memlock_ceiling") == ceiling:
        return
    mark["memlock_ceiling"] = ceiling
    with open(MARK + ".new", "w") as file:
        file.write(json.dumps(mark, indent=2) + "\n")
    os.replace(MARK + ".new", MARK)


class Mount(NamedTuple):
    """A mount of control groups: which of them it shows (`root`), and where."""

    root: str
    place: str
    options: tuple[str, ...]


def groups() -> list[Mount]:
    """Return the mounts of control groups, outermost first."""
    with open(MOUNTINFO) as file:
        lines = [line.split() for line in file]
    return [
        Mount(root, place, tuple(options.split(",")))
        for _id, _parent, _device, root, place, options, *_ in lines
        if (place + "/").startswith(GROUPS + "/")
    ]


def own_groups() -> None:
    """Let the node's systemd and container engines work in the node's own control groups."""
    for group in groups():
        # podman shows systemd the machine's own groups where these are the node's by a namespace.
        if group.root.startswith("/.."):
            subprocess.run(["umount", "--lazy", group.place], check=True)
    for group in groups():
        if "ro" in group.options:
            mount("-o", "remount,rw,bind", group.place)


def own_stores() -> None:
    """Give container engines a disk for their layers."""
    for name in _STORES:
        store, shown = os.path.join(ENGINES, name), os.path.join("/var/lib", name)
        for directory in (store, shown):
            os.makedirs(directory, mode=0o711, exist_ok=True)
        mount("--bind", store, shown)


def wait_for(path: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not os.path.isdir(path):
        if time.monotonic() > deadline:
            sys.exit(f"boot: {path} is missing: the fabric container did not start")
        time.sleep(0.05)


def main() -> None:
    for directory, real in _PRIVATE.items():
        private_copy(directory, real)
    # The kernel shows a container some buffer sizes that only the host may change.
    private_copy(NET_CORE, writable(NET_CORE))
    wait_for(SYSFS, 30)
    simulate_class()
    os.rmdir(HOLD)
    show_hardware()
    own_groups()
    own_stores()
    tell_ceiling()
    os.execv("/sbin/init", ["/sbin/init"])


if __name__ == "__main__":
    main()
