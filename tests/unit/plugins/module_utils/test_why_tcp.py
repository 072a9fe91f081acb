# SPDX-License-Identifier: GPL-3.0-or-later
"""`ibready why` of a job that goes over TCP: why it does, alone and beside what its hosts' tools tell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._agent import program
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as model
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import unknown
from ansible_collections.ibready.cluster.plugins.module_utils._verify import why
from tests.gauntlet import render

COMMANDS = render.render(render.node("hgx-h100-8")).commands
BRIDGE = "00:00.0 Host bridge [0600]: Intel Corporation Device [8086:09a2]\n"
TOOLS = {
    "ibstat": COMMANDS["ibstat"].stdout,
    "ibv_devinfo": COMMANDS["ibv_devinfo"].stdout,
    "lspci": f"{BRIDGE}1a:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 [ConnectX-7] [15b3:1021]\n",
}
BESIDE = [(), *((tool,) for tool in TOOLS), tuple(TOOLS)]
OFF, NONE = "NCCL_IB_DISABLE set by environment to 1.", "NET/IB : No device found."
LIBRARY = "Failed to open libibverbs.so[.1]"
REASONS = {
    OFF: ("RDMA was switched off by a setting: NCCL_IB_DISABLE", "next: remove NCCL_IB_DISABLE"),
    NONE: ("no RDMA port is left to use", "next: `ibv_devinfo` where the job runs"),
    LIBRARY: ("the verbs library is missing", "next: install rdma-core"),
    "NCCL_NET set to Socket.": ("NCCL_NET asks for TCP", "next: remove NCCL_NET"),
}
ASKED = ["`ls /dev/infiniband`", "`ibv_devinfo`", "`env | grep NCCL`"]


def log(*said: str, hosts: Iterable[str] = ("node1",), nranks: int = 16, nodes: str = "") -> str:
    """A job's log as NCCL 2.21 prints it, of one rank a host."""
    return "".join(
        f"{host}:123:18{number} [0] NCCL INFO {line}\n"
        for number, host in enumerate(hosts)
        for line in (
            f"Bootstrap : Using eth0:192.0.2.{number}<0>",
            "NCCL version 2.21.5+cuda12.4",
            *said,
            f"NET/Socket : Using [0]eth0:192.0.2.{number}<0>",
            "Using network Socket",
            f"comm 0x1 rank {number} nranks {nranks} cudaDev 0 busId 1000{nodes} - Init COMPLETE",
        )
    )


def prompts(prompt: str, tools: Iterable[str], text: str) -> str:
    typed = [*((tool, TOOLS[tool]) for tool in tools), ("cat job.log", text)]
    return "".join(f"{prompt}{words}\n{printed}" for words, printed in typed)


FORMS = {
    "files": lambda tools, text: [text, *(TOOLS[tool] for tool in tools)],
    "files, the log last": lambda tools, text: [*(TOOLS[tool] for tool in tools), text],
    "prompts of a user": lambda tools, text: [prompts("root@node1:~# ", tools, text)],
    "prompts": lambda tools, text: [prompts("$ ", tools, text)],
    "one file": lambda tools, text: ["".join((*(TOOLS[tool] for tool in tools), text))],
    "one file, the log first": lambda tools, text: ["".join((text, *(TOOLS[tool] for tool in tools)))],
    "the log beside prompts": lambda tools, text: [text, prompts("[root@node1 ~]# ", tools, "")],
}


def asked(capsys: pytest.CaptureFixture[str], place: Path, *texts: str) -> tuple[int, list[str]]:
    files = [place / str(number) for number, _text in enumerate(texts)]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    status = program.main(["why", *map(str, files)])
    return status, capsys.readouterr().out.splitlines()


def checks(*texts: str, check: str = "nccl.log.network") -> list[model.Check]:
    heard = why.Heard()
    for number, text in enumerate(texts):
        heard.take(str(number), text)
    return [one for host in why.judged(heard, from_inventory({})) for one in host.checks if one.id == check]


TWO = ("node1", "node2")
CASES = [
    *((OFF, tools, form, TWO[:1]) for tools in BESIDE for form in FORMS),
    *((NONE, tools, form, TWO[:1]) for tools in BESIDE for form in FORMS if "one file" not in form),
    *((reason, tools, "files", hosts) for reason in REASONS for tools in BESIDE[:2] for hosts in (TWO[:1], TWO)),
]


@pytest.mark.parametrize(("reason", "tools", "form", "hosts"), list(dict.fromkeys(CASES)))
def test_the_reason_of_the_log_comes_first(
    reason: str,
    tools: tuple[str, ...],
    form: str,
    hosts: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, out = asked(capsys, tmp_path, *FORMS[form](tools, log(reason, hosts=hosts)))
    first = next(line for line in out if re.match(r"  (FAIL|UNKNOWN) ", line))
    assert "nccl.log.network nccl_log: " in first
    assert "the job goes over TCP: rank 0 (node1:123 GPU 0)" in first
    because, then = REASONS[reason]
    assert because in first
    assert then in first
    # Of one host whose HCAs nobody knows it may be as it should be.
    wanted = 2 if tools else 1 if len(hosts) > 1 else 3
    assert status == wanted
    about = out[: next(at for at, line in enumerate(out) if "ask next" in line) + 1]
    assert not any("nothing is wrong" in line for line in about)
    assert [words for words in ASKED if words in about[-1]] == [
        words for words in ASKED if words.strip("`") not in tools or form == "the log beside prompts"
    ]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param(log(NONE, nranks=1), model.SKIP, id="one rank alone"),
        pytest.param(log(NONE, nodes=" nNodes 1"), model.SKIP, id="NCCL counts one node"),
        pytest.param(log(OFF, nodes=" nNodes 2"), model.FAIL, id="NCCL counts two nodes"),
        pytest.param(log(OFF), model.UNKNOWN, id="one rank of many"),
    ],
)
def test_a_job_of_one_host_is_no_alarm(text: str, result: str) -> None:
    (found,) = checks(text)
    assert found.result == result


VIRTIO = "00:03.0 Ethernet controller [0200]: Red Hat, Inc. Virtio 1.0 network device [1af4:1041]\n"
INTEL = "00:03.0 Ethernet controller [0200]: Intel Corporation Ethernet Controller E810-C [8086:1592]\n"


@pytest.mark.parametrize(
    ("lspci", "result"),
    [
        pytest.param(BRIDGE + VIRTIO, model.SKIP, id="whole, and none"),
        pytest.param(BRIDGE + INTEL, model.FAIL, id="one that may do RDMA"),
        pytest.param(VIRTIO, model.FAIL, id="a part of the bus"),
        pytest.param(BRIDGE + VIRTIO[:-20], model.FAIL, id="cut"),
        pytest.param(BRIDGE + re.sub(r" \[[0-9a-f:]{4,9}\]", "", VIRTIO), model.FAIL, id="without ids"),
    ],
)
def test_a_host_that_is_known_to_have_no_hca_is_no_alarm(
    lspci: str, result: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = log(OFF, hosts=("node1", "node2"))
    (found,) = checks(text, lspci)
    assert (found.result, found.severity == "warning") == (result, result == model.FAIL)
    # What the log says is told all the same.
    assert any("switched off by a setting" in line for line in asked(capsys, tmp_path, text, lspci)[1])


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("root@node1:~# lspci\n", "no HCA on the PCI bus of node1; nobody showed that of node2"),
        ("", "no HCA on the PCI bus of one host, which no line names; the job ran on node1, node2"),
    ],
)
def test_a_bus_without_an_hca_is_told_with_its_host(
    prompt: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = log(OFF, hosts=("node1", "node2"))
    (found,) = checks(text, f"{prompt}{BRIDGE}{VIRTIO}")
    assert found.cause.startswith(f"{told}; its log says: ")
    assert any(told in line for line in asked(capsys, tmp_path, text, f"{prompt}{BRIDGE}{VIRTIO}")[1])


@pytest.mark.parametrize("log_first", [False, True])
def test_a_whole_bus_in_the_log_s_own_file_is_read_as_in_one_of_its_own(log_first: bool) -> None:
    parts = [BRIDGE + VIRTIO, log(OFF, hosts=("node1", "node2"))]
    (found,) = checks("".join(reversed(parts) if log_first else parts))
    assert (found.result, "of one host, which no line names" in found.cause) == (model.SKIP, True)


def test_tools_of_a_host_that_the_log_does_not_name_tell_nothing_of_its_job() -> None:
    text = log(NONE, hosts=("node1", "node2"))
    (found,) = checks(text, f"root@node2:~# ibstat\n{TOOLS['ibstat']}")
    assert (found.severity, "ibstat shows 10 Active ports" in found.cause) == ("error", True)
    (found,) = checks(text, f"root@node3:~# ibstat\n{TOOLS['ibstat']}")
    assert (found.severity, "Active" in found.cause) == ("warning", False)


def test_what_is_known_of_the_ports_stands_beside_no_device_found() -> None:
    down = TOOLS["ibstat"].replace("State: Active", "State: Down")
    assert "ibstat shows no Active ports" in checks(log(NONE), down)[0].cause
    assert "NCCL_IB_HCA is mlx9" in checks(log("NCCL_IB_HCA set to mlx9", NONE), down)[0].cause


def test_a_rank_over_tcp_among_others_over_rdma_needs_no_tool() -> None:
    text = log(NONE, hosts=("node1", "node2"))
    text += "".join(line.replace("Socket", "IB") for line in log(hosts=("node3",)).splitlines(True) if "/" not in line)
    (found,) = checks(text)
    assert (found.result, found.severity, "node3" in found.observed) == (model.FAIL, "error", False)


@pytest.mark.parametrize("cut", ["", "Active"])
def test_nothing_is_called_well_beside_what_its_text_leaves_open(
    cut: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TOOLS["ibstat"]
    at = text.rindex(cut) if cut else len(text)
    _status, out = asked(capsys, tmp_path, text[:at])
    assert any("nothing is wrong in it" in line for line in out) == (not cut)
    assert any("whether all is well is not known: " in line for line in out) == bool(cut)
    assert any("next: give all that `ibstat` prints" in line for line in out) == bool(cut)


def test_of_many_that_cannot_tell_the_rest_is_counted() -> None:
    checks = tuple(unknown("ib.port.state", f"mlx5_{number}/1", "no line tells") for number in range(7))
    lines = list(program._of_host(why.Host("a", ("ibstat",), checks, open=checks), besides=False))
    assert [line for line in lines if "mlx5_4" in line] == []
    assert any("UNKNOWN and 3 more of them: --json has all" in line for line in lines)


def test_a_log_of_each_process_is_one_of_the_job(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    both = log(OFF, hosts=("node1", "node2"))
    one, other = (both[at : at + len(both) // 2] for at in (0, len(both) // 2))
    assert asked(capsys, tmp_path, one, other) == asked(capsys, tmp_path, both)
    # The same rank twice is of another run, and so is another communicator.
    assert len(checks(one, one)) == 2
    mark = "nranks 16 cudaDev 0 busId 1000"
    assert len(checks(one.replace(mark, f"{mark} commId 0xa"), other.replace(mark, f"{mark} commId 0xb"))) == 2
    assert len(checks(one.replace(mark, f"{mark} commId 0xa"), other.replace(mark, f"{mark} commId 0xa"))) == 1
    assert [check.result for check in checks(one, other)] == [model.FAIL]


def test_what_is_no_text_is_called_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "picture"
    file.write_bytes(bytes(range(256)) * 20)
    assert program.main(["why", str(file)]) == 3
    assert capsys.readouterr().err.endswith(": it is no text\n")
    file.write_bytes(b"\0" * 9000 + log(OFF).encode())
    assert program.main(["why", str(file)]) == 3
    assert "NCCL_IB_DISABLE" in capsys.readouterr().out
