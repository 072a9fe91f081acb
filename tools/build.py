# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the node program as one file: the same module_utils in a zip with a shebang.

The same sources and the same Python give the same bytes.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "collections"))

from ansible_collections.ibready.cluster.plugins.module_utils._agent import pack


def build(root: Path, dest: Path) -> str:
    """Write the program to ``dest``; returns its sha256."""
    data = pack.program(pack.sources(str(root / "plugins/module_utils")))
    dest.parent.mkdir(parents=True, exist_ok=True)
    begun = dest.with_suffix(".part")
    begun.write_bytes(data)
    begun.chmod(0o755)
    begun.replace(dest)
    return hashlib.sha256(data).hexdigest()


def main() -> int:
    """Build dist/ibready.pyz and say what it is."""
    dest = ROOT / "dist/ibready.pyz"
    digest = build(ROOT, dest)
    print(f"{dest.relative_to(ROOT)} sha256:{digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
