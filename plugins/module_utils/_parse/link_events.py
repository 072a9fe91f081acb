# SPDX-License-Identifier: GPL-3.0-or-later
"""Read out of the kernel's log when links went down and came back."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._data.link_history import ANY, WORDS
from .dmesg import records

_ANY = re.compile(ANY)
_WORDS = [(word, re.compile(word.pattern, re.IGNORECASE)) for word in WORDS]


@dataclass(frozen=True)
class LinkEvent:
    """One line. ``seconds`` since the boot, None where the log has other time stamps or none.

    ``device``, ``address`` and ``netdev``: what it names, "" where it does not; ``port``: 0 for none.
    """

    kind: str
    up: bool
    seconds: float | None
    device: str = ""
    address: str = ""
    netdev: str = ""
    port: int = 0


def parse(text: str) -> tuple[LinkEvent, ...]:
    """Every such line, in the log's order; raise ParseError on a text that is no kernel log."""
    found = []
    for record in records(text):
        if not _ANY.search(record.text):
            continue
        for word, pattern in _WORDS:
            match = pattern.search(record.text)
            if match is not None:
                named = {key: value for key, value in match.groupdict().items() if value}
                port = int(named.pop("port", 0))
                found.append(LinkEvent(word.kind, word.up, record.seconds, port=port, **named))
                break
    return tuple(found)
