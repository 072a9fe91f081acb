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
  - Hands out the file C(MODULE/NUMBER.json) of the folder that C(IBREADY_RECORDED) names, or what
    C(of_host) makes of its C(MODULE.json).
options: {}
"""

import os
import re
from pathlib import Path

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import ConnectionBase

_MODULE = re.compile(rb"module_fqn='ansible(?:_collections\.ibready\.cluster\.plugins)?\.modules\.(\w+)'")
# Of a program that runs the kept engine.
_ASKED = re.compile(rb"\nmain\('[0-9a-f]{64}', '\{\"module\": \"(\w+)\"")

_LID = re.compile("@lid ([0-9]+)@")

# The address of a host that does not answer.
OFF = "10.1.255.255"
# Hosts of one fabric, for which there are LIDs.
_FABRIC = 2048


def of_host(text: str, number: int) -> str:
    """What the host of this number says: name, GUIDs and LIDs are its own, the subnet manager its fabric's."""
    text = _LID.sub(lambda found: str(int(found[1]) + 16 * (number % _FABRIC)), text)
    text = text.replace("@host@", f"node{number}").replace("@fabric@", f"{0xB8599F03 + number // _FABRIC:08x}")
    return text.replace("@number@", f"{number:08x}")


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
        sent = in_data or b""
        found = _ASKED.search(sent) or _MODULE.search(sent[-4096:]) or _MODULE.search(sent)
        if found is None:
            raise AnsibleConnectionFailure(f"a simulated host has no answer to {cmd[:200]}")
        place = Path(os.environ["IBREADY_RECORDED"]) / found[1].decode()
        address = str(self._play_context.remote_addr)
        if address == OFF:
            raise AnsibleConnectionFailure("a simulated host that is off")
        number = 256 * int(address.split(".")[2]) + int(address.split(".")[3])
        own = place / f"{number}.json"
        if own.exists():
            return 0, own.read_bytes(), b""
        return 0, of_host(place.with_suffix(".json").read_text(), number).encode(), b""

    def put_file(self, in_path: str, out_path: str) -> None:
        raise AnsibleConnectionFailure("a simulated host takes no files")

    def fetch_file(self, in_path: str, out_path: str) -> None:
        raise AnsibleConnectionFailure("a simulated host has no files")

    def close(self) -> None:
        self._connected = False
