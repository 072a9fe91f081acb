# SPDX-License-Identifier: GPL-3.0-or-later
"""Files on the controller: where those of a site are, and how ours are written, so that no reader sees half of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...module_utils._ground import whole

INVENTORY_DIR = "inventory_dir"
# For what others read, whatever the umask is: repositories that a web server hands out.
PUBLIC = 0o644


def write_whole(path: Path, text: str | bytes, mode: int | None = None) -> None:
    """Replace ``path`` by ``text`` in one step; raises OSError and leaves no half file behind.

    Who may read it is what the umask leaves, as with any program's files, or what ``mode`` says.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    whole.put(str(path), text.encode() if isinstance(text, str) else text, mode)


def home(variables: Mapping[str, Any]) -> Path | None:
    """The folder of the inventory that a host comes from; None where it comes from none.

    Of hosts on the command line (`-i host1,`) that is the working directory: Ansible's inventory_dir is "None" there.
    """
    if INVENTORY_DIR not in variables:
        return None
    found = Path(str(variables[INVENTORY_DIR]))
    return found.resolve() if found.is_absolute() else Path.cwd()


def of_site(file: str, variables: Mapping[str, Any]) -> Path:
    """The file or folder that a variable names, in the working directory, else beside the inventory."""
    path = Path(file).expanduser()
    beside = (home(variables) or Path.cwd()) / path
    return path if path.exists() or not beside.exists() else beside
