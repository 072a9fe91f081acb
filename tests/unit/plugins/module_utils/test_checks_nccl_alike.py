# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts of a job's log are held against each other, each thing that the log tells of them."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl import check_log_alike
from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_variables
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_log

HOST = """\
{host}:{pid}:{pid} [0] NCCL INFO NCCL_IB_HCA set by environment to =mlx5_0,mlx5_1
{host}:{pid}:{pid} [0] NCCL INFO Bootstrap: Using eth0:192.0.2.{pid}<0>
{host}:{pid}:{pid} [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.
{host}:{pid}:{pid} [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:192.0.2.{pid}<0>
"""


def log(*changes: tuple[str, str], hosts: int = 4) -> str:
    """Hosts alike; on the last one words are replaced."""
    texts = [HOST.format(host=f"n{at}", pid=10 + at) for at in range(hosts)]
    for old, new in changes:
        assert old in texts[-1]
        texts[-1] = texts[-1].replace(old, new)
    return "".join(texts)


def judged(text: str) -> Check:
    return check_log_alike.judge(nccl_log.parse(text), from_inventory({}))


def test_what_is_a_host_s_own_is_a_device_or_a_file() -> None:
    assert set(nccl_variables.OWN.values()) == {nccl_variables.DEVICE, nccl_variables.FILE}


def test_hosts_that_are_alike_pass_with_what_was_seen() -> None:
    check = judged(log())
    assert check.result == "pass"
    assert "HCAs: mlx5_0, mlx5_1" in check.observed
    assert "interface: eth0" in check.observed


@pytest.mark.parametrize(
    ("old", "new", "observed"),
    [
        ("Using eth0:", "Using eno2:", "interface: n3 (eno2), the others (eth0)"),
        (" [1]mlx5_1:1/IB", "", "HCAs: n3 (mlx5_0), the others (mlx5_0, mlx5_1)"),
        ("=mlx5_0,mlx5_1", "mlx5", "NCCL_IB_HCA: n3 (mlx5), the others (=mlx5_0,mlx5_1)"),
    ],
)
def test_the_odd_host_is_named(old: str, new: str, observed: str) -> None:
    check = judged(log((old, new)))
    assert (check.result, check.observed) == ("fail", observed)


def test_a_setting_that_several_ranks_of_a_host_lack_is_not_set_there() -> None:
    line = "n{}:{}:1 [{}] NCCL INFO NCCL_IB_GID_INDEX set by environment to 3.\n"
    twice = log() + "".join(HOST.format(host=f"n{at}", pid=20 + at) for at in range(4))
    given = "".join(line.format(at, 10 + at, 0) for at in range(3))
    assert judged(twice + given).observed == "NCCL_IB_GID_INDEX: n3 (not set), the others (3)"
    # Of one rank the line may be lost.
    assert judged(log() + given).result == "pass"


def test_where_most_are_not_alike_each_is_told() -> None:
    check = judged(log(("Using eth0:", "Using eno2:"), hosts=2))
    assert check.observed == "interface: n0 (eth0), n1 (eno2)"


def test_what_is_a_host_s_own_is_no_difference() -> None:
    own = "n{0}:1{0}:1{0} [0] NCCL INFO NCCL_HOSTID set by environment to {0}\n"
    assert judged(log() + own.format(0) + own.format(1)).result == "pass"


@pytest.mark.parametrize("line", ["eth0", "NET/IB : Using"])
def test_a_host_of_which_a_line_is_lost_is_unknown(line: str) -> None:
    check = judged("".join(one for one in log().splitlines(keepends=True) if not ("n3:" in one and line in one)))
    assert (check.result, "of n3" in check.cause) == ("unknown", True)


def test_one_host_is_skipped_and_hosts_that_tell_nothing_are_unknown() -> None:
    assert judged(log(hosts=1)).result == "skip"
    silent = "n0:1:1 [0] NCCL INFO Using network IB\nn1:1:1 [0] NCCL INFO Using network IB\n"
    assert judged(silent).result == "unknown"
