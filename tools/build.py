# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the node program as one file: the same module_utils in a zip with a shebang.

The same sources and the same Python give the same bytes: names are sorted, and times and rights are
fixed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import struct
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PACKAGE = "ansible_collections/ibready/cluster/plugins/module_utils"
_SHEBANG = b"#!/usr/bin/env python3\n"
_MAIN = f"""\
import sys

from {_PACKAGE.replace("/", ".")}._program import main

sys.exit(main())
"""
# Only what Ansible's own modules need, which the program has no use for.
_LEFT_OUT = ("_module.py",)


def contents(root: Path) -> dict[str, bytes]:
    """What the archive holds, by name."""
    source = root / "plugins/module_utils"
    found = {"__main__.py": _MAIN.encode()}
    for path in sorted(source.rglob("*.py")):
        name = path.relative_to(source).as_posix()
        if name not in _LEFT_OUT:
            found[f"{_PACKAGE}/{name}"] = path.read_bytes()
    # Zip files know no namespace packages before Python 3.13 unless directories have entries.
    for name in list(found):
        parts = name.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            found.setdefault("/".join([*parts[:depth], "__init__.py"]), b"")
    return {**found, **bytecode(found)}


def bytecode(sources: dict[str, bytes]) -> dict[str, bytes]:
    """Each module compiled by this Python, which spares it most of the start-up time.

    Another Python sees that it is not its own and compiles the source beside it.
    """
    # PEP 552: never compared with the source, for nobody can change one without the other here.
    header = importlib.util.MAGIC_NUMBER + struct.pack("<L", 0b01)
    return {
        # Marshal's version 2 has no references, which depend on what else the process has done.
        f"{name}c": header
        + importlib.util.source_hash(text)
        + marshal.dumps(compile(text, name, "exec", dont_inherit=True, optimize=0), 2)
        for name, text in sources.items()
        if name != "__main__.py"
    }


def build(root: Path, dest: Path) -> str:
    """Write the program to ``dest``; returns its sha256."""
    dest.parent.mkdir(parents=True, exist_ok=True)
    begun = dest.with_suffix(".part")
    with open(begun, "wb") as stream:
        stream.write(_SHEBANG)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            for name, data in sorted(contents(root).items()):
                entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
                entry.create_system = 3
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, data)
    begun.chmod(0o755)
    begun.replace(dest)
    return hashlib.sha256(dest.read_bytes()).hexdigest()


def main() -> int:
    """Build dist/ibready.pyz and say what it is."""
    dest = ROOT / "dist/ibready.pyz"
    digest = build(ROOT, dest)
    print(f"{dest.relative_to(ROOT)} sha256:{digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
