# SPDX-License-Identifier: GPL-3.0-or-later
"""Launch scripts for nodes of the sandbox, rendered and put on them."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch import cluster, make, options
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch.node import Node
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.launchers import KINDS
from tests.system.conftest import Box

IMAGE = "localhost/tiny"
FOLDER = "/srv/launch"
# What each process tells.
_TOLD = 'echo "rank $RANK of $WORLD_SIZE on $(uname -n) at $MASTER_ADDR:$MASTER_PORT"'


def put(box: Box, kind: str, names: tuple[str, ...], more: str = "true", *, gpus: int = 0) -> str:
    """Put the scripts of one kind on these nodes; returns the path of the one to run. Each process
    tells its number and where it is, then runs ``more``, in a shell. One process for each of
    ``gpus`` of a node, whose NUMA nodes nobody tells; one a node without."""
    cards = (-1,) * gpus
    nodes = [Node(name, name, box.rig.address(name), "eth0", cards, rdma=True) for name in names]
    said = options.read(
        {
            "image": IMAGE,
            "program": "/bin/sh",
            "arguments": ["-ec", f"{_TOLD}; {more}"],
            "processes": 0 if gpus else 1,
        }
    )
    files = make.render(KINDS[kind], cluster.make(nodes, {}, said), said)
    lines = [f"mkdir -p {FOLDER}; cd {FOLDER}"]
    for name, text in files.items():
        lines.append(f"cat > {name} <<'END-OF-FILE'\n{text}END-OF-FILE\nchmod 755 {name}")
    for name in names:
        box.root(name, "\n".join(lines))
    return f"{FOLDER}/{KINDS[kind].file}"
