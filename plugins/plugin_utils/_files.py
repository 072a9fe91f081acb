# SPDX-License-Identifier: GPL-3.0-or-later
"""Write files on the controller so that a reader sees the old whole or the new whole."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

# For what others read, whatever the umask is: repositories that a web server hands out.
PUBLIC = 0o644


def write_whole(path: Path, text: str | bytes, mode: int | None = None) -> None:
    """Replace ``path`` by ``text`` in one step; raises OSError and leaves no half file behind.

    Who may read it is what the umask leaves, as with any program's files, or what ``mode`` says.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode() if isinstance(text, str) else text)
            stream.flush()
            if mode is not None:
                os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
        os.replace(begun, path)
    except BaseException:
        begun.unlink(missing_ok=True)
        raise
