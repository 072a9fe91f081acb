# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._agent import metrics, textfile
from ansible_collections.ibready.cluster.plugins.module_utils._agent.look import Look
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Output
from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as _model
from tests.gauntlet import render
from tests.gauntlet.tree import Tree
from tests.unit.parsers import SAMPLES

LINKS = (SAMPLES / "nvlink_throughput.txt").read_text()
USE = (SAMPLES / "gpu_use.txt").read_text()
PORT = "/sys/class/infiniband/mlx5_0/ports/1"


def lines(evidence: Tree) -> tuple[list[str], list[str]]:
    """The samples, and what could not be looked at."""
    found, why = metrics.traffic_families(evidence)
    text = textfile.render(found)
    return [line for line in text.splitlines() if not line.startswith("#")], why


@pytest.fixture
def tree() -> Tree:
    """A healthy node with eight GPUs that tells of its traffic."""
    made = render.render(render.node("hgx-h100-8"))
    made.files[made._resolve(f"{PORT}/counters/port_xmit_data")] = b"1000\n"
    made.files[made._resolve(f"{PORT}/counters/port_rcv_packets")] = b"7\n"
    made.commands["nvlink_throughput"] = Output(0, LINKS, "")
    made.commands["gpu_use"] = Output(0, USE, "")
    return made


def test_words_of_a_port_become_octets(tree: Tree) -> None:
    found, why = lines(tree)
    assert why == []
    labels = 'device="mlx5_0",port="1",direction'
    assert f'ibready_port_data_bytes_total{{{labels}="transmit"}} 4000' in found
    assert f'ibready_port_packets_total{{{labels}="receive"}} 7' in found
    label = 'device="mlx5_0",port="1",counter="symbol_error"'
    assert f"ibready_port_errors_total{{{label}}} 0" in found


def test_nvlinks_and_gpus_are_told_and_what_a_gpu_hides_is_not(tree: Tree) -> None:
    found, _ = lines(tree)
    label = 'gpu="0",link="1",direction="receive"'
    assert f"ibready_nvlink_data_bytes_total{{{label}}} 1048576" in found
    assert 'ibready_gpu_busy_ratio{gpu="0"} 0.97' in found
    assert 'ibready_gpu_busy_ratio{gpu="1"} 0.0' in found
    assert [line for line in found if 'ibready_gpu_busy_ratio{gpu="2"}' in line] == []


@pytest.mark.parametrize(
    ("source", "family", "break_it"),
    [
        (
            "ports",
            "ibready_port_",
            lambda t: t.broken.update({f"{PORT}/counters/port_xmit_data": "permission denied"}),
        ),
        ("nvlink", "ibready_nvlink_", lambda t: t.commands.pop("nvlink_throughput")),
        (
            "nvlink",
            "ibready_nvlink_",
            lambda t: t.commands.update(nvlink_throughput=Output(9, "", "NVML: Unknown Error")),
        ),
        ("gpus", "ibready_gpu_", lambda t: t.commands.update(gpu_use=Output(0, "garbage\n", ""))),
    ],
)
def test_what_could_not_be_looked_at_is_told_and_never_0(
    tree: Tree, source: str, family: str, break_it: object
) -> None:
    break_it(tree)  # type: ignore[operator]
    found, why = lines(tree)
    assert f'ibready_could_not_look{{source="{source}"}} 1' in found
    assert [line for line in found if line.startswith(family)] == []
    assert [line.split(":")[0] for line in why] == [source]


def test_the_verdict_its_trouble_and_its_cost_are_told(tmp_path: Path, tree: Tree) -> None:
    down = _model.failed("ib.port.state", 'a"b', "Down", "Active", "capability")
    good = _model.passed("ib.port.lid", "b", 8)
    seen = Look("n", ("ib",), (down, good), 17.5, 2.0, 0.5, 4096)
    assert metrics.write(str(tmp_path), seen, tree) == []
    assert [path.name for path in tmp_path.iterdir()] == ["ibready.prom"]
    # The exporter reads it as a user of its own.
    assert (tmp_path / "ibready.prom").stat().st_mode & 0o777 == 0o644
    text = (tmp_path / "ibready.prom").read_text()
    for line in (
        'ibready_verdict{verdict="not_ready"} 1',
        'ibready_verdict{verdict="ready"} 0',
        'ibready_checks{area="ib",result="pass"} 1',
        r'ibready_trouble{check="ib.port.state",subject="a\"b",result="fail",severity="error"} 1',
        "ibready_look_timestamp_seconds 17.5",
        "ibready_look_cpu_seconds 0.5",
        "ibready_look_peak_memory_bytes 4096",
    ):
        assert f"\n{line}\n" in text
    with pytest.raises(NotADirectoryError):
        metrics.write(str(tmp_path / "typo"), seen, tree)


def test_a_look_that_failed_is_told_before_anything_else_can_hang(
    tmp_path: Path, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = _model.passed("ib.port.lid", "b", 8)
    metrics.write(str(tmp_path), Look("n", ("ib",), (good,), 17.5), tree)

    def hangs(_evidence: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(metrics, "traffic_families", hangs)
    with pytest.raises(KeyboardInterrupt):
        metrics.write(str(tmp_path), Look("n", ("ib",), why="no answer within 40 s"), tree)
    assert 'ibready_verdict{verdict="unknown"} 1\n' in (tmp_path / "ibready.prom").read_text()
