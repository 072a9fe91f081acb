#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""SIMULATED ofed_info: prints what the stand-in packages are a release of, as the real one does."""

from __future__ import annotations

import shutil
import subprocess
import sys

NAME = "@OFED_NAME@"
RELEASE = "@NIC_DRIVER@"
USAGE = "Usage: ofed_info [-s|-n|-h]  (SIMULATED by ibready's sandbox)"
# What the vendor's builds of rdma-core carry in their version.
MARK = "mlnx"


def installed() -> list[str]:
    """Return names of the installed packages of this release."""
    if shutil.which("dpkg-query"):
        argv = ["dpkg-query", "-W", "-f", "${Package} ${Version} ${db:Status-Status}\n"]
    else:
        argv = ["rpm", "-qa", "--qf", "%{NAME} %{VERSION}-%{RELEASE} installed\n"]
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=False)
    found = []
    for line in done.stdout.decode().splitlines():
        name, version, state = line.split(" ")
        ours = MARK in version or ".OFED." in version or "-OFED." in version
        if state == "installed" and (ours or name in ("mft", "mlnx-tools")):
            found.append(name)
    return sorted(found)


def main(argv: list[str]) -> int:
    if argv == ["-s"]:
        print(f"{NAME}-{RELEASE}:")
    elif argv == ["-n"]:
        print(RELEASE)
    elif not argv:
        print(f"{NAME}-{RELEASE}:\n")
        print("Installed Packages:\n-------------------\n")
        print("\n".join(installed()))
    else:
        print(USAGE)
        return 0 if argv == ["-h"] else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
