# SPDX-License-Identifier: GPL-3.0-or-later
"""Any cluster gives scripts that bash can read, in which nothing of a host or an argument runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch import cluster, make, options
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch.node import Node
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch.words import (
    LaunchError,
    endpoint,
    enroot_image,
    is_host,
    is_loopback,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.launchers import KINDS, RANK

# What every foreign text may try.
ODD = st.one_of(
    st.sampled_from(["", "a b", "$(touch /tmp/x)", "`id`", "it's", '"', "\\", "#x", "-np", "{{ x }}"]),
    st.text(st.characters(categories=["L", "N", "P", "S"], include_characters=" "), max_size=20),
)
COMMENTS = st.text(max_size=40)
NAMES = st.lists(
    st.from_regex(r"[a-z][a-z0-9-]{0,8}[a-z0-9](\.site)?", fullmatch=True), min_size=1, max_size=4, unique=True
)


@st.composite
def clusters(draw: st.DrawFn) -> cluster.Cluster:
    """Equal or different hosts of one job."""
    count = draw(st.sampled_from([0, 1, 2, 8]))
    numa = st.lists(st.integers(-1, 3), min_size=count, max_size=count).map(tuple)
    nodes = [
        Node(
            name=draw(COMMENTS),
            hostname=name,
            address=f"10.0.0.{at}",
            interface=draw(st.sampled_from(["eth0", "", "bond0"])),
            gpus=draw(numa),
            rails=draw(st.sampled_from([(), (("mlx5_0", 0), ("mlx5_1", -1))])),
            rdma=draw(st.booleans()),
            nccl=draw(st.sampled_from([(), (("NCCL_IB_HCA", "=mlx5_0,mlx5_1"),)])),
            notes=tuple(draw(st.lists(COMMENTS, max_size=2))),
            simulated=draw(COMMENTS),
        )
        for at, name in enumerate(draw(NAMES), 1)
    ]
    processes = 0 if count else 2
    return cluster.make(nodes, {"x": draw(COMMENTS)}, options.Options(processes=processes))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(made=clusters(), arguments=st.lists(ODD, max_size=3), kind=st.sampled_from(list(KINDS)))
def test_bash_reads_every_script(made: cluster.Cluster, arguments: list[str], kind: str) -> None:
    said = options.Options(image="a/b:1", program="train.py", arguments=tuple(arguments))
    for name, text in make.render(KINDS[kind], made, said).items():
        assert text.endswith("\n")
        if name.endswith(".sh"):
            assert all(one.isprintable() and one.isascii() for one in text.splitlines()[:4])
            done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(made=clusters(), arguments=st.lists(ODD, max_size=4), data=st.data())
def test_a_process_gets_the_arguments_as_they_were_given(
    made: cluster.Cluster, arguments: list[str], data: st.DataObject
) -> None:
    said = options.Options(program="train.py", arguments=tuple(arguments))
    node = data.draw(st.sampled_from(made.nodes))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in make.render(KINDS["torchrun"], made, said).items():
            script(Path(folder) / name, text)
        script(Path(folder) / "uname", f"#!/bin/sh\necho {node.hostname}\n")
        script(Path(folder) / "torchrun", f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
        done = subprocess.run(
            [f"{folder}/torchrun.sh"],
            env={"PATH": f"{folder}:{os.defpath}"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    assert reported[-len(arguments) - 2 :] == ["python3", "train.py", *arguments]
    assert f"--node-rank={made.nodes.index(node)}" in reported


def script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def ranked(tmp_path: Path, host: str = "n1", **environment: str) -> subprocess.CompletedProcess[str]:
    """What rank.sh makes of the environment of a launcher, on one of two hosts with two GPUs."""
    nodes = [
        Node("a", "n1", "10.0.0.1", "eth0", (1, -1), nccl=(("NCCL_IB_HCA", "=mlx5_0"),)),
        Node("b", "n2", "10.0.0.2", "", (0, 0)),
    ]
    said = options.Options(program="env")
    made = cluster.make(nodes, {}, said)
    script(tmp_path / RANK, make.render(KINDS["torchrun"], made, said)[RANK])
    script(tmp_path / "uname", f"#!/bin/sh\necho {host}\n")
    bound = '[ "$4" = true ] || echo "NUMACTL=$*"'
    script(tmp_path / "numactl", f'#!/bin/sh\n{bound}\nshift 3\nexec "$@"\n')
    return subprocess.run(
        [str(tmp_path / RANK), "env"],
        env={"PATH": f"{tmp_path}:{os.defpath}", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "environment",
    [
        {"RANK": "2", "WORLD_SIZE": "4", "LOCAL_RANK": "0"},
        {"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "0"},
        {"SLURM_PROCID": "2", "SLURM_NTASKS": "4", "SLURM_LOCALID": "0"},
        {"HOROVOD_RANK": "2", "HOROVOD_SIZE": "4", "HOROVOD_LOCAL_RANK": "0"},
    ],
)
def test_every_launcher_gives_a_process_its_number(tmp_path: Path, environment: dict[str, str]) -> None:
    done = ranked(tmp_path, **environment)
    assert done.returncode == 0, done.stderr
    reported = done.stdout.splitlines()
    assert {"RANK=2", "WORLD_SIZE=4", "LOCAL_RANK=0"} <= set(reported)
    assert {"MASTER_ADDR=10.0.0.1", "MASTER_PORT=29500"} <= set(reported)
    assert {"GLOO_SOCKET_IFNAME=eth0", "NCCL_IB_HCA==mlx5_0"} <= set(reported)
    assert "NUMACTL=--cpunodebind=1 --preferred=1 -- env" in reported


def test_a_gpu_of_no_known_numa_node_is_not_bound(tmp_path: Path) -> None:
    done = ranked(tmp_path, RANK="1", WORLD_SIZE="4", LOCAL_RANK="1")
    assert done.returncode == 0
    assert "NUMACTL" not in done.stdout


def test_a_process_that_cannot_be_bound_runs_and_says_so(tmp_path: Path) -> None:
    ranked(tmp_path)
    script(tmp_path / "numactl", "#!/bin/sh\necho set_mempolicy: not permitted >&2\nexit 1\n")
    done = subprocess.run(
        [str(tmp_path / RANK), "echo", "ran"],
        env={"PATH": f"{tmp_path}:{os.defpath}", "RANK": "0", "WORLD_SIZE": "4", "LOCAL_RANK": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert "process 0 is not bound to NUMA node 1: set_mempolicy: not permitted" in done.stderr


def test_the_other_host_has_its_own_settings(tmp_path: Path) -> None:
    done = ranked(tmp_path, "n2", RANK="3", WORLD_SIZE="4", LOCAL_RANK="1", MASTER_ADDR="10.9.9.9")
    assert "NUMACTL=--cpunodebind=0 --preferred=0 -- env" in done.stdout
    assert "NCCL_IB_HCA" not in done.stdout
    assert "MASTER_ADDR=10.9.9.9" in done.stdout.splitlines()


def test_a_process_without_a_number_and_a_strange_host_are_refused(tmp_path: Path) -> None:
    done = ranked(tmp_path)
    assert done.returncode == 64
    assert "no launcher has said which process this is" in done.stderr
    done = ranked(tmp_path, "n3", RANK="1", WORLD_SIZE="4", LOCAL_RANK="1")
    assert done.returncode == 64
    assert "this host, n3, is none of those that it was rendered for" in done.stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"program": "a\nb"}, "program: 'a\\nb' has characters that cannot be seen"),
        ({"program": "-x"}, "program: '-x' would be read as an option"),
        ({"arguments": ["\x1b[31m"]}, "arguments: '\\x1b[31m' has characters"),
        ({"image": "a b"}, "image: 'a b' is no container image"),
        ({"image": "docker://x"}, "image: 'docker://x' is no container image"),
        ({"mounts": ["/a:/b"]}, "mounts: '/a:/b' is no absolute path"),
        ({"mounts": ["/a/../etc"]}, "mounts: '/a/../etc' is no absolute path"),
        ({"port": 80}, "port: 80 is none that a job may listen on"),
        ({"nodes": -1}, "nodes: -1 is less than 1"),
    ],
)
def test_options_that_no_script_can_hold_are_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(LaunchError) as refused:
        options.read(given)
    assert str(refused.value).startswith(said)
    assert "next: " in str(refused.value)


@pytest.mark.parametrize(
    ("image", "enroot"),
    [
        ("ubuntu:24.04", "ubuntu:24.04"),
        ("nvidia/cuda:12", "nvidia/cuda:12"),
        ("nvcr.io/nvidia/pytorch:25.01-py3", "nvcr.io#nvidia/pytorch:25.01-py3"),
        ("localhost/x", "localhost#x"),
        ("registry:5000/a/b:1", "registry:5000#a/b:1"),
    ],
)
def test_enroot_parts_the_registry_from_the_image(image: str, enroot: str) -> None:
    assert enroot_image(image) == enroot


def test_words_of_hosts() -> None:
    assert all(map(is_host, ["node1", "a.b-c_d", "10.0.0.1", "fd00::1"]))
    assert not any(map(is_host, ["", "-a", "a b", "a;b", "fe80::1%eth0", "a:b", "a" * 300]))
    assert all(map(is_loopback, ["localhost", "127.0.1.1", "::1", "0.0.0.0", "localhost.localdomain"]))
    assert not any(map(is_loopback, ["node1", "10.0.0.1"]))
    assert endpoint("a", 1) == "a:1"
