# SPDX-License-Identifier: GPL-3.0-or-later
"""What a controller spends on each host of a verify: memory and CPU at several sizes of the fleet.

The hosts are simulated: a connection of our own answers every module with what was recorded of one
full node (the gauntlet's). So neither the nodes' own work nor ssh is in the numbers; everything
that Ansible and we do on the controller is. Pings are left out: see benchmark 2.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "collections"))

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import contact
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Bundle
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect, verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verdict import verdict_object
from tests.gauntlet import render
from tests.gauntlet.nodes.nccl import PEER

BOARD = "hgx-h100-8"
SIZES = (100, 300, 1000)
HERE = Path(__file__).parent
# How the node's GUIDs begin: those of another host have to be others.
_GUIDS = ("a088c203", "0ac0ebff")


def record(folder: Path) -> int:
    """Write what the modules said of one node; return the size of ibverify's answer."""
    described = render.node(BOARD)
    tree = render.render(described)
    collect.collect(tree, str(folder), "node7", "now", [PEER], {})
    bundle = Bundle(str(folder / "node7"))
    judged = _verify.verify(bundle, from_inventory(described.expect))
    reported = verdict_object("@host@", judged.checks, judged.facts)
    answers: dict[str, dict[str, Any]] = {
        "ibverify": {"changed": False, **reported},
        "node_facts": {"changed": False, "node": {**contact.collect(bundle), "hostname": "@host@"}},
    }
    for name, answer in answers.items():
        text = json.dumps(answer)
        for maker in _GUIDS:
            text = text.replace(maker, "@number@")
        text = re.sub(r'"lid": (\d\d+)', r'"lid": @lid \1@', text)
        (folder / f"{name}.json").write_text(text)
    return (folder / "ibverify.json").stat().st_size


def inventory(path: Path, count: int) -> None:
    """As many hosts, and what a site says of all of them."""
    described = render.node(BOARD)
    said = {
        "ansible_connection": "recorded",
        "ansible_python_interpreter": "/usr/bin/python3",
        "ibready_expect": described.expect,
    }
    hosts = {
        f"node{number:04}": {"ansible_host": f"10.1.{number // 250}.{number % 250 + 1}"} for number in range(count)
    }
    path.write_text(json.dumps({"all": {"hosts": hosts, "vars": said}}))


def family(leader: int) -> Iterator[int]:
    """A process and all that came of it."""
    yield leader
    try:
        children = Path(f"/proc/{leader}/task/{leader}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from family(int(child))


def share_mb(pid: int) -> float:
    """A process's own part of what it shares with others, 0 where it is gone."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def run(place: Path, count: int, playbook: Path) -> dict[str, float]:
    """One playbook against so many hosts: CPU and wall seconds, and the most memory at a time."""
    hosts = place / f"hosts-{count}.json"
    inventory(hosts, count)
    environment = {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_CONNECTION_PLUGINS": str(HERE / "connection"),
        "ANSIBLE_CALLBACK_PLUGINS": str(HERE / "callbacks"),
        "ANSIBLE_CALLBACKS_ENABLED": "task_times",
        "IBREADY_TASK_TIMES": str(place / f"times-{count}"),
        "IBREADY_RECORDED": str(place),
    }
    program = str(Path(sys.executable).with_name("ansible-playbook"))
    argv = [program, str(playbook), "-i", str(hosts), "-e", f"ibready_report_dir={place}/report"]
    begun, before = time.monotonic(), os.times()
    with open(place / f"said-{count}", "w") as said:
        process = subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=said, stderr=said)
        most = 0.0
        while process.poll() is None:
            most = max(most, sum(share_mb(pid) for pid in family(process.pid)))
            time.sleep(1)
    after = os.times()
    if process.returncode != 0:
        raise SystemExit("\n".join((place / f"said-{count}").read_text().splitlines()[-30:]))
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return {"wall": time.monotonic() - begun, "cpu": cpu, "mb": most}


def tasks(place: Path, count: int) -> dict[str, float]:
    """Seconds of every task, by its action."""
    rows = [json.loads(line) for line in (place / f"times-{count}").read_text().splitlines()]
    summed: dict[str, float] = {}
    for row in rows:
        summed[row["action"]] = summed.get(row["action"], 0.0) + row["seconds"]
    return summed


def main(words: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--tasks", action="store_true", help="seconds by action as well")
    asked = parser.parse_args(words)
    sizes = sorted(asked.sizes)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        size = record(place)
        seen = {count: run(place, count, HERE / "controller.yml") for count in [1, *sizes]}
        split = {count: tasks(place, count) for count in sizes}
    least = seen.pop(1)
    print(f"verify of simulated hosts ({BOARD}); ibverify's answer of one is {size // 1024} KB.")
    print("'more' is what each host adds beside a run with one host.\n")
    print("| hosts | wall s | CPU s | more CPU ms a host | peak MB | more MB a host |")
    print("|---:|---:|---:|---:|---:|---:|")
    for count, one in seen.items():
        cpu, memory = ((one[key] - least[key]) / (count - 1) for key in ("cpu", "mb"))
        print(f"| {count} | {one['wall']:.0f} | {one['cpu']:.0f} | {1000 * cpu:.0f} | {one['mb']:.0f} | {memory:.2f} |")
    for fewer, more in itertools.pairwise(seen):
        times = (seen[more]["cpu"] - least["cpu"]) / (seen[fewer]["cpu"] - least["cpu"])
        print(f"\n{more / fewer:.1f} x the hosts ({fewer} to {more}): {times:.1f} x the CPU", end="")
    print()
    if asked.tasks:
        for count, by_action in split.items():
            print(f"\n{count} hosts, seconds by action:")
            for action, seconds in sorted(by_action.items(), key=lambda one: -one[1])[:8]:
                print(f"{seconds:8.2f}  {action}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
