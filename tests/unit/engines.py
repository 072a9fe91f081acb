# SPDX-License-Identifier: GPL-3.0-or-later
"""Visits of an engine: its program in a process of its own, with a folder of the test's in place of /run."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from binascii import b2a_base64
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._engine import bootstrap
from ansible_collections.ibready.cluster.plugins.plugin_utils._engine import pack


@functools.cache
def archive() -> bytes:
    return pack.archive()


def digest(data: bytes | None = None) -> str:
    return sha256(archive() if data is None else data).hexdigest()


@dataclass(frozen=True)
class Node:
    """A node that keeps its engine in ``place``."""

    place: Path

    def program(self, module: str, args: dict[str, Any], carried: bytes = b"", named: str = "") -> str:
        question = json.dumps({"module": module, "args": args})
        words = (named or digest(), question, b2a_base64(carried, newline=False).decode(), str(self.place))
        return f"{pack.bootstrap()}\n\nmain({', '.join(map(ascii, words))})\n"

    def visit(
        self, module: str = "node_facts", *, carried: bytes = b"", named: str = "", python: Any = (), **more: Any
    ) -> dict[str, Any]:
        """What it answers; ``more`` is for the process."""
        args = more.pop("args", {})
        done = subprocess.run(
            python or [sys.executable],
            input=self.program(module, args, carried, named),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **more,
        )
        assert done.stderr == ""
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def bring(self, **more: Any) -> dict[str, Any]:
        """A visit that carries the engine."""
        return self.visit(carried=archive(), **more)

    @property
    def engine(self) -> Path:
        return self.place / digest()

    @property
    def code(self) -> Path:
        return self.place / bootstrap.code_name(digest())


ABSENT = {"ibready_engine": "absent"}
