# SPDX-License-Identifier: GPL-3.0-or-later
"""No address of a package registry stands in the tree: each machine's own configuration has them.

The hosts are put together here, so that this file names none either.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOSTS = (
    ("debian", "org"),
    ("debian", "net"),
    ("ubuntu", "com"),
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("npmjs", "org"),
    ("nodesource", "com"),
    ("rubygems", "org"),
    ("crates", "io"),
    ("rockylinux", "org"),
    ("almalinux", "org"),
    ("centos", "org"),
    ("fedoraproject", "org"),
    ("galaxy.ansible", "com"),
    ("anaconda", "com"),
    ("packages.cloud.google", "com"),
)
PATTERN = "|".join(rf"\b{name}[.]{end}\b" for name, end in HOSTS)


def test_no_file_names_one() -> None:
    words = ["git", "grep", "--line-number", "-I", "--extended-regexp", PATTERN]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        pytest.skip(f"this is no checkout of git: {done.stderr}")
    assert done.stdout == ""


def test_one_would_be_found() -> None:
    for name, end in HOSTS:
        assert re.search(PATTERN, f"deb http://some.{name}.{end}/debian suite main")
