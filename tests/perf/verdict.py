# SPDX-License-Identifier: GPL-3.0-or-later
"""What a verdict costs: the node program on one full node's bundle, beside an empty Python.

Prints CPU seconds and peak memory of whole processes, and the CPU seconds of one large parse. The
least of several runs is shown: everything above it is the machine's other work.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "collections"))

from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibnetdiscover
from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect
from tests.gauntlet import render
from tests.gauntlet.nodes.nccl import PEER

RUNS = 7
# A child is counted with the memory of its parent before exec: this parent is a small one.
_MEASURE = """
import os, resource, sys
status = os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print()
print(status, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""
BOARD = "hgx-h100-8"
PROGRAM = ROOT / "dist/ibready.pyz"


def cost(argv: list[str]) -> tuple[float, float]:
    """CPU seconds and peak MB of one process."""
    small = [sys.executable, "-I", "-S", "-c", _MEASURE, *argv]
    done = subprocess.run(small, capture_output=True, text=True, cwd="/", check=True)
    status, seconds, kilobytes = done.stdout.split()[-3:]
    if status != "0":
        raise SystemExit(f"{argv} ended with status {status}")
    return float(seconds), float(kilobytes) / 1024


def least(argv: list[str]) -> tuple[float, float]:
    """The least of several runs."""
    seen = [cost(argv) for _ in range(RUNS)]
    return min(one[0] for one in seen), min(one[1] for one in seen)


def fabric(switches: int = 40, hosts: int = 560) -> str:
    """A made-up ibnetdiscover output of a large fabric, about 300 KB."""
    lines = ["#", "# Topology file: simulated", "#", ""]
    for leaf in range(switches):
        lines.append(f'Switch\t64 "S-{leaf:016x}"\t\t# "leaf{leaf}" enhanced port 0 lid {leaf + 1} lmc 0')
        for port in range(1, hosts // switches + 1):
            host = leaf * (hosts // switches) + port
            comment = f'"node{host} mlx5_0" lid {host + 100} 4xNDR'
            lines.append(f'[{port}]\t"H-{host:016x}"[1]({host:x}) \t\t# {comment}')
        lines.append("")
    for host in range(1, hosts + 1):
        leaf = (host - 1) // (hosts // switches)
        port = (host - 1) % (hosts // switches) + 1
        for rail in range(4):
            lines += [
                "vendid=0x2c9",
                "devid=0x1021",
                f"sysimgguid=0x{host:x}{rail}",
                f"caguid=0x{host:x}{rail}",
                f'Ca\t1 "H-{host * 4 + rail:016x}"\t\t# "node{host} mlx5_{rail}"',
                f'[1]({host:x}) \t"S-{leaf:016x}"[{port}]\t\t'
                f'# lid {host + 100} lmc 0 "leaf{leaf}" lid {leaf + 1} 4xNDR',
                "",
            ]
    return "\n".join(lines)[:300_000].rpartition("\n\n")[0] + "\n"


def parse_cost(text: str) -> float:
    """CPU seconds of one parse."""
    seen = []
    for _ in range(RUNS):
        begun = time.process_time()
        ibnetdiscover.parse(text)
        seen.append(time.process_time() - begun)
    return min(seen)


def main() -> int:
    """Print the table."""
    node = render.node(BOARD)
    with tempfile.TemporaryDirectory() as place:
        collect.collect(render.render(node), place, "node7", "now", {"nccl": {"peers": [PEER]}, "container": {}})
        expect = Path(place) / "expect.json"
        expect.write_text(json.dumps(node.expect))
        program = [sys.executable, str(PROGRAM)]
        verify = [*program, "verify", "--bundle", f"{place}/node7", "--expect", str(expect)]
        rows = [
            ("python -c pass", *least([sys.executable, "-c", "pass"])),
            ("python -c 'import ansible'", *least([sys.executable, "-c", "import ansible.cli"])),
            (
                "ibready explain ib.port.state",
                *least([sys.executable, str(PROGRAM), "explain", "ib.port.state"]),
            ),
            (f"ibready verify --bundle ({BOARD}, simulated)", *least(verify)),
        ]
    print("| process | CPU s | peak MB |\n|---|---:|---:|")
    for name, seconds, memory in rows:
        print(f"| {name} | {seconds:.3f} | {memory:.0f} |")
    text = fabric()
    print(f"\nibnetdiscover, {len(text) // 1000} KB: {parse_cost(text):.3f} s of CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
