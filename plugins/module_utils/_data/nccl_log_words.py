# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of NCCL's log by class, for what the entries before these leave unread. Data only; see nccl_log.

Sources: the words in NCCL's binaries 2.18 to 2.32, RCCL's, aws-ofi-nccl's and PyTorch's sources. They come last:
a message that has an entry of its own is that.
"""

from __future__ import annotations

from .nccl_known import AGAIN, CONFIRMED, CONSEQUENCE, ERROR, FIELD, LOSS, NOTE, WORDS, Known


def _warned(code: str, kind: str, pattern: str, means: str, cause: str, remedy: str) -> Known:
    """A warning of NCCL's own."""
    return Known(code, kind, pattern, "in several releases", means, cause, remedy, WORDS, loud=True)


def _sure(code: str, kind: str, pattern: str, means: str, cause: str, remedy: str) -> Known:
    """A message of NCCL's own that is read wherever it stands."""
    return Known(code, kind, pattern, "in several releases", means, cause, remedy, FIELD, CONFIRMED, anywhere=True)


def _told(code: str, kind: str, pattern: str, means: str, cause: str, remedy: str) -> Known:
    """What a program around NCCL prints; it is read anywhere in a line."""
    return Known(code, kind, pattern, "PyTorch, and what is built on it", means, cause, remedy, WORDS, anywhere=True)


_FIRST = "find the first rank that failed"
_RELEASE = "one NCCL on every host; a newer release; else NCCL's issues"
_RANKS = "two jobs meet at the same address, a rank was started twice, or the ranks load different releases of NCCL"
_TOPOLOGY = (
    "NCCL could not find out how GPUs, HCAs and CPUs are joined",
    "a file (NCCL_TOPO_FILE) of another machine, "
    "a /sys that is not whole in this container or virtual machine, or a release older than the GPUs",
)
_LIMITS = "a limit of the process or of the host, a sandbox, or an interface that is gone"

# These go before entries of the same message that tell less.
FIRST: tuple[Known, ...] = (
    # NVIDIA/nccl pull request 2059, vllm-project/vllm issue 18831: what stands there is no name.
    _sure(
        "shm_failed",
        ERROR,
        r"attaching to shared memory segment /dev/shm/nccl-(?![A-Za-z0-9])",
        "two ranks of a host could not share memory: what one handed over is no name of a file",
        "host memory through CUDA (cuMem) serves one of the two only: a NUMA node without memory, or ranks whose "
        "containers or settings differ",
        "NCCL_CUMEM_HOST_ENABLE=0 for all ranks",
    ),
)

WARNED: tuple[Known, ...] = (
    # What ends a job goes before the classes of what NCCL goes on without.
    _warned(
        "reg_mr_failed",
        ERROR,
        r"mlx5dv_reg_dmabuf_mr failed",
        "memory could not be registered with the HCA",
        "Bad address: GPU memory without peer memory or DMA-BUF; Cannot allocate: locked memory",
        "load nvidia_peermem, or use the open kernel modules with DMA-BUF; memlock unlimited",
    ),
    _warned(
        "plugin_refused",
        ERROR,
        r"ProxySetup: (?:net|collnet) plugin returned invalid|network plugin (?:has|returned) invalid",
        "NCCL does not take what a network plugin says of its devices, and the job ends",
        "it is of another release than NCCL, or it found no device that it can serve",
        "a plugin's release that fits NCCL's; NCCL_NET_PLUGIN=none goes without it",
    ),
    _warned(
        "setting_refused",
        ERROR,
        r"Could not force merge|Tried merging multiple devices together and failed|Invalid number of network devices"
        r"|OOO RQ is force enabled|rma_socket requires|Tried to merge too many|Cannot use physical device"
        r"|Cannot allocate any more virtual devices",
        "NCCL was told to use devices, or a way, that this host does not have, and the job ends",
        "NCCL_NET_FORCE_MERGE, NCCL_NETDEVS_POLICY, NCCL_IB_OOO_RQ or NCCL_RMA_PLUGIN of another kind of host",
        "correct or drop the setting that the message is about",
    ),
    _warned(
        "bad_call",
        ERROR,
        r"config->(?!.{0,200}falling back)|^ncclSetEncryption",
        "the program gave NCCL a configuration that it does not take",
        "a fault of the program, or of its framework's release",
        "the message, and where the program makes that call; no setting of the host fixes it",
    ),
    _warned(
        "allocator_stranger",
        ERROR,
        r"\[Rem Allocator\] Allocation failed",
        "something connected to NCCL's allocator of memory, and what it sent was taken for a size",
        "a scanner of ports, or another job: NCCL up to 2.16 does not tell strangers apart; an `out of memory` beside "
        "it is not true",
        "NCCL 2.17 or later; keep scanners off the job's network",
    ),
    _warned(
        "topology_file",
        ERROR,
        r"XML Import (?:Channel )?:|NCCL_GRAPH_FILE",
        "the file of NCCL_GRAPH_FILE was written for another machine, or for other GPUs than this job sees",
        "an image or /etc/nccl.conf that sets it for a type of machine",
        "drop NCCL_GRAPH_FILE from the environment, /etc/nccl.conf and ~/.nccl.conf",
    ),
    _warned(
        "topology_incomplete",
        ERROR,
        r"Could not find (?:any local path|intermediate GPU|local GPU|NIC for rank|gpu rank|(?:net )?id |node of type"
        r"|rev link)|Add (?:C2c|NVLink|PCI Link) (?:link )?error|KV Convert to str|Couldn't find net with name"
        r"|Error : (?:name|value) .{1,80} too long|Cannot remove topology node|Could not find NVLink"
        r"|Failed to (?:open|find) (?:file|path) /sys/|Invalid GPU bus id",
        *_TOPOLOGY,
        "unset NCCL_TOPO_FILE; mount the host's /sys into the container; a newer NCCL",
    ),
    _warned(
        "topology_too_large",
        ERROR,
        r"too many (?:Topo links|nodes of type)|ran out of room to store found nodes",
        "this machine has more devices than this release of NCCL takes in",
        "many HCAs, virtual functions or NVMe disks, or a partitioned GPU",
        "a newer NCCL; fewer devices in the container",
    ),
    _warned(
        "topology_guessed",
        NOTE,
        r"Topology detection ?: |Unable to get Remote"
        r"|Could not get (?:speed from|device class for NVLink)|NVLink target .{1,80} not visible|assuming NVSwitch",
        "NCCL takes something of the machine for what is usual",
        "/sys does not tell it: a virtual machine, or a container",
        "nothing; NCCL_TOPO_FILE where bandwidth is poor",
    ),
    _warned(
        "ranks_disagree",
        ERROR,
        r"^Message truncated : received|Failed to determine (?:intra proc|local) ranks|Bootstrap Root ?: \w"
        r"|Invalid group blocking state|Group creation failed|^rank \d{1,9} .{0,40}already (?:in use|checked in)"
        r"|Asking for rank \d|localHostHash|[Cc]ould not find rank|NCCL_COMM_ID cannot be used with more",
        "the ranks do not agree on who they are, or on what they send each other when they start",
        _RANKS,
        "a port of its own for each job; compare RANK, WORLD_SIZE and NCCL's release of all processes",
    ),
    _warned(
        "version_mismatch",
        LOSS,
        r"NCCL version mismatch with remote peer",
        "the ranks load different NCCL releases",
        "LD_LIBRARY_PATH, or a wheel that brings its own",
        "one NCCL on every host and in every environment",
    ),
    _warned(
        "nic_counts_differ",
        NOTE,
        r"mismatched physical devices between local",
        "the two ends of a connection do not have the same network devices",
        "a host has lost an HCA, a container sees fewer, or NCCL_IB_HCA differs",
        "compare `ibv_devinfo` and NCCL_IB_HCA of all hosts",
    ),
    _warned(
        "ifname_not_found",
        ERROR,
        r"no device found (?:matching|after excluding)|NCCL_SOCKET_IFNAME.{0,60}(?:not found|no )",
        "no network interface is left to meet the other ranks on",
        "NCCL_SOCKET_IFNAME or NCCL_OOB_NET_IFNAME names no interface of this host",
        "correct NCCL_SOCKET_IFNAME for this host, or drop it; compare with `ip -br address`",
    ),
    # Sockets and files.
    _warned(
        "remote_closed",
        CONSEQUENCE,
        r"Socket closed|peer has closed|Net : Connection (?:closed|reset)|NET/Socket : (?:peer |socket progress error)"
        r"|(?:recv|send)\b.{0,60}failed.{0,40}(?:Connection reset|Broken pipe)|Remote process exited",
        "another rank went away",
        "it failed first, or was ended",
        _FIRST,
    ),
    _warned(
        "connect_failed",
        ERROR,
        r"(?:socketPoll|poll\(\)).{0,40}timed? ?out|ncclSocketConnect: |Connect(?:ion)? to .{1,80} failed",
        "a TCP connection to another rank did not come about",
        "a firewall, an interface of containers or a VPN was chosen, or the other rank is gone",
        "name the interface with NCCL_SOCKET_IFNAME; open the ports between the hosts",
    ),
    _warned(
        "socket_call_failed",
        ERROR,
        r"Call to (?:accept|fcntl|getsockname|getsockopt|setsockopt|shutdown|socket|poll|getifaddrs|gethostname)\b"
        r".{0,60} ?failed|Net : (?:[Uu]nsupported (?:address|IP) family|string overflow)"
        r"|^(?:nccl)?[sS]ocket\w{2,40}: "
        r"|(?:Accept|Socket creation|getaddrinfo) failed",
        "the system refused NCCL something about a TCP connection",
        _LIMITS,
        "the reason at the message's end; `ulimit -n`, `ip -br address` and the sandbox of the container",
    ),
    _warned(
        "no_more_threads",
        ERROR,
        r"Call to pthread_\w{3,40} failed|Error waiting for pthread_join|Failed to create service thread",
        "NCCL could not start or end a thread",
        "a limit of processes (nproc, or pids of the cgroup)",
        "raise nproc and the cgroup's pids.max for the job",
    ),
    _warned(
        "system_call_failed",
        ERROR,
        r"Call to (?:open|read|write|close|dup2|pipe|clock_gettime|sched_getaffinity|mmap|munmap|unlink|ftruncate|stat"
        r"|shm_unlink|sysconf|getpwuid)\b.{0,60}failed|sched_\w{3}affinity failed|^ncclOs\w{3,40}"
        r"|Failed to open |Could not open |[Tt]hread join failed",
        "the system refused NCCL a call",
        _LIMITS,
        "the reason at the message's end; rights and room of the place that it names",
    ),
    _warned(
        "no_host_memory",
        ERROR,
        r"Failed to (?:allocate|alloc|realloc)(?: \w{2,20}){0,2} memory\b|\w{3,10}alloc\(.{0,60} returned null"
        r"|posix_memalign|^Allocation failed|unable to allocate (?:requests|subtasks)|Cannot allocate memory",
        "the host's memory, or what the job may have of it, is used up",
        "the program, other jobs, or the cgroup's limit; locked memory where it is about an HCA",
        "`free -g`, the cgroup's memory.max and `ulimit -l`; `dmesg | grep -i 'out of memory'`",
    ),
    _warned(
        "shm_failed",
        ERROR,
        r"Error while .{1,40} shared memory|Could not map .{1,100} size|Error: failed to (?:create shared|extend)"
        r"|shared memory (?:file|segment).{0,80}(?:failed|error)",
        "two ranks of a host could not share memory",
        "/dev/shm is full or small, or what the other rank made there is gone",
        "`df -h /dev/shm` where the job runs; --shm-size or --ipc=host for a container; remove old nccl-* files",
    ),
    _warned(
        "uds_failed",
        ERROR,
        r"^UDS: |ncclIpcSocket\w{3,40}",
        "two ranks of a host could not hand GPU memory over through a Unix socket",
        "the other rank is gone, or containers of one host have networks of their own",
        "find the first rank that failed; --network=host, or NCCL_CUMEM_ENABLE=0",
    ),
    # InfiniBand and RoCE.
    _warned(
        "proxy_failed",
        AGAIN,
        r"NET/IB.{0,40}Got CQE with error|NET/IB.{0,80}Work completion error",
        "NCCL tells again that a request of RDMA failed",
        "the line beside it has the status",
        _FIRST,
    ),
    _warned(
        "wqe_stalled",
        ERROR,
        r"NET/IB.{0,20}WQE stall",
        "a request of RDMA was given to the HCA, and neither an answer nor an error came",
        "the other end hangs, flow control (PFC) holds the port, or packets are lost on the way",
        "the counters of both ports (`mlxlink`, pause frames); the other end's log",
    ),
    _warned(
        "ib_device_failed",
        ERROR,
        r"NET/IB.{0,90}(?:permanently failed|[Rr]ecovery .{0,40}failed|error is fatal|Fatal error|functional device"
        r"|replacement QP|reconfigure failed|timeout for device|marking device with fatal)",
        "an HCA failed while the job ran, and NCCL could not bring its traffic back",
        "a link went down: cable, transceiver, switch port; or the HCA stopped",
        "the port's link-downs and error counters, the other end of its cable, `dmesg | grep mlx5`",
    ),
    _warned(
        "ib_device_recovers",
        NOTE,
        r"NET/IB(?!.{0,120}(?:\bNULL\b|[Ii]nvalid|non-existent|while expecting)).{0,60}(?:not fatal|esilien"
        r"|marked as failed|Retransmitting|failed (?:send )?request|stale CQE|flush)",
        "an HCA failed while the job ran, and NCCL goes around it",
        "a link went down: cable, transceiver, switch port",
        "the port's link-downs and error counters",
    ),
    _warned(
        "verbs_call_failed",
        ERROR,
        r"Call to ibv_\w{3,40} (?:failed|not supported)|ibv_\w{3,40}\(?\)? (?:failed|returned)|NET/IB.{0,80}[Ff]ailed"
        r"|mlx5dv_(?!(?:internal_)?get_data_direct)\w{3,60} failed|from ibv_ah",
        "a call to the verbs library failed",
        "the HCA or its driver, rights of the container, or memory that may not be locked",
        "the reason at the message's end; `ibv_devinfo` where the job runs; `dmesg | grep mlx5`",
    ),
    _warned(
        "no_direct_nic",
        NOTE,
        r"mlx5dv_(?:internal_)?get_data_direct_sysfs_path|open (?:mlx5dv symbols|libmlx5)"
        r"|lib(?:mlx5|ibverbs) .{0,40}(?:missing|not)|data.direct.{0,40}(?:Trying|cannot enable|missing|not supported)",
        "mlx5's direct verbs are missing or old: no direct NIC on ConnectX-8, else harmless",
        "rdma-core is older than that",
        "nothing, but for ConnectX-8 with direct NIC",
    ),
    _warned(
        "nccl_fault",
        ERROR,
        r"NET/IB.{0,60}(?:Invalid|Unknown|Unsupported|is not initialized|exceeds|could not find|Unable to retrieve)"
        r"|Could not (?:find pool of op|allocate proxy response)|Couldn't find opId|Mismatched response size"
        r"|lib wrapper not initialized|does not cover requested range|invalid GDRCopy|NET/IB.{0,90}\bNULL\b"
        r"|wrong socket state|Proxy append|incomplete proxy op|Unknown (?:pattern|device code|kernel)|Unexpected \w"
        r"|Invalid (?:\w{2,10} ){1,3}(?:de)?register re(?:quest|sponse) size|(?:Invalid|Corrupted) proxy connection"
        r"|Invalid UDS proxy|Internal error|corrupted comm object|communicator mismatch|already connected"
        r"|^Invalid (?:regBufType|segment count|client status|device \d)|was not at head of strong stream"
        r"|MemManager: |does not match FIFO size|Unexpected error|ASSERT",
        "NCCL met a state within itself that should not be",
        "ranks of different releases or plugins, memory that the program overwrote, or a fault of this release",
        _RELEASE,
    ),
    # GPUs.
    _warned(
        "p2p_disabled",
        LOSS,
        r"P2P not supported between|peer query failed between|mapping peer|^(?!.{0,40}failure).{0,200}peer access",
        "two GPUs of a host cannot reach each other's memory",
        "the driver does not offer it: GeForce, virtual machines, containers, or PCIe access control (ACS)",
        "--ipc=host and the same GPUs for all containers of a host; ACS off",
    ),
    _warned(
        "cumem_host_failed",
        NOTE,
        r"cuMem host allocations do not appear",
        "NCCL shares host memory by /dev/shm, for the newer way through CUDA does not work here",
        "a container that forbids set_mempolicy, or a host without NUMA",
        "nothing; --cap-add SYS_NICE for a container; room in /dev/shm",
    ),
    _warned(
        "shm_left",
        NOTE,
        r"(?:unlink|munmap of|unmap) shared memory",
        "shared memory was not given back",
        "another rank was faster, or has failed before",
        "remove old nccl-* files from /dev/shm",
    ),
    _warned(
        "register_failed",
        LOSS,
        r"rank \d{1,9} .{0,40}(?:failed to \w{2,10} (?:de)?register|deregister|register failed|invalid IPC peer)",
        "a buffer could not be registered, and NCCL copies through its own",
        "memory that was not allocated for it, or a setting (NCCL_LOCAL_REGISTER, NCCL_GRAPH_REGISTER)",
        "nothing, but for lost bandwidth; NCCL_LOCAL_REGISTER=0 where it ends the job",
    ),
    _warned(
        "proxy_failed",
        AGAIN,
        r"commReclaim: |commDestroySync|ncclAsyncJobComplete|failed to join thread for job|proxy stop error"
        r"|ncclProxyStop|ncclCommSetAsyncError|\[(?:Proxy|Service)\b.{0,60}\]|[Pp]roxy .{0,80}(?:failed|error)"
        r"|(?:Initialization|Asynchronous) error",
        "NCCL tells again that something failed",
        "what stands before it, in this rank or another",
        _FIRST,
    ),
    _warned(
        "nvls_failed",
        ERROR,
        r"NVLS .{0,120}(?:failed|rejected|exceeds|error)|[Mm]ulticast.bind|NCCL_NVLS_ENABLE has been set to"
        r"|obtain the [MU]C team",
        "NVLink SHARP could not be set up",
        "the fabric manager was started again while jobs or GPUs knew the old one, an NVSwitch is in a bad state, all "
        "of its multicast slots are taken, or two ranks share a GPU",
        "drain the host, restart the fabric manager and reset the GPUs; NCCL_NVLS_ENABLE=0 until then",
    ),
    _warned(
        "mnnvl_failed",
        ERROR,
        r"MNNVL .{0,80}(?:not supported|failed|error)|[Ff]abric handle .{0,60}(?:not|failed)|IMEX",
        "NVLink between hosts is there and does not work",
        "nvidia-imex does not run, or there is no IMEX channel",
        "fix IMEX; NCCL_MNNVL_ENABLE=0 until then",
    ),
    _warned(
        "cuda_driver_insufficient",
        ERROR,
        r"Failed to (?:load|get all required|open|find) (?:CUDA|libcuda|HIP|HSA|libamdhip|libhsa)|installed CUDA driver"
        r"|PFN functions not found|can(?:not)? be captured in a graph",
        "the CUDA runtime found no driver, or one that is too old",
        "a container without the driver, or a driver below what this CUDA needs",
        "install the driver, or the container toolkit; see docs/stack.md",
    ),
    _warned(
        "nvml_failed",
        ERROR,
        r"\bnvml[A-Z]\w{3,60}\b|\brsmi_\w{3,40}|rocm_?smi|ROCm SMI|amdsmi",
        "the driver's library (NVML, ROCm SMI) does not tell what NCCL needs to know of the GPUs",
        "driver and library are of different releases, or the container lacks a GPU or the library",
        "`nvidia-smi` or `rocm-smi` in the same container; after an upgrade of the driver load it anew",
    ),
    _warned(
        "cuda_failure",
        ERROR,
        r"(?:Cuda|CUDA|HIP) (?:failure|error|Error)|\((?:err|error) \d{1,5}\) failed on addr|, err \d{1,5}$"
        r"|Error (?:mapping|unregistering) GPU memory|Failed to (?:create|set) CUDA context|CUDA pointer attributes"
        r"|Compute Capability \(|maxSharedMem|unhandled cuda error",
        "a call to CUDA failed",
        "the program, a GPU that is not there or not well, or a driver that does not fit: the message says which",
        "the gpu checks of that host, and `dmesg | grep Xid`",
    ),
    _warned(
        "gdrcopy_failed",
        ERROR,
        r"\bgdr_(?:pin_buffer|map|get_info|copy_\w{2,4}_mapping)\b.{0,120}failed",
        "GPU memory could not be reached through GDRCopy, and the job ends",
        "the module gdrdrv is of another release than its library, or the GPU's window of memory (BAR1) is used up",
        "NCCL_GDRCOPY_ENABLE=0; gdrdrv and its library of the same release",
    ),
    _warned(
        "gdrcopy_failed",
        NOTE,
        r"GDRCOPY|GDRCopy|gdrapi|\bgdr_\w{3,30}",
        "GDRCopy cannot be used, and NCCL goes on without",
        "the module gdrdrv is not loaded, or its library is not there",
        "nothing; load gdrdrv of the library's release where it was meant to be in use",
    ),
    _warned(
        "dmabuf_missing",
        LOSS,
        r"DMABuf|DMA-BUF",
        "memory cannot be registered through DMA-BUF",
        "the closed kernel modules of the GPU's driver, a kernel below 5.12, or an old rdma-core",
        "the open kernel modules; or load nvidia_peermem",
    ),
    _warned(
        "gin_failed",
        ERROR,
        r"^(?!.{0,200}(?:[Ff]all(?:ing)? ?back|Unable to use GIN|unavailable|isabled|symbols|not found|assuming"
        r"|Trying))"
        r"(?:RMA/Socket : |Cannot create DevComm|Elastic GIN|.{0,20}DevComm setup failed"
        r"|.{0,200}\b(?:GIN|RMA|GDAKI|DOCA|UMEM|UAR|doca_|umem\b).{0,200}(?:[Ff]ail|[Ee]rror|NULL|[Ii]nvalid)"
        r"|.{0,100}(?:[Ff]ail|[Ee]rror|[Ii]nvalid|[Cc]an.t ).{0,100}\b(?:GIN|RMA|GDAKI|DOCA|UMEM|UAR|umem\b|doca_)"
        r"|Failed to (?:create|destroy) (?:CQ|QP|SRQ|\w{0,10}qp))",
        "networking from within the GPU (GIN) failed while a program used it",
        "an HCA, driver or plugin that cannot do it, GPUs that are too old, or ranks whose settings differ",
        "NCCL_GIN_ENABLE=0 where the program can go without; else a newer driver of the HCA, one NCCL on all hosts",
    ),
    _warned(
        "gin_unavailable",
        LOSS,
        r"\bGIN\b|\bRMA\b|GDAKI|\bDOCA\b|doca_|\bUMEM\b|\bumem\b|\bUAR\b"
        r"|Failed to (?:create|destroy) (?:CQ|QP|SRQ|\w{0,10}qp)",
        "networking from within the GPU (GIN) is not to be had",
        "an HCA, driver or plugin that cannot do it, or GPUs that are too old",
        "nothing where the program goes on; else NCCL_GIN_ENABLE=0, or a newer driver of the HCA",
    ),
    # Plugins, settings and programs.
    _warned(
        "ucx_failed",
        ERROR,
        r"NET/UCX.{0,200}|UCX (?:error|failed)|Failed: UCX",
        "NVIDIA's plugin over UCX failed",
        "UCX found no device, or one that does not serve the GPU",
        "`ucx_info -d` where the job runs; NCCL_PLUGIN_P2P=ib takes verbs in its place",
    ),
    _warned(
        "plugin_failed",
        LOSS,
        r"(?:NET|TUNER|PROFILER|GIN|ENV|COLLNET|CollNet)/?(?:Plugin)? ?: .{0,120}(?:[Ff]ailed|[Cc]ould not|unsupported"
        r"|not loaded)|net(?:work)? plugin (?:has|returned) invalid|[Pp]rofiler\b|dlv?sym failed"
        r"|External \w{3,10} plugin .{1,80} unsupported|Failed to initialize \w{2,10} plugin|plugin has incompatible"
        r"|Failed to (?:load|get) symbol|Cannot load symbol",
        "a plugin could not be used, and NCCL goes on without it",
        "it is of another release than NCCL, or a library that it needs is missing",
        "`ldd` of the plugin where the job runs; a plugin's release that fits NCCL's",
    ),
    _warned(
        "bad_setting",
        NOTE,
        r"(?:Config|Env var for) \w{3,30}=-?\d{1,12} is ignored|CTAPolicy|CTA polic|Max P2P Peers|is out of range"
        r"|Ignoring (?:element|SHM)|Unable to recognize NCCL_|is not a valid value"
        r"|NCCL cannot use (?:more than|a plane)|specified .{1,80}Couldn't parse|NCCL_[A-Z0-9_]{3,60}.{0,80}(?:unknown"
        r"|invalid|Invalid|not supported|expected)|(?:^|: )Ip address|OOO RQ is enabled|Invalid \S{1,60} \d{1,9} \(m"
        r"|algSelection .{0,100}falling back",
        "NCCL does not take a setting as it was given",
        "a typing error, a number out of range, or a variable of another release",
        "correct or drop the setting",
    ),
    _warned(
        "bad_call",
        ERROR,
        r"Flags \d{1,9} is invalid|must be 0\)|user-created ncclRedOp_t|^Cannot (?:create|get|use) |argument must be"
        r"|Comm config \w{3,20} .{0,80}does not match|symmetric (?:memory|registration)|[Ii]nvalid (?:argument|usage)"
        r"|Memory (?:suspend|resume) not supported|(?:access|pointer).{0,20} (?:disabled|requested) |window"
        r"|^nccl(?:Comm|Group|RedOp|Put|Signal|Wait|Set|Devr)\w{0,30} ?(?::|should|currently)|not within (?:valid|the)"
        r"|[Cc]aptur(?:e|ing)|Hierarchical CE|Net registration invalid|split_share|Deregister",
        "the program called NCCL in a way that it does not take",
        "a fault of the program, or of its framework's release",
        "the message, and where the program makes that call; no setting of the host fixes it",
    ),
    _warned(
        "ras_failed",
        NOTE,
        r"\bRAS\b|progress.counter|keepalive timeout|peer (?:not responding|failed to respond)"
        r"|Missing communicator data",
        "NCCL's own service for questions about a job (RAS) does not work",
        "a port that is taken, or ranks that cannot reach each other on it",
        "nothing; NCCL_RAS_ENABLE=0 where it disturbs",
    ),
)

_STORE = "the rendezvous of PyTorch (TCPStore), at MASTER_ADDR and MASTER_PORT, "
# What PyTorch and its launchers print: c10d/socket.cpp, TCPStore.cpp, ProcessGroupNCCL.cpp, elastic's api.py.
TOLD: tuple[Known, ...] = (
    _told(
        "store_unreachable",
        ERROR,
        r"The client socket has failed to connect to \[?(?P<host>[^\s\]]{1,120})\]?:\d{1,5} "
        r"\(errno: (?:99|101|110|113)\b"
        r"|The client socket has (?:failed to connect to any network address of|timed out after \w{1,10} while trying)"
        r"(?: to connect to)? \(?(?P<peer>[^\s,()]{1,120})"
        r"|TCP client failed to connect/validate to host (?P<end>[^\s:]{1,120}):\d{1,5} - timed out",
        _STORE + "could not be reached",
        "MASTER_ADDR is not the host of rank 0 or resolves to another address, a firewall, or rank 0 has not started "
        "or is gone",
        "from this host: `getent ahosts` of MASTER_ADDR, and `nc -vz` to its port; look at rank 0's log",
    ),
    # gloo/transport/tcp/device.cc
    _told(
        "gloo_connect_failed",
        ERROR,
        r"Unable to find address for: |Unable to resolve hostname to a \(local\) address",
        "Gloo, PyTorch's own way over TCP, found no address to use",
        "GLOO_SOCKET_IFNAME names no interface of this host: it takes names, no address and no ^ as NCCL does",
        "GLOO_SOCKET_IFNAME with the interface that leads to the other hosts; `getent ahosts $(hostname)`",
    ),
    _told(
        "listen_failed",
        ERROR,
        r"The server socket has failed to (?:listen on any local network address|bind to \S{1,80} \(errno: (?!97))"
        r"|DistNetworkError.{0,80}EADDRINUSE",
        _STORE + "could not be opened: the port is taken, or the address is none of this host's",
        "a process of an earlier job, two jobs on one host, or MASTER_ADDR names another host",
        "`ss -lntp` on that host; a MASTER_PORT of its own for each job, or --rdzv-endpoint with port 0",
    ),
    _told(
        "ranks_missing",
        ERROR,
        r"Timed out after \d{1,7} seconds waiting for clients",
        "not all ranks came to the rendezvous in time",
        "a host did not start, is slower, or cannot reach MASTER_ADDR; WORLD_SIZE is larger than the job",
        "which ranks have no log, or one that ends early; compare WORLD_SIZE and nnodes of all hosts",
    ),
    _told(
        "killed",
        ERROR,
        r"exitcode ?: -9 \(pid|\(exitcode: -9\)|Signal 9 \(SIGKILL\) received by PID|died with <Signals\.SIGKILL: 9>",
        "a process of the job was killed (SIGKILL)",
        "the host, or the cgroup, ran out of memory; else somebody, or the job's manager, ended it",
        "`dmesg | grep -i 'killed process'` on that host; the events of its pod; memory.max of the cgroup",
    ),
    _told(
        "no_gpu",
        ERROR,
        r"ProcessGroupNCCL is only supported with GPUs, no GPUs found|No CUDA GPUs are available",
        "the process sees no GPU",
        "a container without GPUs, a driver that does not work, or CUDA_VISIBLE_DEVICES",
        "`nvidia-smi` in the same container; CUDA_VISIBLE_DEVICES of that rank",
    ),
    _told(
        "store_lost",
        CONSEQUENCE,
        r"\b(?:recvValue|sendBytes|recvBytes|recvVector\w{0,10}) failed on SocketImpl|via c10d key-value store by key"
        r"|Connection was likely closed\. Did the remote server shutdown or crash|failed to recv, got 0 bytes"
        r"|wait timeout after \d{1,9}ms, keys|Failed to (?:check|get|recv).{0,60}TCPStore"
        r"|DistStoreError|DistNetworkError: (?:Connection reset|Broken pipe|failed to recv)",
        _STORE + "went away, or did not answer",
        "rank 0, or the rank that was waited for, failed first or was ended",
        _FIRST,
    ),
    _told(
        "watchdog_timeout",
        CONSEQUENCE,
        r"Exception \(either an error or timeout\) detected by watchdog|Timed out waiting \d{1,9}ms for (?:recv|send)",
        "a collective did not end",
        "a rank did not take part, failed or hangs, or data does not arrive",
        "find the rank that is not in the collective: the first that failed, or the one whose log ends first",
    ),
    _told(
        "device_guessed",
        NOTE,
        r"using GPU \d{1,3} (?:to perform barrier )?as device(?:s)? used by this process (?:is|are) currently unknown",
        "PyTorch took a GPU for this rank by its number, for nobody told it",
        "init_process_group without device_id, or no torch.cuda.set_device",
        "set_device(LOCAL_RANK) before the first collective; it hangs where the guess is wrong",
    ),
)
