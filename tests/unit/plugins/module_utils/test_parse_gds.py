# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples are written after NVIDIA's documentation and outputs in public issues; none was recorded here."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import cufile_json, gdscheck
from ansible_collections.ibready.cluster.plugins.module_utils._parse.cufile_json import CufileAddress
from tests.unit.parsers import SAMPLES

NEW = (SAMPLES / "gdscheck.txt").read_text()
CONF = (SAMPLES / "cufile_json.txt").read_text()
# 1.7.1.12 of NVIDIA/gds-nvidia-fs issue 31, on a host with one GPU.
OLD = """\
 GDS release version: 1.7.1.12
 nvidia_fs version:  2.17 libcufile version: 2.12
 Platform: x86_64
 =====================
 DRIVER CONFIGURATION:
 =====================
 NVMe               : Unsupported
 NFS                : Supported
 --rdma_device_status  : Up: 0 Down: 0
 =====================
 CUFILE CONFIGURATION:
 =====================
 properties.use_compat_mode : false
 properties.force_compat_mode : false
 =========
 GPU INFO:
 =========
 GPU index 0 NVIDIA A100 80GB PCIe bar:1 bar size (MiB):131072 supports GDS, IOMMU State: Disabled
 ==============
 PLATFORM INFO:
 ==============
 IOMMU: disabled
 Platform verification succeeded
"""
# 0.9 on a GPU that is too old (a tutorial's).
REFUSED = """\
 GPU 0 Quadro K1200 does not have supported architecture, has 5 requires >= 6
 Platform does not have any supported GPU!
 Platform verification failed
 platform is not supported by cufile
 cufile initialization failed
 Platform verification error :
 GPUDirect Storage not supported on current platform
"""


def test_the_ways_of_the_new_form_and_what_counts_beside_them() -> None:
    found = gdscheck.parse(NEW)
    said = {driver.name: driver.modes for driver in found.drivers}
    assert said["NVMe"] == ("p2pdma", "nvfs", "compat")
    assert said["FSx Lustre"] == ("supported",)
    assert said["WekaFS"] == ("dmabuf", "compat")
    assert not any(name.startswith("-") for name in said)
    assert (found.release, found.minimum) == ("1.16.1.26", "2.12")
    assert (found.compat, found.force, found.p2pdma) == (True, False, True)
    assert (found.gpus, found.unfit, found.refused) == (2, (), "")


def test_the_old_form_names_the_oldest_nvidia_fs_as_the_librarys_version() -> None:
    found = gdscheck.parse(OLD)
    assert {driver.name: driver.modes for driver in found.drivers} == {"NVMe": ("unsupported",), "NFS": ("supported",)}
    assert (found.minimum, found.compat, found.p2pdma) == ("2.12", False, False)


def test_without_the_module_there_is_no_version_of_it() -> None:
    assert gdscheck.parse(OLD.replace(" nvidia_fs version:  2.17 libcufile", " libcufile")).minimum == "2.12"
    assert gdscheck.parse(OLD.replace(" nvidia_fs version:  2.17 libcufile version: 2.12\n", "")).minimum == ""


def test_why_a_platform_is_refused() -> None:
    head = OLD[: OLD.index(" GPU index")]
    found = gdscheck.parse(head + REFUSED)
    assert found.unfit == ("GPU 0 Quadro K1200 does not have supported architecture, has 5 requires >= 6",)
    assert found.refused == "GPUDirect Storage not supported on current platform"
    said = gdscheck.parse(OLD.replace("verification succeeded", "verification error : Invalid argument"))
    assert said.refused == "Invalid argument"
    assert (
        gdscheck.parse(OLD.replace("verification succeeded", "verification error :")).refused == "it does not say why"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "names no release of GDS: empty output"),
        ("/usr/bin/env: 'python3': No such file or directory\n", "names no release of GDS: /usr/bin/env"),
        (OLD[: OLD.index(" Platform verification")], "ends before its word on the platform"),
        (OLD[:-5], "ends before its word on the platform"),
        (OLD.replace("NVMe               : Unsupported", "NVMe               : perhaps"), "line 7 .*how it is reached"),
        (OLD.replace(" properties.use_compat_mode : false\n", ""), "says nothing of properties.use_compat_mode"),
        (OLD.replace("use_compat_mode : false", "use_compat_mode : maybe"), "use_compat_mode is 'maybe'"),
        (OLD.replace("supports GDS, ", ""), "does not say whether this GPU supports GDS"),
        # A GPU that is told of in other words is not one GPU fewer.
        (OLD.replace("GPU index 0 NVIDIA", "GPU[0] NVIDIA"), "does not say which GPU"),
        (OLD.replace("GPU index 0 NVIDIA", "GPU index 0: NVIDIA"), "does not say which GPU"),
        (OLD.replace("80GB", "80GB" * 60), "does not say which GPU"),
        (OLD.replace("DRIVER CONFIGURATION:", "DRIVERS:"), "names no file system"),
    ],
)
def test_what_is_no_whole_output_is_said(text: str, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        gdscheck.parse(text)


@given(st.integers(0, len(NEW)))
def test_an_output_that_was_cut_is_refused(at: int) -> None:
    if NEW[at:].strip():
        with pytest.raises(ParseError):
            gdscheck.parse(NEW[:at])


def test_comments_are_none_inside_of_strings() -> None:
    found = cufile_json.parse(CONF)
    assert found.addresses == (
        CufileAddress("properties.rdma_dev_addr_list", "192.0.2.130"),
        CufileAddress("properties.rdma_dev_addr_list", "mlx5_1"),
        CufileAddress("fs.lustre.mount_table./lustre.rdma_dev_addr_list", "192.0.2.131"),
    )
    assert (found.compat, found.p2pdma, found.nvme_p2pdma, found.wrong) == (True, False, True, ())
    assert cufile_json.parse('{"a": "/* no */ // comment"}').wrong == ()


@pytest.mark.parametrize(
    ("conf", "changed"),
    [
        ({}, False),
        ({"properties": {"allow_compat_mode": True, "rdma_dev_addr_list": []}, "fs": {"nfs": {}}}, False),
        ({"properties": {"rdma_dev_addr_list": [""]}}, False),
        ({"properties": {"allow_compat_mode": False}}, True),
        ({"properties": {"use_pci_p2pdma": True}}, True),
        ({"block": {"nvme": {"use_pci_p2pdma": True}}}, True),
        ({"fs": {"weka": {"rdma_dev_addr_list": ["192.0.2.1"]}}}, True),
        # By hand, and of a form that cuFile does not take: no package brings these.
        ({"properties": {"allow_compat_mode": "false"}}, True),
        ({"properties": {"rdma_dev_addr_list": "192.0.2.1"}}, True),
        ({"fs": []}, True),
        ({"block": {"nvme": {"use_pci_p2pdma": "true"}}}, True),
    ],
)
def test_whether_somebody_changed_it(conf: dict[str, object], changed: bool) -> None:
    assert cufile_json.parse(json.dumps(conf)).changed is changed


@pytest.mark.parametrize(
    ("conf", "wrong"),
    [
        ({"properties": []}, "properties is [], not an object"),
        ({"properties": {"use_poll_mode": "no"}}, 'properties.use_poll_mode is "no", not true or false'),
        (
            {"properties": {"max_direct_io_size_kb": 100}},
            "properties.max_direct_io_size_kb is 100, not a multiple of 64",
        ),
        ({"properties": {"max_direct_io_size_kb": 0}}, "properties.max_direct_io_size_kb is 0"),
        ({"properties": {"max_direct_io_size_kb": 16448}}, "properties.max_direct_io_size_kb is 16448"),
        ({"properties": {"max_direct_io_size_kb": True}}, "properties.max_direct_io_size_kb is true"),
        ({"properties": {"rdma_load_balancing_policy": "Best"}}, 'properties.rdma_load_balancing_policy is "Best"'),
        ({"properties": {"rdma_dev_addr_list": "192.0.2.1"}}, 'properties.rdma_dev_addr_list is "192.0.2.1"'),
        # As an installer wrote it in the field before it was found out.
        ({"fs": {"nfs": {"mount_table": ["/data"]}}}, 'fs.nfs.mount_table is ["/data"], not an object'),
        ({"fs": {"nfs": {"mount_table": {"/data": "192.0.2.1"}}}}, "fs.nfs.mount_table./data is"),
        ({"block": {"nvme": {"use_pci_p2pdma": "true"}}}, 'block.nvme.use_pci_p2pdma is "true", not true or false'),
    ],
)
def test_what_is_of_the_wrong_form(conf: dict[str, object], wrong: str) -> None:
    (said,) = cufile_json.parse(json.dumps(conf)).wrong
    assert said.startswith(wrong)


def test_the_edges_of_a_size_are_taken() -> None:
    for size in (64, 16384):
        assert cufile_json.parse(json.dumps({"properties": {"max_direct_io_size_kb": size}})).wrong == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1|no JSON"),
        ("[]", "no object"),
        ('{"a": 1', "line 1 .*no JSON from here on"),
        ('{\n  // one\n  "a": 1\n  "b": 2\n}', "line 4 .*no JSON from here on"),
        ("[" * 100000, "nested too deep|no JSON"),
        ('{"a": %s}' % ("1" * 900), "nested too deep, or a number too long"),
        ('{"a": "' + "x" * 1100000 + '"}', "longer than any"),
    ],
)
def test_what_is_no_json_is_said_with_its_line(text: str, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        cufile_json.parse(text)
