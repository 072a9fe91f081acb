# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a CDI specification of the RDMA devices that a host has: ibready.io/rdma=all, =mlx5_0, ...

The module container_cdi imports this, and also puts it on the host as a program that stands alone
(`host_program`), where a systemd unit runs it at each boot and when devices change:

    cdi-rdma [ROOT]
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from typing import Any, Dict, List

from ..._ground.host_program import Node
from ..._ground.whole import make_folder, put, remove

SPEC = "/etc/cdi/ibready-rdma.json"
KIND = "ibready.io/rdma"
# The oldest release of the specification that has device files; every engine with CDI reads it.
# Source: the CDI specification, "released versions". Confidence: confirmed.
_RELEASE = "0.3.0"
_FOLDER = "/dev/infiniband"
_VERBS = "/sys/class/infiniband_verbs"
_CONNECTIONS = "/dev/infiniband/rdma_cm"
_GDRDRV = "/dev/gdrdrv"
_UVERBS = re.compile(r"uverbs[0-9]{1,5}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")

Devices = Dict[str, List[str]]


def devices(root: str = "/") -> Devices:
    """The files of each device by its name (mlx5_0), and of all of them; {} without any."""
    node = Node(root)
    numbers = sorted(
        (name for name in node.names(_FOLDER) if _UVERBS.fullmatch(name)),
        key=lambda name: int(name[len("uverbs") :]),
    )
    verbs = [f"{_FOLDER}/{name}" for name in numbers if _is_device(node, f"{_FOLDER}/{name}")]
    if not verbs:
        return {}
    shared = [path for path in (_CONNECTIONS, _GDRDRV) if _is_device(node, path)]
    found: Devices = {"all": [*verbs, *shared]}
    for path in verbs:
        name = node.text(f"{_VERBS}/{os.path.basename(path)}/ibdev")
        if _NAME.fullmatch(name) and name not in found:
            found[name] = [path, *shared]
    return found


def render(found: Devices) -> str:
    """The specification, "" without devices."""
    if not found:
        return ""
    spec: dict[str, Any] = {
        "cdiVersion": _RELEASE,
        "kind": KIND,
        "devices": [
            {"name": name, "containerEdits": {"deviceNodes": [{"path": path} for path in paths]}}
            for name, paths in found.items()
        ],
    }
    return json.dumps(spec, indent=2) + "\n"


def write(text: str, root: str = "/") -> None:
    """Put the specification in place as a whole; "" removes it. Raises OSError."""
    place = Node(root).place(SPEC)
    if not text:
        remove(place)
        return
    make_folder(os.path.dirname(place))
    # Engines take up *.json and *.yaml of this folder, and not only root runs containers.
    put(place, text.encode(), 0o644)


def _is_device(node: Node, path: str) -> bool:
    try:
        mode = os.stat(node.place(path)).st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode)


def main() -> None:
    root = sys.argv[1] if len(sys.argv) > 1 else "/"
    text = render(devices(root))
    if text.strip() != Node(root).text(SPEC):
        write(text, root)


if __name__ == "__main__":
    main()
