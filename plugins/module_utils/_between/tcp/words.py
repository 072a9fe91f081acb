# SPDX-License-Identifier: GPL-3.0-or-later
"""What a listener says to whoever calls: a sum by the run's token, its port and its name, and that name.

Who knows the token can tell by it whose port was reached. The token itself is never sent.
"""

from __future__ import annotations

import hmac

_SUM = 32
# Bytes that a listener says at most.
MOST = _SUM + 255


def says(token: bytes, port: int, name: bytes) -> bytes:
    """What the listener of this name says on this port."""
    return hmac.new(token, port.to_bytes(2, "big") + name, "sha256").digest() + name


def name_in(token: bytes, port: int, said: bytes) -> str | None:
    """The name of the listener that said it; None where it is no line of this run's."""
    name = said[_SUM:]
    return name.decode("utf-8", "replace") if hmac.compare_digest(said, says(token, port, name)) else None
