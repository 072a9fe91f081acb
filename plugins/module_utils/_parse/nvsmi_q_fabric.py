# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what somebody cut out of ``nvidia-smi -q`` about the NVLink fabric."""

from __future__ import annotations

from typing import Any

from .._ground.text import ParseError
from . import nvsmi_q
from ._nvsmi import Nvsmi, fabric_wrong

_TOOL = "nvsmi_q_fabric"
NOTHING = nvsmi_q.NOTHING


def parse(text: str) -> Nvsmi:
    """Read an excerpt of ``nvidia-smi -q``; raise ParseError where it shows no fabric."""
    try:
        parsed = nvsmi_q.parse(text)
    except ParseError as exc:
        raise ParseError(_TOOL, exc.line_no, exc.line, exc.reason, exc.error_lines) from exc
    if all(gpu.fabric is None for gpu in parsed.gpus):
        raise ParseError(_TOOL, 0, "", "no Fabric section in this output")
    return parsed


def facts(parsed: Nvsmi) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return nvsmi_q.facts(parsed)


def wrong(parsed: Nvsmi) -> tuple[str, ...]:
    """What the driver says against the fabric: the registration failed, or the fabric is not healthy."""
    return fabric_wrong(parsed)
