# SPDX-License-Identifier: GPL-3.0-or-later
"""Every launch script, as bash runs it, before the argument parser of the real launcher."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch import cluster, make, options
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch.node import Node
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.launchers import KINDS
from tests.launchers import fetch

PROGRAM = ["python3", "train.py", "--name", "it's $HOME", "--nnodes=9", "-np", "7"]
HOSTS = ("node1", "node2")
ADDRESSES = ("10.0.0.1", "10.0.0.2")
# Writes down what it was called with, in place of the launcher.
TELLS = """#!{python}
import json, sys
print(json.dumps([sys.argv[0].rpartition("/")[2], *sys.argv[1:]]))
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of two hosts with eight GPUs each."""
    folder = tmp_path_factory.mktemp("scripts")
    nodes = [
        Node(name, name, address, "eth0", (0,) * 4 + (1,) * 4) for name, address in zip(HOSTS, ADDRESSES, strict=True)
    ]
    said = options.read({"program": "train.py", "arguments": PROGRAM[2:], "bucket_mb": 64})
    made = cluster.make(nodes, {}, said)
    for kind in KINDS.values():
        if not make.refusal(kind, made, said):
            for name, text in make.render(kind, made, said).items():
                (folder / name).write_text(text)
                (folder / name).chmod(0o755)
    return folder


def called(scripts: Path, kind: str, host: str = "node2") -> list[str]:
    """What the script calls on this host: the launcher's name and its arguments."""
    tools = scripts / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("torchrun", "accelerate", "deepspeed", "horovodrun", "python3"):
        (tools / name).write_text(TELLS.format(python=sys.executable))
        (tools / name).chmod(0o755)
    (tools / "uname").write_text(f"#!/bin/sh\necho {host}\n")
    (tools / "uname").chmod(0o755)
    done = subprocess.run(
        [str(scripts / f"{kind}.sh")],
        env={"PATH": f"{tools}:{os.defpath}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    assert done.returncode == 0, done.stderr
    reported: list[str] = json.loads(done.stdout)
    return reported


def parsed(name: str, arguments: list[str]) -> dict[str, Any]:
    """What the real launcher's parser makes of the arguments."""
    program = str(Path(__file__).with_name("parse.py"))
    done = subprocess.run(
        [sys.executable, "-I", program, name, str(fetch.files(name)), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    reported: dict[str, Any] = json.loads(done.stdout)
    return reported


@pytest.mark.parametrize(
    ("kind", "program"),
    [("torchrun", PROGRAM), ("megatron", [*PROGRAM, "--overlap-grad-reduce", "--ddp-bucket-size", "16777216"])],
)
@pytest.mark.parametrize("rank", [0, 1])
def test_torchrun(scripts: Path, kind: str, program: list[str], rank: int) -> None:
    tool, *arguments = called(scripts, kind, HOSTS[rank])
    assert tool == "torchrun"
    reported = parsed("torch", arguments)
    assert reported["nodes"] == [2, 2]
    assert reported["nproc_per_node"] == "8"
    assert reported["node_rank"] == rank
    assert reported["meet"] == "10.0.0.1:29500"
    assert reported["local_addr"] == ADDRESSES[rank]
    assert reported["no_python"] is True
    assert [reported["training_script"], *reported["training_script_args"]] == [
        str(scripts / "rank.sh"),
        *program,
    ]


def test_accelerate(scripts: Path) -> None:
    tool, *arguments = called(scripts, "accelerate")
    assert tool == "accelerate"
    reported = parsed("accelerate", arguments)
    assert (reported["num_machines"], reported["num_processes"], reported["machine_rank"]) == (2, 16, 1)
    assert (reported["main_process_ip"], reported["main_process_port"]) == ("10.0.0.1", 29500)
    assert (reported["multi_gpu"], reported["no_python"], reported["rdzv_backend"]) == (True, True, "static")
    assert [reported["training_script"], *reported["training_script_args"]] == [
        str(scripts / "rank.sh"),
        *PROGRAM,
    ]


def test_deepspeed(scripts: Path) -> None:
    tool, *arguments = called(scripts, "deepspeed")
    assert tool == "deepspeed"
    reported = parsed("deepspeed", arguments)
    assert reported["pool"] == {"10.0.0.1": 8, "10.0.0.2": 8}
    assert (reported["num_nodes"], reported["num_gpus"], reported["no_python"]) == (2, 8, True)
    assert (reported["master_addr"], reported["master_port"]) == ("10.0.0.1", 29500)
    assert [reported["user_script"], *reported["user_args"]] == [str(scripts / "rank.sh"), *PROGRAM]


def test_horovod(scripts: Path) -> None:
    tool, *arguments = called(scripts, "horovod")
    assert tool == "horovodrun"
    reported = parsed("horovod", arguments)
    assert reported["pool"] == [["10.0.0.1", 8], ["10.0.0.2", 8]]
    assert reported["num_proc"] == 16
    assert reported["fusion_threshold_mb"] == 64
    assert reported["nics"] == ["eth0"] or reported["nics"] == "{'eth0'}"
    assert reported["command"] == [str(scripts / "rank.sh"), *PROGRAM]


def test_oneflow_starts_the_processes(scripts: Path, tmp_path: Path) -> None:
    tool, flag, module, *arguments = called(scripts, "oneflow")
    assert [tool, flag, module] == ["python3", "-m", "oneflow.distributed.launch"]
    (tmp_path / "python3").write_text('#!/bin/sh\necho "$RANK/$WORLD_SIZE $LOCAL_RANK $MASTER_ADDR:$MASTER_PORT $*"\n')
    (tmp_path / "python3").chmod(0o755)
    (tmp_path / "uname").write_text("#!/bin/sh\necho node2\n")
    (tmp_path / "uname").chmod(0o755)
    launch = fetch.files("oneflow") / "oneflow/distributed/launch.py"
    done = subprocess.run(
        [sys.executable, str(launch), *arguments],
        env={"PATH": f"{tmp_path}:{os.defpath}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if "train.py" in line]
    program = " ".join(PROGRAM[1:])
    assert sorted(said) == sorted(f"{rank}/16 {rank - 8} 10.0.0.1:29500 {program}" for rank in range(8, 16))
