# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for GPUDirect Storage (stack.gds.*)."""

from __future__ import annotations

from ..._ground.catalog import error, warning

_TOOL = "gdscheck"

ENTRIES = (
    error(
        "stack.gds.mode",
        "Jobs' data goes by the way that the site wants (GPUDirect Storage)",
        "gdscheck tells for each file system whether cuFile reaches it by nvidia-fs, by PCI P2PDMA, by RDMA in user "
        "space or in compatibility mode only: through host memory, at a fraction of the speed, and every call "
        "succeeds. Judged where `ibready_expect` has gds or gds_mounts.",
        (
            "the storage's kernel module is the distribution's, without NVIDIA's changes for nvidia-fs",
            "nvidia_fs is not loaded, or was built for another kernel",
            "cufile.json does not switch P2PDMA on, or a job's CUFILE_ENV_PATH_JSON names another file",
        ),
        "run `/usr/local/cuda/gds/tools/gdscheck -p`; see stack.gds.module, stack.gds.conf and host.kernel.iommu of "
        "the same host; for NVMe and NFS by nvidia-fs install DOCA-OFED with its storage modules, and nvidia-fs after "
        "it",
        (_TOOL,),
    ),
    warning(
        "stack.gds.module",
        "nvidia_fs is loaded, of the release that is installed",
        "The kernel module that moves data between storage and GPU memory. Where another one than the installed is in "
        "the kernel, or none, cuFile copies through host memory.",
        (
            "nvidia-fs was upgraded, and neither reloaded nor the host rebooted",
            "nothing loads it at boot: /etc/modules-load.d/nvidia-fs.conf is missing",
        ),
        "run `dkms status nvidia-fs`, build what is missing, then `modprobe -r nvidia_fs && modprobe nvidia_fs` on the "
        "drained host; see that /etc/modules-load.d names nvidia-fs",
        ("/sys/module/nvidia_fs", "/proc/driver/nvidia-fs/version"),
    ),
    warning(
        "stack.gds.conf",
        "cuFile's configuration can be read, and names addresses of the host's RDMA interfaces",
        "/etc/cufile.json is JSON with comments. What is judged: switches, sizes and the policy have the right form, "
        "and every rdma_dev_addr_list names the host's own RDMA devices or addresses upon them; Weka and Spectrum "
        "Scale are read by no others. Unknown keys are no error.",
        ("the file was edited by hand, or written by a full disk", "a comma or a bracket is missing"),
        "fix the line that the finding names; /usr/local/cuda/gds/cufile.json is the package's own; see `ip -br addr` "
        "and `ls /sys/class/infiniband`",
        ("/etc/cufile.json",),
    ),
    error(
        "stack.gds.mount",
        "File systems for GPUDirect Storage are mounted, over RDMA or on NVMe",
        "Of each mount point in `ibready_expect.gds_mounts`: something is mounted there, of a kind that GDS reaches: "
        "NFS with proto=rdma, Lustre over an RDMA network, BeeGFS (stack.beegfs.transport says how it is connected), "
        "Weka, Spectrum Scale, or ext4 with data=ordered and xfs on NVMe.",
        ("it was mounted by hand, or by an fstab of another host", "the server's RDMA address did not answer at boot"),
        "look at `findmnt MOUNTPOINT`; mount it anew with the options that the finding names",
        ("/proc/self/mounts",),
    ),
    warning(
        "stack.gds.platform",
        "gdscheck takes GPUs and platform for fit",
        "The last lines of `gdscheck -p`: every GPU supports GDS, and the platform is verified. It says nothing of any "
        "file system: see stack.gds.mode. Its IOMMU line does not tell passthrough from translation: "
        "host.kernel.iommu does.",
        (
            "nvidia_fs or the NVIDIA driver is not loaded, or of a release that cuFile does not take",
            "the proprietary kernel modules are loaded, and this release takes the open ones only",
            "cufile.json is wrong (Invalid argument): see stack.gds.conf",
        ),
        "run `/usr/local/cuda/gds/tools/gdscheck -p`, and read its last lines",
        (_TOOL,),
    ),
)
