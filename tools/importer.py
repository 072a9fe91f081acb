# SPDX-License-Identifier: GPL-3.0-or-later
"""galaxy-importer takes the archive of the collection, by its defaults, which are Galaxy's.

    python -m tools.importer

It gives its ansible-lint 180 seconds of the clock, so it has the machine for itself.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.collection import ROOT, build

# ./run makes it, with what importer-requirements.txt pins.
PROGRAMS = ROOT / ".cache/importer/bin"
HOME = ROOT / ".cache/importer/home"
# What is no complaint stands there without its level.
_COMPLAINT = re.compile(r"(?:WARNING|ERROR|CRITICAL): ")
# What it says where it has looked, in its order.
_LOOKED = (
    "Getting doc strings via ansible-doc",
    "Linting collection via ansible-lint ",
    "...ansible-lint run complete",
    "Importer processing completed successfully",
)
# By Galaxy's names for what a collection has: where it lies, a file or a folder each.
_CONTENT = {
    "module": "plugins/modules/*.py",
    "action": "plugins/action/*.py",
    "role": "roles/*",
    "playbook": "playbooks/*.yml",
}
_LIMIT = 900.0


def complaints(status: int, said: str, result: Mapping[str, Any]) -> Iterator[str]:
    """What it did not like, and what it did not look at."""
    lines = said.splitlines()
    yield from (line for line in lines if _COMPLAINT.match(line))
    if status:
        yield f"it ended with status {status}"
    for word in _LOOKED:
        if not any(line.startswith(word) for line in lines):
            yield f"it never said: {word.strip()}"
    found = {(entry["content_type"], entry["name"].partition(".yml")[0]) for entry in result.get("contents", ())}
    for kind, pattern in _CONTENT.items():
        for path in sorted(ROOT.glob(pattern)):
            if path.stem != "__init__" and (kind, path.stem) not in found:
                yield f"it did not find the {kind} {path.stem}"


def take(built: Path) -> tuple[int, str, Mapping[str, Any]]:
    """Run it where no other settings reach it; its status, its words and what it made of the archive."""
    settings = HOME / "galaxy-importer.cfg"
    settings.write_text("[galaxy-importer]\n")
    result = HOME / "importer_result.json"
    result.unlink(missing_ok=True)
    others = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "GALAXY_"))}
    env = {
        **others,
        "HOME": str(HOME),
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "GALAXY_IMPORTER_CONFIG": str(settings),
    }
    done = subprocess.run(
        [str(PROGRAMS / "python"), "-m", "galaxy_importer.main", str(built)],
        cwd=HOME,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_LIMIT,
    )
    return done.returncode, done.stdout, json.loads(result.read_text()) if result.exists() else {}


def main() -> int:
    status, said, result = take(build(HOME / "built"))
    found = list(complaints(status, said, result))
    if found:
        print(said)
        print("\ngalaxy-importer does not take the archive without complaint:", *found, sep="\n  ", file=sys.stderr)
        return 1
    print(f"galaxy-importer takes the archive without complaint: {len(result['contents'])} contents")
    return 0


if __name__ == "__main__":
    sys.exit(main())
