# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file that ibready writes on a node, or may write: what a snapshot holds, and nothing else.

Source: the roles' task files and the modules that they name. Confidence: confirmed; the system
test of the rollback compares a node's /etc and /var/lib/ibready with what they were.
"""

from __future__ import annotations

from dataclasses import dataclass

# What has to be told of a changed file.
SYSTEMD, UDEV, GRUB, INITRAMFS = "systemd", "udev", "grub", "initramfs"


@dataclass(frozen=True)
class Managed:
    """Files by a glob. ``repository``: the package manager reads it, so it goes back first."""

    glob: str
    repository: bool = False
    tell: str = ""


MANAGED = (
    # stack_packages
    Managed("/etc/apt/sources.list.d/ibready-*.list", repository=True),
    Managed("/etc/apt/keyrings/ibready-*.gpg", repository=True),
    Managed("/etc/apt/preferences.d/ibready-*", repository=True),
    Managed("/etc/yum.repos.d/ibready-*.repo", repository=True),
    Managed("/etc/pki/rpm-gpg/RPM-GPG-KEY-ibready-*", repository=True),
    Managed("/etc/dnf/modules.d/nvidia-driver.module", repository=True),
    Managed("/etc/dnf/plugins/versionlock.list"),
    Managed("/var/lib/ibready/packages/*.json"),
    # rdma: images on their way to a card, which the role takes away again.
    Managed("/var/lib/ibready/firmware/*"),
    # host_tuning
    Managed("/etc/sysctl.d/90-ibready.conf"),
    Managed("/etc/security/limits.d/90-ibready.conf"),
    Managed("/etc/systemd/system.conf.d/90-ibready.conf", tell=SYSTEMD),
    Managed("/etc/systemd/user.conf.d/90-ibready.conf", tell=SYSTEMD),
    Managed("/etc/systemd/system/*.service.d/90-ibready.conf", tell=SYSTEMD),
    Managed("/etc/systemd/system/ibready-*", tell=SYSTEMD),
    Managed("/etc/systemd/system/*.wants/ibready-*", tell=SYSTEMD),
    Managed("/etc/default/grub.d/*ibready*", tell=GRUB),
    Managed("/etc/modprobe.d/ibready-*", tell=INITRAMFS),
    Managed("/etc/ibready/*.json"),
    Managed("/usr/local/lib/ibready/boot-tuning"),
    # rdma, nvidia_driver
    Managed("/etc/modules-load.d/ibready-*"),
    Managed("/etc/udev/rules.d/60-rdma-persistent-naming.rules", tell=UDEV),
    Managed("/etc/infiniband/openib.conf"),
    Managed("/usr/local/lib/ibready/soft-roce"),
    Managed("/etc/dkms/framework.conf.d/ibready.conf"),
    Managed("/etc/nvidia-imex/nodes_config.cfg"),
    # roce
    Managed("/usr/local/lib/ibready/roce"),
    Managed("/etc/udev/rules.d/85-ibready-roce.rules", tell=UDEV),
    Managed("/etc/systemd/network/*.network.d/ibready-roce.conf"),
    Managed("/etc/NetworkManager/conf.d/90-ibready-roce.conf"),
    # nccl
    Managed("/etc/nccl.conf"),
    # container_runtime; an engine takes up a file that went back when it starts next.
    Managed("/etc/docker/daemon.json"),
    Managed("/etc/containerd/config.toml"),
    Managed("/etc/containers/containers.conf.d/90-ibready.conf"),
    Managed("/etc/cdi/ibready-rdma.json"),
    Managed("/etc/cdi/nvidia.yaml"),
    Managed("/usr/local/lib/ibready/cdi-rdma"),
    # mpi
    Managed("/etc/openmpi*/openmpi-mca-params.conf"),
    Managed("/etc/openmpi*/prte-mca-params.conf"),
    Managed("/etc/ucx/ucx.conf"),
    # beegfs_client
    Managed("/etc/beegfs/beegfs-client*.conf"),
    Managed("/etc/beegfs/ibready-*.conf"),
    # subnet_manager
    Managed("/etc/ibready/opensm/*"),
    Managed("/etc/logrotate.d/ibready-opensm"),
    Managed("/etc/systemd/system/opensm*.service", tell=SYSTEMD),
    # ipoib; the service takes up a file that went back when it starts next.
    Managed("/etc/systemd/network/60-ibready-*"),
    Managed("/etc/systemd/network/05-ibready-*.link"),
    Managed("/etc/systemd/network/10-netplan-*.network.d/ibready.conf"),
    Managed("/etc/netplan/90-ibready-ipoib.yaml"),
    Managed("/etc/NetworkManager/system-connections/ibready-*.nmconnection"),
    # Which services start at boot.
    Managed("/etc/systemd/system/*.wants/openibd.service", tell=SYSTEMD),
    Managed("/etc/rc*.d/*openibd"),
    Managed("/etc/systemd/system/*.wants/nvidia-*.service", tell=SYSTEMD),
    Managed("/etc/systemd/system/*.wants/nvidia-*.path", tell=SYSTEMD),
    # What the roles remember, so that they can put it back themselves.
    Managed("/var/lib/ibready/*.json"),
)
# The snapshots' own memory, and what belongs to no stack: a rollback leaves the health agent.
LEFT_OUT = (
    "/var/lib/ibready/stack.json",
    "/etc/ibready/agent.json",
    "/etc/ibready/expect.json",
    "/etc/ibready/waivers.json",
    "/etc/ibready/npd.json",
    "/etc/systemd/system/ibready-health.service",
    "/etc/systemd/system/ibready-health.timer",
    "/etc/systemd/system/ibready-ready.service",
    "/etc/systemd/system/timers.target.wants/ibready-health.timer",
    # Of a run: which rules stand in the firewall now.
    "/var/lib/ibready/firewall.json",
)
