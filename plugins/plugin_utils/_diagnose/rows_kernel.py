# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes below the drivers: modules that are not there, refused, or of another stack. Data only."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.effects import (
    BLIND,
    RISK,
    SKEW,
    STOPS,
    TCP,
    UNSTEADY,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.fixes import (
    look,
    run,
    site,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import LIKELY, Row

_RDMA = (
    *("host.module.rdma", "host.rdma.devices", "pci.hca.*", "stack.rdma.*", "stack.gpudirect.*"),
    *("ib.*", "roce.*", "fabric.*", "fleet.hca.*", "fleet.sm.*", "fleet.port.*", "fleet.pci.link"),
    *("fleet.rdma.version", "host.service.openibd"),
)
_NVIDIA = (
    *("gpu.*", "pci.gpu.*", "nvlink.*", "fleet.driver.version", "fleet.gpu.model"),
    *("stack.gpudirect.*", "stack.lock.match"),
)
_JOB = ("nccl.log.network", "nccl.log.hcas", "nccl.log.gdr")

ROWS = (
    Row(
        "host.secure_boot",
        "Secure Boot keeps a driver out",
        STOPS,
        ("host.boot.secure_boot",),
        look(
            *("mokutil", "--sb-state"),
            hands="enrol the site's key (roles/nvidia_driver/README.md, Secure Boot) and reboot",
        ),
        here=(*_RDMA, *_NVIDIA, "stack.kmod.built"),
        far=_JOB,
        fleet=True,
    ),
    Row(
        "kmod.rdma",
        "the RDMA modules were not built for the running kernel",
        SKEW,
        ("stack.kmod.built~\\b(mlx|ib_|rdma|iw_)",),
        site("rdma_packages", "rdma_modules", reboot=True),
        here=(*_RDMA, "stack.packages.whole"),
        far=_JOB,
        fleet=True,
    ),
    Row(
        "kmod.nvidia",
        "the NVIDIA modules were not built for the running kernel",
        RISK,
        ("stack.kmod.built",),
        site("nvidia_driver_packages", "nvidia_driver_modules", reboot=True),
        here=(*_NVIDIA, "stack.packages.whole"),
        fleet=True,
        loss=0.05,
    ),
    Row(
        "kmod.next",
        "a newer kernel waits for the next boot, and modules were not built for it",
        RISK,
        ("stack.kmod.next",),
        look(
            *("dkms", "status"),
            hands="install the headers of that kernel before anybody reboots; site.yml with "
            "ibready_reboot_ok then builds the modules, and reboots",
        ),
        fleet=True,
    ),
    Row(
        "stack.half_installed",
        "the package manager did not finish installing the stack",
        SKEW,
        ("stack.packages.whole",),
        run("dpkg", "--configure", "-a", note="read what it says; then run site.yml for the host"),
        fleet=True,
        loss=0.05,
    ),
    Row(
        "host.nouveau",
        "another driver than NVIDIA's holds the GPUs",
        STOPS,
        ("host.module.nouveau",),
        site("nvidia_driver_packages", "host_tuning_blacklist", reboot=True),
        here=_NVIDIA,
        fleet=True,
    ),
    Row(
        "stack.mixed",
        "parts of two RDMA stacks are installed",
        UNSTEADY,
        ("stack.rdma.single",),
        site("rdma_packages", "rdma_modules", more=("ibready_replace_stack_ok=true",), reboot=True),
        here=("stack.rdma.*", "fleet.rdma.version", "stack.lock.match~rdma"),
        fleet=True,
    ),
    Row(
        "rdma.openibd",
        "openibd did not start the RDMA stack",
        SKEW,
        ("host.service.openibd",),
        run("systemctl", "restart", "openibd", note="it takes every RDMA link down: drain first"),
        here=_RDMA,
        far=_JOB,
        fleet=True,
    ),
    Row(
        "rdma.modules",
        "the kernel has no RDMA modules",
        TCP,
        ("host.module.rdma", "stack.rdma.loaded~not loaded", "roce.rail.present"),
        site("rdma_packages", "rdma_modules"),
        here=(*_RDMA, "host.module.rdma_user", "nvlink.nvlsm.*"),
        far=_JOB,
        fleet=True,
    ),
    Row(
        "rdma.old_modules",
        "the loaded RDMA modules are not those of the installed stack",
        SKEW,
        ("stack.rdma.loaded", "stack.rdma.userspace"),
        site("rdma_modules", more=("ibready_fabric_restart_ok=true",), reboot=True),
        here=("stack.gpudirect.path", "fleet.rdma.version", "stack.lock.match~rdma"),
        fleet=True,
    ),
    Row(
        "rdma.none",
        "no RDMA stack is installed",
        SKEW,
        ("stack.rdma.version",),
        site("rdma_packages", "rdma_modules"),
        here=("fleet.rdma.version",),
        fleet=True,
    ),
    Row(
        "rdma.umad",
        "ib_umad or rdma_cm is not loaded: nothing can ask the fabric",
        BLIND,
        ("host.module.rdma_user",),
        site("rdma_modules"),
        here=("fabric.*", "nvlink.nvlsm.*", "ib.tool.*"),
        fleet=True,
    ),
    Row(
        "rdma.ipoib",
        "IP over InfiniBand is configured, and its module is not loaded",
        SKEW,
        ("host.module.ipoib",),
        site("rdma_modules", more=("rdma_ipoib=true",)),
        far=("nccl.log.bootstrap", "nccl.log.errors~ifname"),
        fleet=True,
        confidence=LIKELY,
    ),
)
