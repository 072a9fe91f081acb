# SPDX-License-Identifier: GPL-3.0-or-later
"""A reader of Prometheus' text format that knows only its specification."""

from __future__ import annotations

import re

SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


def unescaped(text: str) -> str:
    return re.sub(r'\\[\\"n]', lambda match: ESCAPES[match.group()], text)


def read(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every sample; an AssertionError on a line that the format does not allow."""
    assert text == "" or text.endswith("\n")
    found: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
    typed: dict[str, str] = {}
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in typed
            typed[name] = kind
            continue
        match = SAMPLE.fullmatch(line)
        assert match is not None, line
        name, labels, value = match.groups()
        assert name in typed, "its TYPE goes before"
        pairs = LABEL.findall(labels or "")
        assert "".join(f'{k}="{v}",' for k, v in pairs).rstrip(",") == (labels or "")
        key = (name, frozenset((k, unescaped(v)) for k, v in pairs))
        assert key not in found
        found[key] = float(value)
    return found
