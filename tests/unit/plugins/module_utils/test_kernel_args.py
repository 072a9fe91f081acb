# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.tuning import kernel_args as args
from ansible_collections.ibready.cluster.plugins.module_utils._areas.host.check_kernel import _said
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine import observe as machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._data.kernel_args import INTEL, KERNEL_ARGS
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from tests.gauntlet.render import boards, node, render


def host(board: str) -> Machine:
    return machine.observe(render(node(board)))


H100, GRACE = "hgx-h100-8", "gb200-nvl72-node"


def test_auto_is_what_the_check_of_the_iommu_passes() -> None:
    for board in boards():
        one = host(board)
        found = args.chosen(["auto"], one, INTEL)
        if one.virtual.value or one.has_gpus is False:
            continue
        assert _said(" ".join(found), one.arch)[0] == "pt", board


def test_each_processor_gets_its_own() -> None:
    assert args.chosen(["auto"], host(H100), INTEL) == ("iommu=pt",)
    assert args.chosen(["sriov", "auto"], host(H100), INTEL) == ("intel_iommu=on", "iommu=pt")
    assert args.chosen(["sriov"], host(H100), "AuthenticAMD") == ("iommu=pt",)
    assert "numa_balancing=disable" in args.chosen(["auto"], host(GRACE), "")


def test_a_virtual_machine_and_a_bare_head_node_get_none() -> None:
    assert args.chosen(["auto"], Machine(arch="x86_64"), INTEL) == ()
    virtual = Machine(arch="x86_64", virtual=Reading(True))
    assert args.chosen(["auto", "quiet"], virtual, INTEL) == ("quiet",)


@pytest.mark.parametrize("bad", ["two words", 'a="b"', "$(reboot)", "`x`", "", "a\nb", "a;b"])
def test_what_a_shell_would_read_otherwise_is_refused(bad: str) -> None:
    with pytest.raises(args.KernelArgsError, match="no kernel argument"):
        args.chosen([bad], Machine(), "")


def test_two_values_of_one_argument_are_refused_but_not_of_one_that_repeats() -> None:
    with pytest.raises(args.KernelArgsError, match="both wanted"):
        args.chosen(["init-on-alloc=0", "init_on_alloc=1"], Machine(), "")
    assert len(args.chosen(["console=tty0", "console=ttyS0"], Machine(), "")) == 2


def test_every_fact_has_source_and_confidence() -> None:
    assert all(one.source and one.confidence and one.why for one in KERNEL_ARGS)


def test_the_operators_own_are_neither_doubled_nor_overruled() -> None:
    found = args.plan(["iommu=pt", "init_on_alloc=0", "quiet"], ["quiet", "iommu=soft"], ["init_on_alloc=0"])
    assert found.ours == ("init_on_alloc=0",)
    assert found.there == ("quiet",)
    assert found.kept == {"iommu=pt": "iommu=soft"}
    assert found.dropped == ()


def test_only_what_was_added_is_dropped() -> None:
    found = args.plan([], ["quiet", "a=1"], ["iommu=pt", "a=1"])
    assert (found.ours, found.dropped) == ((), ("iommu=pt",))


DEFAULT_GRUB = """\
GRUB_DEFAULT=0
GRUB_DISTRIBUTOR=`lsb_release -i -s 2> /dev/null || echo Debian`
GRUB_CMDLINE_LINUX_DEFAULT="quiet splash" # as shipped
GRUB_CMDLINE_LINUX='console=tty0 \\
  console=ttyS0,115200'
#GRUB_CMDLINE_LINUX="commented=1"
"""


def test_the_operators_arguments_are_read_as_the_shell_reads_them() -> None:
    later = 'export GRUB_CMDLINE_LINUX="${GRUB_CMDLINE_LINUX} iommu=pt"\n'
    found = args.operators_of([DEFAULT_GRUB, later])
    assert set(found) == {"quiet", "splash", "console=tty0", "console=ttyS0,115200", "iommu=pt"}
    assert args.operators_of([DEFAULT_GRUB, 'GRUB_CMDLINE_LINUX_DEFAULT=""']) == (
        "console=tty0",
        "console=ttyS0,115200",
    )


def test_the_drop_in_can_be_read_back() -> None:
    assert args.arguments_of(args.render(["iommu=pt", "a=b,c"])) == ("iommu=pt", "a=b,c")
    assert args.render([]) == ""
    assert args.arguments_of("") == ()


GRUB_CFG = """\
menuentry 'Ubuntu' {
\tlinux\t/boot/vmlinuz-6.8.0-48-generic root=UUID=1 ro  quiet iommu=pt
\tinitrd\t/boot/initrd.img-6.8.0-48-generic
}
menuentry 'Ubuntu (recovery mode)' {
\tlinux\t/boot/vmlinuz-6.8.0-48-generic root=UUID=1 ro recovery
}
menuentry 'Memory test' {
\tlinux /boot/memtest86+x64.bin
}
"""

GRUBBY = """\
index=0
kernel="/boot/vmlinuz-5.14.0-427.el9.x86_64"
args="ro crashkernel=1G-4G:192M rd.lvm.lv=rl/root iommu=pt $tuned_params"
root="/dev/mapper/rl-root"
initrd="/boot/initramfs-5.14.0-427.el9.x86_64.img $tuned_initrd"
title="Rocky Linux"
id="1"
index=1
kernel="/boot/vmlinuz-0-rescue"
args="ro crashkernel=1G-4G:192M"
root="/dev/mapper/rl-root"
"""


@pytest.mark.parametrize(
    ("entries", "without"),
    [
        (args.grub_entries(GRUB_CFG), "/boot/vmlinuz-6.8.0-48-generic #2"),
        (args.grubby_entries(GRUBBY), "/boot/vmlinuz-0-rescue #1"),
    ],
)
def test_every_boot_entry_is_looked_at(entries: dict[str, tuple[str, ...]], without: str) -> None:
    assert len(entries) == 2
    assert args.lacking(entries, ["iommu=pt"]) == {without: ["iommu=pt"]}


def test_pending_is_what_the_running_kernel_does_not_show_yet() -> None:
    line = "BOOT_IMAGE=/vmlinuz ro old=1 iommu=pt own=1"
    found = args.pending(line, ["iommu=pt", "new=1"], ["old=1", "own=1"], ["own=1"])
    assert found == ["+new=1", "-old=1"]
