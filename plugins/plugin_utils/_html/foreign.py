# SPDX-License-Identifier: GPL-3.0-or-later
"""Foreign text for the page: what cannot be seen, or turns the direction of text, made visible."""

from __future__ import annotations

import re

# Controls but tab and line feed; marks without width; what turns text or separates lines; halves of
# characters, which UTF-8 cannot hold; what is no character.
_STRAY = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)


def text(value: object) -> str:
    """The text with ``\\u202e`` and the like in place of what a page would not show as it is."""
    return _STRAY.sub(_visible, str(value).replace("\r\n", "\n"))


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )
