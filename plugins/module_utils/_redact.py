# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep secrets out of bundles and reports: logs and command lines may carry passwords."""

from __future__ import annotations

import re

MASK = "[masked]"
_NAMES = (
    r"(?:passw(?:or)?d|passphrase|_pwd|secret|token|credential|jwt|(?:api|ssh|private|access)_?key)"
    r"[a-z0-9_.-]{0,40}"
)
_SECRET = re.compile(
    rf"({_NAMES}\s?[=:]\s?)(\"[^\"\n]*\"|'[^'\n]*'|[^\s,;]+)",
    re.IGNORECASE,
)
# systemd quotes the whole of "NAME=a value with blanks".
_QUOTED = re.compile(rf"(\"[a-z0-9_.-]{{0,40}}{_NAMES}=)[^\"\n]*(?=\")", re.IGNORECASE)
_OPTION = re.compile(rf"(\s--?{_NAMES}\s)[^\s-]\S*", re.IGNORECASE)
_LOGIN = re.compile(r"([a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,64}:)[^\s\"']{1,256}(@)")


def masked(text: str) -> str:
    """The text with the values of what is named like a secret masked, and logins in addresses."""
    for pattern in (_QUOTED, _OPTION):
        text = pattern.sub(rf"\1{MASK}", text)
    return _LOGIN.sub(rf"\1{MASK}\2", _SECRET.sub(_hidden, text))


def _hidden(found: re.Match[str]) -> str:
    # What is masked already may stand before the quote that ends it.
    return found[0] if found[2].strip("\"'") == MASK else f"{found[1]}{MASK}"
