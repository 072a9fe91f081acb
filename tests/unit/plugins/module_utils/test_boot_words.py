# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.host.boot_words import held_back


@pytest.mark.parametrize(
    ("cmdline", "without"),
    [
        ("ro quiet iommu=pt", []),
        ("nr_cpus=8", ["CPUs"]),
        ("nr_cpus=8192 maxcpus=224 possible_cpus=1024", []),
        ("maxcpus=0x8", ["CPUs"]),
        ("nr_cpus=8 nr_cpus=512", []),
        ("mem=64G", ["memory"]),
        ("mem=68719476736", ["memory"]),
        ("mem=2048G mem_sleep_default=s2idle memmap=4G!12G", []),
        ("mem=2T", []),
        ("mem=nopentium", []),
        ("numa=off", ["NUMA nodes"]),
        ("numa=off numa=on", []),
        ("nosmp nox2apic", ["CPUs", "interrupts for CPUs above 255"]),
        ("quiet -- nosmp nr_cpus=1", []),
        ("pci=realloc=off", []),
        ("pci=realloc,nomsi pci=noaer", ["interrupts for each queue of an HCA", "reports of PCI Express errors"]),
        ("modprobe.blacklist=nouveau,nvidiafb,nvidia_drm,ib_srp,mlx5_vdpa", []),
        ("modprobe.blacklist=nouveau modprobe.blacklist=mlx5-core", ["the module mlx5-core"]),
        ("rd.driver.blacklist=nvidia,nvidia-uvm", ["the module nvidia"]),
        ("module_blacklist=", []),
    ],
)
def test_what_the_kernel_goes_without(cmdline: str, without: list[str]) -> None:
    assert [told for _word, told in held_back(cmdline)] == without
