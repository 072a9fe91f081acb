# SPDX-License-Identifier: GPL-3.0-or-later
"""The CUDA of an image against the host's driver: every rule at its edges."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from tests.gauntlet import render
from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree

CHECK = "container.cuda.driver"
VERSION = "/proc/driver/nvidia/version"


def node(driver: str = "535.183.06", gpu: str = "", **container: Any) -> tuple[Node, Tree]:
    described = render.node("hgx-a100-8")
    described.driver = driver
    if gpu:
        described.gpu_name = gpu
    described.more = {**described.more, "container": container}
    return described, render.render(described)


def judge(found: tuple[Node, Tree], **more: Any) -> Check:
    described, tree = found
    expect = from_inventory({**described.expect, "container": {}, **more})
    (check,) = [one for one in _verify.verify(tree, expect, ["container"]).checks if one.id == CHECK]
    return check


@pytest.mark.parametrize(
    ("driver", "cuda", "result", "word"),
    [
        ("535.183.06", "12.2", PASS, "which brings as much"),
        ("535.183.06", "11.8", PASS, "which brings as much"),
        ("535.183.06", "12.3", PASS, "minor version compatibility"),
        ("535.183.06", "13.0", FAIL, "CUDA 13 needs driver 580.65.06 or newer"),
        ("525.60.13", "12.9", PASS, "minor version compatibility"),
        ("525.60.12", "12.9", FAIL, "CUDA 12 needs driver 525.60.13 or newer"),
        ("580.65.06", "13.4", PASS, "minor version compatibility"),
        ("580.65.05", "13.4", FAIL, "CUDA 13 needs driver 580.65.06 or newer"),
        ("450.80.02", "11.8", PASS, "minor version compatibility"),
        ("450.80.01", "11.8", FAIL, "CUDA 11 needs driver 450.80.02 or newer"),
        ("700.10.01", "13.9", PASS, "minor version compatibility"),
        ("700.10.01", "14.0", UNKNOWN, "nobody knows the oldest driver of CUDA 14"),
        ("440.33.01", "10.2", UNKNOWN, "nobody knows the oldest driver of CUDA 10"),
    ],
)
def test_what_the_driver_runs_by_itself(driver: str, cuda: str, result: str, word: str) -> None:
    check = judge(node(driver, cuda=cuda))
    assert (check.result, word in check.observed + check.cause) == (result, True), check


@pytest.mark.parametrize(
    ("driver", "library", "result", "word"),
    [
        ("535.183.06", "libcudart.so.12", PASS, "minor version compatibility"),
        ("525.60.12", "libcudart.so.12", FAIL, "CUDA 12 needs driver 525.60.13 or newer"),
        ("580.65.05", "libcudart.so.13", FAIL, "CUDA 13 needs driver 580.65.06 or newer"),
        ("580.65.05", "libcudart.so.12", PASS, "which brings as much"),
    ],
)
def test_a_release_without_its_minor_may_be_the_newest(driver: str, library: str, result: str, word: str) -> None:
    drop = ["env|CUDA_VERSION", "env|NVIDIA_REQUIRE", "cuda.json", "cudart"]
    check = judge(node(driver, drop=drop, add=[f"root|cudart|/usr/lib64/{library}"]))
    assert (check.result, word in check.observed + check.cause) == (result, True), check


def test_a_failure_names_image_cuda_driver_what_it_runs_and_the_next_step() -> None:
    check = judge(node(cuda="13.0"))
    assert check.observed == "registry.example.com/train:25.10: CUDA 13.0 (CUDA_VERSION) on driver 535.183.06"
    assert check.expected == "CUDA up to 12.2, and any 12.x by minor version compatibility"
    assert check.remedy == (
        'take an image of CUDA 12.x or older, or give the host driver 580.65.06 or newer (stack_driver: "580")'
    )


@pytest.mark.parametrize(
    ("driver", "word"),
    [
        ({"version": "580.105.08"}, "the host's lock says driver 580.105.08"),
        ({"branch": "580"}, "the host's lock says driver 580"),
        ({"version": "570.211.01"}, "driver 570.211.01 of the host's lock does not run it"),
        ({"version": ["580"]}, '(stack_driver: "580")'),
        (None, '(stack_driver: "580")'),
    ],
)
def test_the_next_step_knows_the_hosts_lock(driver: object, word: str) -> None:
    lock = {"class": "a", "matrix": "one", "current": "one", "stack": {"driver": driver}}
    assert word in judge(node(cuda="13.1"), lock=lock).remedy


A100, GEFORCE = "NVIDIA A100-SXM4-80GB", "NVIDIA GeForce RTX 4090"


@pytest.mark.parametrize(
    ("driver", "gpu", "cuda", "compat", "result", "word"),
    [
        # Rows of NVIDIA's table.
        ("535.183.06", A100, "13.0", "580.65.06", PASS, "forward compatibility"),
        ("535.183.06", A100, "13.4", "615.31.00", PASS, "forward compatibility"),
        ("570.211.01", A100, "13.0", "580.65.06", PASS, "forward compatibility"),
        ("610.57.04", A100, "13.4", "615.31.00", PASS, "forward compatibility"),
        # What has no row, and what is of no branch in it.
        ("535.183.06", A100, "13.5", "620.70.06", UNKNOWN, "does not have cuda-compat-13-5 on driver 535"),
        ("565.57.01", A100, "13.0", "580.65.06", UNKNOWN, "does not have cuda-compat-13-0 on driver 565"),
        ("535.183.06", A100, "13.9", "700.10.01", UNKNOWN, "the libraries of driver 700.10.01"),
        # Older than the driver, and of its own branch.
        ("580.65.06", A100, "12.4", "550.54.15", FAIL, "older than the host's driver"),
        ("535.183.06", A100, "12.2", "535.104.05", UNKNOWN, "another release of the same branch"),
        ("535.183.06", A100, "12.2", "535.183.06", PASS, "which brings as much"),
        # GPUs for which there is none, and for which nobody can tell.
        ("535.183.06", GEFORCE, "13.0", "580.65.06", FAIL, "error 804"),
        ("535.183.06", GEFORCE, "12.4", "550.54.15", FAIL, "error 804"),
        ("535.183.06", "NVIDIA TITAN V", "13.0", "580.65.06", FAIL, "error 804"),
        ("535.183.06", "NVIDIA RTX A6000", "13.0", "580.65.06", UNKNOWN, "selected servers only"),
        *(
            ("535.183.06", gpu, "13.0", "580.65.06", UNKNOWN, f"nobody knows whether {gpu} is one")
            for gpu in ("NVIDIA Graphics Device", "NVIDIA DGX Display", "NVIDIA RTXA6000-48Q", "NVIDIA Thor", "MX450")
        ),
        # Libraries that are themselves too old for the image.
        ("535.183.06", A100, "13.0", "575.57.08", FAIL, "which runs CUDA up to 12.9"),
    ],
)
def test_compatibility_libraries_that_the_loader_takes(
    driver: str, gpu: str, cuda: str, compat: str, result: str, word: str
) -> None:
    requires = ["env|NVIDIA_REQUIRE_CUDA"]
    check = judge(node(driver, gpu, cuda=cuda, compat=compat, ahead=True, drop=requires))
    assert (check.result, word in check.observed + check.cause) == (result, True), check


def test_a_host_with_two_kinds_of_gpus_is_judged_by_both() -> None:
    more = {"cuda": "13.0", "compat": "580.65.06", "ahead": True}
    for other, result in (("NVIDIA H100 PCIe", PASS), ("NVIDIA DGX Display", UNKNOWN), (GEFORCE, FAIL)):
        check = judge(node("535.183.06", A100, **more, add=[f"root|smi|GPU 8: {other} (UUID: GPU-1)"]))
        assert check.result == result, check


def test_slices_of_a_gpu_are_no_gpus_of_another_kind() -> None:
    add = ["root|smi|MIG 1g.10gb      Device  0: (UUID: MIG-6f3d0e2a)"]
    assert judge(node("535.183.06", A100, cuda="13.0", compat="580.65.06", ahead=True, add=add)).result == PASS


def test_gpus_that_were_not_all_listed_are_not_known() -> None:
    add = ["root|smi.rc|255", "root|smi|Unable to determine the device handle for GPU0000:01:00.0: Unknown Error"]
    check = judge(node("535.183.06", A100, cuda="13.0", compat="580.65.06", ahead=True, drop=["smi.rc"], add=add))
    assert (check.result, "which GPUs they are" in check.cause) == (UNKNOWN, True), check


def test_what_the_table_leaves_out_the_image_may_say() -> None:
    said = "root|env|NVIDIA_REQUIRE_CUDA='cuda>=13.0 brand=nvidia,driver>=550,driver<551'"
    more: dict[str, Any] = {"cuda": "13.0", "compat": "580.65.06", "ahead": True, "drop": ["env|NVIDIA_REQUIRE_CUDA"]}
    assert judge(node("550.163.01", A100, **more, add=[said])).result == PASS
    # An alternative of CUDA alone says nothing of compatibility libraries; nor does another brand's.
    # Nor do drivers without a brand or a last, or an image of another CUDA.
    for other in (
        "root|env|NVIDIA_REQUIRE_CUDA='cuda>=9.0'",
        said.replace("brand=nvidia", "brand=quadro"),
        said.replace("brand=nvidia,", ""),
        said.replace(",driver<551", ""),
        said.replace("cuda>=13.0", "cuda>=12.4"),
        said.replace("driver>=550,driver<551", "driver>=551,driver<552"),
    ):
        assert judge(node("550.163.01", A100, **more, add=[other])).result == UNKNOWN
    # No image speaks for GPUs that have no forward compatibility, or may not have it.
    said = "root|env|NVIDIA_REQUIRE_CUDA='cuda>=13.0 driver>=450'"
    for gpu, result in (("NVIDIA RTX A6000", UNKNOWN), ("MX450", UNKNOWN), (GEFORCE, FAIL)):
        assert judge(node("550.163.01", gpu, **more, add=[said])).result == result
    assert judge(node("550.163.01", A100, **{**more, "drop": [*more["drop"], "smi"]}, add=[said])).result == UNKNOWN


@pytest.mark.parametrize(
    ("gpu", "compat", "result", "word"),
    [
        (A100, "580.65.06", FAIL, "lie in /usr/local/cuda/compat, where the loader does not look"),
        (A100, "575.57.08", FAIL, "no compatibility libraries of it"),
        (GEFORCE, "580.65.06", FAIL, "error 804"),
        ("NVIDIA RTX A6000", "580.65.06", FAIL, "selected servers only"),
    ],
)
def test_compatibility_libraries_out_of_the_loaders_way(gpu: str, compat: str, result: str, word: str) -> None:
    check = judge(node(gpu=gpu, cuda="13.0", compat=compat))
    assert (check.result, word in check.cause) == (result, True), check
    assert ("LD_LIBRARY_PATH" in check.remedy) == ("does not look" in word)


def test_what_an_entrypoint_decides_is_unknown() -> None:
    kept = "root|compat|/usr/local/cuda/compat/lib.real/libcuda.so.580.65.06"
    check = judge(node(cuda="13.0", add=[kept]))
    assert check.result == UNKNOWN
    assert "its entrypoint, which was left out here" in check.cause
    # Where nobody can tell whether it would hold, the entrypoint decides just as well; not where it never holds.
    assert judge(node(gpu="NVIDIA RTX A6000", cuda="13.0", add=[kept])).result == UNKNOWN
    assert judge(node(gpu=GEFORCE, cuda="13.0", add=[kept])).result == FAIL
    # The host's own libcuda is enough for an older image.
    assert judge(node(cuda="12.4", add=[kept])).result == PASS


def test_the_newest_cuda_of_an_image_counts() -> None:
    wheel = "root|cudart|/usr/local/lib/python3.12/site-packages/nvidia_cuda_runtime-13.0.96.dist-info"
    check = judge(node(cuda="12.4", add=[wheel]))
    assert check.result == FAIL
    assert "nvidia_cuda_runtime-13.0.96.dist-info" in check.observed


@pytest.mark.parametrize(
    ("told", "release"),
    [
        ("env|CUDA_VERSION='13.0.1.012'", "13.0"),
        ("env|CUDA_VERSION='13'", "13"),
        ("cudart|/usr/local/cuda/lib64/libcudart.so.13", "13"),
        ("cudart|/usr/local/cuda/lib64/libcudart.so.13.0.96", "13.0"),
        ("cudart|/opt/conda/lib/python3.11/site-packages/torch/lib/libcudart-9335f6a2.so.13.0.96", "13.0"),
        ("cudart|/usr/lib/python3/dist-packages/nvidia_cuda_runtime_cu13-13.1.2.dist-info", "13.1"),
        ('cuda.json|{"cuda": {"version": "13.0.2"}}', "13.0"),
        ("env|NVIDIA_REQUIRE_CUDA='cuda>=13.0 brand=tesla,driver>=535,driver<536'", "13.0"),
    ],
)
def test_where_an_image_tells_of_its_cuda(told: str, release: str) -> None:
    drop = ["env|CUDA_VERSION", "env|NVIDIA_REQUIRE", "cuda.json", "cudart"]
    check = judge(node(drop=drop, add=[f"root|{told}"]))
    assert check.result == FAIL
    assert f"CUDA {release} (" in check.observed


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("/usr/local/nvidia/lib", "take /usr/local/nvidia/lib out of LD_LIBRARY_PATH"),
        ("/usr/local/cuda/compat", "take /usr/local/cuda/compat/libcuda.so.1 out of the image"),
    ],
)
def test_the_next_step_names_what_puts_a_libcuda_before_the_hosts(path: str, word: str) -> None:
    for driver, gpu, library in (("580.65.06", A100, "550.54.15"), ("535.183.06", GEFORCE, "550.54.15")):
        found = f"root|loads|{path}/libcuda.so.1|{path}/libcuda.so.{library}"
        check = judge(node(driver, gpu, cuda="12.2", drop=["loads"], add=[found]))
        assert (check.result, word in check.remedy) == (FAIL, True), check


@pytest.mark.parametrize(
    ("told", "result"),
    [
        ((), SKIP),
        (("compat|/usr/local/cuda/compat/libcuda.so.580.65.06",), UNKNOWN),
        (("env|CUDA_VERSION='cu124'",), UNKNOWN),
        (("env|CUDA_VERSION='0'",), UNKNOWN),
        (("env|CUDA_VERSION='1.0.0'",), UNKNOWN),
        (("cudart|/usr/lib/python3/dist-packages/nvidia_cuda_runtime_cu13-0.0.1.dist-info",), UNKNOWN),
        (("cuda.json|{",), UNKNOWN),
        (("cuda.json|[]",), UNKNOWN),
        (("cudart|/usr/lib64/libcudart.so.old",), UNKNOWN),
        (("env|CUDA_VERSION='cu124'", "cudart|/usr/lib64/libcudart.so.12.4.127"), PASS),
        # What is not understood may be newer than what is, and fails nothing that is known to fail.
        (("env|CUDA_VERSION='12.2.1'", "cuda.json|{"), UNKNOWN),
        (("env|CUDA_VERSION='12.2.1'", "cuda.json|"), UNKNOWN),
        (("env|CUDA_VERSION='12.2.1'", "cudart|/usr/lib64/libcudart.so.14rc1"), UNKNOWN),
        (("env|CUDA_VERSION='13.0.1'", "cuda.json|{"), FAIL),
        (("env|CUDA_VERSION='cu130'", "env|NVIDIA_REQUIRE_CUDA='cuda>=9.0'"), UNKNOWN),
        # Early packages of pip were named by the day (recalled).
        (("env|CUDA_VERSION='12.2.1'", "cudart|/opt/x/nvidia_cuda_runtime_cu11-2022.4.25.dist-info"), PASS),
        (("env|NVIDIA_REQUIRE_CUDA='what ever'",), UNKNOWN),
    ],
)
def test_an_image_that_does_not_tell(told: tuple[str, ...], result: str) -> None:
    drop = ["env|CUDA_VERSION", "env|NVIDIA_REQUIRE", "cuda.json", "cudart"]
    assert judge(node(drop=drop, add=[f"root|{one}" for one in told])).result == result


def test_a_requirement_that_is_not_understood_is_told_unless_nobody_asks() -> None:
    drop, wrong = ["env|NVIDIA_REQUIRE"], "root|env|NVIDIA_REQUIRE_CUDA='cuda>=12.2 brand~tesla'"
    check = judge(node(drop=drop, add=[wrong]))
    assert (check.result, "brand~tesla" in check.cause) == (UNKNOWN, True)
    assert judge(node(drop=drop, add=[wrong], cuda="13.0")).result == FAIL
    assert judge(node(drop=drop, add=[wrong, "root|env|NVIDIA_DISABLE_REQUIRE='true'"])).result == PASS
    assert judge(node(drop=drop, add=[wrong, "root|env|NVIDIA_DISABLE_REQUIRE='no'"])).result == UNKNOWN


def test_disabling_the_requirement_makes_nothing_run() -> None:
    check = judge(node(cuda="13.0", add=["root|env|NVIDIA_DISABLE_REQUIRE='1'"]))
    assert check.result == FAIL
    assert "jobs start and then fail" in check.cause


def test_an_image_that_runs_and_that_the_runtime_would_refuse() -> None:
    add = ["root|env|NVIDIA_REQUIRE_CUDA='cuda>=12.8'"]
    check = judge(node(cuda="12.8", drop=["env|NVIDIA_REQUIRE"], add=add))
    assert check.result == PASS
    assert "where NVIDIA's runtime is asked (--gpus), it refuses" in check.observed


def test_what_a_driver_newer_than_the_table_brings_is_a_least() -> None:
    add = ["root|env|NVIDIA_REQUIRE_CUDA='cuda>=13.9'"]
    check = judge(node("700.10.01", cuda="13.9", drop=["env|NVIDIA_REQUIRE"], add=add))
    assert (check.result, "refuses" in check.observed) == (PASS, False)
    assert check.expected == "CUDA at least 13.5, and any 13.x by minor version compatibility"


def test_a_refusal_of_the_runtime_is_judged_without_a_look_inside() -> None:
    described, tree = node()
    said = "requirement error: unsatisfied condition: cuda>=13.0, please update your driver"
    lines = tree.commands["container_probe"].stdout.splitlines()[:4]
    lines += [f"host\trun\t{who}\tfailed\t{said}" for who in ("root\t0", "user\t65534")]
    tree.command("container_probe", "\n".join([*lines, f"host\tend\t{len(lines)}", ""]))
    check = judge((described, tree))
    assert check.result == FAIL
    assert "requires cuda>=13.0" in check.cause
    assert "driver 535.183.06 runs CUDA up to 12.2" in check.cause
    tree.files.pop(VERSION)
    check = judge((described, tree))
    assert (check.result, "nobody could read its driver" in check.cause) == (FAIL, True)
    tree.command("container_probe", tree.commands["container_probe"].stdout.replace("unsatisfied", "strange"))
    assert judge((described, tree)).result == UNKNOWN


def test_what_could_not_be_looked_at_is_unknown() -> None:
    # Recorded by a release that did not look.
    check = judge(node(drop=["cuda.looked", "cuda.json", "cudart", "loads"]))
    assert (check.result, "collect again" in check.cause) == (UNKNOWN, True)
    # No readlink in the image, a stub, and Jetson's.
    for target in ("untold", "/usr/local/cuda/lib64/stubs/libcuda.so", "/usr/lib/nvidia/libcuda.so.1.1"):
        first = [f"root|loads|/opt/lib/libcuda.so.1|{target}"]
        assert judge(node(drop=["loads"], add=first)).result == UNKNOWN
    described, tree = node()
    tree.files.pop(VERSION)
    check = judge((described, tree))
    assert (check.result, "no NVIDIA driver is loaded" in check.cause) == (UNKNOWN, True)
    tree.broken[VERSION] = "permission denied"
    check = judge((described, tree))
    assert (check.result, "permission denied" in check.cause) == (UNKNOWN, True)
    # Which GPUs, where compatibility libraries would count.
    check = judge(node(cuda="13.0", compat="580.65.06", ahead=True, drop=["smi", "env|NVIDIA_REQUIRE"]))
    assert (check.result, "which GPUs they are" in check.cause) == (UNKNOWN, True)


def test_without_a_libcuda_in_the_container_the_hosts_own_counts_where_no_gpu_is_in_it() -> None:
    # The check that the GPUs are there fails then.
    assert judge(node(drop=["loads", "smi", "gpu"])).result == PASS
    assert judge(node(drop=["loads", "smi", "gpu"], cuda="13.0")).result == FAIL


def test_gpus_without_a_libcuda_are_nothing_that_passes() -> None:
    check = judge(node(drop=["loads"]))
    assert (check.result, "no libcuda.so.1 where the loader looks" in check.cause) == (FAIL, True), check
    # compute among others is what programs need: then the file of CDI lacks the library.
    for said, named in (("utility", True), ("compute,utility", False), ("all", False)):
        check = judge(node(drop=["loads"], add=[f"root|env|NVIDIA_DRIVER_CAPABILITIES='{said}'"]))
        assert (f"={said} asks for the driver without compute" in check.cause) == named, check
    assert judge(node(drop=["loads"], cuda="13.0")).result == FAIL


def test_an_image_of_the_hosts_own_files_and_a_host_without_gpus_are_skipped() -> None:
    assert judge(node(image="built")).result == SKIP
    described = render.node("ib-login")
    described.expect = {**described.expect, "container": {}}
    tree = render.render(described)
    checks = _verify.verify(tree, from_inventory(described.expect), ["container"]).checks
    assert [one.result for one in checks if one.id == CHECK] == [SKIP]
