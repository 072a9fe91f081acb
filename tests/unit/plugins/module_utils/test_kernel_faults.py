# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of the kernel's log as kernels of many years print them: what each counts as, and what is harmless."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._data import kernel_faults, kernel_log
from ansible_collections.ibready.cluster.plugins.module_utils._data.kernel_faults import PASSING, STOPPING
from ansible_collections.ibready.cluster.plugins.module_utils._data.kernel_log import FAILURE, WARNING
from ansible_collections.ibready.cluster.plugins.module_utils._parse import dmesg

LINES = {
    FAILURE: [
        "general protection fault: 0000 [#1] SMP PTI",
        "general protection fault, probably for non-canonical address 0xdead000000000122: 0000 [#1] SMP NOPTI",
        "Oops: general protection fault, probably for non-canonical address 0xdead000000000122: 0000 [#1] PREEMPT SMP",
        "general protection fault, maybe for address 0xffffc90000000000: 0000 [#1] SMP",
        "invalid opcode: 0000 [#1] SMP NOPTI",
        "Internal error: synchronous external abort: 0000000096000410 [#1] SMP",
        "Internal error: Oops: 96000004 [#1] SMP",
        "SError Interrupt on CPU71, code 0x00000000be000011 -- SError",
        "BUG: Bad page state in process python3  pfn:3a7b2c4",
        "BUG: Bad page map in process python3  pte:800000123 pmd:1234",
        "NVRM: uvm encountered global fatal error 0x60, requiring os reboot to recover.",
        "NVRM: nvGpuOpsReportFatalError: uvm encountered global fatal error 0x60, requiring os reboot to recover.",
        "NMI: PCI system error (SERR) for reason a1 on CPU 0.",
        "Memory failure: 0x3a7b2c4: Sending SIGBUS to python3:81234 due to hardware memory corruption",
        "Memory failure: 0x3a7b2c4: recovery action for high-order kernel page: Ignored",
        "Memory failure: 0x3a7b2c4: recovery action for dirty LRU page: Failed",
    ],
    WARNING: [
        "Memory failure: 0x3a7b2c4: recovery action for clean LRU page: Recovered",
        "AMD-Vi: Event logged [IO_PAGE_FAULT device=41:00.0 domain=0x0023 address=0x0 flags=0x0020]",
        "AMD-Vi: Event logged [IOTLB_INV_TIMEOUT device=41:00.0 address=0x10000]",
        "AMD-Vi: Completion-Wait loop timed out",
        "arm-smmu-v3 arm-smmu-v3.9.auto: event 0x10 received:",
        "BUG: workqueue lockup - pool cpus=3 node=0 flags=0x0 nice=0 stuck for 33s!",
        "rcu: rcu_sched kthread starved for 5250 jiffies! g1 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x0 ->cpu=3",
        "BUG: scheduling while atomic: python3/81234/0x00000002",
        "[Hardware Error]: Deferred error, no action required.",
        "md/raid1:md0: Disk failure on nvme1n1p2, disabling device.",
        "md/raid10:md127: Disk failure on sdb1, disabling device.",
        "XFS (md0): Metadata corruption detected at xfs_agi_verify+0x1a2/0x1d0 [xfs], xfs_agi block 0x2",
        "XFS (nvme0n1p3): Metadata CRC error detected at xfs_agf_read_verify+0xe1/0x120 [xfs]",
        "pcieport 0000:15:01.0: pciehp: Slot(65): Link Down",
        "pcieport 0000:15:01.0: pciehp: Slot(65-1): Card not present",
        "nvidia: version magic '6.8.0-45-generic SMP mod_unload modversions ' should be '6.8.0-47-generic SMP'",
    ],
    PASSING: [
        "python3[991]: segfault at 8 ip 00007f12ab00 sp 00007ffc1200 error 4 in libcuda.so.550.54.15[7f12+1a0000]",
        "traps: python3[991] general protection fault ip:7f12ab00 sp:7ffc1200 error:0 in libmlx5.so.1.24.47.0[7f12+5]",
        "nfs: server storage not responding, still trying",
        "nvme nvme2: I/O tag 42 (102a) opcode 0x2 (I/O Cmd) QID 3 timeout, aborting req_op:READ(0) size:131072",
        "nvme nvme2: I/O 42 (I/O Cmd) QID 3 timeout, aborting",
        "nvme nvme2: I/O 42 QID 3 timeout, reset controller",
        "nvme nvme2: Device not ready; aborting reset, CSTS=0x1",
        "Buffer I/O error on dev dm-0, logical block 0, async page read",
    ],
    STOPPING: [
        "neighbour: arp_cache: neighbor table overflow!",
        "nf_conntrack: nf_conntrack: table full, dropping packet",
        "nf_conntrack: table full, dropping packet",
        "cgroup: fork rejected by pids controller in /system.slice/slurmstepd.scope/job_7",
        "VFS: file-max limit 65536 reached",
    ],
}
HARMLESS = [
    "traps: python3[991] general protection fault ip:7f0 sp:7ffd error:0 in libc.so.6[7f0+1]",
    "python3[991]: segfault at 8 ip 00007f12ab00 sp 00007ffc1200 error 4 in libcudart.so.12[7f12+1a0000]",
    "traps: python3[991] trap invalid opcode ip:7f0 sp:7ffd error:0 in libfoo.so[7f0+1]",
    "blk_update_request: I/O error, dev nbd3, sector 0 op 0x0:(READ) flags 0x0",
    "Buffer I/O error on dev nbd3, logical block 0, async page read",
    "nfs: server storage OK",
    "md/raid1:md0: active with 2 out of 2 mirrors",
    "pcieport 0000:15:01.0: pciehp: Slot #65 AttnBtn- PwrCtrl- MRL- AttnInd- PwrInd- HotPlug+",
    "XFS (md0): Ending clean mount",
    "pcieport 0000:15:01.0: pciehp: Slot(4): Link Down/Up ignored (recovered by DPC)",
    "AMD-Vi: Interrupt remapping enabled",
    "arm-smmu-v3 arm-smmu-v3.9.auto: ias 48-bit, oas 48-bit (features 0x0021fff)",
    "nf_conntrack: default automatic helper assignment has been turned off",
    "Mce: [Hardware Error]: Machine check events logged",
]


@pytest.mark.parametrize(("kind", "line"), [(kind, line) for kind, lines in LINES.items() for line in lines])
def test_each_line_counts_as_what_it_is(kind: str, line: str) -> None:
    (found,) = dmesg.parse(f"[863000.123456] {line}\n").kernel
    assert found.kind == kind
    assert found.means


@pytest.mark.parametrize("line", HARMLESS)
def test_a_harmless_line_counts_for_nothing(line: str) -> None:
    assert dmesg.parse(f"[863000.123456] {line}\n").kernel == ()


def kernel(*lines: str) -> list[tuple[str, str]]:
    log = "".join(f"[{number}.000000] {line}\n" for number, line in enumerate(lines, 100))
    return [(found.kind, found.text) for found in dmesg.parse(log).kernel]


def test_what_is_over_is_taken_back() -> None:
    lost, back = "nfs: server fs1 not responding, still trying", "nfs: server fs1 OK"
    assert kernel(lost, back) == []
    assert kernel(back, lost) == [(PASSING, "nfs: fs1")]
    assert kernel(lost, "nfs: server fs2 OK") == [(PASSING, "nfs: fs1")]
    down, up = "pcieport 0000:15:01.0: pciehp: Slot(2): Link Down", "pcieport 0000:15:01.0: pciehp: Slot(2): Link Up"
    assert kernel(down, up) == []
    assert kernel(down, up.replace("(2)", "(3)")) == [(WARNING, "slot 2")]


def test_records_of_the_boot_before_are_told_as_such() -> None:
    head, record = "BERT: Error records from previous boot:", "[Hardware Error]: event severity: fatal"
    assert [kind for kind, _text in kernel(head, record)] == [WARNING]
    assert [kind for kind, _text in kernel(head, record, "systemd[1]: Started x.", record)] == [FAILURE]
    assert [kind for kind, _text in kernel(record)] == [FAILURE]


def test_one_page_under_many_processes_is_one_message() -> None:
    line = "Memory failure: 0x3a7b2c4: Sending SIGBUS to python3:{} due to hardware memory corruption"
    assert kernel(line.format(1234), line.format(1235)) == [(FAILURE, "SIGBUS to python3")]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"\bnfs: server (\S{1,80}) not responding", " not responding"),
        (r"BUG: Bad page (?:state|map)", "BUG: Bad page "),
        (r"\b(XFS \([^()]{1,40}\): .{0,60}?[Ss]hut(?:ting)? ?down)", "XFS "),
        (r"colou?r is red", "r is red"),
        (r"(?:never )?sure", "sure"),
        (r"(?!not this)that", "that"),
        (r"one|the other", ""),
        (r"a\[bc(?:d|ef)gh*", "bc"),
    ],
)
def test_words_that_each_match_of_a_pattern_holds(pattern: str, words: str) -> None:
    assert dmesg.literal_of(pattern) == words


@pytest.mark.parametrize("known", [*kernel_log.HCA, *kernel_faults.KERNEL], ids=lambda known: known.pattern[:40])
def test_no_rule_is_passed_by_for_words_that_a_match_may_lack(known: kernel_log.Known) -> None:
    literal = dmesg.literal_of(known.pattern)
    assert literal, "each line of each log would be held against it"

    @settings(max_examples=30, database=None, derandomize=True, deadline=None)
    @given(st.from_regex(known.pattern))
    def held(text: str) -> None:
        assert literal in text

    held()
