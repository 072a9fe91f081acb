# SPDX-License-Identifier: GPL-3.0-or-later
"""Failures of drivers that no rule knows. The formats are the drivers'; devices, numbers and times are made up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data import kernel_drivers
from ansible_collections.ibready.cluster.plugins.module_utils._parse import dmesg
from ansible_collections.ibready.cluster.plugins.module_utils._parse._kernel_drivers import Unexplained, device_of
from tests.unit.corpus import sidecars, text_of

NEW = "mlx5_core 0000:15:00.0: mlx5_frobnicate:77:(pid 9): the frobnicator is upside down"
REFUSED = "mlx5_core 0000:15:00.0: mlx5_frobnicate:77:(pid 9): the frobnicator is broken"
# A line that a row excuses, and the opposite, which none may.
HARMLESS = [
    (
        "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
        "nvidia: module verification failed: the signature is of another file",
    ),
    (
        "NVRM: Persistence mode is deprecated and will be removed in a future release. Please use nvidia-persistenced "
        "instead.",
        "NVRM: Persistence mode failed",
    ),
    (
        "device-mapper: core: CONFIG_IMA_DISABLE_HTABLE is disabled. Duplicate IMA measurements will not be recorded "
        "in the IMA log.",
        "device-mapper: core: multipath failed",
    ),
    (
        "mlx5_core 0000:15:00.0: mlx5_cmd_out_err:809:(pid 3): ACCESS_REG(0x805) op_mod(0x1) failed, status bad "
        "operation(0x2), syndrome (0x305684), err(-5)",
        "mlx5_core 0000:15:00.0: mlx5_cmd_out_err:809:(pid 3): CREATE_MKEY(0x200) op_mod(0x1) failed, status bad "
        "operation(0x2), syndrome (0x305684), err(-5)",
    ),
    (
        "NVRM: nvCheckOkFailedNoLog: Check failed: Call not supported [NV_ERR_NOT_SUPPORTED] (0x00000056) returned "
        "from pEntry->pCallback(pGpu, pEntry->pCallbackParam) @ kernel_fifo.c:3021",
        "NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062) returned "
        "from status @ kernel_channel.c:2827",
    ),
    ("nvidia 0000:19:00.0: [drm] Cannot find any crtc or sizes", "nvidia 0000:19:00.0: [drm] Cannot find any memory"),
    (
        "mlx5_core 0000:15:00.0: is_dpll_supported:213:(pid 1313): Missing SyncE capability",
        "mlx5_core 0000:15:00.0: Unable to read the SyncE capability",
    ),
    (
        "bnxt_en 0000:17:00.0 (unnamed net_device) (uninitialized): Device requests max timeout of 100 seconds, may "
        "trigger hung task watchdog",
        "bnxt_en 0000:17:00.0 ens1f0np0: Device timeout",
    ),
    ("nvme nvme0: missing or invalid SUBNQN field.", "nvme nvme0: invalid completion"),
    (
        "EXT4-fs (sda2): mounted filesystem with ordered data mode. Opts: errors=remount-ro",
        "EXT4-fs (sda2): errors in the journal",
    ),
    ("bond0: (slave eno1): failed to get link speed/duplex", "bond0: (slave eno1): failed to get link status"),
    ("mlx_compat: loading out-of-tree module taints kernel.", "mlx_compat: loading out-of-tree module failed"),
    ("NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build", "NVRM: loading failed"),
    (
        "mlx5_core 0000:15:00.0 ens1f0np0: Disabling HW-GRO, not supported in legacy RQ",
        "mlx5_core 0000:15:00.0 ens1f0np0: Disabling the port, it does not answer",
    ),
    ("nvme nvme0: Shutdown timeout set to 8 seconds", "nvme nvme0: Shutdown timeout"),
    ("nvme nvme0: failed to set APST feature (-19)", "nvme nvme0: failed to set queue count"),
    (
        "bond0: (slave ens1f0): The permanent HWaddr of slave - 02:00:5e:00:53:01 - is still in use by bond - Set the "
        "HWaddr of slave to a different address to avoid conflicts",
        "bond0: (slave ens1f0): Error: the HWaddr of slave is in use",
    ),
    (
        "mlx5_core 0000:15:00.0 ens1: Dropping C-tag vlan stripping offload due to S-tag vlan",
        "mlx5_core 0000:15:00.0 ens1: Dropping packets failed",
    ),
    (
        "svc: failed to register lockdv1 RPC service (errno 97).",
        "svc: failed to register lockdv1 RPC service (errno 111).",
    ),
    ("EXT4-fs (sda1): couldn't mount as ext3 due to feature incompatibilities", "EXT4-fs (sda1): couldn't mount"),
]


def found(*lines: str) -> list[Unexplained]:
    text = "".join(f"{line if line[:1] in '<[k0123456789' else f'[   21.500000] {line}'}\n" for line in lines)
    return list(dmesg.parse("[    0.000000] Linux version 6.8.0\n" + text).unexplained)


def texts(*lines: str) -> list[str]:
    return [line.text for line in found(*lines)]


@pytest.mark.parametrize(
    ("level", "driver", "told"),
    [
        ("emerg", "mlx5_core 0000:15:00.0: x:1:(pid 9)", True),
        ("err", "mlx5_core 0000:15:00.0: x:1:(pid 9)", True),
        ("warn", "mlx5_core 0000:15:00.0: x:1:(pid 9)", True),
        ("notice", "mlx5_core 0000:15:00.0: x:1:(pid 9)", False),
        ("warn", "NVRM", False),
        ("err", "usb 1-1", False),
        ("err", "bnxt_en 0000:17:00.0 ens1f0np0", True),
        ("err", "ice 0000:17:00.0", True),
        ("err", "ice_cream 0000:17:00.0", False),
        ("err", "ena 0000:17:00.0 ens5", True),
        ("err", "gvnic 0000:17:00.0", True),
        ("err", "gve 0000:17:00.0", True),
        ("err", "mana 7870:00:00.0", True),
        ("err", "efa 0000:17:00.0", True),
        ("err", "nvidia-fs", True),
        ("err", "nvme0n1", True),
        ("err", "nvmet_rdma", True),
        ("err", "nfsd", False),
        ("err", "NFSD", False),
        ("err", "pNFS", True),
        ("err", "overlayfs", False),
    ],
)
def test_an_error_of_a_driver_that_matters_needs_no_word(level: str, driver: str, told: bool) -> None:
    line = f"{driver}: the frobnicator is upside down"
    assert texts(f"kern  :{level:6}: [   21.500000] {line}") == ([line] if told else [])


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("kern  :warn  : [   21.500000] ", True),
        ("kern  :notice: [   21.500000] ", False),
        ("kern  :info  : [   21.500000] ", False),
        ("<4>[   21.500000] ", True),
        ("<6>[   21.500000] ", False),
        ("4,3973,227996636,-;", True),
        ("6,3973,227996636,-;", False),
        ("30,3973,227996636,-;", False),
        ("27,3973,227996636,-;", True),
        ("<28>[   21.500000] ", True),
        ("[   21.500000] ", True),
    ],
)
def test_with_a_word_of_failure_a_warning_counts_and_news_do_not(before: str, told: bool) -> None:
    assert bool(found(before + REFUSED)) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("mlx5_core 0000:15:00.0: Async event for bogus CQ 0x1f", True),
        ("ib0: ipoib_init_qp returned -12", True),
        ("nvme nvme0: qid -12: controller did not authenticate", True),
        ("mlx5_core 0000:15:00.0: E-Switch: Tc chains and priorities offload aren't supported, update firmware", False),
        ("nvme nvme0: using deprecated NVME_IOCTL_IO_CMD ioctl on the char device!", False),
        ("NVRM: GPU 0000:19:00.0: it is not what was expected", False),
        ("Lustre: Mounted fs01-client", False),
        ("XFS (nvme0n1p2): Deprecated V4 format (crc=0) will not be supported after September 2030.", False),
        ("mlx5_core 0000:15:00.0: log_max_qp value in current profile is 18, changing it to 17", False),
        ("mlx_compat: loading out-of-tree module taints kernel.", False),
        ("nvme nvme0: queue_size 128 > ctrl sqsize 64, clamping down", False),
        ("nvme nvme0: resetting controller", True),
        ("mlx5_core 0000:15:00.0: High temperature, throttling link", True),
        ("nvme nvme0: identify took long: Falling back to one queue", True),
        ("mlx5_core 0000:15:00.0 ens1: Losing packets", True),
        ("nvme nvme0: Shutting down controller", True),
        ("nvme nvme0: the link is slow, using one lane", True),
        ("mlx5_core 0000:15:00.0: mlx5_x:77:(pid 9): Using the old layout", False),
        ("bond0: (slave ens1f0): Setting fail_over_mac to active", False),
        ("mlx4_core 0000:15:00.0: Trying to free an index that nobody has", True),
    ],
)
def test_a_warning_counts_where_warnings_are_few_unless_it_is_news(text: str, told: bool) -> None:
    assert bool(found(f"kern  :warn  : [   21.500000] {text}")) == told
    assert not found(text)


def test_a_driver_may_tell_its_failures_as_news() -> None:
    down = "kern  :info  : [   21.500000] bond3: (slave ens14f1np1): link status definitely down, disabling slave"
    (line,) = found(down)
    assert (line.driver, line.device, line.grave) == ("bonding", "ens14f1np1", True)


def alternatives(pattern: str) -> list[str]:
    """What stands between the bars of a pattern that are in no group."""
    parts, depth = [""], 0
    for mark in re.findall(r"\\.|.", pattern):
        depth += {"(": 1, ")": -1}.get(mark, 0)
        if mark == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += mark
    return parts


@pytest.mark.parametrize("pattern", [part for row in kernel_drivers.HARMLESS for part in alternatives(row.pattern)])
def test_what_is_harmless_is_left_out_and_its_opposite_is_not(pattern: str) -> None:
    mine = [pair for pair in HARMLESS if re.search(pattern, pair[0])]
    assert mine
    for line, opposite in mine:
        assert texts(f"kern  :err   : [   21.500000] {line}", line) == []
        assert texts(opposite) == [opposite]


@pytest.mark.parametrize(("tool", "sidecar"), sidecars("dmesg"))
def test_recorded_logs_hold_nothing_that_no_rule_knows(tool: str, sidecar: Path) -> None:
    assert tool == "dmesg"
    assert dmesg.parse(text_of(sidecar)).unexplained == ()


@pytest.mark.parametrize(
    ("well", "ill"),
    [
        ("slot advertised sufficient power", "slot advertised insufficient power for it"),
        ("start was successful", "start was unsuccessful"),
        ("errorless", "in error"),
        ("now a usable port was found", "no usable port was found"),
        ("its routine was called", "its routine was not called for 3 devices"),
        ("link timeoutless", "link timeout"),
    ],
)
def test_a_word_within_another_is_none(well: str, ill: str) -> None:
    assert texts(f"mlx5_core 0000:15:00.0: {well}") == []
    assert texts(f"mlx5_core 0000:15:00.0: {ill}") == [f"mlx5_core 0000:15:00.0: {ill}"]


@pytest.mark.parametrize(
    ("text", "grave"),
    [
        ("nvidia_uvm: Unknown symbol nvUvmInterfaceRegisterUvmOps (err -22)", True),
        ("infiniband mlx5_0: create_mkey_callback:131:(pid 2): async reg mr failed. status -12", True),
        ("nvme nvme2: could not allocate host memory buffer, error", True),
        ("mlx5_core 0000:15:00.0: failed to enable SRIOV", True),
        ("Disabling IRQ #412", True),
        ("NVRM: API mismatch: the client 'nvidia-smi' (pid 1005)", True),
        ("infiniband mlx5_2: create_qp:3093:(pid 88123): Create QP type 2 failed", False),
        ("kworker/u448:3: page allocation failure: order:9, mode:0xcc0(GFP_KERNEL)", False),
        ("ib8: transmit timeout: latency 13312 msecs", False),
        ("__ib_cache_gid_add: unable to add gid fe80::1 error=-28", False),
        ("nvme nvme2: the disk failed its self-test, is loaded", False),
        ("NVRM: this error will be disabled in a later release", False),
    ],
)
def test_who_lost_something_is_told_by_the_kind_of_words(text: str, grave: bool) -> None:
    assert [line.grave for line in found(text)] == [grave]


@pytest.mark.parametrize(("level", "grave"), [("crit", True), ("err", False)])
def test_what_is_critical_is_grave_whatever_it_says(level: str, grave: bool) -> None:
    assert [line.grave for line in found(f"kern  :{level:6}: [   21.500000] {NEW}")] == [grave]


LOST = "Lustre: fs01-OST0003-osc-ffff9c2a: Connection to fs01-OST0003 (at 192.0.2.71@o2ib) was lost"
DOWN = "bond3: (slave ens14f1np1): link status definitely down, disabling slave"


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ([LOST, "Lustre: fs01-OST0003-osc-ffff9c2a: Connection restored to 192.0.2.71@o2ib"], []),
        ([LOST, "Lustre: fs01-OST0004-osc-ffff9c2a: Connection restored to 192.0.2.71@o2ib"], [LOST]),
        (["Lustre: fs01-OST0003-osc-ffff9c2a: Connection restored to 192.0.2.71@o2ib", LOST], [LOST]),
        ([DOWN, "bond3: (slave ens14f1np1): link status definitely up, 200000 Mbps full duplex"], []),
        ([DOWN, "bond3: (slave ens14f0np0): link status definitely up, 200000 Mbps full duplex"], [DOWN]),
        (
            [
                "bond0: Warning: No 802.3ad response from the link partner for any adapters",
                "bond0: active interface up!",
            ],
            [],
        ),
        ([REFUSED, "mlx5_core 0000:15:00.0: firmware version: 28.47.1026"], []),
        ([REFUSED, "mlx5_core 0000:25:00.0: firmware version: 28.47.1026"], [REFUSED]),
        ([REFUSED, "mlx5_core 0000:15:00.0 mlx5_0: Link up"], [REFUSED]),
        ([REFUSED, "mlx5_core 0000:15:00.0: mlx5_eq_poll:9:(pid 9): Recovered 12 EQEs on cmd_eq"], [REFUSED]),
    ],
)
def test_only_what_is_over_for_the_same_device_is_cleared(lines: list[str], left: list[str]) -> None:
    assert texts(*lines) == left


def test_a_line_that_a_rule_explains_is_not_told_again_nor_the_lesser_lines_of_its_device() -> None:
    xid = "NVRM: Xid (PCI:0000:9b:00): 119, pid=20, name=nvidia-smi, Timeout after 6s of waiting for RPC response"
    more = "NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:9b:00 (printing 1 of every 30)"
    assert texts(xid, more) == []
    other = more.replace("9b", "9c")
    grave = "NVRM: GPU 0000:9b:00.0: could not register its interrupt"
    assert texts(xid, other, grave) == [other, grave]


def test_what_a_rule_told_long_ago_or_what_is_over_hides_nothing_new() -> None:
    known = "nvme nvme0: I/O 12 QID 3 timeout, aborting"
    new = "nvme nvme0: the frobnicator is broken"
    assert texts(f"[   10.000000] {known}", f"[   20.000000] {new}") == []
    assert texts(f"[   10.000000] {known}", f"[900000.000000] {new}") == [new]
    probe = "mlx5_core 0000:15:00.0: probe with driver mlx5_core failed with error -110"
    over = "mlx5_core 0000:15:00.0: firmware version: 28.47.1026"
    assert texts(probe, REFUSED) == []
    assert texts(probe, over, REFUSED) == [REFUSED]


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("mlx5_core 0000:15:00.1: x", "0000:15:00.1"),
        ("NVRM: Xid (PCI:0000:9B:00): 31", "0000:9b:00.0"),
        ("infiniband mlx5_2: create_qp:3093:(pid 1): Create QP type 2 failed", "mlx5_2"),
        ("nvme nvme2: timeout", "nvme2"),
        ("ib8: queue stopped 1", "ib8"),
        ("mlx5_core: the driver failed", ""),
        ("NVRM: the x86_64 module failed", ""),
        ("NVRM: nvAssertFailed: Assertion failed @ gpu_mgr2.c:812", ""),
        ("NVRM: failed in kernel_ce_gb100.c", ""),
        ("mlx5_core: query failed, err 0x1f at fe80::1, v2.1, name2nd()", ""),
        ("infiniband rdmap21s0: failed in x2y:99", "rdmap21s0"),
    ],
)
def test_a_line_is_of_the_device_that_it_names(text: str, device: str) -> None:
    assert device_of(text) == device


def test_every_driver_and_harmless_word_has_a_source() -> None:
    assert all(row.source for row in (*kernel_drivers.DRIVERS, *kernel_drivers.HARMLESS))


def test_what_every_host_with_a_gpu_says_at_error_is_no_failure() -> None:
    assert texts("kern  :err   : [   21.500000] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue") == []
