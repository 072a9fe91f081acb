# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import re

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data import kernel_faults, kernel_log
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import dmesg
from ansible_collections.ibready.cluster.plugins.module_utils._parse.dmesg import SXid, Xid

# The formats of the drivers; devices, numbers and times are made up.
DEAD = "mlx5_core 0000:bb:00.0: poll_health:1083:(pid 0): Fatal error 1 detected"
XID = "NVRM: Xid (PCI:0000:65:00): 79, pid=1234, name=python3, GPU has fallen off the bus."
ALIVE = "mlx5_core 0000:bb:00.0: mlx5_health_try_recover:345:(pid 9): health recovery succeeded"
SLOW = "mlx5_core 0000:af:00.2 ens4f2: TX timeout detected"


def failures(text: str) -> list[str]:
    found: list[str] = dmesg.facts(dmesg.parse(text))["failures"]
    return found


def warnings(text: str) -> list[str]:
    found: list[str] = dmesg.facts(dmesg.parse(text))["warnings"]
    return found


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("", id="no timestamp"),
        pytest.param("[   21.859081] ", id="seconds since boot"),
        pytest.param("[9769474.755472] ", id="after months"),
        pytest.param("[Thu Nov 20 10:00:00 2025] ", id="dmesg -T"),
        pytest.param("[Do Nov 20 10:00:00 2025] ", id="dmesg -T in German"),
        pytest.param("[Nov20 10:00] ", id="dmesg -H"),
        pytest.param("[  +0.000003] ", id="dmesg -H, later in the same minute"),
        pytest.param("[   21.859081 <    0.000012>] ", id="dmesg -d"),
        pytest.param("<3>[   21.859081] ", id="dmesg -r"),
        pytest.param("kern  :err   : [   21.859081] ", id="dmesg -x"),
        pytest.param("2025-11-20T10:00:00,123456+00:00 ", id="dmesg --time-format iso"),
        pytest.param("[   21.859081] [ T1234] ", id="with the caller"),
        pytest.param("[   21.859081][  C12] ", id="with the caller, no blank"),
        pytest.param("Nov 20 10:00:00 node7 kernel: ", id="journalctl -k"),
        pytest.param("nov. 20 10:00:00 node7 kernel: ", id="journalctl in French"),
        pytest.param("Nov 20 10:00:00 node7 kernel: [   21.859081] ", id="syslog with both"),
        pytest.param("2025-11-20T10:00:00+0000 node7 kernel: ", id="journalctl -o short-iso"),
        pytest.param("1763632800.123456 node7 kernel: ", id="journalctl -o short-unix"),
        pytest.param("[   21.859081] node7 kernel: ", id="journalctl -o short-monotonic"),
        pytest.param("node7: [   21.859081] ", id="pdsh"),
        pytest.param("kernel: ", id="journalctl, time and host cut off"),
        pytest.param("node7 kernel: ", id="journalctl, time cut off"),
        pytest.param("kernel: [   21.859081] ", id="syslog with both, time and host cut off"),
        pytest.param("6,3973,227996636,-;", id="/dev/kmsg"),
        pytest.param("3,3973,227996636,-,caller=T12;", id="/dev/kmsg with the caller"),
        pytest.param(">> > > [   10.165767] ", id="quoted in a mail"),
    ],
)
def test_whatever_precedes_a_message_it_is_read(before: str) -> None:
    parsed = dmesg.parse(f"{before}{DEAD}\n{before}{XID}\n")
    assert [(one.device, one.text) for one in parsed.hca] == [("0000:bb:00.0", "Fatal error 1 detected")]
    assert parsed.xids == (Xid("0000:65:00", 79, "pid=1234, name=python3, GPU has fallen off the bus."),)


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        (
            "mlx5_core 0005:01:00.0: probe with driver mlx5_core failed with error -2",
            "probe with driver mlx5_core failed with error -2",
        ),
        ("mlx5_core: probe of 0000:3b:00.0 failed with error -110", "probe of 0000:3b:00.0 failed with error -110"),
        ("mlx5_core 0000:bb:00.0: print_health_info:491:(pid 0): PCI slot is unavailable", "PCI slot is unavailable"),
        (
            "mlx5_core 0000:05:00.0: mlx5_irq_alloc:293:(pid 66740): Failed to request irq. err = -28",
            "mlx5_irq_alloc err -28",
        ),
        ("infiniband mlx5_0: mlx5_ib_test_wc:290:(pid 66740): Error -28 while trying to test", "mlx5_ib_test_wc -28"),
        (
            "mlx5_core 0000:61:00.0: wait_func:1132:(pid 1): CREATE_DCT(0x710) timeout. "
            "Will cause a leak of a command resource",
            "CREATE_DCT(0x710) timeout. Will cause a leak",
        ),
        (
            "mlx5_core 0000:3b:00.0: wait_func_handle_exec_timeout:1100:(pid 7): cmd[4]: "
            "QUERY_HCA_CAP(0x100) No done completion",
            "QUERY_HCA_CAP(0x100) No done completion",
        ),
        ("mlx5_core 0000:5e:00.0: device's health compromised - reached miss count", "device's health compromised"),
        ("mlx5_core 0000:5e:00.0: synd 0x7: irisc not responding", "synd 0x7: irisc not respond"),
        ("mlx5_ib: disagrees about version of symbol ib_umem_get", "mlx5_ib: disagrees about"),
        ("ib_core: Unknown symbol ib_x (err -2)", "ib_core: Unknown symbol"),
        (
            "mlx5_core 0000:41:00.0: init_one:1371:(pid 2): mlx5_load_one failed with error code -110",
            "mlx5_load_one failed with error code -110",
        ),
    ],
)
def test_a_failure_is_named(line: str, failure: str) -> None:
    found = failures(f"[    1.000000] {line}\n")
    assert len(found) == 1
    assert found[0].startswith(failure)
    assert warnings(f"[    1.000000] {line}\n") == []


def test_a_command_without_an_answer_is_told_once() -> None:
    text = (
        "[    1.000000] mlx5_core 0000:3b:00.0: wait_func_handle_exec_timeout:1100:(pid 7): "
        "cmd[4]: QUERY_HCA_CAP(0x100) No done completion\n"
        "[    1.000001] mlx5_core 0000:3b:00.0: wait_func:1130:(pid 7): QUERY_HCA_CAP(0x100) "
        "timeout. Will cause a leak of a command resource\n"
    )
    assert failures(text) == ["QUERY_HCA_CAP(0x100) timeout. Will cause a leak"]


@pytest.mark.parametrize(
    ("line", "warning"),
    [
        ("mlx5_core 0000:b0:00.0: x:475:(pid 3): Module ID not recognized: 0x19", "Module ID"),
        (SLOW, "TX timeout detected"),
        (
            "mlx5_core 0000:b0:00.0: mlx5_pcie_event:301:(pid 2): Detected insufficient power on the PCIe slot (27W).",
            "Detected insufficient power on the PCIe slot (27W)",
        ),
        (
            "mlx5_core 0000:b0:00.0: Port module event[error]: module 0, Cable error, High Temperature",
            "Port module event[error]: module 0, Cable error, High Temperature",
        ),
        (
            "mlx5_core 0000:b0:00.0: wait_func_handle_exec_timeout:1100:(pid 7): cmd[4]: "
            "QUERY_HCA_CAP(0x100) recovered after timeout",
            "QUERY_HCA_CAP(0x100) recovered after timeout",
        ),
        (
            "mlx5_core 0000:b0:00.0: cmd_work_handler:870:(pid 7): failed to allocate command entry",
            "failed to allocate command entry",
        ),
        (
            "mlx5_core 0000:b0:00.0: cq_err_event_notifier:520:(pid 7): CQ error on CQN 0x41, syndrome 0x1",
            "CQ error on CQN 0x41, syndrome 0x1",
        ),
    ],
)
def test_a_warning_is_named(line: str, warning: str) -> None:
    found = warnings(f"[    1.000000] {line}\n")
    assert len(found) == 1
    assert found[0].startswith(warning)
    assert failures(f"[    1.000000] {line}\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "mlx5_core 0000:05:00.0: Port module event: module 0, Cable unplugged",
        "mlx5_core 0000:05:00.0: E-Switch: Unload vfs: mode(LEGACY), nvfs(0)",
        "mlx5_core 0000:ab:00.0 mlx5_5: Port: 1 Link INIT",
        "mlx5_core: module verification failed: signature and/or required key missing",
        "nvidia_peermem: module verification failed: signature missing - tainting kernel",
        "nvidia-nvswitch3: open (major=510)",
        "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.105.08",
        "mlx5_core 0000:05:00.0: synd 0x0: unrecognized error",
        "traps: python3[123] general protection fault ip:7f sp:7f error:0 in libc.so.6",
        "mce: [Hardware Error]: Machine check events logged",
        "mlx5_core 0000:05:00.0: mlx5_cmd_out_err:809:(pid 7): ACCESS_REG(0x805) op_mod(0x1) "
        "failed, status bad parameter(0x3), syndrome (0x6231e6), err(-22)",
    ],
)
def test_ordinary_lines_say_nothing_bad(line: str) -> None:
    parsed = dmesg.parse(f"[    1.000000] {line}\n")
    assert (parsed.hca, parsed.kernel, parsed.peermem, parsed.xids) == ((), (), (), ())


def test_a_line_that_a_mail_broke_is_put_together() -> None:
    text = (
        "[   21.859081] mlx5_core 0005:01:00.0: probe_one:2017:(pid 10):\n"
        "mlx5_shd_init failed with error code -2\n"
        "[   21.863266] mlx5_core 0005:01:00.0: probe with driver mlx5_core\n"
        "failed with error -2\n"
    )
    # The step that failed is told by the start that failed.
    assert failures(text) == ["probe with driver mlx5_core failed with error -2"]
    assert failures(text.replace("\n", "\n\n")) == failures(text)


def test_a_broken_line_without_timestamps_is_put_together() -> None:
    text = "mlx5_core 0000:05:00.0: mlx5_irq_alloc:293:(pid 66740): Failed to\nrequest irq. err = -28"
    assert failures(text) == ["mlx5_irq_alloc err -28"]


def test_each_device_is_named_and_each_text_once() -> None:
    text = "".join(f"mlx5_core 0000:0{n}:00.0: Fatal error 1 detected\n" * 3 for n in (1, 2))
    assert [one.device for one in dmesg.parse(text).hca] == ["0000:01:00.0", "0000:02:00.0"]
    assert failures(text) == ["Fatal error 1 detected"]


@pytest.mark.parametrize(
    ("lines", "recovered"),
    [
        ([DEAD], False),
        ([DEAD, ALIVE], True),
        ([DEAD, "mlx5_core 0000:bb:00.0: firmware version: 28.47.1026"], True),
        ([DEAD, ALIVE, DEAD], False),
        ([DEAD, ALIVE.replace("bb", "cc")], False),
        ([ALIVE, DEAD], False),
    ],
)
def test_a_device_that_came_back_has_recovered(lines: list[str], recovered: bool) -> None:
    assert [one.recovered for one in dmesg.parse("\n".join(lines)).hca] == [recovered]


@pytest.mark.parametrize(
    ("line", "xid"),
    [
        ("NVRM: Xid (PCI:0000:0F:00): 94, Contained", Xid("0000:0f:00", 94, "Contained")),
        ("NVRM: Xid (0000:03:00): 14, Channel 1", Xid("0000:03:00", 14, "Channel 1")),
        ("NVRM: Xid (PCI:0000:04:00 GPU-I:05): 94, pid=7194, Contained", Xid("0000:04:00", 94, "pid=7194, Contained")),
        (
            "NVRM: Xid (PCI:0000:04:00): 13, pid='<unknown>', name=<unknown>, Graphics",
            Xid("0000:04:00", 13, "pid='<unknown>', name=<unknown>, Graphics"),
        ),
        ("NVRM: Xid (PCI:0000:xx:00): 79, GPU has fallen", Xid("0000:xx:00", 79, "GPU has fallen")),
        ("NVRM: Xid (PCI:<redacted>): 48, pid=1, DBE", Xid("<redacted>", 48, "pid=1, DBE")),
    ],
)
def test_every_spelling_of_an_xid_is_read(line: str, xid: Xid) -> None:
    assert dmesg.parse(f"[  1.000000] {line}\n").xids == (xid,)


def test_a_gpu_that_was_gone_before_it_came_up_counts_as_xid_79() -> None:
    text = (
        "[ 1843.308145] NVRM: The NVIDIA GPU 0000:b3:00.0\n"
        "               NVRM: (PCI ID: 10de:26b5) installed in this system has\n"
        "               NVRM: fallen off the bus and is not responding to commands.\n"
        "[ 1843.439662] NVRM: The NVIDIA probe routine failed for 1 device(s).\n"
    )
    assert dmesg.parse(text).xids == (Xid("0000:b3:00", 79, "GPU has fallen off the bus."),)


def test_an_sxid_counts_by_the_worst_that_came() -> None:
    text = (
        "nvidia-nvswitch3: SXid (PCI:****:**:**.*): 12028, Non-fatal, Link 32 egress error\n"
        "nvidia-nvswitch3: SXid (PCI:****:**:**.*): 12028, Fatal, Link 32 egress error\n"
        "nvidia-nvswitch3: SXid (PCI:****:**:**.*): 12028, Non-fatal, Link 33 egress error\n"
    )
    (found,) = dmesg.parse(text).sxids
    assert (found.sxid, found.text) == (12028, "Fatal, Link 32 egress error")


def test_sxids_of_nvswitches_are_read_once_each() -> None:
    text = (
        "nvidia-nvswitch3: SXid (PCI:0000:C1:00.0): 12028, Non-fatal, Link 32 egress error\n"
        "nvidia-nvswitch3: SXid (PCI:0000:C1:00.0): 12028, Severity 0 Engine instance 32\n"
        "nvidia-nvswitch0: SXid (PCI:0000:b7:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n"
        "nvidia-nvswitch0: SXid (PCI:0000:b7:00.0): garbled, Fatal\n"
    )
    assert dmesg.parse(text).sxids == (
        SXid("nvidia-nvswitch3", "0000:c1:00", 12028, "Non-fatal, Link 32 egress error"),
        SXid("nvidia-nvswitch0", "0000:b7:00", 20034, "Fatal, Link 30 LTSSM Fault Up"),
    )


@pytest.mark.parametrize(
    "line",
    [
        "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping",
        "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -2)",
        "nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client",
        "nv_peer_mem nv_mem_get_pages:165 failed to get pages",
    ],
)
def test_peer_memory_errors_are_kept(line: str) -> None:
    parsed = dmesg.parse(f"6,39,2279,-;{line}\n" * 2)
    assert parsed.peermem == (line,)
    assert parsed.hca == ()
    assert dmesg.facts(parsed)["has_peermem_error"] is True


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("BUG: kernel NULL pointer dereference, address: 0", "BUG: kernel NULL pointer"),
        ("Oops: 0002 [#1] PREEMPT SMP NOPTI", "Oops: 0002"),
        ("watchdog: BUG: soft lockup - CPU#3 stuck for 26s!", "BUG: soft lockup"),
        ("INFO: task kworker:72 blocked for more than 122 seconds.", "task kworker:72 blocked"),
        ("EDAC MC0: 1 UE memory read error", "EDAC MC0: 1 UE"),
        ("general protection fault, probably for address 0x1: 0000 [#1] SMP", "general prot"),
    ],
)
def test_faults_of_the_kernel_are_kept(line: str, text: str) -> None:
    kernel = dmesg.parse(f"[    1.000000] {line}\n").kernel
    assert [one.text.startswith(text) for one in kernel] == [True]


def test_refused_modules_and_the_iommu_are_read() -> None:
    parsed = dmesg.parse(
        "[  1.000] Loading of module with unavailable key is rejected\n"
        "[  1.100] Lockdown: modprobe: unsigned module loading is restricted; see man 7\n"
        "[  1.200] iommu: Default domain type: Translated (set via kernel command line)\n"
    )
    assert len(parsed.refused) == 2
    assert parsed.iommu == "Translated"


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("[    0.000000] Linux version 6.8.0\n[    1.000000] x: y\n", False),
        ("[  905.000000] mlx5_core 0000:05:00.0: x\n", True),
        ("6,3964,206764307,-;nvidia-nvswitch2: open\n", True),
        ("5,0,1,-;Linux version 6.8.0\n", False),
        ("Nov 20 10:00:00 node7 kernel: Linux version 6.8.0\n", False),
        ("mlx5_core 0000:05:00.0: x\n", None),
    ],
)
def test_a_lost_beginning_is_seen(text: str, lost: bool | None) -> None:
    assert dmesg.parse(text).beginning_lost is lost


def test_a_text_that_ends_within_a_line_is_cut() -> None:
    assert not dmesg.parse(f"[    1.000000] {SLOW}\n").cut
    assert not dmesg.parse(f"[    1.000000] {SLOW}\r\n").cut
    assert dmesg.parse(f"[    1.000000] {SLOW}").cut


def test_other_programs_lines_of_a_journal_are_passed_over() -> None:
    text = (
        f"Nov 20 10:00:00 node7 kernel: {SLOW}\n"
        f"Nov 20 10:00:01 node7 monitor[77]: saw 'Fatal error 1 detected' on mlx5_core\n"
    )
    assert (failures(text), warnings(text)) == ([], ["TX timeout detected"])


def test_the_firmware_is_that_of_the_first_device() -> None:
    text = "[ 1.0000] mlx5_core 0000:01:00.0: firmware version: 28.46.1006\n"
    assert dmesg.facts(dmesg.parse(text))["firmware"] == "28.46.1006"
    assert "firmware" not in dmesg.facts(dmesg.parse(f"[ 1.0000] {SLOW}\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty output"),
        (" \n\0\n", "empty output"),
        ("bash: dmesg: command not found", "not one line of a kernel log"),
        ("lorem ipsum\ndolor sit amet\n", "line 1 'lorem ipsum': not one line"),
        ("Nov 20 10:00:00 node7 sshd[7]: Accepted publickey", "not one line of a kernel log"),
    ],
)
def test_a_text_that_is_no_kernel_log_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=re.escape(message)):
        dmesg.parse(text)


def test_what_dmesg_complains_of_is_kept() -> None:
    said = "dmesg: read kernel buffer failed: Operation not permitted"
    with pytest.raises(ParseError) as caught:
        dmesg.parse(said + "\n")
    assert caught.value.error_lines == (said,)


def test_every_known_message_says_what_it_means() -> None:
    for known in (*kernel_log.HCA, *kernel_faults.KERNEL):
        assert known.kind in (kernel_log.FAILURE, kernel_log.WARNING, kernel_faults.PASSING, kernel_faults.STOPPING)
        assert known.means
        assert re.compile(known.pattern).groups == len(re.findall(r"\\[1-9]", known.label))


def test_a_table_of_modules_is_no_kernel_log() -> None:
    table = "rdma_rxe 102400 0\nib_core 192512 6 rdma_rxe,ib_cm\nrxe_cfg is giving a strange error:\n"
    with pytest.raises(ParseError):
        dmesg.parse(table)
    (record,) = dmesg.records("ib_core 192512 6 rdma_rxe\n[    2.0] mlx5_core 0000:5c:00.0: it broke\n")
    assert record.text == "mlx5_core 0000:5c:00.0: it broke"


def test_a_date_with_its_year_is_no_table_of_modules() -> None:
    line = "Jun 26 2026 08:48:30 n1 mlx5_core 0000:5c:00.0: it broke"
    assert [record.text for record in dmesg.records(f"mlx5_core 0000:5c:00.0: up\n{line}\n")][-1].endswith("it broke")


def test_a_module_of_any_origin_that_the_kernel_refused_is_told() -> None:
    parsed = dmesg.parse(
        "[ 10.1] frob: disagrees about version of symbol a_b\n[ 10.2] frob: Unknown symbol a_b (err -22)\n"
    )
    assert [(line.driver, line.text.split(":")[0]) for line in parsed.unexplained] == [("modules", "frob")] * 2


def test_lines_of_dpdk_are_no_kernel_log() -> None:
    with pytest.raises(ParseError):
        dmesg.parse("mlx5_common: Failed to load driver mlx5_eth\n")
