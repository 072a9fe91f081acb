# SPDX-License-Identifier: GPL-3.0-or-later
"""`ibready why`: what pasted texts say, what is wrong by them, and what to ask next."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import NOT_READY, READY, UNKNOWN, sentence
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import UNSAID
from ansible_collections.ibready.cluster.plugins.module_utils._parse import names
from ansible_collections.ibready.cluster.plugins.module_utils._verify import heard as reader, why
from tests import cases
from tests.gauntlet import fault, render
from tests.gauntlet.tree import Tree
from tests.unit.parsers import SAMPLES

BOARD = render.node("hgx-h100-8")
TREE = render.render(BOARD)
IBSTAT, DMESG = TREE.commands["ibstat"].stdout, TREE.commands["dmesg"].stdout
DOWN = IBSTAT.replace("State: Active", "State: Down", 1).replace("Physical state: LinkUp", "Physical state: Polling", 1)


def asked(*texts: str, expect: dict[str, Any] | None = None) -> list[why.Host]:
    heard = why.Heard()
    for number, text in enumerate(texts):
        heard.take(f"file{number}", text)
    assert heard.unread == []
    return why.judged(heard, from_inventory(expect or {}))


def wrong(host: why.Host) -> list[str]:
    return [line.check.id for line in host.bad]


def test_a_healthy_text_has_nothing_wrong() -> None:
    (host,) = asked(IBSTAT)
    assert (host.read, wrong(host), host.passed > 20) == (("ibstat",), [], True)
    assert "ibv_devinfo" in host.ask or "perfquery" in host.ask
    assert why.verdict([host], why.Heard()) == READY


def test_what_is_wrong_comes_first_and_one_cause_is_one_line() -> None:
    (host,) = asked(DOWN, DMESG)
    assert host.read == ("ibstat", "dmesg")
    assert wrong(host) == ["ib.port.idle"]
    (host,) = asked(DOWN, DMESG, expect={"hcas": 8, "link_layer": "InfiniBand"})
    assert wrong(host)[0] == "ib.port.state"
    assert "ib.port.physical_state" not in wrong(host)
    assert why.verdict([host], why.Heard()) == NOT_READY


def test_of_more_prompts_than_are_read_it_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_MOST_PROMPTS", 2)
    text = f"root@n1:~# ibstat\n{IBSTAT}" * 3
    heard = why.Heard()
    heard.take("mail", text)
    assert heard.unread == [
        "mail: it has 3 prompts, and the first 2 are read; next: give the rest in a file and a run of its own"
    ]
    hosts = why.judged(heard, from_inventory({}))
    assert len(hosts) == 2
    assert why.verdict(hosts, heard) == UNKNOWN
    assert len(asked(text.replace("root@n1:~# ibstat\n", "", 1))) == 3


def test_of_more_hosts_than_are_read_it_says_which_file_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_MOST_HOSTS", 2)
    text = "".join(f"node{number}: {line}\n" for number in range(4) for line in IBSTAT.splitlines())
    heard = why.Heard()
    heard.take("clush", text)
    (line,) = heard.unread
    assert line.startswith("clush: it has more than 2 hosts, and the first of them are read; next: ")
    hosts = why.judged(heard, from_inventory({}))
    assert sorted(host.name for host in hosts) == ["node0", "node1"]
    assert why.verdict(hosts, heard) == UNKNOWN


def test_hosts_are_told_apart() -> None:
    text = "".join(f"node1: {line}\n" for line in IBSTAT.splitlines())
    text += "".join(f"node2: {line}\n" for line in DOWN.splitlines())
    assert [(host.name, bool(host.bad)) for host in asked(text)] == [("node2", True), ("node1", False)]


def test_a_terminal_s_prompts_part_what_was_typed() -> None:
    text = f"root@node7:~# ibstat\n{DOWN}root@node7:~# dmesg\n{DMESG}[root@node8 ~]# ibstat\n{IBSTAT}"
    first, second = asked(text)
    assert (first.name, first.read, second.name, second.read) == ("node7", ("ibstat", "dmesg"), "node8", ("ibstat",))


def test_the_same_tool_twice_is_another_host_or_time() -> None:
    assert [host.name for host in asked(DOWN, IBSTAT)] == ["", "host (file1)"]


def test_the_plain_table_of_nvidia_smi_is_enough() -> None:
    table = (SAMPLES / "nvsmi_table.txt").read_text()
    (host,) = asked(table)
    assert host.read == ("nvsmi_table",)
    assert wrong(host) == ["gpu.ecc.volatile"]


def test_what_no_tool_prints_is_told() -> None:
    heard = why.Heard()
    heard.take("mail", "Dear all,\nthe cluster is slow.\n")
    assert heard.unread == ["mail: no tool is known that prints 'Dear all,'"]
    assert why.verdict(why.judged(heard, from_inventory({})), heard) == UNKNOWN
    # One that was read beside it does not speak for it.
    heard.take("ibstat", IBSTAT)
    assert why.verdict(why.judged(heard, from_inventory({})), heard) == UNKNOWN


def test_a_text_that_no_check_goes_by_is_not_well() -> None:
    (host,) = asked("mlx5_0 port 1 ==> ib0 (Up)\n")
    assert (host.read, host.passed, wrong(host)) == (("ibdev2netdev",), 0, [])
    assert host.ask
    assert why.verdict([host], why.Heard()) == UNKNOWN


def test_what_a_text_does_not_tell_is_told_where_nothing_is_wrong() -> None:
    (host,) = asked("node-a:10:11 [0] NCCL INFO Using network IB\n")
    assert "nccl.log.errors" in [check.id for check in host.open]


@pytest.mark.thorough
@pytest.mark.thorough
@pytest.mark.parametrize("board", cases.some(render.boards(), lambda board: board.partition("-")[0]))
def test_a_healthy_host_s_texts_raise_no_alarm_one_by_one_or_together(board: str) -> None:
    commands = render.render(render.node(board)).commands
    texts = {name: commands[name].stdout for name in names.NAMES if name in commands and commands[name].stdout}
    for name, text in texts.items():
        for host in asked(text):
            assert wrong(host) == [], name
    heard = why.Heard()
    heard.texts["node"] = texts
    (host,) = why.judged(heard, from_inventory({}))
    assert wrong(host) == []


def read(tree: Tree) -> dict[str, str]:
    """What somebody would paste who was asked for all that is read."""
    return {
        name: tree.commands[name].stdout for name in names.NAMES if name in tree.commands and name != "container_probe"
    }


@pytest.mark.thorough
def test_faults_that_texts_show_are_found_in_them_alone() -> None:
    missed, told = [], 0
    for one in cases.some(fault.load(), cases.area):
        texts = read(fault.broken(one)[1])
        if texts == read(render.render(render.node(one.board))):
            continue
        told += 1
        heard = why.Heard()
        heard.texts["node"] = texts
        if not any(host.bad for host in why.judged(heard, from_inventory({}))):
            missed.append(one.name)
    assert told > (100 if cases.ALL else 5)
    assert len(missed) < 0.3 * told, missed


@pytest.mark.thorough
@settings(max_examples=150, deadline=None, database=None)
@given(
    st.lists(st.sampled_from([*IBSTAT.splitlines()[:12], *DMESG.splitlines()[:6], "", "```", "> ", "---", "\0", "{"])),
    st.text(max_size=200),
)
def test_no_text_breaks_it(lines: list[str], more: str) -> None:
    heard = why.Heard()
    heard.take("a", "\n".join(lines) + more)
    for host in why.judged(heard, from_inventory({})):
        assert host.read


def test_of_a_long_log_the_beginning_tells_whose_it_is() -> None:
    line = "node-a:10:11 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [receive] via NET/IB/0/GDRDMA\n"
    assert names.guess(line * 40_000) == ("nccl_log",)


@pytest.mark.parametrize("name", names.NAMES)
def test_no_text_leaves_its_reader_without_a_word(name: str) -> None:
    heard = why.Heard()
    heard.take("sample", (SAMPLES / f"{name}.txt").read_text())
    for host in why.judged(heard, from_inventory({})):
        assert host.read
        assert host.says or host.told or host.bad or host.open or host.passed or host.ask, name


@pytest.mark.parametrize(
    ("name", "says", "told"),
    [
        ("dcgmi", "Fail: 2", "GPU Memory fails on GPU0"),
        ("ibdiagnet", "15 nodes", "is duplicated at"),
        ("imex_status", "2 of 3 nodes READY", "the IMEX domain is DEGRADED"),
        ("lspci", "1 HCA", "PCIe link of x1"),
        ("opensm_log", "SUBNET UP 2 times", "a GUID is there more than once"),
        ("nccl_tests", "149.668 GB/s busbw on average", ""),
    ],
)
def test_what_tools_call_wrong_counts_where_no_check_goes_by_them(name: str, says: str, told: str) -> None:
    heard = why.Heard()
    heard.take("sample", (SAMPLES / f"{name}.txt").read_text())
    (host,) = why.judged(heard, from_inventory({}))
    assert says in host.says[0]
    assert told in " ".join(host.told)
    assert why.verdict([host], heard) == (NOT_READY if told else UNKNOWN)


@pytest.mark.parametrize(
    ("text", "whose", "instead"),
    [
        (
            "!Command: show running-config\nhostname leaf1\ninterface Ethernet1/1\n  mtu 9216\n",
            "NX-OS",
            "SONiC and Cumulus",
        ),
        ("! Command: show running-config\nhostname leaf1\ninterface Ethernet1/1\n   mtu 9214\nend\n", "EOS", "SONiC"),
        ('##\n## Running database "initial"\n##\ninterface ethernet 1/1 mtu 9216 force\n', "Onyx", "SONiC"),
        ("RoCE mode      : lossless\nPort trust mode: L3\n", "Onyx", "SONiC"),
        (
            "# Port info: Lid 1 port 1\nLid:.............................1\nCapMask:.........0x50c04a\n",
            "smpquery",
            "iblinkinfo",
        ),
        (
            "PortInfo:\n# Port info: Lid 2 port 9\nLinkState:.......................Active\nLMC:....0\nSMLid:....4\n",
            "ibportstate",
            "iblinkinfo",
        ),
        ("GPU 0: NVIDIA GB200 (UUID: GPU-1)\n\t NVLE: disabled\n", "nvidia-smi nvlink -p, -R or -info", "nvlink -s"),
        (
            "GPU 0: NVIDIA H100 PCIe (UUID: GPU-1)\n  Link 0: Remote Device 00000000:D5:00.0: Link 0\n",
            "-R",
            "nvlink -s",
        ),
        (
            "# This database file was automatically generated by IBDIAG\n\nSTART_NODES\na,b\n",
            "ibdiagnet's",
            "ibdiagnet2.log",
        ),
        ("provider: efa\n    fabric: efa\n    version: 120.0\n", "fi_info", "NCCL_DEBUG=INFO"),
    ],
)
def test_a_text_that_nobody_reads_is_nobody_else_s(text: str, whose: str, instead: str) -> None:
    heard = why.Heard()
    heard.take("pasted", text)
    assert heard.texts == {}
    (line,) = heard.unread
    assert (whose in line, instead in line, "which is not read; next: " in line) == (True, True, True), line
    assert why.verdict([], heard) == UNKNOWN


def test_a_text_that_was_read_in_part_is_not_taken_for_looked_at() -> None:
    text = (SAMPLES / "ibdev2netdev.txt").read_text()
    (host,) = asked(f"# of all nodes\n{text}")
    assert host.partly == ("1 line of ibdev2netdev is unread",)
    assert why.verdict([host], why.Heard()) == UNKNOWN


FATAL = {
    "nccl_log": "node1:77:88 [0] NCCL WARN NET/IB: Got completion from peer 10.0.0.2<41001> with status=12 opcode=0 "
    "len=0 vendor err 129 (Recv)\n",
    "dmesg": "[ 1234.567890] NVRM: Xid (PCI:0000:1b:00): 79, pid=4141, name=python, GPU has fallen off the bus.\n",
    "nvsmi_error": "Unable to determine the device handle for GPU0000:1B:00.0: GPU is lost.  Reboot the system to "
    "recover this GPU\n",
}


@pytest.mark.parametrize("tool", FATAL)
def test_a_line_of_another_tool_behind_a_healthy_text_is_not_lost(tool: str) -> None:
    (host,) = asked(IBSTAT + FATAL[tool])
    assert host.bad
    assert why.verdict([host], why.Heard()) == NOT_READY


def test_a_second_tool_s_failure_is_not_lost_in_a_healthy_text() -> None:
    (host,) = asked(IBSTAT + (SAMPLES / "nvlink_errors.txt").read_text())
    assert host.read == ("ibstat", "nvlink_errors")
    assert host.bad


@pytest.mark.parametrize(
    "text",
    [
        "[    9.424670] NVRM: API mismatch: the client 'nvidia-smi' (pid 1005)\n"
        "               NVRM: has the version 595.84, but this kernel module has\n"
        "               NVRM: the version 595.80.\n",
        "[   36.077473] NVRM kgspBootstrapRiscvOSEarly_GH100: Timeout waiting for GSP target mask release.\n",
        "kern  :err   : [   36.077473] mlx5_core 0000:15:00.0: mlx5_frobnicate:7:(pid 9): it is upside down\n",
    ],
)
@pytest.mark.parametrize("before", ["", IBSTAT], ids=["alone", "behind a healthy text"])
def test_a_driver_s_own_words_for_a_failure_are_told(before: str, text: str) -> None:
    found = [check for host in asked(before + text) for check in wrong(host)]
    assert any(check.startswith("host.dmesg.drivers") for check in found)


def test_a_healthy_log_with_levels_is_read_and_nothing_in_it_is_wrong() -> None:
    (host,) = asked(DMESG.replace("[", "kern  :info  : [", 1).replace("\n[", "\nkern  :info  : ["))
    assert (host.read, wrong(host)) == (("dmesg",), [])
    (host,) = asked("".join(f"kern  :notice: [    0.00000{number}] Linux version 6.8.0\n" for number in range(3)))
    assert (host.read, wrong(host)) == (("dmesg",), [])


def test_what_ended_a_job_is_told_beside_its_times() -> None:
    steps = "".join(
        f" iteration {step:8}/     100 | consumed samples: 16 | elapsed time per iteration (ms): 1000.0 | "
        f"learning rate: 1.0E-04 | global batch size: 16 | lm loss: 1.0E+01 |\n"
        for step in range(1, 40)
    )
    heard = why.Heard()
    heard.give("job.log", (steps + FATAL["nccl_log"]).encode())
    hosts = why.judged(heard, from_inventory({}))
    assert any(host.bad for host in hosts)
    assert why.verdict(hosts, heard, why.job(heard)) == NOT_READY


def test_an_empty_file_is_told() -> None:
    heard = why.Heard()
    heard.give("job.log", b"\n \n")
    assert heard.unread == ["job.log: it is empty"]


def test_a_long_text_is_known_by_its_beginning() -> None:
    assert names.guess(IBSTAT * 30 + "x" * 20_000_000) == ()
    assert names.guess("a" * 20_000_000) == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (IBSTAT.replace("Active", "Down"), False),
        ("node1:7:8 [0] init.cc:1 NCCL WARN Cuda failure 'no CUDA-capable device is detected'\n", False),
        ("node1:7:8 [0] init.cc:1 NCCL WARN Cuda failure 'no kernel image is available for execution'\n", True),
        (DMESG + "[   12.445678] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout, signaled seq=1\n", True),
    ],
)
def test_a_cause_that_the_text_does_not_show_is_one_of_the_known(text: str, shown: bool) -> None:
    line = asked(text)[0].bad[-1]
    assert (UNSAID in line.check.cause, "likely cause" in sentence(line.check)) == (not shown, shown)
