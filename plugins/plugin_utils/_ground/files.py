# SPDX-License-Identifier: GPL-3.0-or-later
"""Write files on the controller so that a reader sees the old whole or the new whole."""

from __future__ import annotations

from pathlib import Path

from ...module_utils._ground import whole

# For what others read, whatever the umask is: repositories that a web server hands out.
PUBLIC = 0o644


def write_whole(path: Path, text: str | bytes, mode: int | None = None) -> None:
    """Replace ``path`` by ``text`` in one step; raises OSError and leaves no half file behind.

    Who may read it is what the umask leaves, as with any program's files, or what ``mode`` says.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    whole.put(str(path), text.encode() if isinstance(text, str) else text, mode)
