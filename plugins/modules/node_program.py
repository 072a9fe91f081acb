#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: node_program
short_description: Have the node program on the host
version_added: 0.1.0
description:
  - Packs the collection's own code for nodes on the controller, in memory, and has it on the host
    as one file without dependencies, compiled for the Python that will run it there.
  - Beside it lies its SHA256, as C(sha256sum -c) reads it. A program that is there and whole is not
    carried again.
options:
  path:
    description: Where the program lies.
    type: path
    default: /usr/local/lib/ibready/ibready.pyz
  sources:
    description: Used by the controller's half of this module; the digest of the sources.
    type: str
  placed:
    description: Used by the controller's half of this module; the archive that has come.
    type: path
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Tells whether the program would be written.
    support: full
notes:
  - The Python that runs it is the one that Ansible uses on the host.
"""

EXAMPLES = r"""
- name: Have the node program on the host
  ibready.cluster.node_program:
"""

RETURN = r"""
path: {type: str, returned: success, description: Where the program lies.}
sha256:
  description: The SHA256 of the program, "" where it is not there yet (check mode).
  type: str
  returned: success
stale:
  description: Why it was written, or would be; "" where it was as it should be.
  type: str
  returned: success
  sample: it is of other sources
"""

import hashlib
import os
import socket
import sys

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._agent import pack
from ..module_utils._ground import whole


def sha256(path: str) -> str:
    """The SHA256 of a file in hex; OSError where it cannot be read."""
    with open(path, "rb") as stream:
        return hashlib.sha256(stream.read()).hexdigest()


def sums(path: str, digest: str) -> str:
    """What the file beside the program holds."""
    return f"{digest}  {os.path.basename(path)}\n"


def why_stale(path: str, sources: str) -> str:
    """Why the program has to be written, "" where it is whole and of these sources."""
    if not os.path.isfile(path):
        return "it is not there"
    try:
        with open(f"{path}.sha256", encoding="utf-8", errors="replace") as stream:
            reported = stream.read()
    except FileNotFoundError:
        reported = ""
    if reported != sums(path, sha256(path)):
        return "it is not what was written"
    known = pack.read_label(path).split(" ")
    if f"sources:{sources}" not in known:
        return "it is of other sources"
    return "" if known == _label(sources).split(" ") else "it is for another Python"


def _label(sources: str) -> str:
    empty = pack.label({}, sys.executable)
    return empty.replace(pack.digest({}), sources)


def write(path: str, placed: str, sources: str) -> None:
    """Pack what has come for this Python and put it in place; PackError or OSError."""
    files = pack.read_sources(placed)
    if pack.digest(files) != sources:
        raise pack.PackError("the archive did not come whole")
    data = pack.program(files, sys.executable)
    whole.make_folder(os.path.dirname(path))
    for place, content, mode in (
        # The sum first: a program without its own sum is written again.
        (f"{path}.sha256", sums(path, hashlib.sha256(data).hexdigest()).encode(), 0o644),
        (path, data, 0o755),
    ):
        whole.put(place, content, mode)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "default": "/usr/local/lib/ibready/ibready.pyz"},
            "sources": {"type": "str"},
            "placed": {"type": "path"},
        },
        supports_check_mode=True,
    )
    path, sources, placed = (module.params[name] for name in ("path", "sources", "placed"))
    host = socket.gethostname()
    try:
        stale = why_stale(path, sources or "")
        if placed and not module.check_mode:
            write(path, placed, sources)
        found = sha256(path) if os.path.isfile(path) else ""
    except (pack.PackError, OSError, SyntaxError) as exc:
        module.fail_json(
            msg=f"{host}: the node program was not written to {path}: {exc}. What was there before"
            " stays. Next: see that the place can be written and has space, then run this again"
        )
    module.exit_json(changed=bool(stale), path=path, sha256=found, stale=stale)


if __name__ == "__main__":
    main()
