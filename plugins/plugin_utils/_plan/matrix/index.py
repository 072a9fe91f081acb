# SPDX-License-Identifier: GPL-3.0-or-later
"""Name and version of each package in the index of a repository. Foreign text: ValueError names the entry.

Source: Debian's repository format (Packages), and createrepo's primary.xml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from xml.etree import ElementTree

from ....module_utils._ground.text import printable

_COMMON = "{http://linux.duke.edu/metadata/common}"


def of_apt(text: str) -> Iterator[tuple[str, str]]:
    """Of each paragraph of Packages."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip()), 1):
        fields = dict(line.partition(": ")[::2] for line in paragraph.splitlines() if line[:1].strip())
        if not fields.get("Package") or not fields.get("Version"):
            raise ValueError(f"paragraph {number} ({printable(paragraph[:40])}) has no Package or no Version")
        yield fields["Package"], fields["Version"]


def of_dnf(raw: bytes) -> Iterator[tuple[str, str]]:
    """Of each package of primary.xml; the version with its release."""
    if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw:
        raise ValueError("declares entities, which no primary.xml does")
    events = ElementTree.iterparse(BytesIO(raw), ("start", "end"))
    try:
        root = next((element for _event, element in events), ElementTree.Element(""))
        if root.tag != f"{_COMMON}metadata":
            raise ValueError(f"begins with {printable(root.tag)}, not with metadata of packages")
        ends = (element for event, element in events if event == "end" and element.tag == f"{_COMMON}package")
        for number, package in enumerate(ends, 1):
            name, told = package.findtext(f"{_COMMON}name"), package.find(f"{_COMMON}version")
            if not name or told is None or not told.get("ver") or not told.get("rel"):
                raise ValueError(f"package {number} ({printable(name or '')}) has no name, ver or rel")
            yield name, f"{told.get('ver')}-{told.get('rel')}"
            root.clear()  # The tree of a long index takes many times its bytes.
    except ElementTree.ParseError as exc:
        raise ValueError(f"no XML: {exc}") from None
