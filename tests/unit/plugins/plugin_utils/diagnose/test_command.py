# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of causes: whole for plain names, and never more than words for any other."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import command
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.command import Where
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.diagnosis import diagnose
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import Fix

HERE = Where(["inventories/mine"], ["n1", "n2", "n3"])
PLAY = Fix(play=("site.yml", "--tags", "host_tuning_boot"))
TOGGLE = Fix(words=("mlxlink", "-d", "{device}", "--port_state", "TG"), otherwise=("ibstat",))


@pytest.mark.parametrize(
    ("fix", "hosts", "values", "line"),
    [
        pytest.param(
            PLAY,
            ["n1"],
            {},
            "ansible-playbook site.yml -i inventories/mine --limit n1 --tags host_tuning_boot",
            id="one host",
        ),
        pytest.param(
            PLAY,
            ["n1", "n2"],
            {},
            "ansible-playbook site.yml -i inventories/mine --limit n1,n2 --tags host_tuning_boot",
            id="two hosts",
        ),
        pytest.param(
            PLAY,
            ["n3", "n1", "n2"],
            {},
            "ansible-playbook site.yml -i inventories/mine --tags host_tuning_boot",
            id="all hosts",
        ),
        pytest.param(
            TOGGLE,
            ["n1"],
            {"device": "mlx5_3"},
            "ansible n1 -i inventories/mine -b -a 'mlxlink -d mlx5_3 --port_state TG'",
            id="a device",
        ),
        pytest.param(TOGGLE, ["n1"], {}, "ansible n1 -i inventories/mine -b -a ibstat", id="none"),
    ],
)
def test_a_command_is_for_the_hosts_that_have_the_cause(
    fix: Fix, hosts: list[str], values: dict[str, str], line: str
) -> None:
    assert command.line(fix, hosts, values, HERE) == line


@pytest.mark.parametrize(
    "name", ["all", "n1:all", "n1,n2", "!n1", "~.*", "*", "-e", "n 1", "n1;reboot", "{{ 1 }}", "", "@file"]
)
def test_a_name_that_means_other_hosts_or_words_is_in_no_command(name: str) -> None:
    assert command.line(PLAY, [name], {}, HERE) == ""
    assert command.line(TOGGLE, ["n1", name], {"device": "mlx5_3"}, HERE) == ""


def test_an_inventory_with_blanks_is_one_word() -> None:
    line = command.line(PLAY, ["n1"], {}, Where(["my hosts; reboot"], []))
    assert shlex.split(line)[3] == "my hosts; reboot"


HOSTILE = (
    "mlx5_3; reboot",
    "$(reboot)",
    "`reboot`",
    "mlx5_3/1 && reboot",
    "{{ lookup('pipe', 'reboot') }}",
    "../../etc/shadow",
    "-rf",
    "\x1b[2Jmlx5_3/1",
    "x" * 100_000,
    "slurmd.service; reboot",
    "/dev/infiniband/../sda",
)


@pytest.mark.parametrize("words", HOSTILE)
def test_nothing_that_a_host_says_gets_into_a_command(words: str) -> None:
    ids = ("ib.port.rate", "host.limit.memlock", "host.rdma.devices", "roce.qos.pfc", "gpu.xid.fatal")
    checks = [Check(one, words, "fail", "error", words, words, "capability", words, words).to_dict() for one in ids]
    facts: dict[str, Any] = {
        "ib": {"devices": {words: {"address": words}}, "cas": [{"name": words.partition("/")[0]}]},
        "gpu": {"gpus": [{"address": words}]},
        "roce": {"ports": {"value": [{"device": words, "num": 1, "netdev": {"value": words}}]}},
        "node": {"hostname": words},
    }
    report = {"simulated": "", "pings": [], "hosts": {"n1": {"verdict": "not_ready", "checks": checks, "facts": facts}}}
    found = diagnose(report)
    assert len(found.causes) == len(ids)
    for one in found.causes:
        assert "reboot" not in one.command.replace("ibready_reboot_ok", "")
        for trace in ("{{", "`", "$", "\x1b", "..", ";", "&"):
            assert trace not in one.command
        assert len(one.command) < 300


EVERY = [*(f"node{at:03}" for at in range(1, 301)), *(f"gpu{at}.a-b.example" for at in range(120)), "login", "node0171"]


@pytest.mark.parametrize(
    ("hosts", "told"),
    [
        pytest.param(EVERY[:8], ",".join(EVERY[:8]), id="few, by name"),
        pytest.param(EVERY[128:160], "~node1(29|[3-5][0-9]|60)$", id="a range"),
        pytest.param([*EVERY[9:19], "login"], "~node01[0-9]$,login", id="a range and a name"),
        pytest.param(EVERY[300:420], None, id="numbers of any width"),
        pytest.param(EVERY[5:290:7], None, id="scattered"),
        pytest.param([*EVERY[:9], "a b;c"], None, id="no plain name"),
    ],
)
def test_many_hosts_are_a_pattern_that_ansible_reads_as_these_and_no_others(hosts: list[str], told: str | None) -> None:
    found = command.pattern([*hosts, hosts[0]])
    assert told in (None, found)
    assert len(found) <= len(",".join(hosts))
    if "a b;c" in hosts:
        assert found == ",".join(hosts)
        return
    inventory = InventoryManager(DataLoader(), sources=[",".join(EVERY)])
    assert {host.name for host in inventory.list_hosts(found)} == set(hosts)
