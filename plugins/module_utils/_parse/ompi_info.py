# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ompi_info --parsable --param pml all --level 9`` prints: how Open MPI sends."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import ParseError, clean_lines

_TOOL = "ompi_info"
NOTHING: dict[str, Any] = {
    "components": [],
    "release": None,
    "pml": None,
    "source": None,
    "tls": None,
    "devices": None,
    "takes_ucx": None,
}
_RELEASE = re.compile(r'mca:pml:([A-Za-z0-9_]{1,40}):version:"component:([0-9][0-9A-Za-z.-]{0,30})"')
_VALUE = re.compile(r"mca:pml:base:param:pml:(value|source):(.*)")
_OF_UCX = "mca:pml:ucx:param:"
_TLS = re.compile(r"mca:pml:ucx:param:pml_ucx_(tls|devices):value:(.*)")


@dataclass(frozen=True)
class OmpiInfo:
    """``components``: of the framework pml, in the tool's order. ``release``: theirs. ``pml``:
    which of them may be taken ("" for all, ``^ucx`` for all but ucx); ``source``: who says so.
    ``tls`` and ``devices``: what UCX must have for its component to be taken by itself."""

    components: tuple[str, ...]
    release: str
    pml: str
    source: str
    tls: str = ""
    devices: str = ""

    @property
    def takes_ucx(self) -> bool:
        """Whether component ucx is there and not left out."""
        if "ucx" not in self.components:
            return False
        names = self.pml.lstrip("^").split(",") if self.pml else []
        return not self.pml or (("ucx" in names) != self.pml.startswith("^"))


def parse(text: str) -> OmpiInfo:
    """Read the output; ParseError where it names no component, or not which may be taken."""
    found: dict[str, str] = {}
    value: dict[str, str] = {}
    ucx: dict[str, str] = {}
    lines = clean_lines(text)
    for line in lines:
        release = _RELEASE.fullmatch(line)
        if release is not None:
            found.setdefault(release.group(1), release.group(2))
        chosen = _VALUE.fullmatch(line)
        if chosen is not None:
            value.setdefault(chosen.group(1), chosen.group(2).strip())
        limit = _TLS.fullmatch(line)
        if limit is not None:
            ucx.setdefault(limit.group(1), limit.group(2).strip())
    if not found:
        raise ParseError(_TOOL, 0, "", "no component of the framework pml")
    if "value" not in value:
        raise ParseError(_TOOL, 0, "", "nothing tells which components of pml may be taken")
    # The components' own parameters come last.
    if "ucx" in found and not any(line.startswith(_OF_UCX) for line in lines):
        raise ParseError(_TOOL, 0, "", "no parameter of component ucx: the text is cut off")
    return OmpiInfo(
        tuple(found),
        next(iter(found.values())),
        value["value"],
        value.get("source", ""),
        ucx.get("tls", ""),
        ucx.get("devices", ""),
    )


def facts(parsed: OmpiInfo) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {**asdict(parsed), "components": list(parsed.components), "takes_ucx": parsed.takes_ucx}
