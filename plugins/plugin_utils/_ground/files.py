# SPDX-License-Identifier: GPL-3.0-or-later
"""Files on the controller: where those of a site are, and how ours are written, so that no reader sees half of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...module_utils._ground import whole

# For what others read, whatever the umask is: repositories that a web server hands out.
PUBLIC = 0o644


def write_whole(path: Path, text: str | bytes, mode: int | None = None) -> None:
    """Replace ``path`` by ``text`` in one step; raises OSError and leaves no half file behind.

    Who may read it is what the umask leaves, as with any program's files, or what ``mode`` says.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    whole.put(str(path), text.encode() if isinstance(text, str) else text, mode)


def of_site(file: str, variables: Mapping[str, Any]) -> Path:
    """The file or folder that a variable names, in the working directory, else beside the inventory."""
    path = Path(file).expanduser()
    beside = Path(str(variables.get("inventory_dir") or ".")) / path
    return path if path.exists() or not beside.exists() else beside
