# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts as people paste them: what fails, what is healthy, how one stands beside another, and what `why` answers."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._agent import program
from tests.gauntlet import render
from tests.unit.parsers import SAMPLES

_COMMANDS = render.render(render.node("hgx-h100-8")).commands
_FAILING = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"))
_GIVEN = "ibstat ibstatus ibv_devinfo dmesg lsmod nvlink_status topo rdma_link fabricmanager_status"
TABLE = (SAMPLES.parent / "recorded_gpu" / "nvsmi_table.txt").read_text()
# Ten outputs of a healthy host, by the command that was typed.
HEALTHY = {
    **{name: _COMMANDS[name].stdout for name in _GIVEN.split()},
    "nvsmi_table": TABLE,
}
DOWN = HEALTHY["ibstat"].replace("State: Active", "State: Down", 1).replace("state: LinkUp", "state: Polling", 1)
TYPED = {
    **{name: name for name in HEALTHY},
    "nvlink_status": "nvidia-smi nvlink -s",
    "topo": "nvidia-smi topo -m",
    "rdma_link": "rdma link",
    "fabricmanager_status": "systemctl status nvidia-fabricmanager",
    "nvsmi_table": "nvidia-smi",
}
# What fails: the command that was typed, the text, and which words of an answer tell it.
FAILING = {
    **{name: (one["typed"], one["text"], one["words"]) for name, one in _FAILING.items()},
    "port": ("ibstat", DOWN, "Down/Polling"),
}
# How the second of two texts follows the first.
WAYS = {
    "nothing": "{0}{1}",
    "an empty line": "{0}\n{1}",
    "a sentence": "{0}And on the same node I see this:\n{1}",
    "fences": "```\n{0}```\n\n```\n{1}```\n",
    "prompts": "root@n1:~# {2}\n{0}root@n1:~# {3}\n{1}",
}


def answer(capsys: pytest.CaptureFixture[str], *paths: Path) -> tuple[int, str]:
    """Return the status and all that `ibready why` prints."""
    status = program.main(["why", *map(str, paths)])
    told = capsys.readouterr()
    return status, told.out + told.err


def answer_to(capsys: pytest.CaptureFixture[str], place: Path, text: str) -> tuple[int, str]:
    """Return the same of a text."""
    path = place / "pasted.txt"
    path.write_text(text)
    return answer(capsys, path)
