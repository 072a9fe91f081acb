# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a .deb: control file and archive. The same input gives the same bytes."""

from __future__ import annotations

import gzip

from sandbox.vendor.catalog import Package, Relation
from sandbox.vendor.payload import File, description, files, pack, scripts

MAINTAINER = "ibready sandbox <sandbox@localhost>"


def file_name(name: str, version: str, architecture: str = "amd64") -> str:
    """Return NAME_VERSION_ARCH.deb; an epoch is not part of a file's name."""
    return f"{name}_{version.partition(':')[2] or version}_{architecture}.deb"


def _relation(relation: Relation) -> str:
    return f"{relation.name} ({relation.operator} {relation.version})" if relation.operator else relation.name


def control(package: Package, size: int) -> str:
    """Return the control file; `size` is the installed size in bytes."""
    fields = {
        "Package": package.name,
        "Version": package.version,
        "Architecture": "amd64",
        "Maintainer": MAINTAINER,
        "Installed-Size": str(max(1, size // 1024)),
        "Depends": ", ".join(map(_relation, package.depends)),
        "Recommends": ", ".join(map(_relation, package.recommends)),
        "Conflicts": ", ".join(package.conflicts),
        "Replaces": ", ".join(package.conflicts),
        "Provides": ", ".join(package.provides),
        "Section": "misc",
        "Priority": "optional",
        "Description": f"SIMULATED {package.summary}\n {description(package)}",
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items() if value)


def build(package: Package) -> tuple[str, bytes]:
    """Return a package's control file and the whole .deb."""
    content = files(package)
    about = control(package, sum(len(file.data) for file in content))
    members = [File("control", about.encode())]
    settings = [f"/{file.path}\n" for file in content if file.path.startswith("etc/")]
    if settings:
        members.append(File("conffiles", "".join(settings).encode()))
    members += [File(name, text.encode(), 0o755) for name, text in scripts(package).items()]
    return about, archive(pack(members), pack(content))


def archive(control_tar: bytes, data_tar: bytes) -> bytes:
    """Return the ar archive that a .deb is, of two tars that are not compressed."""
    members = {
        "debian-binary": b"2.0\n",
        "control.tar.gz": gzip.compress(control_tar, 6, mtime=0),
        "data.tar.gz": gzip.compress(data_tar, 6, mtime=0),
    }
    out = b"!<arch>\n"
    for name, data in members.items():
        out += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode()
        out += data + (b"\n" if len(data) % 2 else b"")
    return out
