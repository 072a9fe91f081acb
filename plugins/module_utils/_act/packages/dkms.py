# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel modules that DKMS builds: were they built for the running kernel, and have them built again.

apt ends well although a build failed (Debian's postinst of some packages passes it over), so what
counts is what lies on the disk: /var/lib/dkms/MODULE/VERSION/KERNEL/ARCH/module/*.ko*.
"""

from __future__ import annotations

import dataclasses
import os
import re
from typing import Callable, Iterable

from ..._ground.bound import Bound
from ..._parse import _make_log
from ..._parse.dkms_status import DkmsModule
from .model import PackageError
from .run import Runner

# Builds a module for a kernel; whether it is there afterwards is for the caller to see.
Builder = Callable[[DkmsModule, str], None]
TREE = "/var/lib/dkms"
_SOURCE = re.compile(r"/usr/src/([A-Za-z0-9_.+-]+)-([0-9][A-Za-z0-9_.+~:-]*)/dkms\.conf")
_FIELD = re.compile(r"""\s*(PACKAGE_NAME|PACKAGE_VERSION)=["']?([A-Za-z0-9_.+~:-]+)["']?\s*""")
_OBJECT = re.compile(r".+\.ko(\.(gz|xz|zst))?")
_LAST_LINES = 5
_LONGEST_LOG: Bound = 64 << 20


def is_dkms(package: str) -> bool:
    """Whether a package's name says that it brings sources for DKMS."""
    return package.endswith("-dkms") or "-dkms-" in package


def sources(root: str, owned: Iterable[str]) -> tuple[DkmsModule, ...]:
    """The modules whose sources are among the files of a package.

    dkms.conf names them; where it does not, its directory does.
    """
    found = []
    for path in owned:
        match = _SOURCE.fullmatch(path)
        if match is None:
            continue
        fields = dict(zip(("PACKAGE_NAME", "PACKAGE_VERSION"), match.groups()))
        try:
            place = os.path.join(root, path.lstrip("/"))
            with open(place, encoding="utf-8", errors="replace") as stream:
                for line in stream:
                    field = _FIELD.fullmatch(line.rstrip("\n"))
                    if field:
                        fields[field.group(1)] = field.group(2)
        except OSError:
            pass
        found.append(DkmsModule(fields["PACKAGE_NAME"], fields["PACKAGE_VERSION"]))
    return tuple(found)


def built(root: str, module: DkmsModule, kernel: str) -> tuple[str, ...]:
    """The built kernel objects of a module for a kernel, as paths below ``root``; may be none."""
    home = os.path.join(root, TREE.lstrip("/"), module.name, module.version, kernel)
    found = []
    for folder, _folders, names in os.walk(home):
        if os.path.basename(folder) == "module":
            found += [os.path.join(folder, name) for name in names if _OBJECT.fullmatch(name)]
    return tuple(sorted(found))


def unbuilt(root: str, modules: Iterable[DkmsModule], kernel: str) -> tuple[DkmsModule, ...]:
    return tuple(module for module in modules if not built(root, module, kernel))


def make_log(root: str, module: DkmsModule, kernel: str) -> tuple[str, _make_log.Failure]:
    """Path of the log of a failed build and what it says; "" where there is none."""
    home = os.path.join(root, TREE.lstrip("/"), module.name, module.version)
    places = [os.path.join(home, "build", "make.log")]
    for folder, _folders, names in os.walk(os.path.join(home, kernel)):
        if "make.log" in names:
            places.append(os.path.join(folder, "make.log"))
    for place in places:
        try:
            with open(place, encoding="utf-8", errors="replace") as stream:
                text, more = stream.read(_LONGEST_LOG), stream.read(1)
        except OSError:
            continue
        found = _make_log.parse(text)
        if not found.lines and not found.cause:
            last = [line.strip() for line in text.splitlines()[-200:] if line.strip()][-_LAST_LINES:]
            found = _make_log.Failure((" | ".join(last)[:800],))
        if more:
            said = f"its first {_LONGEST_LOG:,} characters are read, and there are more"
            found = dataclasses.replace(found, lines=(*found.lines, said))
        return "/" + os.path.relpath(place, root), found
    return "", _make_log.Failure()


def failure(root: str, module: DkmsModule, kernel: str) -> PackageError:
    """The error for a module that DKMS did not build."""
    path, found = make_log(root, module, kernel)
    said = f"says {'; '.join(found.lines)}" if found.lines else "says nothing"
    seen = f": {path} {said}" if path else "; DKMS left no make.log"
    means = f". So {found.cause}" if found.cause else ""
    then = f"{found.following}; see {path}" if found.following else f"see {path or '/var/lib/dkms'} on the host"
    return PackageError(
        "dkms",
        f"DKMS did not build {module} for the running kernel {kernel}{seen}{means}",
        f"{then}; once the cause is gone, run this again (it builds the module) or `dkms install {module} -k {kernel}`",
        changed=True,
    )


def headers(root: str, kernel: str) -> bool:
    """Whether modules can be built for a kernel."""
    return os.path.exists(os.path.join(root, f"lib/modules/{kernel}/build"))


def builder(run: Runner) -> Builder:
    """`dkms install --force` alone would install what was built before, so it is built first."""

    def build(module: DkmsModule, kernel: str) -> None:
        words = ["-m", module.name, "-v", module.version, "-k", kernel, "--force"]
        run(["dkms", "build", *words])
        run(["dkms", "install", *words])

    return build
