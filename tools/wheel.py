# SPDX-License-Identifier: GPL-3.0-or-later
"""A wheel of pure Python: a zip of modules, metadata, and a list of its files with their sums.

As https://packaging.python.org/en/latest/specifications/binary-distribution-format/ has it.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import zipfile
from pathlib import Path

from packaging.version import Version

_METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: {summary}
Author: {author}
License: GPL-3.0-or-later
License-File: LICENSE
Project-URL: Source, {url}
Requires-Python: >=3.8

{description}
"""
_WHEEL = """\
Wheel-Version: 1.0
Generator: ibready
Root-Is-Purelib: true
Tag: py3-none-any
"""
_COMMAND = """\
[console_scripts]
{name} = {name}._agent.program:main
"""


@dataclasses.dataclass(frozen=True)
class About:
    """What the metadata say; ``name`` is the distribution, its package and its command."""

    name: str
    version: str
    summary: str
    description: str
    author: str
    url: str


def line(name: str, data: bytes) -> str:
    """What the list says of a file."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def build(dist: Path, modules: dict[str, bytes], about: About, licence: bytes) -> Path:
    """Write the wheel of these files, the same bytes every time."""
    words = {**dataclasses.asdict(about), "version": str(Version(about.version))}
    stem = f"{about.name}-{words['version']}"
    info = f"{stem}.dist-info"
    files = {
        **modules,
        f"{info}/METADATA": _METADATA.format(**words).encode(),
        f"{info}/WHEEL": _WHEEL.encode(),
        f"{info}/entry_points.txt": _COMMAND.format(**words).encode(),
        f"{info}/LICENSE": licence,
    }
    record = "".join(line(name, data) for name, data in sorted(files.items()))
    path = dist / f"{stem}-py3-none-any.whl"
    # Stored, for what compresses differs between machines. The list comes last, as installers like it.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in [*sorted(files.items()), (f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode())]:
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return path
