# SPDX-License-Identifier: GPL-3.0-or-later
"""The questions at the head of the README: each command gives the right answer to the symptoms that people post."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._agent import program
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._verify import fold, verify
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import table
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.make import make
from tests.gauntlet import fault
from tests.unit.corpus import CORPUS
from tests.unit.docs.markdown import ROOT, page
from tests.unit.plugins.module_utils.test_why_given import megatron
from tests.unit.plugins.module_utils.test_why_slow import steps
from tests.unit.plugins.module_utils.test_why_tcp import LIBRARY, NONE, OFF, TOOLS, TWO, log
from tests.unit.plugins.plugin_utils.plan.nodes import NOW, SITES, host

_ROW = re.compile(r"^\| .+ \| `([^`]+)` \| \[docs/([\w-]+\.md)\]\(docs/\2\) \|$", re.MULTILINE)
ROWS = _ROW.findall((ROOT / "README.md").read_text(encoding="utf-8"))
SLOWER, NETWORK, CONTAINER, WELL, STACK = (shlex.split(command) for command, _page in ROWS)
FAULTS = {one.name: one for one in fault.load()}
SEEDS = CORPUS.parent / "seeds"
DOWN = (
    TOOLS["ibstat"].replace("State: Active", "State: Down").replace("Physical state: LinkUp", "Physical state: Polling")
)
# Cases by what a text says of them; the texts lie beside the project.
SYMPTOMS = (
    *("多机比单机慢", "梯度同步时间占每个迭代周期的68%", "自动降级为Socket", "NCCL_IB_DISABLE=1", "ibstat"),
    *("libibverbs1", "No usable listening interface found", "Invalid NCCL_COMM_ID", "--network host", "lsmod"),
    *("ibacm", "iblinkinfo", "NVLink", "宿主机驱动过旧", "driver>=535"),
)


@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_somebody_asks_it(symptom: str) -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(SEEDS.glob("*.txt"))]
    if not texts:
        pytest.skip(f"no texts at {SEEDS} (set IBREADY_CORPUS)")
    assert any(symptom in text for text in texts)


def answer(
    command: list[str], texts: Mapping[str, str], place: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[str]]:
    """What `ibready why` prints, with the files that its row in the README names."""
    assert command[:2] == ["ibready", "why"]
    assert set(command[2:]) >= set(texts)
    before = Path.cwd()
    os.chdir(place)
    try:
        for name, text in texts.items():
            Path(name).write_text(text, encoding="utf-8")
        status = program.main(["why", *texts])
    finally:
        os.chdir(before)
    return status, capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("one", "two", "head", "said"),
    [
        pytest.param(
            steps(),
            steps(communication=0.9),
            "two-nodes.log: the job is bound by communication",
            "Communication takes 800 ms more",
            id="多机比单机慢",
        ),
        pytest.param(
            steps(),
            steps(communication=2.1),
            "two-nodes.log: the job is bound by communication",
            "67 % of a step",
            id="梯度同步时间占68%",
        ),
        pytest.param(
            megatron(communication=100.0),
            log(OFF, hosts=TWO) + megatron(),
            "two-nodes.log: the job is bound by communication",
            "RDMA was switched off by a setting: NCCL_IB_DISABLE",
            id="多机比单机慢, by TCP",
        ),
    ],
)
def test_slower_on_two_hosts_than_on_one(
    one: str, two: str, head: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _status, out = answer(SLOWER, {"one-node.log": one, "two-nodes.log": two}, tmp_path, capsys)
    assert out[0] == f"the job: {head}"
    assert any(said in line for line in out), out


@pytest.mark.parametrize(
    ("job", "ibstat", "said", "then"),
    [
        pytest.param(
            log(OFF),
            TOOLS["ibstat"],
            "RDMA was switched off by a setting: NCCL_IB_DISABLE",
            "remove NCCL_IB_DISABLE",
            id="NCCL_IB_DISABLE=1",
        ),
        pytest.param(
            log(NONE), DOWN, "the job goes over TCP", "look at `ibstat` and the switch port", id="自动降级为Socket"
        ),
        pytest.param(
            log(LIBRARY), TOOLS["ibstat"], "the verbs library is missing", "install rdma-core", id="libibverbs1"
        ),
        pytest.param(
            "node1:1:1 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
            "node1:1:1 [0] misc/socket.cc:10 NCCL WARN NET/Socket : No usable listening interface found\n",
            TOOLS["ibstat"],
            "no network interface is left to meet the other ranks on",
            "correct NCCL_SOCKET_IFNAME",
            id="No usable listening interface",
        ),
        pytest.param(
            "node1:1:1 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
            "node1:1:1 [0] bootstrap.cc:45 NCCL WARN Invalid NCCL_COMM_ID, please use format: <ipv4>:<port>\n",
            TOOLS["ibstat"],
            "the address of NCCL_COMM_ID cannot be used",
            "drop NCCL_COMM_ID",
            id="Invalid NCCL_COMM_ID",
        ),
    ],
)
def test_which_network_a_job_uses(
    job: str, ibstat: str, said: str, then: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out = answer(NETWORK, {"job.log": job, "ibstat.txt": ibstat}, tmp_path, capsys)
    wrong = [line for line in out if line.startswith("  FAIL ")]
    assert status == 2
    assert any(said in line for line in wrong), out
    assert then in wrong[0]


def findings(name: str, *areas: str) -> list[Check]:
    """What is wrong with a simulated node that has this fault, as a person is told: what follows is folded."""
    described, tree = fault.broken(FAULTS[name])
    checks = verify.verify(tree, from_inventory(described.expect), areas or verify.AREAS).checks
    return [line.check for line in fold.folded([check for check in checks if check.result in (FAIL, UNKNOWN)])]


@pytest.mark.parametrize(
    ("name", "check", "cause", "remedy"),
    [
        ("the image was built without RDMA user space", "container.verbs.library", "no RDMA user space", "libibverbs1"),
        ("the container got none of the RDMA devices", "container.device.uverbs", "none of the host's", "--device"),
        ("libibverbs finds no device in the container", "container.verbs.opens", "no provider", "ibv_devinfo"),
        ("jobs are started on the engine's bridge", "container.network.path", "of its own", "--network=host"),
        ("the image is of CUDA 13, and the driver of branch 535", "container.cuda.driver", "580.65.06", "stack_driver"),
    ],
)
def test_no_rdma_in_a_container(name: str, check: str, cause: str, remedy: str) -> None:
    assert CONTAINER[CONTAINER.index("-m") + 1] == "containerverify"
    first = findings(name, "container")[0]
    assert first.id == check
    assert cause in first.cause
    assert remedy in first.remedy


@pytest.mark.parametrize(
    ("name", "check", "remedy"),
    [
        ("the cable of a rail is pulled", "ib.port.state", "`ibstat` and the switch port"),
        ("a rail trained at a quarter of its rate", "ib.port.rate", "`iblinkinfo`"),
        ("the HCA driver is not loaded", "stack.rdma.loaded", "modprobe -v mlx5_core"),
        ("ibacm was switched on by the packages", "host.service.ibacm", "systemctl disable --now ibacm"),
        ("one link of a GPU is down behind NVSwitches", "nvlink.link.state", "reset the GPU"),
    ],
)
def test_whether_all_is_well(name: str, check: str, remedy: str) -> None:
    assert WELL[1] == "playbooks/verify.yml"
    first = findings(name)[0]
    assert first.id == check
    assert remedy in first.remedy


def test_which_versions_fit_together() -> None:
    """An HGX H100 that has the driver that an image of CUDA 12.1 asks for gets one stack, each part with its reason."""
    assert STACK[1] == "playbooks/plan.yml"
    made = make([host("node1")], load.own(), None, relock=False, sites=SITES, now=NOW)
    (row,) = made.rows
    assert row.planned is not None
    stack = row.planned.stack
    assert int(stack["driver"]["branch"]) >= 535
    assert stack["fabric_manager"]["version"] == stack["driver"]["version"]
    assert {"rdma", "driver", "fabric_manager", "nccl", "container_toolkit"} <= set(stack)
    told = table.render(made.rows, made.changes, made.facts, "")
    assert all(str(part["version"]) in told for part in (stack["driver"], stack["nccl"]))


def test_there_are_five_and_chinese_readers_find_their_own_words() -> None:
    assert len(ROWS) == 5
    chinese = page(ROOT / "README.zh-CN.md").prose
    assert all(word in chinese for word in ("多机训练为什么比单机慢", "`NCCL_IB_DISABLE`", "`/dev/infiniband`", "容器"))


def test_the_inventory_that_commands_name_is_the_one_to_copy() -> None:
    used = {words[words.index("-i") + 1] for words in (CONTAINER, WELL, STACK)}
    assert used == {"inventories/mine"}
    readme = page(ROOT / "README.md")
    assert "inventories/mine/hosts.yml" in readme.spans
    assert yaml.safe_load(next(block.text for block in readme.blocks if block.language == "yaml"))
