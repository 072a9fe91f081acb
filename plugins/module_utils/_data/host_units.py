# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd units that matter to a training node, by what they are for. Data only.

Names without an ending are services. source: the units that rdma-core, MLNX_OFED/DOCA, Slurm,
containerd, Docker, CRI-O, Kubernetes, k3s, OpenPBS, chrony, ntp and linuxptp ship; confirmed.
"""

from __future__ import annotations

from . import drivers

# SHARP's aggregation manager, on the host that is to run it; asked only there. Source: sharp_daemons_setup.sh of
# HPC-X and DOCA-Host, and NVIDIA's SHARP manual 3.x: it is neither started at boot nor again after a fault.
# A socket may start it at the first question (-b).
SHARP = ("sharp_am", "sharp_am.socket")
# One of these, by the distribution; Ubuntu's is started by a socket.
SSH = ("ssh", "sshd")
RDMA = ("openibd", "ibacm", "rdma-ndd")
# What these start is the job: it has their limits.
JOBS = (
    *("slurmd", "containerd", "docker", "crio", "kubelet", "k3s", "k3s-agent", "rke2-agent"),
    *("rke2-server", "pbs"),
)
# Every kubelet has it, kubeadm's, k3s' and RKE2's; its configuration lies elsewhere with each.
KUBELET = "/var/lib/kubelet/pods"
# kubelet starts nothing itself where one of these does it for it.
RUNTIMES = ("containerd.service", "crio.service", "docker.service")
TIME = (
    *("chronyd", "chrony", "systemd-timesyncd", "ntpd", "ntp", "ntpsec", "openntpd", "ptp4l"),
    "phc2sys",
)
APT_TIMER = "apt-daily-upgrade.timer"
# The second one installs whatever automatic.conf says.
DNF_TIMERS = ("dnf-automatic.timer", "dnf-automatic-install.timer")
UPDATES = (APT_TIMER, *DNF_TIMERS)

# What each verify looks at; systemd is asked for all of them at once.
ALWAYS = (*JOBS, *RDMA, *TIME, *SSH, drivers.PERSISTENCE_UNIT)

# What a unit is asked for. MainPID is 0 for what is no service. Of what starts jobs, also the limits
# that its files ask for, where these files are, and what it is given.
PROPERTIES = (
    "Id,LoadState,ActiveState,SubState,UnitFileState,MainPID"
    ",FragmentPath,DropInPaths,LimitMEMLOCKSoft,LimitNOFILE,Environment"
)
