# SPDX-License-Identifier: GPL-3.0-or-later
"""What a controller spends on each host of a verify, beside what `ansible.builtin.command` costs it.

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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "collections"))

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import contact
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Bundle
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._verify import brief, collect, verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verdict import verdict_object
from tests.gauntlet import render
from tests.gauntlet.nodes.nccl import PEER
from tests.perf.connection import recorded

BOARD = "hgx-h100-8"
SIZES = (100, 1000, 10_000)
# What is to be reached above command's own, and in memory.
MOST_MS, MOST_MB = 60, 8 * 1024
HERE = Path(__file__).parent
VERIFY, COMMAND = HERE / "controller.yml", HERE / "command.yml"
# How the node's GUIDs begin: those of another host have to be others.
_GUIDS = ("a088c203", "0ac0ebff")
_SM = "b8599f03"


def record(folder: Path) -> dict[str, Any]:
    """Write what the modules said of one node; return hostverify's answer, whole and as it is sent."""
    described = render.node(BOARD)
    tree = render.render(described)
    collect.collect(tree, str(folder), "node7", "now", {"nccl": {"peers": [PEER]}, "container": {}})
    bundle = Bundle(str(folder / "node7"))
    judged = _verify.verify(bundle, from_inventory(described.expect))
    known = {**contact.collect(bundle), "hostname": "@host@"}
    reported = {"changed": False, **verdict_object("@host@", judged.checks, {**judged.facts, "node": known})}
    done = {"rc": 0, "stdout": "", "stderr": "", "cmd": ["true"], "delta": "0:00:00.002", "msg": ""}
    times = {"start": "2026-11-25 05:52:54.120000", "end": "2026-11-25 05:52:54.122000"}
    _write(folder, "command", {"changed": True, **done, **times})
    return reported


def _write(folder: Path, module: str, answer: Mapping[str, Any]) -> None:
    (folder / f"{module}.json").write_text(_marked(answer))


def _marked(answer: Mapping[str, Any]) -> str:
    """The answer, with marks where every host has words of its own (connection/recorded.py)."""
    text = json.dumps(answer)
    for maker in _GUIDS:
        text = text.replace(maker, "@number@")
    text = text.replace(_SM, "@fabric@")
    return re.sub(r'"lid": (\d\d+)', r'"lid": @lid \1@', text)


def answers(folder: Path, reported: Mapping[str, Any], count: int) -> None:
    """Every host's answer of hostverify, packed as the node would: that is no work of the controller."""
    text = _marked(reported)
    (folder / "hostverify").mkdir(exist_ok=True)
    for place in range(count):
        number = 256 * (place // 250) + place % 250 + 1
        file = folder / "hostverify" / f"{number}.json"
        if not file.exists():
            file.write_text(json.dumps(brief.brief(json.loads(recorded.of_host(text, number)))))


def inventory(path: Path, count: int) -> None:
    """As many hosts, and what a site says of all of them."""
    described = render.node(BOARD)
    said = {
        "ansible_connection": "recorded",
        "ansible_python_interpreter": "/usr/bin/python3",
        "ibready_expect": described.expect,
    }
    hosts = {
        f"node{number:05}": {"ansible_host": f"10.1.{number // 250}.{number % 250 + 1}"} for number in range(count)
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


def environment(place: Path) -> dict[str, str]:
    """What has the hosts answer with what was recorded."""
    return {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_CONNECTION_PLUGINS": str(HERE / "connection"),
        "ANSIBLE_CALLBACK_PLUGINS": str(HERE / "callbacks"),
        "IBREADY_RECORDED": str(place),
    }


def run(place: Path, count: int, playbook: Path) -> dict[str, float]:
    """One playbook against so many hosts: CPU and wall seconds, and the most memory at a time."""
    hosts = place / f"hosts-{count}.json"
    inventory(hosts, count)
    timed = {
        "ANSIBLE_CALLBACKS_ENABLED": "task_times",
        "IBREADY_TASK_TIMES": str(place / f"times-{playbook.stem}-{count}"),
    }
    program = str(Path(sys.executable).with_name("ansible-playbook"))
    argv = [program, str(playbook), "-i", str(hosts), "-e", f"ibready_report_dir={place}/report"]
    begun, before = time.monotonic(), os.times()
    with open(place / f"said-{count}", "w") as said:
        process = subprocess.Popen(argv, cwd=ROOT, env={**environment(place), **timed}, stdout=said, stderr=said)
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
    rows = [json.loads(line) for line in (place / f"times-{VERIFY.stem}-{count}").read_text().splitlines()]
    summed: dict[str, float] = {}
    for row in rows:
        summed[row["action"]] = summed.get(row["action"], 0.0) + row["seconds"]
    return summed


def main(words: list[str]) -> int:
    """Print the table, and whether what is to be reached was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--tasks", action="store_true", help="seconds by action as well")
    asked = parser.parse_args(words)
    sizes = sorted(asked.sizes)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        whole = record(place)
        answers(place, whole, sizes[-1])
        sent = (place / "hostverify/1.json").stat().st_size
        print(f"verify of simulated hosts ({BOARD}); hostverify's answer of one is {sent // 1024} KB,")
        print(f"and {len(json.dumps(whole)) // 1024} KB with all facts. A host costs what it adds to a run with one.\n")
        print("| hosts | wall s | CPU ms a host | command's own | above it | peak MB | report s |")
        print("|---:|---:|---:|---:|---:|---:|---:|", flush=True)
        least = {play: run(place, 1, play) for play in (VERIFY, COMMAND)}
        above: dict[int, float] = {}
        missed = []
        split = {}
        for count in sizes:
            seen = {play: run(place, count, play) for play in (VERIFY, COMMAND)}
            ours, own = (1000 * (seen[play]["cpu"] - least[play]["cpu"]) / max(1, count - 1) for play in seen)
            split[count] = tasks(place, count)
            report = split[count].get("ibready.cluster.report", 0.0)
            verify, above[count] = seen[VERIFY], ours - own
            print(
                f"| {count} | {verify['wall']:.0f} | {ours:.0f} | {own:.0f} | {above[count]:.0f} "
                f"| {verify['mb']:.0f} | {report:.0f} |",
                flush=True,
            )
            if count >= min(1000, sizes[-1]) and (above[count] > MOST_MS or verify["mb"] > MOST_MB):
                missed.append(count)
    print(f"\nTo be reached: {MOST_MS} ms above command's own, {MOST_MB} MB.", end=" ")
    print(f"Missed at {', '.join(map(str, missed))} hosts." if missed else "Reached.")
    for fewer, more in itertools.pairwise(above):
        print(f"{fewer} to {more} hosts: {above[more] / above[fewer]:.2f} x of that a host")
    if asked.tasks:
        for count, by_action in split.items():
            print(f"\n{count} hosts, seconds by action:")
            for action, seconds in sorted(by_action.items(), key=lambda entry: -entry[1])[:8]:
                print(f"{seconds:8.2f}  {action}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
