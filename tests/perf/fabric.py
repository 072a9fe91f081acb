# SPDX-License-Identifier: GPL-3.0-or-later
"""What judging a whole fabric costs, at five sizes: CPU seconds and peak memory, and how they grow.

The texts are those of real infiniband-diags on ibsim (the rig of sandbox/rig, three levels, one
HCA a rail). They are recorded once and kept below --keep; the largest takes minutes to record.
Each size is judged in a process of its own: from the texts to the verdict, its peak memory with
all of Python. The last column has what a plan of all cables adds.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "collections")]

from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import judge, plan, read
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import Hca, Inventory, guid
from sandbox.rig import shapes

KEEP = ROOT / "dist/perf"
# The aim for 16,384 ports.
MOST_CPU_S = 5.0
MOST_MB = 500.0


def place(keep: Path, hosts: int, rails: int) -> Path:
    return keep / f"fabric-{hosts}x{rails}.json.z"


def record(keep: Path, sizes: tuple[tuple[int, int], ...]) -> None:
    """Look at those sizes that nobody has looked at yet."""
    lacking = [size for size in sizes if not place(keep, *size).exists()]
    if not lacking:
        return
    from sandbox.rig import container, topology
    from sandbox.rig.plan import healthy
    from tests.fabric.looking import look

    keep.mkdir(parents=True, exist_ok=True)
    with container.rig(seconds=3600) as rig:
        for hosts, rails in lacking:
            print(f"recording {hosts} hosts x {rails} rails ...", file=sys.stderr, flush=True)
            built = shapes.large_rails(hosts, rails)
            found = {
                "look": look(rig, healthy(built), seconds=1500),
                "members": topology.members(built),
            }
            place(keep, hosts, rails).write_bytes(zlib.compress(json.dumps(found).encode()))


def measure(path: Path) -> dict[str, Any]:
    """Judge one recording in this process."""
    found = json.loads(zlib.decompress(path.read_bytes()))
    rails = tuple(
        Hca(host, name, guid(one["node_guid"]), guid(one["port_guid"]), number, "Active")
        for host, ports in found["members"].items()
        for number, (name, one) in enumerate(sorted(ports.items()))
    )
    clock = time.process_time
    begun = clock()
    seen = read.read("node1", found["look"])
    parsed = clock()
    judged = judge.judge([seen], Inventory(rails), judge.DesiredSettings())
    done = clock()
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    fabric = judged.fabrics[0]
    started = clock()
    cables = plan.read(found["look"]["answers"]["ibnetdiscover"]["stdout"])
    judge.judge([seen], Inventory(rails), judge.DesiredSettings(plan=cables))
    planned = clock() - started - (done - parsed)
    text = sum(len(one.get("stdout", "")) for one in found["look"]["answers"].values())
    return {
        "ports": len(rails),
        "switches": sum(one["type"] == "switch" for one in fabric["nodes"]),
        "cables": len(fabric["links"]),
        "text_mb": text / 1e6,
        "cpu_s": done - begun,
        "plan_s": planned,
        "mb": used,
        "verdict": fabric["verdict"],
        "bad": sum(one["result"] in ("fail", "unknown") for one in fabric["checks"]),
    }


def table(rows: list[dict[str, Any]]) -> str:
    head = "   ports  switches  cables  text MB   CPU s  us/port     MB  plan s  verdict"
    lines = [head]
    for row in rows:
        each = row["cpu_s"] / row["ports"] * 1e6
        lines.append(
            f"{row['ports']:8}  {row['switches']:8}  {row['cables']:6}  {row['text_mb']:7.1f}  "
            f"{row['cpu_s']:6.2f}  {each:7.1f}  {row['mb']:5.0f}  {row['plan_s']:6.2f}  "
            f"{row['verdict']}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--keep", type=Path, default=KEEP, help="where recordings are kept")
    parser.add_argument("--most", type=int, default=16384, help="leave larger fabrics out (ports)")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one)))
        return 0
    sizes = tuple(one for one in shapes.SIZES if one[0] * one[1] <= args.most)
    record(args.keep, sizes)
    rows = []
    for hosts, rails in sizes:
        argv = [sys.executable, "-m", "tests.perf.fabric", "--one", str(place(args.keep, hosts, rails))]
        rows.append(json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout))
    print(table(rows))
    last = rows[-1]
    kept = last["cpu_s"] < MOST_CPU_S and last["mb"] < MOST_MB
    print(f"aim: under {MOST_CPU_S:g} s and {MOST_MB:g} MB: {'kept' if kept else 'MISSED'}")
    return 0 if kept and not any(row["bad"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
