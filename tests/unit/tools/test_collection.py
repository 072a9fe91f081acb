# SPDX-License-Identifier: GPL-3.0-or-later
"""One way to build the collection, of a copy that holds what git has of a checkout."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tools import collection

# Of a release's own copy, at a commit.
RELEASE = "tools/release.py"


def test_a_copy_has_what_git_has_or_would_take(tmp_path: Path) -> None:
    root, place = tmp_path / "root", tmp_path / "place"
    (root / "below").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    for name, text in {".gitignore": "*.pyc\n", "below/a.py": "a", "left.pyc": "", ".hidden": "", "gone": ""}.items():
        (root / name).write_text(text)
    (root / "link").symlink_to("nowhere")
    subprocess.run(["git", "add", "gone", "below"], cwd=root, check=True)
    (root / "gone").unlink()
    collection.copy(root, place)
    found = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_symlink() or path.is_file()}
    assert found == {".gitignore", ".hidden", "below/a.py", "link"}
    assert (place / "link").is_symlink()
    assert (place / "below/a.py").read_text() == "a"


def test_nothing_else_builds_it() -> None:
    builds = re.compile(r"""["']collection["'], *["']build["']""")
    every = [
        *(collection.ROOT / "tools").rglob("*.py"),
        *(collection.ROOT / "tests").rglob("*.py"),
        *(collection.ROOT / "molecule").rglob("*.yml"),
    ]
    found = {str(path.relative_to(collection.ROOT)) for path in every if builds.search(path.read_text("utf-8"))}
    assert found == {"tools/collection.py", RELEASE}
