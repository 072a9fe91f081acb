#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""After each run of dpkg: lead installed tools to what stands before them in a simulated node.

Tools that need umad, and runc, the runtime of container engines.

Nothing answers to the name of a tool whose package is not installed.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess

LAUNCHER = "/usr/local/lib/ibready-sandbox/simulated-umad"
RUNTIME = "/usr/local/lib/ibready-sandbox/simulated-runc"
LINKS = "/usr/local/sbin"
PACKAGE = "infiniband-diags"
LISTS = f"/var/lib/dpkg/info/{PACKAGE}*.list"
DIRECTORIES = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")
RUNTIMES = ("runc",)
# Reads /sys/class only, which is simulated for both HCAs: it runs as it is.
NATIVE = {"ibstat"}


def needs_umad(path: str) -> bool:
    """Tell whether a program opens umad, or is a script that calls one which does."""
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        content = file.read()
    if content.startswith(b"#!"):
        return b"IBPATH" in content
    return content.startswith(b"\x7fELF") and b"libibumad.so" in content


def installed(name: str) -> bool:
    """Tell whether a program is where packages put theirs."""
    return any(os.path.isfile(os.path.join(place, name)) for place in DIRECTORIES)


def listed() -> list[str]:
    """Return the files of the installed package: dpkg's lists, or what rpm says."""
    if shutil.which("dpkg") is None and shutil.which("rpm") is not None:
        done = subprocess.run(["rpm", "-ql", PACKAGE], stdout=subprocess.PIPE, check=False)
        return done.stdout.decode().splitlines()
    found = []
    for name in glob.glob(LISTS):
        with open(name) as file:
            found += file.read().splitlines()
    return found


def wanted(paths: list[str]) -> set[str]:
    """Return the names of the installed tools that go through the launcher."""
    found: set[str] = set()
    for path in paths:
        directory, _, tool = path.rpartition("/")
        if directory in DIRECTORIES and tool not in NATIVE and needs_umad(path):
            found.add(tool)
    return found


def link(links: str, launcher: str, tools: set[str]) -> None:
    """Make the launcher's links in `links` be exactly `tools`; other files stay."""
    for name in os.listdir(links):
        path = os.path.join(links, name)
        if os.path.islink(path) and os.readlink(path) == launcher and name not in tools:
            os.unlink(path)
    for name in tools:
        path = os.path.join(links, name)
        if not os.path.lexists(path):
            os.symlink(launcher, path)


if __name__ == "__main__":
    link(LINKS, LAUNCHER, wanted(listed()))
    link(LINKS, RUNTIME, {name for name in RUNTIMES if installed(name)})
