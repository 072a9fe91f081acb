# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._checks import ib
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts.ib import SmAnswer
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._observe.ib import observe
from tests.unit.samples import IBSTAT, SMINFO, SYSFS, master

Said = dict[str, Output | Unavailable]

BASE = "/sys/class/infiniband"
SM = "sminfo -C mlx5_0 -P 1"
HEALTHY: Said = {"ibstat": Output(0, IBSTAT, ""), SM: Output(0, SMINFO, "")}
PANIC = "ibpanic: [812] main: stat of IB device 'mlx5_1' failed: No such device"
WARNING = "ibwarn: [812] mad_rpc_open_port: client_register for mgmt 1 failed"


class Host:
    """Evidence of the healthy sample; ``said`` replaces what commands say, ``files`` what is in
    sysfs below one HCA (None: no such directory)."""

    def __init__(self, said: Said | None = None, files: dict[str, str] | None = SYSFS) -> None:
        self.said: Said = {**HEALTHY, **(said or {})}
        self.files = {
            f"{BASE}/mlx5_0/{name}": text for name, text in ({} if files is None else files).items()
        }
        self.asked: list[str] = []

    def run(self, name: str, *args: str) -> Output:
        call = " ".join((name, *args))
        self.asked.append(call)
        answer = self.said.get(call, Unavailable(call, "not in this test"))
        if isinstance(answer, Unavailable):
            raise answer
        return answer

    def read(self, path: str) -> str:
        if path not in self.files:
            raise Unavailable(path, "no such file")
        return self.files[path]

    def list(self, path: str) -> Any:
        below = [name[len(path) + 1 :] for name in self.files if name.startswith(f"{path}/")]
        if not below:
            raise Unavailable(path, "no such directory")
        return sorted({name.split("/")[0] for name in below})


def test_three_sources_tell_of_one_healthy_host() -> None:
    host = Host()
    facts = observe(host, Machine())
    assert [ca.name for ca in facts.cas] == ["mlx5_0"]
    assert facts.sysfs == facts.cas
    assert facts.sm == {"mlx5_0/1": master(activity=242)}
    assert (facts.ibstat_unknown, facts.sysfs_unknown, facts.error_lines) == ("", "", ())
    assert host.asked == ["ibstat", SM]


@pytest.mark.parametrize(
    ("output", "devices", "errors"),
    [
        pytest.param(Output(0, IBSTAT, WARNING), 1, (), id="a warning is printed by sound tools"),
        pytest.param(Output(0, IBSTAT, PANIC), 1, (PANIC,), id="a panic after the devices"),
        pytest.param(
            Output(0, IBSTAT, "Segmentation fault\n"),
            1,
            ("Segmentation fault",),
            id="words of nobody's after the devices",
        ),
        pytest.param(
            Output(139, IBSTAT, ""),
            1,
            ("ibstat ended with status 139",),
            id="an error status after the devices",
        ),
        pytest.param(
            Output(139, IBSTAT, WARNING),
            1,
            ("ibstat ended with status 139",),
            id="a warning does not explain an error status",
        ),
        pytest.param(Output(255, IBSTAT, PANIC), 1, (PANIC,), id="a panic explains the status"),
        pytest.param(Output(255, "", PANIC), 0, (PANIC,), id="a panic alone"),
        pytest.param(Output(0, " \n", PANIC), 0, (PANIC,), id="a panic with status 0"),
        pytest.param(Output(255, PANIC, ""), 0, (PANIC,), id="a panic on stdout"),
    ],
)
def test_what_ibstat_complains_of_is_kept(
    output: Output, devices: int, errors: tuple[str, ...]
) -> None:
    facts = observe(Host({"ibstat": output}), Machine())
    assert len(facts.cas) == devices
    assert facts.error_lines == errors
    assert facts.ibstat_unknown == ""


@pytest.mark.parametrize(
    ("output", "why"),
    [
        pytest.param(
            Unavailable("ibstat", "not installed (no such program in PATH)"),
            "ibstat: not installed (no such program in PATH)",
            id="no ibstat",
        ),
        pytest.param(Output(1, "", ""), "exit status 1", id="nothing printed with an error status"),
        pytest.param(
            Output(0, "", "Segmentation fault"), "Segmentation fault", id="words on stderr only"
        ),
        pytest.param(Output(127, "", "sh: ibstat: not found"), "127", id="a shell's words"),
        pytest.param(Output(0, "", IBSTAT), "to stderr only", id="devices on stderr only"),
        pytest.param(
            Output(0, IBSTAT.replace("Rate: 400", "Rate: fast"), ""),
            "line 11",
            id="a line that cannot be meant",
        ),
    ],
)
def test_an_ibstat_that_cannot_be_used_is_unknown_and_nothing_is_taken_from_it(
    output: Output | Unavailable, why: str
) -> None:
    host = Host({"ibstat": output})
    facts = observe(host, Machine())
    assert why in facts.ibstat_unknown
    assert (facts.cas, facts.sm) == ((), {})
    assert host.asked == ["ibstat"]


@pytest.mark.parametrize("stdout", ["", "\n"])
def test_nothing_printed_with_status_zero_is_empty_not_unknown(stdout: str) -> None:
    facts = observe(Host({"ibstat": Output(0, stdout, "\n")}), Machine())
    assert (facts.cas, facts.ibstat_unknown, facts.error_lines) == ((), "", ())
    assert len(facts.sysfs) == 1
    found = {check.id: check.result for check in ib.judge(facts, Expectations())}
    assert found["ib.hca.present"] == "fail"


FAILED = "sminfo: iberror: failed: query"


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        pytest.param(Output(0, SMINFO, WARNING), master(activity=242), id="an answer"),
        pytest.param(
            Output(255, "", f"{WARNING}\n{FAILED}\n\n"), SmAnswer(error=FAILED), id="none"
        ),
        pytest.param(
            Output(255, f"{FAILED}\n", f"{WARNING}\n"),
            SmAnswer(error=FAILED),
            id="none, told on the other stream",
        ),
        pytest.param(
            Output(1, "", ""),
            SmAnswer(unavailable="sminfo: empty output: no subnet manager named"),
            id="silence",
        ),
        pytest.param(
            Output(255, "", "sminfo: iberror: failed: Failed to open 'mlx5_0' port '1'\n"),
            SmAnswer(unavailable="sminfo: iberror: failed: Failed to open 'mlx5_0' port '1'"),
            id="a port that could not be opened",
        ),
        pytest.param(
            Output(255, SMINFO, FAILED),
            SmAnswer(error=f"sminfo ended with status 255: {FAILED}"),
            id="an answer with an error status",
        ),
        pytest.param(
            Unavailable("sminfo", "gave no complete answer within 30 s"),
            SmAnswer(unavailable="sminfo: gave no complete answer within 30 s"),
            id="no tool or no time",
        ),
    ],
)
def test_only_a_whole_answer_is_a_subnet_manager(
    output: Output | Unavailable, answer: SmAnswer
) -> None:
    assert observe(Host({SM: output}), Machine()).sm == {"mlx5_0/1": answer}


@pytest.mark.parametrize("stderr", ["", FAILED])
def test_an_answer_with_an_error_status_is_none(stderr: str) -> None:
    answer = observe(Host({SM: Output(255, SMINFO, stderr)}), Machine()).sm["mlx5_0/1"]
    assert answer.sm is None
    assert answer.error


@pytest.mark.parametrize(
    ("bent", "asked"),
    [
        pytest.param(("State: Active", "State: Down"), [], id="a Down port is not asked"),
        pytest.param(("State: Active", "State: Initializing"), [], id="nor one without an SM"),
        pytest.param(("Link layer: InfiniBand", "Link layer: Ethernet"), [], id="nor Ethernet"),
        pytest.param(("Link layer: InfiniBand", "Link layer:"), [], id="nor one of no link layer"),
        pytest.param(("Port 1:", "Port 2:"), ["sminfo -C mlx5_0 -P 2"], id="by its own number"),
        pytest.param(("CA 'mlx5_0'", "CA 'ib7'"), ["sminfo -C ib7 -P 1"], id="and its own device"),
    ],
)
def test_the_subnet_manager_is_asked_from_each_live_infiniband_port(
    bent: tuple[str, str], asked: list[str]
) -> None:
    host = Host({"ibstat": Output(0, IBSTAT.replace(*bent), "")})
    facts = observe(host, Machine())
    assert len(facts.cas) == 1
    assert host.asked == ["ibstat", *asked]
    assert len(facts.sm) == len(asked)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        pytest.param(None, f"{BASE}: no such directory", id="no RDMA driver"),
        pytest.param({**SYSFS, "ports/1/rate": "fast\n"}, "mlx5_0/ports/1/rate", id="a bad file"),
    ],
)
def test_a_kernel_that_cannot_be_read_says_why_and_hurts_nothing_else(
    files: dict[str, str] | None, why: str
) -> None:
    facts = observe(Host(files=files), Machine())
    assert why in facts.sysfs_unknown
    assert facts.sysfs == ()
    assert (len(facts.cas), list(facts.sm)) == (1, ["mlx5_0/1"])
