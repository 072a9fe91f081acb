# SPDX-License-Identifier: GPL-3.0-or-later
"""The NCCL library as a file: where it lies, and which of its texts are variables (nccl_library.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load_by_key
from ._rows import nccl_library as rows

SONAME = "libnccl.so.2"
CONF = "/etc/nccl.conf"


@dataclass(frozen=True)
class Machine:
    """``flag``: ldconfig's word; ``elf``: e_machine; ``folders``: the linker's own, in order."""

    flag: str
    elf: int
    folders: tuple[str, ...]


MACHINES: dict[str, Machine] = load_by_key(Machine, rows.MACHINES)
# The linker's own, of every machine: what lies in one came by a package, as a rule.
FOLDERS = tuple(dict.fromkeys(folder for kind in MACHINES.values() for folder in kind.folders))

OTHER_NAMES: tuple[str, ...] = rows.OTHER_NAMES
# Texts that look like a variable and are none: they end a message ("not initialized via ...") or a
# condition that is printed. Those of 2.31 and 2.32 by the words before them: probable.
NOT_READ_ENDINGS = ("_INITIALIZER",)
NOT_READ: frozenset[str] = frozenset(rows.NOT_READ)

RESULTS: dict[int, str] = rows.RESULTS
