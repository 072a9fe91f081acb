# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for the installed stack (stack.*)."""

from __future__ import annotations

from ..._ground.catalog import declare, error, warning
from . import entries_gds

_PACKAGES = "/var/lib/dpkg/status|rpm_qa"

ENTRIES = declare(
    warning(
        "stack.rdma.version",
        "It is known which RDMA stack the host has",
        "Told by ofed_info, else by the packages, else by the loaded modules. The distribution's "
        "own (inbox) stack is one of the stacks that are supported.",
        ("no RDMA packages are installed", "ofed_info and the package database cannot be read"),
        "run playbooks/converge.yml (role ibready.cluster.rdma), then `ofed_info -s` or `dpkg -l rdma-core` by hand",
        (f"{_PACKAGES}|ofed_info|/sys/module/mlx5_core",),
    ),
    error(
        "stack.rdma.single",
        "Packages of one RDMA stack only are installed",
        "Parts of two stacks beside each other break at the next upgrade at the latest: libraries "
        "and kernel modules that were never tested together, or two libibverbs of which a program "
        "takes any.",
        (
            "a second stack was installed without removing the first",
            "a distribution upgrade replaced a part of the vendor's packages",
        ),
        "drain the host, remove both stacks (`ofed_uninstall.sh`, or purge what "
        "`dpkg -l | grep -E 'mlnx|doca|rdma'` shows), then install the planned one alone",
        (_PACKAGES,),
    ),
    error(
        "stack.rdma.loaded",
        "The loaded HCA driver is the one of the installed stack",
        "After an upgrade of the kernel or of the stack the old or the kernel's own mlx5_core may "
        "be in memory, without peer memory and other functions of the vendor's.",
        (
            "the modules were not built for the running kernel, so the kernel's own was loaded",
            "neither openibd nor the host was restarted since the stack was installed",
        ),
        "compare `cat /sys/module/mlx5_core/version` with `ofed_info -s`; run `dkms status`, build "
        "what is missing, rebuild the initramfs, then reboot the drained host",
        ("/sys/module/mlx5_core", "/sys/module/mlx5_core/version", f"{_PACKAGES}|ofed_info"),
    ),
    warning(
        "stack.rdma.userspace",
        "libibverbs fits the kernel modules",
        "Programs on the host speak to the modules through libibverbs. Another stack's or "
        "release's works in part only; containers bring their own.",
        ("only one half of the stack was installed or upgraded",),
        "install the planned stack whole, from one source; compare "
        "`dpkg -l libibverbs1` (`rpm -q libibverbs`) with `ofed_info -s`",
        (_PACKAGES,),
    ),
    error(
        "stack.rdma.verbs",
        "Programs of the host find libibverbs, its provider for every RDMA device, and librdmacm",
        "libibverbs opens a device by a provider (libmlx5-rdmav34.so) that a file of /etc/libibverbs.d "
        "names. Without either it passes the device by, and NCCL goes over TCP without an error. "
        "librdmacm is asked for where a vendor's stack or its package is installed. A Kubernetes node "
        "without any user space of RDMA is left out: its containers bring their own.",
        (
            "the package was removed, or another one took its place",
            "somebody moved the provider or its file in /etc/libibverbs.d away",
            "library and provider are of two releases",
        ),
        "install the user space of the planned stack anew (role ibready.cluster.rdma), then look at `ibv_devinfo`",
        ("/etc/libibverbs.d", "/usr/lib/*/libibverbs|/usr/lib64/libibverbs"),
    ),
    error(
        "stack.kmod.built",
        "Vendors' kernel modules are there for the running kernel",
        "A new kernel starts without modules that nobody built for it: no GPUs, or HCAs on the kernel's own driver.",
        (
            "the kernel was upgraded and its headers were not, so DKMS could not build",
            "the build failed: see make.log below /var/lib/dkms",
        ),
        "install the headers of the running kernel, run `dkms autoinstall -k $(uname -r)`, read "
        "/var/lib/dkms/*/*/build/make.log if it fails, then reboot the drained host",
        ("/lib/modules/*/modules.dep", "/proc/sys/kernel/osrelease"),
    ),
    warning(
        "stack.kmod.next",
        "The kernel that boots next has the modules that the host runs with",
        "Where a newer kernel waits for the next boot, what DKMS has not built for it and what "
        "comes as a package for one kernel only is missing after it: no GPUs, no RDMA, no storage.",
        (
            "the kernel was upgraded and its headers were not, so DKMS could not build",
            "the build for the new kernel failed: see make.log below /var/lib/dkms",
        ),
        "install the headers of the new kernel and run `dkms autoinstall -k KERNEL` (role "
        "ibready.cluster.reboot_gate does so before it reboots), before anybody reboots",
        ("/boot", "/proc/sys/kernel/osrelease", "/lib/modules"),
    ),
    error(
        "stack.packages.whole",
        "Every package of the stack is installed to the end, with what it needs",
        "dpkg keeps what it could not configure half installed, mostly because a kernel module could not be built. "
        "The package manager is asked as well whether installed packages lack others (`apt-get check`, rpm of what "
        "ibready brought): apt installs nothing before that is mended.",
        (
            "a package's installation failed, mostly while DKMS built its modules",
            "a package that others need was removed by force",
        ),
        "run `dpkg --audit`, then `dpkg --configure -a` and read what it says",
        (_PACKAGES,),
    ),
    error(
        "stack.packages.brought",
        "All that ibready brought is still installed",
        "Compared with what site.yml noted of each part of the plan: every package that it installed or holds, not "
        "only those that the plan names. Packages of one release of the kernel go with that kernel, and are left out.",
        (
            "somebody removed them (dpkg --force-depends, rpm --nodeps, apt autoremove)",
            "another installation replaced them",
        ),
        "run site.yml, which brings them back and holds them again; /var/log/dpkg.log or `dnf history` tells who "
        "removed them",
        ("/var/lib/ibready/packages", _PACKAGES),
    ),
    error(
        "stack.files.ours",
        "What ibready wrote are files of the host's own",
        "A link to nowhere, a folder or a mount in the place of a file of ours leaves the host without its settings, "
        "and whoever reads the file says nothing: NCCL starts without /etc/nccl.conf. Looked at are the files that "
        "have ibready in their names, and nccl.conf where site.yml was here.",
        (
            "somebody put a link, a folder or a mount in its place",
            "an image or another tool of configuration brought it",
        ),
        "see what lies there (`ls -ld`, `findmnt`), take it away or unmount it, then run site.yml, which writes it",
        ("/proc/self/mounts",),
    ),
    error(
        "stack.linker.driver",
        "The linker takes the libraries of the loaded driver",
        "libcuda.so.1 and its kind have to be of the driver's own release, or newer by forward compatibility. Asked is "
        "the linker's own list: of two libraries of one name every program gets the first.",
        (
            "a file of /etc/ld.so.conf.d leads to an old compatibility package (cuda-compat)",
            "libraries of another driver release were left, or unpacked by hand",
        ),
        "`ldconfig -p` shows the first of each name; remove the other release's package or file, or take its folder "
        "out of /etc/ld.so.conf.d where it is none of the system's own; then run `ldconfig`",
        ("ldconfig", "/proc/driver/nvidia/version"),
    ),
    warning(
        "stack.linker.preload",
        "Nothing is loaded into every process",
        "What /etc/ld.so.preload names goes into every program: a profiler or hook in each rank costs time, and one "
        "that is built for another libc ends them.",
        ("a profiler, an audit tool or malware wrote the file",),
        "see whose library it is (`dpkg -S`, `rpm -qf`), and take its line out of /etc/ld.so.preload",
        ("ldconfig",),
    ),
    warning(
        "stack.packages.held",
        "What ibready holds at its version is still held",
        "Compared with what site.yml noted when it installed the stack. A package that is not held any more "
        "goes to another version with the next upgrade, and takes the match of driver, fabric manager and "
        "RDMA stack with it.",
        (
            "somebody released the packages (apt-mark unhold, dnf versionlock delete)",
            "dnf's list of locks was replaced",
        ),
        "run site.yml, which holds them again; `apt-mark showhold`, `dnf versionlock list`",
        ("/var/lib/ibready/packages", _PACKAGES),
    ),
    warning(
        "stack.packages.repositories",
        "The vendors' repositories that ibready wrote are whole, with their keys",
        "apt refuses every installation while one file in sources.list.d is damaged. Looked at are the files that "
        "site.yml wrote: that each still names an address and the key that must have signed it, and that the key "
        "is there.",
        ("the file was edited by hand, or cut by a full disk", "the key was removed"),
        "run site.yml, which writes them again; `apt-get update`, `dnf repolist -v`",
        ("/etc/apt/sources.list.d|/etc/yum.repos.d", "/etc/apt/keyrings|/etc/pki/rpm-gpg"),
    ),
    error(
        "stack.gpudirect.path",
        "HCAs can reach GPU memory by themselves (GPUDirect RDMA)",
        "Either through DMA-BUF (the driver's open kernel modules on a kernel that is new "
        "enough) or through nvidia_peermem, registered with a vendor's RDMA stack. Without either, "
        "all traffic between nodes is copied through host memory: several times slower.",
        (
            "nvidia_peermem is not loaded and the proprietary kernel modules have no DMA-BUF",
            "nvidia_peermem was built before the RDMA stack was installed",
        ),
        "use the open kernel modules; or rebuild the NVIDIA modules after the RDMA stack "
        "(`dkms build --force`), then `modprobe nvidia-peermem` and look for nv_mem in "
        "/sys/kernel/mm/memory_peers",
        ("/proc/driver/nvidia/version|/sys/kernel/mm/memory_peers", "/sys/class/infiniband"),
    ),
    warning(
        "stack.gpudirect.nccl",
        "The host's NCCL sees the way to GPU memory that there is",
        "NCCL looks for files that differ from release to release, and copies through host memory "
        "without a word where it finds none. Jobs that bring their own NCCL are not judged.",
        ("NCCL is older than the way that this host offers",),
        "install the planned NCCL; NCCL_DEBUG=INFO shows GDRDMA behind NET/IB where it is used",
        (
            _PACKAGES,
            "/proc/driver/nvidia/version|/sys/kernel/mm/memory_peers",
            "/sys/class/infiniband",
        ),
    ),
    error(
        "stack.lock.match",
        "The installed stack is the planned one",
        "Every component that stack.lock.yml names for this host, compared with what is there.",
        ("a package was changed by hand or by an unattended upgrade",),
        "install the planned version again; or, if the change is wanted, change the plan",
        (_PACKAGES, "/proc/driver/nvidia/version"),
    ),
    warning(
        "stack.lock.matrix",
        "The lock was made with today's compatibility matrix",
        "What goes together is written in matrix/ and in the site's own files. A lock that was "
        "made with another matrix may keep to a stack that is known to be bad by now.",
        ("ibready or the site's matrix files were updated", "the lock is another checkout's"),
        "see what would change with `ansible-playbook playbooks/plan.yml -e stack_relock=true "
        "--check`, and move the lock when it suits",
        (),
    ),
    warning(
        "stack.mpi.pml",
        "Open MPI on the host sends through UCX",
        "Between nodes Open MPI takes UCX for RDMA, and TCP where UCX is left out. Debian's and "
        "Ubuntu's packages leave it out by a line of their own (`pml = ^ucx`).",
        (
            "the distribution's openmpi-mca-params.conf leaves UCX out",
            "this Open MPI was built without UCX",
        ),
        "run role ibready.cluster.mpi (`mpi_manage: true`), or put `pml = ucx` at the end of "
        "openmpi-mca-params.conf; a job can say `mpirun --mca pml ucx`",
        ("ompi_info",),
    ),
    warning(
        "stack.mpi.transports",
        "UCX reaches an RDMA device",
        "UCX lists what it can send through on this host. Without rc, dc or ud on an active port MPI goes over TCP.",
        (
            "the package with UCX's InfiniBand transports is not installed (ucx-ib on EL)",
            "no port is active, or programs may not open /dev/infiniband/uverbs*",
        ),
        "run `ucx_info -d | grep -A1 Transport` as the job's user; see ib.port.* and "
        "host.rdma.devices of the same host",
        ("ucx_info",),
    ),
    warning(
        "stack.mpi.ucx_conf",
        "UCX's own file keeps no job from RDMA",
        "/etc/ucx/ucx.conf counts for every job of the host that does not say otherwise. UCX_TLS "
        "without rc, ud or dc, and UCX_NET_DEVICES without an RDMA device, leave TCP, or nothing "
        "that Open MPI takes UCX for.",
        (
            "somebody tried something out there, and left it",
            "the file names devices of another host",
        ),
        "take the line out of /etc/ucx/ucx.conf; `ucx_info -c | grep -E 'TLS|NET_DEVICES'` shows what jobs get",
        ("ucx_info",),
    ),
    warning(
        "stack.beegfs.transport",
        "The BeeGFS client speaks to its servers by RDMA",
        "A client that cannot connect by RDMA falls back to TCP without a word, and stays there "
        "for a while. Data and metadata are several times slower then.",
        (
            "the client's kernel module was built without RDMA, or against another RDMA stack",
            "a server's address is not reachable by RDMA from this host",
            "connInterfacesFile puts an interface without RDMA first",
        ),
        "read `dmesg | grep -i beegfs` and `beegfs-net` (BeeGFS 8: `beegfs health net`); run role "
        "ibready.cluster.beegfs_client, rebuild the client's module, and mount anew",
        ("/proc/fs/beegfs/*/storage_nodes", "/proc/fs/beegfs/*/meta_nodes"),
    ),
    warning(
        "stack.beegfs.log",
        "The BeeGFS client logs no failure of its connections or of its mount",
        "In the kernel's log, where BeeGFS 8 and a client of BeeGFS 7 with logType = syslog write all, and in "
        "/var/log/beegfs-client.log, where beegfs-helperd of BeeGFS 7 writes: servers that were not reached, RDMA that "
        "failed and what was taken instead, buffers that an HCA has no room for, a secret, an interfaces file or a "
        "setting that does not fit, releases that do not understand each other. What a later line ended does not "
        "count, nor what the connections of now show to be over. A finding a cause. Where no BeeGFS is mounted, only "
        "what keeps it from being mounted counts.",
        (
            "the finding names it: BeeGFS' own words, what they mean and the next step",
            "a server's daemon is down, or its RDMA address is not reached from this rail",
        ),
        "take the step that the finding names; docs/beegfs.md has the messages, and `ibready why "
        "/var/log/beegfs-storage.log` reads a server's log",
        ("dmesg",),
    ),
    *entries_gds.ENTRIES,
)
