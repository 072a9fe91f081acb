# SPDX-License-Identifier: GPL-3.0-or-later
"""A value as one short text: what says the same again and again travels as little.

Ansible walks through every value of a result several times; a text is one.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import Any


def pack(value: Any) -> str:
    """The value, which JSON can hold, compressed and in base64."""
    text = json.dumps(value, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 6)).decode()


def opened(packed: str, most: int, by: str) -> str:
    """The JSON that was packed ``by`` a module; ValueError on other work, or more than ``most`` bytes."""
    try:
        stream = zlib.decompressobj()
        text = stream.decompress(base64.b64decode(packed, validate=True), max(most, 1))  # to zlib 0 is no bound
    except (binascii.Error, zlib.error) as exc:
        raise ValueError(f"not what {by} packed: {exc}") from exc
    if stream.unconsumed_tail or not stream.eof:
        raise ValueError(f"not what {by} packed: cut off, or too large")
    return text.decode()
