# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules perftest, nccl_perf and bench_jobs, with stand-ins for systemd and the programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.bench import nccl
from ansible_collections.ibready.cluster.plugins.module_utils._between.smoke import job
from ansible_collections.ibready.cluster.plugins.modules import bench_jobs, nccl_perf, perftest
from tests.unit.parsers import SAMPLES

Run = Callable[..., dict[str, Any]]

# A unit is a file in the folder `units`; with --wait the program is run, and its end told.
PROGRAMS = {
    "systemctl": r"""
case "$1" in
list-units) for unit in "$HOME_OF"/units/*; do
        [ -e "$unit" ] && echo "${unit##*/} loaded active running ibready"
    done
    exit 0 ;;
stop) shift
    for unit; do rm -f "$HOME_OF/units/$unit"; done ;;
is-active) [ -e "$HOME_OF/units/$2" ] && echo active && exit; echo inactive; exit 3 ;;
reset-failed) ;;
*) exit 64 ;;
esac
""",
    "systemd-run": r"""
name="${1#--unit=}" wait=
while :; do
    case "$1" in --wait) wait=1 ;; --*) ;; *) break ;; esac
    shift
done
[ -n "$wait" ] || { : > "$HOME_OF/units/$name"; exit; }
"$@"
status=$?
result=success; [ $status = 0 ] || result=exit-code
printf 'Running as unit: %s\nFinished with result: %s\n' "$name" "$result" >&2
exit $status
""",
    "journalctl": "exit 0",
    "ib_write_bw": r"""
[ "$*" = "-d mlx5_0 -i 1 -p 18515 -F --report_gbits -q 4 -s 1048576 -D 3 10.0.0.2" ] || exit 64
cat "$SAMPLES/perftest.txt"
""",
    "ib_read_lat": r"""
echo " Unable to find the Infiniband/RoCE device" >&2
exit 1
""",
    "all_reduce_perf": 'cat "$SAMPLES/nccl_tests.txt"',
}
NCCL_LOG = (SAMPLES / "nccl_tests.txt").read_text()
WRONG_LOG = NCCL_LOG.replace("      0    69.87", "      7    69.87")
END = {"device": "mlx5_0", "test": "write_bw", "tcp_port": 18515}
ASK = {**END, "address": "10.0.0.2", "server": "n2", "rail": "mlx5_0/1"}


@pytest.fixture(autouse=True)
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host with these programs and nothing else but a shell's own."""
    bins = tmp_path / "bin"
    bins.mkdir()
    (tmp_path / "units").mkdir()
    for name, text in PROGRAMS.items():
        head = f"#!/bin/sh\nHOME_OF={tmp_path} SAMPLES={SAMPLES}\nPATH=/usr/bin:/bin:{bins}\n"
        (bins / name).write_text(head + text)
        (bins / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(bins))
    monkeypatch.setattr(nccl, "_PATH", (str(bins),))
    return tmp_path


def units(host: Path) -> list[str]:
    return sorted(one.name for one in (host / "units").iterdir())


def test_servers_are_started_and_stopped(run_module: Run, host: Path) -> None:
    ends = [END, {**END, "test": "read_lat", "tcp_port": 18516}]
    result = run_module(perftest.main, state="serving", ends=ends, lease=60)
    assert (result["changed"], result["failed_ends"]) == (True, {})
    assert units(host) == ["ibready-perftest-18515.service", "ibready-perftest-18516.service"]
    result = run_module(perftest.main, state="stopped")
    assert (result["changed"], len(result["units"])) == (True, 2)
    assert units(host) == []
    assert run_module(perftest.main, state="stopped")["changed"] is False


def test_questions_are_answered_in_their_order(run_module: Run) -> None:
    questions = [ASK, {**ASK, "test": "read_lat"}, {**ASK, "tcp_port": 18517}]
    result = run_module(
        perftest.main,
        state="asked",
        questions=questions,
        seconds=3,
        failed_ends={"18517": "ib_write_bw: its port is in use"},
    )
    good, broken, absent = result["answers"]
    assert (good["gbps"], good["untested"], good["server"]) == (396.12, "", "n2")
    assert broken["untested"] == "ib_read_lat: Unable to find the Infiniband/RoCE device"
    assert (broken["at"], absent["at"]) == ("client", "server")
    assert absent["untested"] == "ib_write_bw: its port is in use"


def test_an_end_of_an_incast_has_its_gid_and_mark_and_is_counted(run_module: Run, host: Path) -> None:
    words = '"-d mlx5_0 -i 1 -p 18515 -F -x 3 --tclass=106 --report_gbits -q 4 -s 1048576 -D 3 10.0.0.2"'
    program = host / "bin/ib_write_bw"
    program.write_text(f'#!/bin/sh\n[ "$*" = {words} ] || exit 64\n/bin/cat {SAMPLES}/perftest.txt\n')
    marked = {"gid_index": 3, "traffic_class": 106}
    result = run_module(perftest.main, state="asked", questions=[{**ASK, **marked}], seconds=3, count=True)
    assert result["answers"][0]["gbps"] == 396.12
    assert set(result["counted"]) == {"before", "after"}
    assert set(result["counted"]["before"]) == {"driver", "values", "why"}
    result = run_module(perftest.main, state="serving", ends=[{**END, **marked}], count=True)
    assert set(result["counted"]) == {"before"}
    (host / "units/ibready-perftest-18515.service").unlink()
    result = run_module(perftest.main, state="watched", ends=[{**END, **marked}], count=True)
    assert (set(result["counted"]), result["received"]) == ({"after"}, [])
    assert "counted" not in run_module(perftest.main, state="asked", questions=[ASK], seconds=3)


def test_a_watched_server_that_stays_is_stopped(run_module: Run, host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_module(perftest.main, state="serving", ends=[END])
    seen: list[float] = []

    def watch(_evidence: Any, _device: str, _port: int, limit: float, busy: Callable[[], bool]) -> list[list[float]]:
        assert busy()
        seen.append(limit)
        return [[0.0, 1]]

    monkeypatch.setattr(perftest.incast, "watch", watch)
    assert run_module(perftest.main, state="watched", ends=[END], seconds=9)["received"] == [[0.0, 1]]
    assert (seen, units(host)) == ([39], [])


@pytest.mark.parametrize("failed", ["x", [], [1], 7, {"18516": {}}])
def test_another_host_s_nonsense_stops_nobody(run_module: Run, failed: object) -> None:
    result = run_module(perftest.main, state="asked", questions=[ASK], seconds=3, failed_ends=failed)
    assert result["answers"][0]["untested"] == ""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"state": "serving", "ends": [{**END, "device": "a b"}]}, "not an RDMA device name"),
        ({"state": "asked", "questions": [{**ASK, "address": "-x"}]}, "no address of a host"),
        ({"state": "serving", "ends": [{**END, "traffic_class": 256}]}, "traffic class 256"),
        ({"state": "serving", "ends": [{**END, "gid_index": -2}]}, "GID index -2"),
        ({"state": "asked", "seconds": 0}, "seconds must be from 1"),
        ({"state": "serving", "lease": 999999}, "lease must be from 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(run_module: Run, given: dict[str, Any], said: str, host: Path) -> None:
    result = run_module(perftest.main, **given)
    assert result["failed"] is True
    assert said in result["msg"]
    assert units(host) == []


def test_check_mode_starts_nothing(run_module: Run, host: Path) -> None:
    assert run_module(perftest.main, check=True, state="serving", ends=[END])["skipped"]
    assert units(host) == []
    result = run_module(nccl_perf.main, check=True, gpus=2)
    assert result["untested"]


def test_all_reduce_perf_is_found_and_run(run_module: Run, host: Path) -> None:
    found = run_module(nccl_perf.main, state="found")
    assert found["program"] == str(host / "bin/all_reduce_perf")
    result = run_module(nccl_perf.main, gpus=2, timeout=30)
    assert (result["untested"], result["busbw"], result["ranks"]) == ("", 177.82, 2)
    assert len(result["rows"]) == 3


@pytest.mark.parametrize(
    ("result", "log", "untested"),
    [
        pytest.param("success", NCCL_LOG, "", id="it ended well"),
        pytest.param("exit-code", NCCL_LOG, "mpirun ended with exit-code 1: last words", id="all right, and it failed"),
        pytest.param("exit-code", "", "mpirun ended with exit-code 1: it said nothing", id="it said nothing"),
        pytest.param("exit-code", WRONG_LOG, "", id="wrong sums are told whatever mpirun ended with"),
    ],
)
def test_a_job_that_failed_has_measured_nothing_but_wrong_sums(
    run_module: Run, host: Path, monkeypatch: pytest.MonkeyPatch, result: str, log: str, untested: str
) -> None:
    monkeypatch.setattr(job, "LOG", str(host / "log"))
    (host / "log").write_text(f"{log}last words\n" if log else "")
    shown = f"SubState=dead\\nResult={result}\\nExecMainStatus=1\\n"
    (host / "bin/systemctl").write_text(f"#!/bin/sh\nprintf '{shown}'\n")
    told = run_module(nccl_perf.main, state="finished")
    assert told["untested"] == untested
    assert ("busbw" in told) == (untested == "")


def test_without_nccl_tests_there_is_a_reason(run_module: Run, host: Path) -> None:
    (host / "bin/all_reduce_perf").unlink()
    for given in ({"gpus": 2}, {"state": "found"}):
        result = run_module(nccl_perf.main, **given)
        assert "build nccl-tests" in result["untested"]
        assert "failed" not in result


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "gpus"),
        ({"gpus": 2, "timeout": 0}, "timeout must be"),
        ({"gpus": 0}, "gpus must be"),
        ({"gpus": 2, "end": "8G; reboot"}, "no size"),
    ],
)
def test_a_run_that_cannot_be_meant_is_refused(run_module: Run, given: dict[str, Any], said: str) -> None:
    result = run_module(nccl_perf.main, **given)
    assert result["failed"] is True
    assert said in result["msg"]


def test_an_idle_host_has_no_job(run_module: Run, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "proc").mkdir(parents=True)
    (root / "sys/bus/pci/devices").mkdir(parents=True)
    result = run_module(bench_jobs.main, root=str(root))
    assert (result["jobs"], result["unknown"]) == ([], [])
    home = root / "proc/42"
    (home / "fd").mkdir(parents=True)
    (home / "comm").write_text("train\n")
    (home / "fd/9").symlink_to("/dev/infiniband/uverbs1")
    result = run_module(bench_jobs.main, root=str(root))
    assert result["jobs"] == ["train[42] has an RDMA device open"]
