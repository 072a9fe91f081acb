# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file has its licence, by a line of its own or by REUSE.toml, and each licence's text is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# REUSE-IgnoreStart
SAID = re.compile(rb"SPDX-License-Identifier: (\S+)\s*(?:\*/|#\}|-->)?$", re.MULTILINE)
# REUSE-IgnoreEnd
PLACES = ("plugins", "roles", "playbooks", "sandbox", "tools", "molecule")


def test_every_licence_that_a_file_names_has_its_text() -> None:
    (rest,) = tomllib.loads((ROOT / "REUSE.toml").read_text())["annotations"]
    assert (rest["path"], rest["precedence"]) == ("**", "closest")
    named = {rest["SPDX-License-Identifier"].encode()}
    for place in PLACES:
        for path in (ROOT / place).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                named.update(SAID.findall(path.read_bytes()[:500]))
    assert {f"{name.decode()}.txt" for name in named} == {path.name for path in (ROOT / "LICENSES").iterdir()}


def test_the_text_of_our_own_licence_is_the_one_at_the_top() -> None:
    assert (ROOT / "LICENSES/GPL-3.0-or-later.txt").read_bytes() == (ROOT / "LICENSE").read_bytes()
