# SPDX-License-Identifier: GPL-3.0-or-later
"""What the health agent costs a node, beside a shell check of the usual kind.

The host is simulated: its /sys is a folder, and its tools are shell scripts that print what the
gauntlet renders. So what the real tools cost is in neither side; everything else is.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "collections"))

from ansible_collections.ibready.cluster.plugins.module_utils._agent import pack
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import COMMANDS
from tests.gauntlet import render
from tests.gauntlet.tree import Tree
from tests.perf import verdict

BOARD = "hgx-h100-8"
# A check as sites write it by hand: so many ports Active, so many GPUs, no more.
SHELL = """\
#!/bin/bash
active=$(ibstat | grep -c 'State: Active')
gpus=$(nvidia-smi -q -x | grep -c '<product_name>')
[ "$active" -ge 8 ] && [ "$gpus" -eq 8 ]
"""
# Options are no part of a question's name (_evidence.entry_name), so they are no part of it here.
TOOL = """\
#!/bin/sh
key=
for word in "$@"; do case "$word" in -*) ;; *) key="$key-$word" ;; esac; done
case "$*" in
{whole}
esac
case "$key" in
{asked}
esac
exit 1
"""


def lay_out(tree: Tree, root: Path, programs: Path) -> None:
    """The tree's files below ``root``, and a script for each of its tools."""
    for path in tree.folders:
        (root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
    for path, data in tree.files.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    for path, target in tree.links.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(f"{root}{target}" if target.startswith("/") else target)
    whole: dict[str, list[str]] = {}
    asked: dict[str, list[str]] = {}
    for number, (entry, output) in enumerate(tree.commands.items()):
        name, at, words = entry.partition("@")
        if name not in COMMANDS:
            continue
        said = programs / f".{number}"
        said.write_text(output.stdout)
        program, *own = COMMANDS[name].argv
        says = f"cat {shlex.quote(str(said))}; exit {output.rc} ;;"
        if at:
            key = "".join(f"-{word}" for word in own if not word.startswith("-"))
            asked.setdefault(program, []).append(f"{shlex.quote(f'{key}-{words}')}) {says}")
        else:
            whole.setdefault(program, []).append(f"{shlex.quote(' '.join(own))}) {says}")
    for program in {*whole, *asked}:
        lines = ("\n".join(some.get(program, [])) for some in (whole, asked))
        script(programs / program, TOOL.format(**dict(zip(("whole", "asked"), lines, strict=True))))


def script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def main() -> int:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        root, programs = place / "root", place / "bin"
        root.mkdir()
        programs.mkdir()
        described = render.node(BOARD)
        lay_out(render.render(described), root, programs)
        script(programs / "shell-check", SHELL)
        script(programs / "scontrol", "#!/bin/sh\necho NodeName=$3; echo '   State=IDLE'\n")
        (place / "expect.json").write_text(json.dumps(described.expect))
        settings = {
            "host": "node7",
            "expect": str(place / "expect.json"),
            "root": str(root),
            "run": str(place / "run"),
            "state": str(place / "state"),
            "gate_intervals": 10,
        }
        (place / "agent.json").write_text(json.dumps(settings))
        os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"
        # As role health_agent has it on a node: compiled for the Python that runs it.
        data = pack.program(pack.sources(str(ROOT / "plugins/module_utils")))
        (place / "ibready.pyz").write_bytes(data)
        given = [sys.executable, str(place / "ibready.pyz")]
        known = ["--settings", str(place / "agent.json")]
        rows = [
            ("shell: ports Active, GPUs", *verdict.least([str(programs / "shell-check")])),
            ("ibready look", *verdict.least([*given, "look", *known])),
            ("ibready slurm-health", *verdict.least([*given, "slurm-health", *known])),
            ("ibready gate", *verdict.least([*given, "gate", *known])),
            ("ibready slurm-prolog", *verdict.least([*given, "slurm-prolog", *known])),
            ("ibready npd", *verdict.least([*given, "npd", *known])),
        ]
        seen = json.loads((place / "run/verdict.json").read_text())
    # Otherwise it is not the price of a verdict.
    if seen["verdict"] != "ready":
        raise SystemExit(f"{BOARD} is {seen['verdict']}: {seen['why'] or seen['checks']}")
    print(f"{BOARD}, simulated; areas {', '.join(seen['areas'])}: {len(seen['checks'])} checks.")
    print("gate, slurm-prolog and npd go by the kept verdict.\n")
    print("| process | CPU s | peak MB |\n|---|---:|---:|")
    for name, seconds, memory in rows:
        print(f"| {name} | {seconds:.3f} | {memory:.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
