# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse dpkg's database, /var/lib/dpkg/status."""

from __future__ import annotations

from .._ground.text import ParseError
from .packages import Package

_TOOL = "dpkg_status"
_FIELDS = ("Package", "Status", "Version", "Architecture")
# Nine lines in ten are others.
_FIRST = frozenset(field[0] for field in _FIELDS)
# The last word of Status: what is on the disk is no package (any more).
_GONE = ("not-installed", "config-files")
_WHOLE = ("installed", "triggers-pending", "triggers-awaited")


def parse(text: str) -> tuple[Package, ...]:
    """Every installed package; ParseError where the file ends within one, or holds none."""
    text = text.replace("\r\n", "\n")
    # dpkg ends every paragraph with an empty line, the last one too.
    if text.strip() and not text.endswith("\n\n"):
        line_no = text.count("\n") + 1
        raise ParseError(_TOOL, line_no, text[-120:].split("\n")[-1], "the file ends here, cut off")
    found = []
    fields: dict[str, str] = {}
    start = 1
    for line_no, line in enumerate(text.split("\n"), 1):
        if line:
            if line[0] not in _FIRST:
                continue
            key, colon, value = line.partition(":")
            if colon and key in _FIELDS:
                fields.setdefault(key, value.strip())
            continue
        if fields:
            package = _package(fields, start)
            if package is not None:
                found.append(package)
        fields, start = {}, line_no + 1
    if not found:
        raise ParseError(_TOOL, 0, "", "no package in it")
    return tuple(found)


def _package(fields: dict[str, str], line_no: int) -> Package | None:
    words = fields.get("Status", "").split()
    name = fields.get("Package", "")
    if not name or len(words) != 3:
        raise ParseError(_TOOL, line_no, name, "a paragraph without 'Package' or 'Status'")
    if words[2] in _GONE:
        return None
    whole = words[2] in _WHOLE and words[1] == "ok"
    return Package(name, fields.get("Version", ""), fields.get("Architecture", ""), whole)
