# SPDX-License-Identifier: GPL-3.0-or-later
"""The node's side of a benchmark: units with limits, servers, questions, and jobs that run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.bench import jobs, nccl, perftest
from ansible_collections.ibready.cluster.plugins.module_utils._data import bench as data
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
from ansible_collections.ibready.cluster.plugins.module_utils._ground import unit
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output, Unavailable
from tests.unit.parsers import SAMPLES
from tests.unit.units import is_active

SAMPLE = (SAMPLES / "perftest.txt").read_text()
NCCL = (SAMPLES / "nccl_tests.txt").read_text()
NO_DEVICE = " Did not detect devices \n Unable to find the Infiniband/RoCE device\n"
RAN = "Running as unit: x.service\nFinished with result: {}\nMain processes terminated with: y\n"
END = perftest.End("mlx5_0", 1, data.WRITE_BW, 18515)


@dataclass
class Systemd:
    """systemd-run with --wait answers ``ends``; without it a unit is there until it is stopped."""

    ends: Output = field(default_factory=lambda: Output(0, SAMPLE, RAN.format("success")))
    dies: bool = False
    silent: bool = False
    stuck: bool = False
    help: str = "--use_cuda=<cuda device id>"
    log: list[tuple[float, str]] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    started: list[list[str]] = field(default_factory=list)

    def __call__(self, argv: list[str], timeout: float) -> Output:
        if argv[0] == "systemd-run":
            self.started.append(argv)
            if "--wait" in argv:
                return self.ends
            if self.dies and not self.silent:
                self.log.append((time.time(), NO_DEVICE))
            elif not self.dies:
                self.units.append(argv[1].partition("=")[2])
        elif argv[:2] == ["systemctl", "list-units"]:
            return Output(0, "".join(f"{one} loaded active running x\n" for one in self.units), "")
        elif argv[:2] == ["systemctl", "is-active"]:
            return is_active(argv[2] in self.units)
        elif argv[:2] == ["systemctl", "stop"] and not self.stuck:
            self.units = [one for one in self.units if one not in argv]
        elif argv[0] == "journalctl":
            # Without the identifier systemd's own words on the unit would come with it.
            assert argv[-2:] == ["-t", "ibready-bench"]
            (since,) = [one for one in argv if one.startswith("--since=@")]
            said = [text for at, text in self.log if at >= float(since.partition("@")[2])]
            return Output(0, "".join(said), "")
        elif argv[1:] == ["--help"]:
            return Output(1, self.help, "")
        return Output(0, "", "")


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with perftest and nccl-tests."""
    bins = tmp_path / "bin"
    bins.mkdir()
    for name in (*data.PROGRAMS.values(), "all_reduce_perf"):
        (bins / name).write_text("#!/bin/sh\n")
        (bins / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{bins}:{os.environ['PATH']}")
    monkeypatch.setattr(nccl, "_PATH", (str(bins),))


def limits(argv: list[str]) -> str:
    (found,) = [one for one in argv if one.startswith("--property=RuntimeMaxSec=")]
    return found.rpartition("=")[2]


def test_a_measurement_is_a_unit_that_ends_by_itself() -> None:
    run = Systemd()
    assert perftest.ask(run, END, "10.0.0.2", 5) == {"untested": "", "gbps": 396.12}
    (argv,) = run.started
    assert limits(argv) == "20"
    assert argv[argv.index("--pipe") + 1].endswith("/ib_write_bw")
    assert argv[-1] == "10.0.0.2"
    assert " ".join(argv).endswith("-d mlx5_0 -i 1 -p 18515 -F --report_gbits -q 4 -s 1048576 -D 5 10.0.0.2")


def test_servers_have_a_lease_and_take_the_place_of_older_ones() -> None:
    run = Systemd(units=["ibready-perftest-18999.service"])
    ends = [END, perftest.End("mlx5_1", 1, data.READ_LAT, 18516)]
    assert perftest.serve(run, ends, 5, 240, sleep=lambda _: None) == {}
    assert run.units == ["ibready-perftest-18515.service", "ibready-perftest-18516.service"]
    assert {limits(argv) for argv in run.started} == {"240"}


def test_a_server_that_is_gone_says_why() -> None:
    run = Systemd(dies=True)
    failed = perftest.serve(run, [END], 5, 240, sleep=lambda _: None)
    assert failed == {18515: "ib_write_bw: Unable to find the Infiniband/RoCE device"}


def test_what_a_server_of_an_earlier_round_said_is_no_reason() -> None:
    said = [(time.time() - 3, "Couldn't listen to port 18515\n")]
    run = Systemd(dies=True, silent=True, log=said)
    failed = perftest.serve(run, [END], 5, 240, sleep=lambda _: None)
    assert failed == {18515: "ib_write_bw: it ended and said nothing"}


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (
            Output(1, NO_DEVICE, RAN.format("exit-code")),
            "Unable to find the Infiniband/RoCE device",
        ),
        (Output(1, "", RAN.format("timeout")), "it did not end within 20 s, and was ended"),
        (Output(1, SAMPLE, RAN.format("timeout")), "it did not end within 20 s"),
        (Output(1, "", "Failed to start transient service unit: x\n"), "not started"),
        (
            Output(0, SAMPLE.replace("BW average", "t_avg"), RAN.format("success")),
            "neither bandwidth",
        ),
    ],
    ids=["no device", "too long", "too long after all", "systemd refuses", "another table"],
)
def test_a_run_without_a_number_is_untested_with_the_reason(ends: Output, said: str) -> None:
    answer = perftest.ask(Systemd(ends), END, "10.0.0.2", 5)
    assert said in answer["untested"]
    assert "gbps" not in answer


def test_a_program_that_is_missing_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    answer = perftest.ask(Systemd(), END, "10.0.0.2", 5)
    assert answer["untested"].startswith("ib_write_bw: not installed")


def test_a_unit_that_does_not_go_is_an_error() -> None:
    with pytest.raises(unit.UnitError, match="still runs after"):
        unit.stop(Systemd(units=["a.service"], stuck=True), ["a.service"])


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"device": "mlx5_0; reboot"}, "no RDMA|not an RDMA"),
        ({"port": 0}, "between 1 and 254"),
        ({"tcp_port": 80}, "between 1024"),
    ],
)
def test_foreign_words_get_into_no_command(bad: dict[str, object], said: str) -> None:
    given = {"device": "mlx5_0", "port": 1, "test": "write_bw", "tcp_port": 18515, **bad}
    with pytest.raises(ValueError, match=said):
        perftest.end(given)
    with pytest.raises(ValueError, match="no address"):
        perftest.address("-R")


HEAD = "#bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
RULE = "-" * 60


@pytest.mark.parametrize(
    ("printed", "ended", "lost", "said"),
    [
        (f"{RULE}\n{HEAD}\n{RULE}\n", "exit-code", True, "no result below this line"),
        (f"{RULE}\n{HEAD}\n{RULE}\n", "success", True, "no result below this line"),
        (f"{HEAD}\n Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\n", "exit-code", True, ""),
        (f"{HEAD}\n Completion with error at client\n Failed status 4: wr_id 0 syndrom 0x51\n", "exit-code", False, ""),
        (f"{HEAD}\nCouldn't post send: scnt=0\n", "exit-code", False, ""),
        (f"{HEAD}\n", "oom-kill", False, "ended from outside (oom-kill)"),
        (f"{HEAD}\n", "signal", False, "ended from outside (signal)"),
        ("Couldn't connect to 192.0.2.1:18515\n", "exit-code", False, "Couldn't connect"),
        ("", "exit-code", False, ""),
    ],
)
def test_only_a_way_that_lets_nothing_through_is_lost(printed: str, ended: str, lost: bool, said: str) -> None:
    end = perftest.End("mlx5_0", 1, data.WRITE_BW, 18515)
    answer = perftest.ask(Systemd(Output(1, printed, RAN.format(ended))), end, "10.0.0.2", 5)
    assert bool(answer.get("lost")) is lost
    assert said in answer["untested"]


def test_gpu_memory_needs_a_perftest_with_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    end = perftest.End("mlx5_0", 1, data.WRITE_BW_GPU, 18515)
    answer = perftest.ask(Systemd(help="-d, --ib-dev"), end, "10.0.0.2", 5)
    assert "built without CUDA" in answer["untested"]
    monkeypatch.setattr(perftest, "nearest", lambda evidence, device: 3)
    monkeypatch.setattr(perftest.os.path, "isdir", lambda path: False)
    answer = perftest.ask(Systemd(), end, "10.0.0.2", 5)
    assert "no nvidia_peermem" in answer["untested"]
    run = Systemd(help="--use_cuda --use_cuda_dmabuf")
    assert perftest.ask(run, end, "10.0.0.2", 5)["gbps"] == 396.12
    assert run.started[0][-3:] == ["--use_cuda=3", "--use_cuda_dmabuf", "10.0.0.2"]
    assert "--setenv=CUDA_DEVICE_ORDER=PCI_BUS_ID" in run.started[0]


def test_nccl_tests_on_one_host() -> None:
    run = Systemd(Output(0, NCCL, RAN.format("success")))
    answer = nccl.alone(run, nccl.program(), 2, ("8M", "32M"), 60)
    assert (answer["untested"], answer["busbw"], answer["wrong"]) == ("", 177.82, 0)
    assert (answer["ranks"], answer["hosts"]) == (2, 1)
    assert limits(run.started[0]) == "60"
    assert run.started[0][-8:] == ["-b", "8M", "-e", "32M", "-f", "2", "-g", "2"]


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (Output(1, NCCL[:500], RAN.format("timeout")), "did not end within 60 s"),
        (Output(1, NCCL, RAN.format("exit-code")), "all_reduce_perf: "),
        (Output(1, "x: Test NCCL failure y 'unhandled'", RAN.format("exit-code")), "unhandled"),
    ],
)
def test_nccl_tests_that_did_not_end_well_have_no_number(ends: Output, said: str) -> None:
    answer = nccl.alone(Systemd(ends), "/x", 2, ("8M", "32M"), 60)
    assert answer["untested"]
    assert "busbw" not in answer
    assert said in answer["untested"]


def test_wrong_values_are_a_number_though_the_program_fails() -> None:
    bad = NCCL.replace("values : 0 OK", "values : 9 FAILED")
    answer = nccl.alone(Systemd(Output(1, bad, RAN.format("exit-code"))), "/x", 2, ("8", "9"), 60)
    assert (answer["untested"], answer["wrong"]) == ("", 9)


def test_a_missing_nccl_tests_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nccl, "_PATH", ("/nonexistent",))
    with pytest.raises(Unavailable, match="bench_nccl_program"):
        nccl.program()


def process(root: Path, pid: int, name: str, target: str) -> None:
    home = root / "proc" / str(pid)
    (home / "fd").mkdir(parents=True)
    (home / "comm").write_text(name)
    (home / "fd/3").symlink_to(target)


def bus(root: Path, *classes: str) -> None:
    for number, kind in enumerate(classes):
        home = root / f"sys/bus/pci/devices/0000:0{number}:00.0"
        home.mkdir(parents=True)
        for name, value in (("class", kind), ("vendor", "0x10de"), ("device", "0x2330")):
            (home / name).write_text(value)


def asks(text: str, rc: int = 0) -> Callable[..., Output]:
    return lambda argv, timeout: Output(rc, text, "")


def test_a_job_is_who_holds_a_verbs_device(tmp_path: Path) -> None:
    bus(tmp_path, "0x060000")
    process(tmp_path, 11, "python3", "/dev/infiniband/uverbs0")
    process(tmp_path, 12, "opensm", "/dev/infiniband/umad0")
    process(tmp_path, 13, "ibacm", "/dev/infiniband/uverbs0")
    found = jobs.look(Live(tmp_path), str(tmp_path), asks(""))
    assert found == jobs.Found(("python3[11] has an RDMA device open",), ())


def test_a_job_is_who_computes_on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bus(tmp_path, "0x030200")
    monkeypatch.setattr(jobs, "find_program", lambda name: name)
    (tmp_path / "proc").mkdir()
    found = jobs.look(Live(tmp_path), str(tmp_path), asks("4711, /usr/bin/train\n"))
    assert found.jobs == ("/usr/bin/train[4711] computes on a GPU",)
    assert jobs.look(Live(tmp_path), str(tmp_path), asks("")) == jobs.Found((), ())
    none = asks("No running compute processes found\n")
    assert jobs.look(Live(tmp_path), str(tmp_path), none) == jobs.Found((), ())
    unnamed = jobs.look(Live(tmp_path), str(tmp_path), asks("[N/A], [Not Found]\n"))
    assert unnamed.jobs == ("nvidia-smi names a program that computes: [N/A], [Not Found]",)
    # Where the tool fails, whoever holds a GPU's device open counts.
    process(tmp_path, 31, "train", "/dev/nvidia0")
    failed = jobs.look(Live(tmp_path), str(tmp_path), asks("NVIDIA-SMI has failed", 9))
    assert failed.jobs == ("train[31] has a GPU open",)


def test_who_is_not_root_cannot_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bus(tmp_path, "0x060000")
    monkeypatch.setattr(jobs.os, "geteuid", lambda: 1000)
    found = jobs.look(Live(tmp_path), str(tmp_path), asks(""))
    assert found.jobs == ()
    assert "not root" in found.unknown[0]


def test_without_a_tool_to_ask_a_job_is_who_holds_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bus(tmp_path, "0x030200")
    monkeypatch.setenv("PATH", "/nonexistent")
    process(tmp_path, 21, "nvidia-persiste", "/dev/nvidia0")
    process(tmp_path, 22, "python3", "/dev/nvidiactl")
    assert jobs.look(Live(tmp_path), str(tmp_path), asks("")) == jobs.Found((), ())
    process(tmp_path, 23, "python3", "/dev/nvidia7")
    found = jobs.look(Live(tmp_path), str(tmp_path), asks(""))
    assert found == jobs.Found(("python3[23] has a GPU open",), ())
