# SPDX-License-Identifier: GPL-3.0-or-later
"""What a probe tells, line by line; whatever is not understood is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import container_probe
from ansible_collections.ibready.cluster.plugins.module_utils._parse._container_facts import Inside
from ansible_collections.ibready.cluster.plugins.module_utils._parse.proc_limits import UNLIMITED

SAMPLE = (Path(__file__).parents[2] / "parse_samples/container_probe.txt").read_text()

LIBCUDA = "/usr/lib/x86_64-linux-gnu/libcuda.so.1"


def changed(old: str, new: str) -> str:
    """The sample with the first of these replaced; lines may be added with \\n."""
    assert old in SAMPLE
    lines = SAMPLE.replace(old, new, 1).splitlines()[:-1]
    return "".join(f"{one}\n" for one in [*lines, f"host\tend\t{len(lines)}"])


def root(text: str) -> Inside:
    inside = container_probe.parse(text).runs[0].inside
    assert inside is not None
    return inside


def test_the_sample_is_told_whole() -> None:
    probe = container_probe.parse(SAMPLE)
    assert probe.engine is not None
    assert (probe.engine.name, probe.engine.version) == ("docker", "28.5.1")
    assert [(one.who, one.user, one.how) for one in probe.runs] == [("root", 0, "ran"), ("user", 65534, "ran")]
    inside = root(SAMPLE)
    assert inside.limits.memlock_soft == UNLIMITED
    assert inside.own_users is False
    assert inside.devices["rdma_cm"] == "ok"
    assert inside.os == {"ID": "ubuntu", "ID_LIKE": "debian", "VERSION_ID": "24.04"}
    assert inside.environment == {
        "CUDA_VERSION": "13.0.1",
        "LC_ALL": "C",
        "LD_LIBRARY_PATH": "/usr/local/nvidia/lib",
        "NVIDIA_REQUIRE_CUDA": "cuda>=13.0 brand=tesla,driver>=535,driver<536",
    }
    assert inside.cuda_json[3] == '"version" : "13.0.1"'
    assert inside.cudart[1] == "/usr/local/cuda/lib64/libcudart.so.13.0.88"
    assert inside.compat == ("/usr/local/cuda-13.0/compat/libcuda.so.580.82.07",)
    assert inside.libcuda == {LIBCUDA: "/usr/lib/x86_64-linux-gnu/libcuda.so.535.183.06"}
    assert inside.smi is not None
    assert len(inside.smi) == 8
    assert inside.conf is not None
    assert inside.opens_by == "ibv_devinfo"


@pytest.mark.parametrize(
    ("options", "bytes_"),
    [
        ("rw,size=65536k", 64 * 1024**2),
        ("rw,nosuid,size=2g,nr_inodes=5", 2 * 1024**3),
        ("size=1024", 1024),
        ("rw,size=25%", 2113478652 * 1024 // 4),
        ("rw,inode64", 2113478652 * 512),
    ],
)
def test_the_size_of_shared_memory(options: str, bytes_: int) -> None:
    assert root(changed("rw,nosuid,nodev,inode64", options)).shm == bytes_


def test_shared_memory_of_another_kind_tells_no_size() -> None:
    inside = root(changed("shm\ttmpfs", "shm\text4"))
    assert (inside.shm_kind, inside.shm) == ("ext4", None)


def test_a_map_of_users_is_seen() -> None:
    assert root(changed("0          0 4294967295", "0 100000 65536")).own_users


def test_the_effective_user_is_told() -> None:
    assert root(changed("Uid:\t0\t0\t0\t0", "Uid:\t0\t1000\t0\t0")).uid == 1000


def test_the_first_libcuda_that_the_loader_meets_counts() -> None:
    again = f"root\tloads\t{LIBCUDA}\t/elsewhere/libcuda.so.1"
    assert root(changed("root\topens.by", f"{again}\nroot\topens.by")).libcuda == root(SAMPLE).libcuda


def test_a_probe_that_did_not_look_for_cuda_tells_of_no_libcuda() -> None:
    inside = root(changed("root\tcuda.looked\t1\n", ""))
    assert inside.libcuda is None


def test_packages_that_are_not_installed_are_none() -> None:
    text = changed("libnccl2\t2.28.7-1+cuda13.0\tinstalled", "libnccl2\t\tnot-installed")
    names = [one.name for one in root(text).packages or ()]
    assert "libibverbs1" in names
    assert "libnccl2" not in names


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("root\tuid_map\t", "root\tnonsense\t", "root\tnonsense"),
        ("root\tuid_map\t", "guest\tuid_map\t", "guest\tuid_map"),
        ("root\tnet\tlo\tplain", "root\tnet\tlo", "root\tnet\tlo"),
        ("root\tnet\tlo\tplain", "root\tnet\tlo\todd", "root\tnet\tlo\todd"),
        ("CapEff:\t00000000a80465fb", "CapEff:\tall", "CapEff:\tall"),
        ("host\trun\troot\t0\tran", "host\trun\troot\tzero\tran", "host\trun\troot\tzero"),
        ("host\timage\t", "host\tpicture\t", "host\tpicture"),
        ("\tlocal", "\tstolen", "\tstolen"),
        ("root\tsmi.rc\t0", "root\tsmi.rc\tnone", "root\tsmi.rc\tnone"),
        ("root\tmemory\tMemTotal:       2113478652 kB", "root\tmemory\tmuch", "root\tmemory\tmuch"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(old: str, new: str, line: str) -> None:
    with pytest.raises(ParseError) as caught:
        container_probe.parse(changed(old, new))
    assert line in caught.value.line
    assert caught.value.line_no > 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("root\tbegin\t1\n", ""),
        ("root\tend\t1\n", ""),
        ("root\tuid_map\t0          0 4294967295\n", ""),
        ("root\topens.by\tibv_devinfo\n", ""),
        ("root\tconf\treadable\n", ""),
        ("root\tenv\tLC_ALL='C'\n", ""),
        ("host\tformat\t1\n", "host\tformat\t2\n"),
        ("host\twish\t{", "host\tno_engine\t{"),
        ('\t{"image":', '\t{"picture":'),
        ('\t{"image": "registry.example.com/train:25.10"}', "\t[]"),
        ("host\tengine\t", "host\tno_engine\tnone\nhost\tengine\t"),
        ("host\trun\troot\t0\tran", "host\trun\troot\t0\tfailed\tno"),
        ("host\trun\troot\t0\tran", "host\trun\tuser\t0\tran"),
    ],
)
def test_what_is_not_whole_is_refused(old: str, new: str) -> None:
    with pytest.raises(ParseError):
        container_probe.parse(changed(old, new))


def test_every_end_before_the_last_is_noticed() -> None:
    lines = SAMPLE.splitlines(keepends=True)
    for end in range(len(lines)):
        with pytest.raises(ParseError):
            container_probe.parse("".join(lines[:end]))
    with pytest.raises(ParseError):
        container_probe.parse(SAMPLE[:-1])


def test_both_containers_are_told_of_or_none_is_judged() -> None:
    lines = [one for one in SAMPLE.splitlines() if not one.startswith("user\t")]
    lines = [one for one in lines if "\trun\tuser\t" not in one][:-1]
    with pytest.raises(ParseError, match="containers that were started"):
        container_probe.parse("".join(f"{one}\n" for one in [*lines, f"host\tend\t{len(lines)}"]))


def test_an_engine_that_started_nothing_is_not_whole() -> None:
    head = SAMPLE.splitlines()[:3]
    with pytest.raises(ParseError, match="how far it came"):
        container_probe.parse("".join(f"{one}\n" for one in [*head, "host\tend\t3"]))


@pytest.mark.parametrize("at", ["\troot\t0\tran", "root\tuid_map", "root\tend\t1"])
def test_an_image_that_prints_our_marks_is_refused(at: str) -> None:
    for mark in ("root\tbegin\t1", "root\tend\t1"):
        lines = SAMPLE.splitlines()[:-1]
        where = next(number for number, one in enumerate(lines) if at in one) + 1
        lines.insert(where, mark)
        with pytest.raises(ParseError):
            container_probe.parse("".join(f"{one}\n" for one in [*lines, f"host\tend\t{len(lines)}"]))
