# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation says of nothing that it came with a release that is yet to come."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[3]
_ADDED = re.compile(r"^ *version_added: *[\"']?([\w.]+)", re.MULTILINE)


def test_nothing_was_added_after_this_release() -> None:
    release = Version(yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"])
    files = [*(ROOT / "plugins").rglob("*.py"), *(ROOT / "plugins").rglob("*.yml"), *(ROOT / "roles").rglob("*.yml")]
    said = [(path.name, version) for path in files for version in _ADDED.findall(path.read_text())]
    assert len(said) > 100
    assert [(name, version) for name, version in said if Version(version) > release] == []
