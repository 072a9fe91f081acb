# SPDX-License-Identifier: GPL-3.0-or-later
"""What is set, again at each boot, and what is refused before anything changes."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.roce import program
from ansible_collections.ibready.cluster.plugins.module_utils._data import roce_files as data
from ansible_collections.ibready.cluster.plugins.module_utils._parse import mlnx_qos
from tests.gauntlet.tree import Tree
from tests.unit.parsers import SAMPLES
from tests.unit.plugins.module_utils import test_observe_roce as hca
from tests.unit.roce_box import ALL, CM, Box, Run


def test_all_is_set_and_read_back(box: Box) -> None:
    # The driver shows what was written in words of its own.
    traffic = box.root / f"{hca.IB[1:]}/tc/1/traffic_class"
    traffic.write_text("Global tclass=106\n")
    done = box.apply(**ALL)
    assert done["changed"], done
    assert done["left"] == {}
    now = box.values()
    assert now[f"{CM}/mlx5_0/ports/1/default_roce_mode"] == "RoCE v2"
    assert now[f"{CM}/mlx5_0/ports/1/default_roce_tos"] == "106"
    assert (now["trust"], now["pfc"], now["mtu"]) == ("dscp", "0,0,0,1,0,0,0,0", "9000")
    for side in ("roce_np", "roce_rp"):
        assert now[f"{hca.NET[1:]}/ecn/{side}/enable/3"] == "1"
    before = {(one["knob"], one["subject"]): one["before"] for one in done["set"]}
    assert before == {
        ("mode", "mlx5_0/1"): "IB/RoCE v1",
        ("cm_tos", "mlx5_0/1"): "0",
        ("trust", "eth0"): "pcp",
        ("pfc", "eth0"): "0,0,0,0,0,0,0,0",
        ("ecn", "eth0/3"): "0",
        ("mtu", "eth0"): "1500",
    }
    assert done["ports"]["mlx5_0/1"]["mode"] == "IB/RoCE v1"


def test_the_second_time_nothing_changes(box: Box) -> None:
    (box.root / f"{hca.IB[1:]}/tc/1/traffic_class").write_text("Global tclass=106\n")
    box.apply(**ALL)
    before, values = box.files(), box.values()
    box.calls("mlnx_qos")
    again = box.apply(**ALL)
    assert (again["changed"], again["set"], again["files"]) == (False, [], [])
    assert (box.files(), box.values()) == (before, values)
    assert not [one for one in box.calls("mlnx_qos", "ip") if " --" in one or " set " in one]


def test_check_mode_tells_all_and_changes_nothing(box: Box) -> None:
    before, values = box.files(), box.values()
    reported = box.apply(check=True, **ALL)
    assert reported["changed"]
    assert {one["knob"] for one in reported["set"]} == {
        *("mode", "cm_tos", "traffic_class", "trust", "pfc", "ecn", "mtu")
    }
    assert sorted(reported["files"]) == sorted(
        [
            *(program.CONFIG, data.PROGRAM, data.UNIT, data.WANTED, data.RULE),
            "/etc/systemd/network/20-rail.network.d/ibready-roce.conf",
        ]
    )
    assert "pcp" in reported["diff"][0]["before"]
    assert (box.files(), box.values()) == (before, values)


def test_nothing_asked_is_nothing_done(box: Box) -> None:
    before = box.files()
    assert not box.apply()["changed"]
    assert (box.files(), box.calls("ip", "nmcli")) == (before, [])


def test_after_a_boot_the_program_sets_it_again(box: Box) -> None:
    wanted = {key: one for key, one in ALL.items() if key != "mtu"}
    (box.root / f"{hca.IB[1:]}/tc/1/traffic_class").write_text("Global tclass=106\n")
    box.apply(**wanted)
    cm = box.root / CM / "mlx5_0/ports/1"
    (cm / "default_roce_mode").write_text("IB/RoCE v1\n")
    (cm / "default_roce_tos").write_text("0\n")
    box.state(trust="pcp", pfc="0,0,0,0,0,0,0,0")
    (box.root / program.RECORD[1:]).unlink()
    done = box.program()
    assert (done.returncode, done.stderr) == (0, "")
    assert "mode of mlx5_0/1: IB/RoCE v1 -> RoCE v2" in done.stdout
    assert "trust of eth0: pcp -> dscp" in done.stdout
    assert "2 of 6 settings were right" in done.stdout
    assert box.values()["pfc"] == "0,0,0,1,0,0,0,0"
    assert "6 of 6 settings were right" in box.program().stdout
    assert box.program("show").stdout.startswith("mode of mlx5_0/1: RoCE v2\n")
    unit = (box.root / data.UNIT[1:]).read_text()
    assert f"ExecStart={sys.executable} {data.PROGRAM} apply" in unit
    assert 'SUBSYSTEM=="infiniband"' in (box.root / data.RULE[1:]).read_text()


def test_a_value_that_a_boot_cannot_set_keeps_no_other_from_being_set(box: Box) -> None:
    box.apply(trust="dscp", mode="v2")
    (box.root / CM / "mlx5_0/ports/1/default_roce_mode").write_text("IB/RoCE v1\n")
    box.state(trust="pcp", refuses="Operation not supported")
    done = box.program()
    assert done.returncode == 1
    assert "Operation not supported" in done.stderr
    assert "mode of mlx5_0/1: IB/RoCE v1 -> RoCE v2" in done.stdout


def test_a_device_that_is_not_there_at_boot_is_told(box: Box) -> None:
    box.apply(mode="v2")
    (box.root / "sys/class/infiniband/mlx5_0").unlink()
    done = box.program()
    assert done.returncode == 0
    assert "mode of mlx5_0/1: it is not there" in done.stdout


def test_of_a_bond_one_interface_is_set_and_the_others_are_named(box: Box) -> None:
    for path in (box.root / "sys/devices").rglob("gid_attrs/ndevs/*"):
        path.write_text("bond0\n")
    net = box.root / "sys/class/net/bond0"
    net.mkdir()
    (net / "mtu").write_text("1500\n")
    reported = box.apply(trust="dscp")
    assert [one["subject"] for one in reported["set"]] == ["eth0"]
    assert list(reported["left"]) == ["trust of all of bond0 but eth0"]


SOFT_REFUSED = [
    ({"trust": "dscp"}, "trust of rxe0/1: soft RoCE has no priorities"),
    ({"pfc": [3]}, "pfc of rxe0/1: soft RoCE has no flow control"),
    ({"ecn": True, "pfc": [3]}, "ecn of rxe0/1: soft RoCE has no congestion control"),
    ({"mode": "v1"}, "mode v1 of rxe0/1: soft RoCE speaks RoCE v2 only"),
]


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(("options", "words"), SOFT_REFUSED)
def test_what_soft_roce_does_not_have_is_refused_or_told(
    soft: Box, options: dict[str, Any], words: str, check: bool
) -> None:
    before, values = soft.files(), soft.values()
    reported = soft.apply(check=check, tos=106, **options)
    assert reported.get("failed")
    assert words in reported["msg"]
    assert "Nothing was changed. Next: " in reported["msg"]
    assert (soft.files(), soft.values()) == (before, values)
    left = soft.apply(check=check, tos=106, where_possible=True, **options)
    assert left["changed"], left
    what, _colon, why = words.partition(": ")
    assert left["left"][what] == why
    assert {one["knob"] for one in left["set"]} == {"cm_tos"}


def test_soft_roce_takes_mode_mark_and_mtu(soft: Box) -> None:
    done = soft.apply(mode="v2", tos=106, mtu=4200)
    assert {one["knob"] for one in done["set"]} == {"cm_tos", "mtu"}
    assert "programs that use RDMA CM are marked" in done["left"]["traffic_class of rxe0/1"]
    assert done["ports"]["rxe0/1"]["software"]
    assert (soft.root / "etc/systemd/network/20-rail.network.d/ibready-roce.conf").exists()


def test_the_most_that_the_driver_takes_is_taken(box: Box) -> None:
    done = box.apply(mtu=9978)
    assert done["changed"], done
    assert box.values()["mtu"] == "9978"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"tos": 256}, "roce_tos 256 is not between 0 and 255", id="tos"),
        pytest.param({"pfc": [8]}, "roce_pfc 8 is no priority", id="pfc"),
        pytest.param({"mtu": 100}, "roce_mtu 100 is not between", id="mtu"),
        pytest.param({"mtu": 9999}, "eth0 takes an MTU of 9978 at most", id="mtu of the driver"),
        pytest.param({"ecn": True}, "nobody says in which priority RoCE runs", id="ecn"),
        pytest.param({"devices": ["mlx5_7"], "tos": 1}, "no RoCE device mlx5_7: it has mlx5_0", id="device"),
    ],
)
def test_bad_input_is_refused_before_anything_changes(box: Box, options: dict[str, Any], words: str) -> None:
    before, values = box.files(), box.values()
    reported = box.apply(**options)
    assert words in reported["msg"]
    assert "Next: " in reported["msg"]
    assert (box.files(), box.values()) == (before, values)


def test_without_mlnx_qos_the_package_is_named(box: Box, tools: Path) -> None:
    (tools / "mlnx_qos").unlink()
    reported = box.apply(trust="dscp", mode="v2")
    assert "trust of mlx5_0/1: mlnx_qos: not installed" in reported["msg"]
    assert "mlnx-tools" in reported["msg"]
    assert box.values()[f"{CM}/mlx5_0/ports/1/default_roce_mode"] == "IB/RoCE v1"


def test_a_driver_without_switches_for_ecn_is_named(box: Box) -> None:
    for side in ("roce_np", "roce_rp"):
        for path in (box.root / f"{hca.NET[1:]}/ecn/{side}/enable").iterdir():
            path.unlink()
        (box.root / f"{hca.NET[1:]}/ecn/{side}/enable").rmdir()
        (box.root / f"{hca.NET[1:]}/ecn/{side}").rmdir()
    (box.root / f"{hca.NET[1:]}/ecn").rmdir()
    assert "the driver has no switches for ECN" in box.apply(pfc=[3], ecn=True)["msg"]


def test_a_port_that_speaks_v1_only_is_not_asked_for_v2(box: Box) -> None:
    for path in (box.root / f"{hca.IB[1:]}/ports/1/gid_attrs/types").iterdir():
        path.write_text("IB/RoCE v1\n")
    assert "its GID table has IB/RoCE v1 only" in box.apply(mode="v2")["msg"]
    assert box.apply(mode="v1")["changed"]


def test_a_host_without_roce_is_refused_and_told_in_check_mode(tmp_path: Path, run_module: Run, tools: Path) -> None:
    assert tools.is_dir()
    bare = Box(tmp_path, run_module, Tree())
    assert "this host has no RoCE port" in bare.apply(tos=106)["msg"]
    reported = bare.apply(check=True, tos=106)
    assert not reported["changed"]
    assert "In check mode this can be told later" in reported["left"]["everything"]
    # Nor does a comparison take that for what is wanted.
    assert (reported["later"], bare.apply()["later"]) == (True, False)
    assert not bare.apply()["changed"]


def test_rdma_cm_is_loaded_and_its_folder_made(soft: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(soft.root / CM)
    plain = os.mkdir

    def as_configfs(path: str, mode: int = 0o777) -> None:
        plain(path, mode)
        if path.endswith("rdma_cm/rxe0"):
            os.makedirs(f"{path}/ports/1")
            Path(f"{path}/ports/1/default_roce_mode").write_text("RoCE v2\n")
            Path(f"{path}/ports/1/default_roce_tos").write_text("0\n")

    monkeypatch.setattr(program.os, "mkdir", as_configfs)
    reported = soft.apply(check=True, tos=106)
    assert reported["set"][0]["before"] == ""
    assert not (soft.root / CM).exists()
    done = soft.apply(tos=106)
    assert "modprobe rdma_cm" in soft.calls("modprobe")
    assert done["set"][0] == {
        "knob": "cm_tos",
        "subject": "rxe0/1",
        "before": "0",
        "after": "106",
    }


def test_a_kernel_without_configfs_is_no_pass(soft: Box, tools: Path) -> None:
    shutil.rmtree(soft.root / CM)
    (tools / "modprobe").write_text("#!/bin/sh\n")
    assert "RDMA CM shows no settings" in soft.apply(tos=106)["msg"]


@pytest.mark.parametrize("name", ["mlnx_qos", "stand-in"])
def test_the_program_reads_mlnx_qos_as_the_checks_do(box: Box, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    host = program.Host(str(box.root))
    if name == "mlnx_qos":
        text = (SAMPLES / "mlnx_qos.txt").read_text()
        monkeypatch.setattr(host, "run", lambda *_argv: text)
    text = host.run("mlnx_qos", "-i", "eth0")
    found = mlnx_qos.parse(text)
    flags = ",".join("1" if at in (found.pfc or ()) else "0" for at in range(8))
    assert (host.value("trust", "eth0"), host.value("pfc", "eth0")) == (found.trust, flags)
