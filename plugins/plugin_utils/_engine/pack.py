# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine: the modules that are asked by it and all that they import, as one archive.

The same sources and the same zlib give the same bytes. It is made once a run: the first worker that
needs it leaves it in Ansible's folder of the run, where the others find it.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from ...module_utils._agent import pack
from ...module_utils._desired import compare

# Each has an action of ours, asks for nothing of AnsibleModule but what answer.Asked has, and
# imports nothing else of Ansible.
MODULES = (
    "containerverify",
    "host_desired",
    "hostverify",
    "ibverify",
    "nccl_host",
    "ncclverify",
    "node_facts",
    "nvlinkverify",
    "run_lease",
    "stackverify",
)
_PLUGINS = Path(__file__).resolve().parents[2]
_BASE = "ansible_collections/ibready/cluster/plugins"
_OWN = ("bootstrap", "serve", "answer", "keep")


@dataclass(frozen=True)
class Engine:
    """An archive and its SHA256, by which nodes keep it."""

    digest: str
    path: Path

    def archive(self) -> bytes:
        return self.path.read_bytes()


@cache
def bootstrap() -> str:
    """The text that every visit sends."""
    return (_PLUGINS / "module_utils/_engine/bootstrap.py").read_text()


def archive() -> bytes:
    """All that is sent to a node once."""
    begin = [f"modules/{name}.py" for name in (*MODULES, *compare.MODULES)]
    begin += [f"module_utils/_engine/{name}.py" for name in _OWN]
    texts = {name: text.decode() for name, text in pack.closure(str(_PLUGINS), begin, _BASE).items()}
    return zlib.compress(json.dumps(texts, sort_keys=True).encode())


@cache
def engine(folder: str) -> Engine:
    """This run's engine, made where ``folder`` has none."""
    made = Path(folder) / "ibready-engine"
    with (Path(folder) / "ibready-engine.lock").open("w") as lock:
        # Thirty workers begin at once, and one of them makes it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            begun = made.with_suffix(".part")
            data = archive()
            begun.write_bytes(data)
            os.replace(begun, made)
    return Engine(sha256(made.read_bytes()).hexdigest(), made)
