# SPDX-License-Identifier: GPL-3.0-or-later
"""From what hosts told to launch scripts, and what is refused instead."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch import make
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch.words import LaunchError
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.launchers import KINDS
from tests.unit.launch_hosts import LINES, host, two

IMAGE = {"image": "nvcr.io/nvidia/pytorch:25.01-py3"}


def made(hosts: dict[str, dict[str, Any]] | None = None, kind: str = "all", **given: Any) -> make.Made:
    reported = two() if hosts is None else hosts
    return make.make(reported, list(reported), kind, given)


def shell(text: str) -> list[str]:
    """The lines that are no comments."""
    return [line.strip() for line in text.splitlines() if not line.lstrip().startswith("#")]


def test_every_script_is_one_that_bash_can_read(tmp_path: Path) -> None:
    found = made(**IMAGE, mounts=["/data"], arguments=["it's", "$HOME", "`id`", ""])
    assert set(found.scripts) == set(KINDS)
    for name, text in found.files.items():
        if name.endswith(".sh"):
            path = tmp_path / name
            path.write_text(text)
            done = subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, ""), name


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_script_says_what_it_was_rendered_from(kind: str) -> None:
    found = made(kind=kind, **IMAGE)
    for name, text in found.files.items():
        if name.endswith(".sh"):
            assert "# from the facts of 2 hosts, 8 GPUs each: n1 (10.0.0.1), n2 (10.0.0.2)" in text
            assert "# They meet at 10.0.0.1:29500" in text


def test_processes_meet_where_the_others_reach_the_first_host() -> None:
    hosts = two()
    hosts["n1"]["ibready_address"] = "172.16.0.1"
    text = made(hosts, "torchrun", port=29501).files["torchrun.sh"]
    assert "--master-addr=172.16.0.1 \\" in shell(text)
    assert "--master-port=29501 \\" in shell(text)
    assert "node1) node_rank=0 address=172.16.0.1 ;;" in shell(text)
    assert "node2) node_rank=1 address=10.0.0.2 ;;" in shell(text)


def test_by_one_variable_they_meet_on_ipoib() -> None:
    hosts = two()
    for index, variables in enumerate(hosts.values(), start=11):
        site = {"ibready_address": "ipoib", "ipoib_interfaces": [{"port": "mlx5_0/1", "networks": ["10.1.0.0/16"]}]}
        variables.update(site, ipoib_index=index)
    found = made(hosts)
    assert "|| MASTER_ADDR=10.1.0.11\n" in found.files["rank.sh"]
    assert found.files["mpi-hostfile"] == "10.1.0.11 slots=8\n10.1.0.12 slots=8\n"


def test_an_ipv6_address_is_bracketed_only_where_a_port_follows() -> None:
    hosts = {"n1": host("fd00::1", "node1"), "n2": host("fd00::2", "node2")}
    found = made(hosts)
    assert "# They meet at [fd00::1]:29500" in found.files["torchrun.sh"]
    assert found.files["mpi-hostfile"] == "fd00::1 slots=8\nfd00::2 slots=8\n"


def test_processes_are_bound_to_the_numa_node_of_their_gpu() -> None:
    rank = shell(made().files["rank.sh"])
    assert "numa=(0 0 0 0 1 1 1 1)" in rank
    assert "node1 | node2)" in rank


def test_nccl_variables_are_set_only_where_nccl_conf_lacks_them() -> None:
    assert "export NCCL" not in made().files["rank.sh"]
    lacks = Reading({**LINES, "NCCL_IB_HCA": "mlx5"})
    rank = shell(made(two(settings=lacks)).files["rank.sh"])
    assert f"export NCCL_IB_HCA={LINES['NCCL_IB_HCA']}" in rank
    assert not any(line.startswith("export NCCL_SOCKET") for line in rank)
    # Of the second host alone.
    assert rank.index("node2)") < rank.index(f"export NCCL_IB_HCA={LINES['NCCL_IB_HCA']}")
    no_file: Reading[dict[str, str]] = Reading(None, "no file", missing=True)
    rank = shell(made(two(settings=no_file)).files["rank.sh"])
    assert "export NCCL_SOCKET_IFNAME==eth0" in rank


def test_where_nccl_conf_cannot_be_read_nothing_is_set_and_it_is_said() -> None:
    unknown: Reading[dict[str, str]] = Reading(None, "permission denied")
    found = made(two(settings=unknown))
    assert "export NCCL" not in found.files["rank.sh"]
    note = "n2: no NCCL variable is set, for what nccl.conf has is unknown: permission denied"
    assert note in found.cluster.notes
    assert f"# NOTE: {note}" in found.files["torchrun.sh"]


def test_a_host_that_was_not_reached_is_left_out_and_named() -> None:
    hosts = {**two(), "n3": {"ibready_node": {"unreachable": True, "msg": "no\nroute\x1b[31m"}}}
    found = made(hosts)
    assert dict(found.cluster.absent) == {"n3": "not reached: no route?[31m"}
    assert "# Left out: n3, not reached: no route?[31m" in found.files["mpirun.sh"]
    assert "n3" not in "".join(shell(found.files["mpi-hostfile"]))


def test_a_host_that_answers_with_nonsense_is_left_out_alone() -> None:
    hosts = two()
    hosts["n2"]["ibready_launch_looked"] = {"facts": {"nccl": {"host": 7}}}
    found = made(hosts)
    assert [one.name for one in found.cluster.nodes] == ["n1"]
    assert "cannot be read" in found.cluster.absent["n2"]


@pytest.mark.parametrize(
    ("hosts", "given", "said"),
    [
        ({}, {}, "no host to launch on (the inventory names none)"),
        ({"n1": {}}, {}, "no host to launch on (n1: not reached: it took no part in this run)"),
        ({"n1": host("127.0.0.1")}, {}, "n1: others cannot reach it at 127.0.0.1; next: set ibready_address"),
        ({"n1": host("a b")}, {}, "its address, 'a b', is none that a script can hold"),
        ({"n1": host(hostname="$(id)")}, {}, "the name that it gives itself, '$(id)', is none that a script can hold"),
        (two(hostname="node1"), {}, "n1 and n2 have one hostname, node1"),
        (two(address="10.0.0.1"), {}, "n1 and n2 have one address, 10.0.0.1"),
        (two(board="h100-pcie-2"), {}, "not the same number of GPUs (n1 8, n2 2)"),
        (two(board="ib-login"), {}, "n2 shows no GPU on its PCI bus"),
        (two(), {"nodes": 3}, "3 hosts are asked for, and 2 can be used"),
    ],
)
def test_what_would_be_a_guess_is_refused(hosts: dict[str, Any], given: dict[str, Any], said: str) -> None:
    with pytest.raises(LaunchError) as refused:
        made(hosts, **given)
    assert said in str(refused.value)
    assert "next: " in str(refused.value)


def test_gpus_that_nobody_could_count_are_refused_or_said_by_the_site() -> None:
    hosts = two()
    nccl = hosts["n2"]["ibready_launch_looked"]["facts"]["nccl"]
    nccl["host"]["gpus"] = {"value": None, "why": "permission denied", "missing": False}
    with pytest.raises(LaunchError, match=r"n2: how many GPUs it has is unknown \(perm"):
        made(hosts)
    found = made(hosts, processes=4)
    assert (found.cluster.gpus, found.cluster.total) == (0, 8)
    assert "numa=(0" not in found.files["rank.sh"]
    assert "where there are no GPUs" in found.refused["accelerate"]


def test_accelerate_is_not_given_a_single_process() -> None:
    hosts = {"n1": host("10.0.0.1", "node1")}
    found = made(hosts, processes=1)
    assert found.refused["accelerate"].startswith("accelerate's launcher is for two processes")
    assert "accelerate.sh" in made(hosts).files


def test_rails_that_nobody_could_tell_are_no_lack_of_rails() -> None:
    hosts = two()
    nccl = hosts["n2"]["ibready_launch_looked"]["facts"]["nccl"]
    nccl["host"]["ports"] = {"value": None, "why": "permission denied", "missing": False}
    found = made(hosts).cluster
    assert (found.rails, found.rails_why) == (False, "n2: permission denied")
    # Without a rail on the first host, the second does not matter.
    nccl = hosts["n1"]["ibready_launch_looked"]["facts"]["nccl"]
    nccl["host"]["ports"] = {"value": [], "why": "", "missing": False}
    assert (made(hosts).cluster.rails, made(hosts).cluster.rails_why) == (False, "")
    assert (made().cluster.rails, made().cluster.rails_why) == (True, "")


def test_other_processes_than_gpus_are_not_bound_and_it_is_said() -> None:
    found = made(processes=2)
    assert "numa=(0" not in found.files["rank.sh"]
    assert "no process is bound to a NUMA node: 2 a host, and 8 GPUs" in found.cluster.notes


def test_a_gpu_of_no_known_numa_node_is_left_where_it_is() -> None:
    hosts = two()
    cards = hosts["n1"]["ibready_launch_looked"]["facts"]["nccl"]["host"]["gpus"]["value"]
    cards[3]["numa"] = -1
    assert "numa=(0 0 0 -1 1 1 1 1)" in shell(made(hosts).files["rank.sh"])


def test_kinds_that_need_an_image_are_named_with_the_reason() -> None:
    found = made()
    assert set(found.refused) == {"docker", "podman", "sbatch"}
    assert found.refused["docker"].endswith("next: set launch_image")
    with pytest.raises(LaunchError, match=r"^docker: it needs a container image"):
        made(kind="docker")
    digest = {"image": "a/b@sha256:" + "0" * 64}
    assert list(made(**digest).refused) == ["sbatch"]


def test_a_container_gets_what_the_hosts_have() -> None:
    text = shell(made(kind="podman", **IMAGE, mounts=["/data"]).files["podman.sh"])
    assert "--device=nvidia.com/gpu=all --security-opt=label=disable \\" in text
    assert "--device=/dev/infiniband \\" in text
    assert "mounts+=(--volume /data:/data)" in text
    hosts = two(rdma_devices=[])
    found = made(hosts, "docker", **IMAGE).files["docker.sh"]
    assert "/dev/infiniband" not in found
    assert "# NOTE: not every host has an RDMA device, so that jobs would use TCP" in found


def test_slurm_knows_hosts_by_their_whole_or_short_names() -> None:
    hosts = {"n1": host("10.0.0.1", "gpu1.a.example"), "n2": host("10.0.0.2", "gpu2.a.example")}
    assert "gpu1.a.example | gpu1) MASTER_ADDR=10.0.0.1 ;;" in shell(made(hosts).files["srun.sh"])
    hosts = {"n1": host("10.0.0.1", "gpu.a.example"), "n2": host("10.0.0.2", "gpu.b.example")}
    assert "gpu.a.example) MASTER_ADDR=10.0.0.1 ;;" in shell(made(hosts).files["srun.sh"])


def test_enroot_is_told_the_registry_in_its_own_way() -> None:
    text = made(kind="sbatch", **IMAGE).files["sbatch.sh"]
    assert "--container-image='nvcr.io#nvidia/pytorch:25.01-py3' \\" in shell(text)
    assert text.splitlines()[1:6] == [
        "#SBATCH --job-name=ibready-launch",
        "#SBATCH --nodes=2",
        "#SBATCH --ntasks-per-node=8",
        "#SBATCH --gpus-per-node=8",
        "#SBATCH --exclusive",
    ]


def test_sbatch_refuses_a_folder_that_pyxis_cannot_mount(tmp_path: Path) -> None:
    text = made(kind="sbatch", **IMAGE).files["sbatch.sh"].replace("exec srun", "exec echo")
    (tmp_path / "scontrol").write_text("#!/bin/sh\necho node1\n")
    (tmp_path / "scontrol").chmod(0o755)

    def submitted(folder: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_SUBMIT_DIR": folder}
        env["SLURM_JOB_NODELIST"] = "node[1-2]"
        argv = ["bash", "-c", text]
        return subprocess.run(argv, env=env, capture_output=True, text=True, check=False)

    taken = submitted("/data/run-1")
    assert "--container-mounts=/data/run-1:/ibready-launch" in taken.stdout, taken.stderr
    for odd in ("/data/run 1", "/data/a,b", "/data/a:b"):
        refused = submitted(odd)
        assert refused.returncode == 64
        assert f"move '{odd}'" in refused.stderr


def test_srun_says_which_allocation_it_takes() -> None:
    text = made().files["srun.sh"]
    assert "#   salloc --nodes=2 --gpus-per-node=8 --exclusive ./srun.sh" in text.splitlines()
    hosts = two()
    nccl = hosts["n1"]["ibready_launch_looked"]["facts"]["nccl"]
    nccl["host"]["gpus"] = {"value": None, "why": "permission denied", "missing": False}
    text = made(hosts, processes=1).files["srun.sh"]
    assert "#   salloc --nodes=2 --exclusive ./srun.sh" in text.splitlines()


def test_megatron_has_its_own_program_and_environment() -> None:
    text = made(kind="megatron").files["megatron.sh"]
    assert "export CUDA_DEVICE_MAX_CONNECTIONS=1" in shell(text)
    assert shell(text)[-1] == '"$here/rank.sh" python3 pretrain_gpt.py'
    assert shell(made(kind="megatron", program="./x").files["megatron.sh"])[-1].endswith(" ./x")


def test_what_is_simulated_says_so_in_every_script() -> None:
    found = made(two(simulated="GPUs"))
    assert all("# SIMULATED: GPUs" in found.files[name] for name in found.scripts.values())
