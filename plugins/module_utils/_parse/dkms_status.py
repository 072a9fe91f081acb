# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse ``dkms status``: what DKMS knows, and for which kernels it built and installed it.

DKMS 3 writes ``NAME/VERSION, KERNEL, ARCH: STATE (REMARK)``, DKMS 2 ``NAME, VERSION, KERNEL, ...``.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import ParseError, clean_lines

_TOOL = "dkms_status"
NOTHING: dict[str, Any] = {"modules": []}
_WORD = r"[A-Za-z0-9_.+~:@-]{1,120}"
_LINE = re.compile(
    rf"({_WORD})(?:/|, )({_WORD})(?:, ({_WORD}), ([A-Za-z0-9_-]{{1,32}}))?: "
    rf"([a-z][a-z-]{{1,30}})(?: from ({_WORD}))?((?: \([^()]{{1,200}}\)){{0,9}})"
)
# What DKMS says beside its answer.
_ASIDE = ("Deprecated feature:", "Warning:", "WARNING:")
INSTALLED = ("installed", "installed-weak")


@dataclass(frozen=True)
class DkmsModule:
    """A module as DKMS names it."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name}/{self.version}"


@dataclass(frozen=True)
class Entry:
    """A module package, and for one kernel what became of it.

    ``kernel`` and ``arch`` are "" for one that is only known (added). ``state``: added, built,
    installed, installed-weak (another kernel's, ``of``), broken. ``remark``: what DKMS adds.
    """

    name: str
    version: str
    kernel: str
    arch: str
    state: str
    of: str = ""
    remark: str = ""

    @property
    def installed(self) -> bool:
        return self.state in INSTALLED


def parse(text: str) -> tuple[Entry, ...]:
    """Every line; () for an empty text, which is what DKMS prints where it knows no module."""
    found = []
    for line_no, line in enumerate(clean_lines(text), 1):
        shown = " ".join(line.split())
        if not shown or shown.startswith(_ASIDE):
            continue
        match = _LINE.fullmatch(shown)
        if match is None:
            raise ParseError(_TOOL, line_no, line, "not 'NAME/VERSION[, KERNEL, ARCH]: STATE'")
        name, version, kernel, arch, state, of, remark = match.groups()
        words = remark.strip().strip("()").replace(") (", "; ")
        found.append(Entry(name, version, kernel or "", arch or "", state, of or "", words))
    return tuple(found)


def facts(parsed: tuple[Entry, ...]) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {"modules": [asdict(entry) for entry in parsed]}
