# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a CDI specification of the RDMA devices that a host has: ibready.io/rdma=all, =mlx5_0, ...

This file stands alone (Python 3.8, nothing of this collection): the module container_cdi imports
it, and also puts it on the host, where a systemd unit runs it at each boot and when devices change:

    cdi-rdma [ROOT]
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import tempfile
from typing import Any, Dict, List

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
    numbers = sorted(
        (name for name in _names(root, _FOLDER) if _UVERBS.fullmatch(name)),
        key=lambda name: int(name[len("uverbs") :]),
    )
    verbs = [f"{_FOLDER}/{name}" for name in numbers if _is_device(root, f"{_FOLDER}/{name}")]
    if not verbs:
        return {}
    shared = [path for path in (_CONNECTIONS, _GDRDRV) if _is_device(root, path)]
    found: Devices = {"all": [*verbs, *shared]}
    for path in verbs:
        name = _text(root, f"{_VERBS}/{os.path.basename(path)}/ibdev")
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
    place = _below(root, SPEC)
    if not text:
        if os.path.lexists(place):
            os.unlink(place)
        return
    folder = os.path.dirname(place)
    if not os.path.isdir(folder):
        os.makedirs(folder, exist_ok=True)
        os.chmod(folder, 0o755)  # whatever the umask: not only root runs containers
    # Engines take up *.json and *.yaml of this folder.
    fd, staged = tempfile.mkstemp(prefix=".ibready-", suffix=".new", dir=folder)
    with os.fdopen(fd, "w") as stream:
        stream.write(text)
        os.fchmod(stream.fileno(), 0o644)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(staged, place)


def present(root: str = "/") -> str:
    """The specification that is there, "" where there is none."""
    return _text(root, SPEC, strip=False)


def _is_device(root: str, path: str) -> bool:
    try:
        mode = os.stat(_below(root, path)).st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode)


def _names(root: str, path: str) -> list[str]:
    try:
        return os.listdir(_below(root, path))
    except OSError:
        return []


def _text(root: str, path: str, strip: bool = True) -> str:
    try:
        with open(_below(root, path), encoding="utf-8", errors="replace") as stream:
            text = stream.read(1024 * 1024)
    except OSError:
        return ""
    return text.strip() if strip else text


def _below(root: str, path: str) -> str:
    return os.path.join(root, path.lstrip("/"))


def main() -> None:
    root = sys.argv[1] if len(sys.argv) > 1 else "/"
    text = render(devices(root))
    if text != present(root):
        write(text, root)


if __name__ == "__main__":
    main()
