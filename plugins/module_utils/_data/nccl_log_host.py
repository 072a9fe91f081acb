# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of NCCL's log about the host: CUDA, the driver, limits, topology. Data only; see nccl_log."""

from __future__ import annotations

from .nccl_known import CONFIRMED, ERROR, FIELD, LOSS, NOTE, WORDS, Known

# NCCL's own, RCCL's, nccl-tests' and PyTorch's.
_CUDA = (
    r"(?:(?:Cuda|HIP) failure:? (?:\d{1,5} )?'|Test (?:CUDA|HIP) failure \S{1,100}:\d{1,7} '"
    r"|terminated with exception: CUDA error: )"
)
_FAILED = "a call to CUDA failed"


def _cuda(words: str, cause: str, remedy: str, more: str = "") -> Known:
    """What CUDA said as a call failed: who can mend it differs."""
    pattern = f"{_CUDA}(?:{words})"
    if more:
        pattern = f"{pattern}|{more}"
    return Known("cuda_failure", ERROR, pattern, "all", _FAILED, cause, remedy, FIELD, CONFIRMED, anywhere=True)


CUDA: tuple[Known, ...] = (
    _cuda(
        "out of memory",
        "GPU memory is full: the program takes all of it, or a process of an earlier job still holds some",
        "`nvidia-smi` on that host, and end what is left over; leave NCCL room beside the program",
        more=r"Failed to CUDA (?:calloc|malloc|host alloc)\b",
    ),
    _cuda(
        "system not yet initialized",
        "NVSwitches join the GPUs, and the fabric manager does not run, or has not come so far (CUDA error 802)",
        "start nvidia-fabricmanager, of the driver's own release; then the nvlink checks",
    ),
    _cuda(
        "no kernel image is available|device kernel image is invalid|named symbol not found|invalid device function",
        "this build of NCCL, or of the program, has no code for this GPU",
        "a build for this GPU's architecture; compare `nvidia-smi --query-gpu=compute_cap` with the build's list",
    ),
    _cuda(
        "invalid device ordinal",
        "the process asks for a GPU that it does not have: more ranks than GPUs, or CUDA_VISIBLE_DEVICES",
        "as many ranks on a host as it has GPUs; compare LOCAL_RANK and CUDA_VISIBLE_DEVICES",
    ),
    _cuda(
        "uncorrectable|an illegal memory access|unspecified launch failure|hardware stack error|misaligned address",
        "memory or a link of that GPU failed, or the program wrote where it may not",
        "`dmesg | grep Xid` on that host, and the gpu checks; without an Xid of the hardware it is the program's",
    ),
    _cuda(
        "operation not (?:permitted|supported)|feature not yet implemented",
        "a container, virtual machine or virtual GPU does not let CUDA share memory in this way",
        "NCCL_CUMEM_HOST_ENABLE=0, then NCCL_CUMEM_ENABLE=0; --cap-add SYS_NICE for a container",
    ),
    _cuda(
        "initialization error|no CUDA-capable device|unknown error|system has unsupported display driver",
        "the driver does not work for this process: no GPU in the container, another release than its library, or a "
        "process that was forked after CUDA had started",
        "`nvidia-smi` in the same container; `dmesg | grep -e NVRM -e Xid`",
    ),
    _cuda(
        "peer access is not supported|peer mapping resources exhausted",
        "a process cannot reach the other's GPU: containers that see different GPUs, or more GPUs than BAR space",
        "the same GPUs and --ipc=host for all containers of a host; NCCL_P2P_DISABLE=1 shows whether it is that",
    ),
)

HOST: tuple[Known, ...] = (
    Known(
        "nvml_failed",
        ERROR,
        r"\bnvml\w{3,60}\([^()]{0,80}\) failed: |Failed to open libnvidia-ml\.so",
        "all",
        "NVML, the driver's library, does not tell what NCCL needs to know of the GPUs",
        "driver and library are of different releases, the container lacks a GPU or the library, or a virtual GPU",
        "`nvidia-smi` in the same container; after an upgrade of the driver load it anew",
        FIELD,
        CONFIRMED,
        loud=True,
    ),
    Known(
        "too_many_files",
        ERROR,
        r"Too many open files",
        "all",
        "the process may not open more files and connections (Too many open files)",
        "a limit (nofile) that is too low for so many ranks",
        "raise nofile for the job (`ulimit -n`); --ulimit nofile for a container",
        WORDS,
        loud=True,
    ),
    Known(
        "no_more_threads",
        ERROR,
        r"(?:pthread_create|Thread creation) failed",
        "all",
        "NCCL could not start a thread",
        "a limit of processes (nproc, or pids of the cgroup)",
        "raise nproc and the cgroup's pids.max for the job",
        WORDS,
        loud=True,
    ),
    Known(
        "no_host_memory",
        ERROR,
        r"malloc\(.{1,40}\) returned null|Failed to malloc \d",
        "all",
        "the host's memory, or what the job may have of it, is used up",
        "the program, other jobs, or the cgroup's limit",
        "`free -g` and the cgroup's memory.max; `dmesg | grep -i 'out of memory'`",
        WORDS,
        loud=True,
    ),
    Known(
        "shm_failed",
        ERROR,
        r"Call to stat failed",
        "2.8 to 2.32",
        "two ranks of a host could not share memory",
        "the container has no /dev/shm",
        "mount a tmpfs at /dev/shm, or --ipc=host",
        WORDS,
        place="init",
        loud=True,
    ),
    Known(
        "topology_incomplete",
        ERROR,
        r"Attribute \w{1,40} of node \w{1,40} not found",
        "2.6 and later",
        "the topology that NCCL was given, or found, lacks something",
        "a file (NCCL_TOPO_FILE, or a plugin's own) that does not fit the GPUs of this job, or a virtual machine "
        "without NUMA nodes",
        "unset NCCL_TOPO_FILE, or take the file of this machine type; a newer plugin writes its own",
        FIELD,
        CONFIRMED,
        place="graph/xml",
        loud=True,
    ),
    Known(
        "topology_incomplete",
        ERROR,
        r"Could not find real path of /sys/|[Cc]ould not find CPU (?:close to GPU|numa ID)"
        r"|Could not find (?:NET with id|net id) "
        r"|KV Convert to int : could not find value of '[^']{0,60}' in dictionary$",
        "2.6 and later",
        "NCCL could not find out how GPUs, HCAs and CPUs are joined",
        "/sys is not there, or not whole, in this container or virtual machine",
        "mount the host's /sys into the container; NCCL_TOPO_FILE for a virtual machine",
        WORDS,
        loud=True,
        place="graph",
    ),
    Known(
        "topology_incomplete",
        ERROR,
        r"Failed to find reverse path from remNode ",
        "2.7 and later",
        "NCCL found a link between GPUs, NVSwitches or HCAs that leads there and not back",
        "this release of NCCL is older than the GPUs or NVSwitches, or the job sees a part of the GPUs only",
        "a newer NCCL; all GPUs of the host for the job, or AMD's HIP_VISIBLE_DEVICES in place of ROCR_VISIBLE_DEVICES",
        FIELD,
        CONFIRMED,
        loud=True,
    ),
    Known(
        "topology_too_large",
        ERROR,
        r"too many XML (?:nodes|subnodes|attributes)|XML parser is limited to",
        "all",
        "this machine has more devices than this release of NCCL takes in",
        "many HCAs, virtual functions or NVMe disks, or a partitioned GPU",
        "a newer NCCL; fewer devices in the container",
        FIELD,
        CONFIRMED,
        loud=True,
    ),
    Known(
        "no_path",
        LOSS,
        r"Could not find a path for pattern \d",
        "2.5 and later",
        "NCCL found no good order of GPUs and HCAs, and takes them as they come",
        "what it sees of the machine does not fit: a virtual machine, a topology file, or devices that are missing",
        "NCCL_TOPO_FILE of this machine type, or none; `nvidia-smi topo -m` where the job runs",
        FIELD,
        CONFIRMED,
        loud=True,
    ),
    Known(
        "limit_not_raised",
        NOTE,
        r"Call to [sg]etrlimit failed",
        "all",
        "NCCL could not raise the limit of open files for itself",
        "a sandbox, or an operating system that does not let it",
        "nothing; raise nofile for the job where connections fail",
        WORDS,
        loud=True,
    ),
    Known(
        "topology_guessed",
        NOTE,
        r"KV Convert to \w{3} : could not find value .{1,80} falling back",
        "2.12 and later",
        "NCCL does not know this kind of CPU, and takes it for another",
        "a new or virtual processor",
        "nothing; NCCL_TOPO_FILE where bandwidth is poor",
        WORDS,
        loud=True,
    ),
    Known(
        "topology_file",
        LOSS,
        r"Could not open XML topology file",
        "2.6 and later",
        "the file that NCCL_TOPO_FILE names cannot be read",
        "a path that is not there in this container, or rights",
        "correct or drop NCCL_TOPO_FILE",
        WORDS,
        loud=True,
    ),
    Known(
        "topology_file",
        ERROR,
        r"XML (?:Parse|Mismatch|Topology has wrong|Graph has wrong)|Could not open XML graph file",
        "2.5 and later",
        "the file of NCCL_TOPO_FILE or NCCL_GRAPH_FILE is not one that this NCCL takes",
        "it was cut off, or written for another release",
        "drop the setting, or write the file anew (NCCL_TOPO_DUMP_FILE)",
        WORDS,
        loud=True,
    ),
    Known(
        "p2p_disabled",
        ERROR,
        r"failed to peer with device \d|(?:cuda|hip)Ipc(?:Get|Open)MemHandle failed"
        r"|failed to (?:open|get) CUDA IPC handle",
        "all; reworded at 2.8",
        "two GPUs of a host cannot reach each other's memory",
        "containers that share no memory, processes that each see GPUs of their own only, PCIe access control (ACS), "
        "more GPUs than the BAR space allows, or GPUs that cannot do it",
        "--ipc=host and the same GPUs for all containers of a host; ACS off; NCCL_P2P_DISABLE=1 shows if it is that",
        FIELD,
        CONFIRMED,
        loud=True,
    ),
    Known(
        "no_transport",
        ERROR,
        r"No transport found for rank",
        "all",
        "no way is left between two ranks",
        "NCCL_P2P_DISABLE, NCCL_SHM_DISABLE and NCCL_NET forbid all, or no network came up",
        "drop these settings; the first failure of either rank",
        WORDS,
        anywhere=True,
        loud=True,
    ),
    Known(
        "uds_failed",
        ERROR,
        r"UDS: (?:Sending|Binding|Receiving|Socket creation)",
        "2.18 and later",
        "two ranks of a host could not hand GPU memory over through a Unix socket",
        "the other rank is gone, or containers of one host have networks of their own",
        "find the first rank that failed; --network=host, or NCCL_CUMEM_ENABLE=0",
        WORDS,
        loud=True,
    ),
    Known(
        "gdrcopy_failed",
        ERROR,
        r"\bgdr_\w{3,30}\(.{0,200}\) failed: ",
        "2.7 and later, where NCCL_GDRCOPY_ENABLE is set",
        "GDRCopy failed",
        "the module gdrdrv is not loaded, is older than the library, or the GPU's BAR is full",
        "load gdrdrv of the library's release, or drop NCCL_GDRCOPY_ENABLE",
        WORDS,
        loud=True,
    ),
    Known(
        "gdrcopy_failed",
        NOTE,
        r"falling back to NCCL internal DMA-BUF",
        "2.30 and later",
        "NCCL goes on without GDRCopy, and with its own way to the same",
        "the module gdrdrv is not loaded, or its library is not there",
        "nothing; load gdrdrv of the library's release where it was meant to be in use",
        WORDS,
        loud=True,
    ),
    # `state` 1 and 2; a part of the mask that says "true" (see FABRIC_HEALTH in nccl_log); a wrong configuration.
    Known(
        "mnnvl_unhealthy",
        LOSS,
        r"MNNVL busId .{20,120} (?:state [12] "
        r"|healthMask 0x(?:[0-9a-f]{0,6}(?:[4567][0-9a-f]|[159d])|[0-9a-f]{0,5}[2-9a-f][0-9a-f]{2})$)",
        "2.21 and later",
        "NVLink between hosts is not well at a GPU, in the driver's own words",
        "the fabric manager, NVSwitches or cables of the rack",
        "`nvidia-smi -q` of that GPU, section Fabric; the nvlink.fabric checks",
    ),
    Known(
        "numa_balancing",
        NOTE,
        r"NUMA auto balancing enabled which can lead to variability",
        "RCCL",
        "the kernel moves memory between NUMA nodes while the job runs",
        "kernel.numa_balancing is on",
        "sysctl kernel.numa_balancing=0",
        FIELD,
        CONFIRMED,
        loud=True,
    ),
    Known(
        "iommu_not_pt",
        NOTE,
        r"Missing \"iommu=pt\" from kernel command line",
        "RCCL",
        "the IOMMU translates every access of a device",
        "the host was booted without iommu=pt",
        "boot with iommu=pt",
        FIELD,
        CONFIRMED,
        loud=True,
    ),
)
