# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated host: it answers every module of ours with what was recorded, and does nothing else.

The controller works as with a real one, up to the point where ssh would take over: it makes the
module, hands it over, and gets JSON back.
"""

from __future__ import annotations

DOCUMENTATION = r"""
name: recorded
short_description: Answer modules with recorded results
description:
  - Hands out the file C(MODULE.json) of the folder that C(IBREADY_RECORDED) names, with a name of
    the host's own in place of C(@host@), its number in place of C(@number@) and LIDs of its own.
options: {}
"""

import os
import re
from pathlib import Path

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import ConnectionBase

_MODULE = re.compile(rb"module_fqn='ansible_collections\.ibready\.cluster\.plugins\.modules\.(\w+)'")

_LID = re.compile("@lid ([0-9]+)@")


class Connection(ConnectionBase):
    """Nothing is connected to."""

    transport = "recorded"
    has_pipelining = True
    always_pipeline_modules = True

    def _connect(self) -> Connection:
        self._connected = True
        return self

    def exec_command(self, cmd: str, in_data: bytes | None = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
        super().exec_command(cmd, in_data=in_data, sudoable=sudoable)
        found = _MODULE.search((in_data or b"")[-4096:]) or _MODULE.search(in_data or b"")
        if found is None:
            raise AnsibleConnectionFailure(f"a simulated host has no answer to {cmd[:200]}")
        file = Path(os.environ["IBREADY_RECORDED"]) / f"{found[1].decode()}.json"
        address = str(self._play_context.remote_addr)
        number = 256 * int(address.split(".")[2]) + int(address.split(".")[3])
        text = file.read_text().replace("@host@", f"node{number}")
        text = _LID.sub(lambda found: str(int(found[1]) + 16 * (number % 2048)), text)
        return 0, text.replace("@number@", f"{number:08x}").encode(), b""

    def put_file(self, in_path: str, out_path: str) -> None:
        raise AnsibleConnectionFailure("a simulated host takes no files")

    def fetch_file(self, in_path: str, out_path: str) -> None:
        raise AnsibleConnectionFailure("a simulated host has no files")

    def close(self) -> None:
        self._connected = False
