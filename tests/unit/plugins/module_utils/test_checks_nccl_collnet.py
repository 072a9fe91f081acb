# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a job used SHARP: lines of NCCL and of HPC-X's plugin, as people posted them (NVIDIA/nccl issue 1219,
NVIDIA/nccl-tests issue 311), around a job of two hosts."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl import check_log_collnet
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_log

HEAD = "gpu36:20775:20807 [0] NCCL INFO "
COMM = "comm 0x6426550 rank {} nRanks 2 nNodes {} localRanks 1 localRank 0 MNNVL 0"
ASKED = "NCCL_COLLNET_ENABLE set by environment to 1."
LOADED = "NET/Plugin: Loaded collnet plugin SHARP (v8)"
CHANNEL = "CollNet 05/0 : 5 [receive] via COLLNET/SHARP/5/GDRDMA"
NO_JOB = (
    "gpu36:20775:20825 [0] sharp_plugin.c:365 NCCL WARN NET/IB : SHARP coll init error: Cannot create SHARP job(-11)"
)
GAVE_UP = (
    "gpu36:20775:20807 [0] transport.cc:384 NCCL WARN Cannot initialize CollNet, using point-to-point network instead"
)
SMALL = "Communicator has {} nodes which is less than CollNet node threshold {}, disabling CollNet"
COUNTED = "3 coll channels, 3 collnet channels, 0 nvls channels, 4 p2p channels, 1 p2p channels per peer"
OFI = "NET/Plugin: Failed to find ncclCollNetPlugin_v8 symbol."


def judge(*said: str, sharp: bool | None = None, nodes: int = 2) -> Check:
    lines = [one if " NCCL WARN " in one else HEAD + one for one in (COMM.format(0, nodes), *said)]
    expect = from_inventory({} if sharp is None else {"sharp": sharp})
    return check_log_collnet.judge(nccl_log.parse("".join(f"{line}\n" for line in lines)), expect)


@pytest.mark.parametrize(
    ("said", "sharp", "result", "word"),
    [
        pytest.param([], None, SKIP, "no line says", id="nobody wants it"),
        pytest.param([ASKED.replace("1.", "0.")], None, SKIP, "no line says", id="off is not asked for"),
        pytest.param([ASKED, LOADED, CHANNEL], None, PASS, "SHARP", id="channels by SHARP"),
        pytest.param([ASKED, "rank 3 Connected CollNet comm 0x5 nRanks 16"], None, PASS, "CollNet", id="connected"),
        pytest.param([ASKED, "Connected Collnet Chains [0] 1->0->2"], None, PASS, "CollNet", id="chains connected"),
        pytest.param(
            [ASKED, CHANNEL, NO_JOB, GAVE_UP, COUNTED], None, FAIL, "Cannot create SHARP job(-11)", id="no job"
        ),
        pytest.param([ASKED, GAVE_UP, COUNTED], None, FAIL, "Cannot initialize CollNet", id="no word of the plugin"),
        pytest.param([ASKED, OFI], None, FAIL, "no CollNet", id="a plugin of somebody else"),
        pytest.param([ASKED, OFI, LOADED, CHANNEL], None, PASS, "SHARP", id="an older symbol was found"),
        pytest.param([ASKED, COUNTED], None, UNKNOWN, "no line says", id="a number of channels proves nothing"),
        pytest.param(
            [ASKED, "NET/IB : Using [0]mlx5_0:1/IB/SHARP [RO]"], None, UNKNOWN, "no line", id="/SHARP of a device"
        ),
        pytest.param([ASKED, SMALL.format(2, 4)], None, FAIL, "has 2 nodes", id="fewer nodes than the threshold"),
        pytest.param([ASKED, SMALL.format(1, 2), CHANNEL], None, PASS, "SHARP", id="a part of the job is small"),
        pytest.param([], True, UNKNOWN, "no line says", id="the site wants it, the log tells nothing"),
        pytest.param(["NCCL_IB_TC set to 106"], True, FAIL, "did not ask", id="the site wants it, the job does not"),
        pytest.param([ASKED.replace("1.", "0.")], True, FAIL, "NCCL_COLLNET_ENABLE=0", id="the job says no"),
        pytest.param([CHANNEL], True, PASS, "SHARP", id="in use as the site wants"),
        pytest.param([CHANNEL], False, SKIP, "no line says", id="the site does not want it"),
    ],
)
def test_a_job_and_sharp(said: list[str], sharp: bool | None, result: str, word: str) -> None:
    check = judge(*said, sharp=sharp)
    assert check.result == result, check
    assert word in f"{check.observed} {check.cause}"


def test_a_log_that_ends_within_a_line_may_ask_yet() -> None:
    text = f"{HEAD}{COMM.format(0, 2)}\n{HEAD}NCCL_COLL"
    check = check_log_collnet.judge(nccl_log.parse(text), from_inventory({}))
    assert (check.result, check.cause) == (
        UNKNOWN,
        "the log ends within a line: NCCL_COLLNET_ENABLE may follow",
    )


def test_a_job_on_one_host_crosses_no_switch() -> None:
    assert judge(ASKED, NO_JOB, nodes=1).result == SKIP


def test_the_facts_tell_whose_collnet_it_is() -> None:
    told = nccl_log.parse("".join(f"{HEAD}{one}\n" for one in (LOADED, CHANNEL))).to_dict()
    assert (told["collnet"], told["collnet_plugin"]) == ("SHARP", "SHARP")
    assert nccl_log.parse(f"{HEAD}{ASKED}\n").to_dict()["collnet"] is None
