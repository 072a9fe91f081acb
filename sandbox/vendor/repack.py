# SPDX-License-Identifier: GPL-3.0-or-later
"""The distribution's real packages of rdma-core, under a vendor's version: the tools stay real."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.vendor import deb
from sandbox.vendor.catalog import Package

# Since 64-bit time some libraries are called by another name, which provides the old one.
_RENAMED = "t64"


@dataclass(frozen=True)
class Real:
    """One of the distribution's packages: its name there, its control fields, its two tars."""

    name: str
    fields: dict[str, str]
    control_tar: bytes
    data_tar: bytes

    @property
    def plain_name(self) -> str:
        return self.name.removesuffix(_RENAMED)

    @property
    def version(self) -> str:
        return self.fields["Version"]


def fields(text: str) -> dict[str, str]:
    """Return a control paragraph's fields, folded lines joined as they are."""
    found: dict[str, str] = {}
    last = ""
    for line in text.splitlines():
        if line[:1] in (" ", "\t") and last:
            found[last] += "\n" + line
        elif ":" in line:
            last, _, value = line.partition(":")
            found[last] = value.strip()
    return found


def _tar_of(file: Path, which: str) -> bytes:
    done = subprocess.run(["dpkg-deb", which, str(file)], capture_output=True, check=False)
    if done.returncode != 0:
        raise SandboxError(f"{file}: dpkg-deb: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def read(folder: Path) -> dict[str, Real]:
    """Return the packages of a folder of .debs by the name that they had before 64-bit time."""
    found = {}
    for file in sorted(folder.glob("*.deb")):
        control_tar = _tar_of(file, "--ctrl-tarfile")
        with tarfile.open(fileobj=io.BytesIO(control_tar)) as tar:
            member = tar.extractfile("./control")
            about = fields(member.read().decode() if member is not None else "")
        real = Real(about["Package"], about, control_tar, _tar_of(file, "--fsys-tarfile"))
        found[real.plain_name] = real
    return found


def wanted(packages: Iterable[Package]) -> tuple[str, ...]:
    """Return the names of the distribution's packages that some package repacks."""
    return tuple(sorted({name for package in packages for name in package.repack}))


def source(package: Package, reals: dict[str, Real]) -> list[Real]:
    """Return what a package repacks; SandboxError where it was not fetched."""
    missing = [name for name in package.repack if name not in reals]
    if missing:
        raise SandboxError(
            f"{package.name}: the distribution's {', '.join(missing)} was not fetched: "
            "remove .cache/vendor and try again"
        )
    return [reals[name] for name in package.repack]


def build(package: Package, reals: dict[str, Real]) -> tuple[str, bytes]:
    """Return the control file and the .deb of a repacked package."""
    (real,) = source(package, reals)
    about = dict(real.fields)
    about["Package"] = package.name
    about["Version"] = package.version
    about["Maintainer"] = deb.MAINTAINER
    about.pop("Source", None)
    summary, _, rest = about["Description"].partition("\n")
    about["Description"] = f"SIMULATED vendor's build of: {summary}\n{rest}".rstrip()
    for field in ("Pre-Depends", "Depends", "Recommends"):
        if field in about:
            about[field] = _siblings(about[field], package.version, reals)
    if real.name != package.name:
        for field in ("Conflicts", "Replaces"):
            about[field] = ", ".join(filter(None, [about.get(field, ""), real.name]))
        about["Provides"] = f"{real.name} (= {package.version})"
    text = "".join(f"{name}: {value}\n" for name, value in about.items())
    return text, deb.archive(_with_control(real.control_tar, text), real.data_tar)


def _siblings(relations: str, version: str, reals: dict[str, Real]) -> str:
    """Let what depends on exactly a sibling's version depend on the vendor's."""
    names = "|".join(re.escape(name) for real in reals.values() for name in {real.name})
    return re.sub(rf"\b({names})(:\w+)? \(= [^)]+\)", rf"\1\2 (= {version})", relations)


def _with_control(tar_bytes: bytes, text: str) -> bytes:
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(tar_bytes)) as old,
        tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as new,
    ):
        for member in old.getmembers():
            data = old.extractfile(member).read() if member.isfile() else b""  # type: ignore[union-attr]
            if member.name == "./control":
                data = text.encode()
                member.size = len(data)
            new.addfile(member, io.BytesIO(data) if member.isfile() else None)
    return out.getvalue()
