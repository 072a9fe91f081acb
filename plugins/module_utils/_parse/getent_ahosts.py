# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``getent ahosts NAME`` prints: the addresses of a host, the best first."""

from __future__ import annotations

import ipaddress

from .._ground.text import ParseError, clean_lines

_TOOL = "getent_ahosts"


def parse(text: str) -> tuple[str, ...]:
    """Each address once, without a zone, in the order in which programs try them."""
    found: dict[str, None] = {}
    for line_no, line in enumerate(clean_lines(text), 1):
        if not line.strip():
            continue
        try:
            found[str(ipaddress.ip_address(line.split()[0].partition("%")[0]))] = None
        except ValueError:
            raise ParseError(_TOOL, line_no, line, "not an address") from None
    if not found:
        raise ParseError(_TOOL, 0, "", "no address")
    return tuple(found)
