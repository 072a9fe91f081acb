# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep secrets out of bundles: kernel command lines and logs may carry passwords and tokens."""

from __future__ import annotations

import re

MASK = "[masked]"
_SECRET = re.compile(
    r"((?:passw(?:or)?d|passphrase|secret|token|credential|api_?key)[a-z0-9_.-]{0,40}\s?[=:]\s?)"
    r"(\"[^\"\n]*\"|'[^'\n]*'|[^\s,;]+)",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"([a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,64}:)[^\s/@]{1,256}(@)")


def masked(text: str) -> str:
    """The text with the values of what is named like a secret masked, and logins in addresses."""
    return _LOGIN.sub(rf"\1{MASK}\2", _SECRET.sub(rf"\1{MASK}", text))
