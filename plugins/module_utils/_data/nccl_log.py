# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of NCCL's log that mean something to an operator, and its completion codes. Data only.

Sources: NCCL's own release tags 2.3 to 2.30 (SOURCE), its binaries up to 2.32 run without GPUs
(BINARY), the words in them (WORDS), and logs of public issue threads (FIELD). Confidence:
confirmed where a log with the message was read, medium where only the release's source has it.
"""

from __future__ import annotations

from dataclasses import dataclass

from .nccl_known import (
    AGAIN,
    BINARY,
    CONFIRMED,
    CONSEQUENCE,
    ERROR,
    FIELD,
    KINDS,
    LOSS,
    NOTE,
    RECALLED,
    REFUSED,
    UNREAD,
    Known,
)
from .nccl_log_host import CUDA, HOST
from .nccl_log_job import JOB, TCP_PROVIDERS
from .nccl_log_words import FIRST, TOLD, WARNED
from .nccl_sure import SURE, SURE_FACTS

# Of its other files, read by this one's name.
__all__ = [
    "AGAIN",
    "CONSEQUENCE",
    "ERROR",
    "KINDS",
    "LOSS",
    "NOTE",
    "REFUSED",
    "SURE",
    "SURE_FACTS",
    "TCP_PROVIDERS",
    "UNREAD",
    "WARNED",
    "Known",
]

_UNREACHED = (
    "refused|timed out|No route to host|exceeded (?:error )?retry count"
    "|Software caused connection abort|Network is unreachable"
)
_INTERFACE = "correct NCCL_SOCKET_IFNAME for this host, or drop it; compare with `ip -br address`"

# The first that matches a line counts.
KNOWN: tuple[Known, ...] = (
    *FIRST,
    *TOLD,
    Known(
        "ifname_not_found",
        ERROR,
        r"Bootstrap ?: no socket interface found|NET/IB ?: No IP interface found"
        r"|NET/Socket ?: (?:no interface|No usable listening interface) found",
        "all; from 2.28 an interface that is not running counts as none",
        "no network interface is left to meet the other ranks on",
        "NCCL_SOCKET_IFNAME names no interface of this host: wrong name, blanks or quotes in "
        "nccl.conf, or names that differ between hosts",
        _INTERFACE,
        BINARY,
        CONFIRMED,
        anywhere=True,
    ),
    Known(
        "ifname_not_found",
        ERROR,
        r"Socket creation failed ?: Address family not supported",
        "all",
        "no network interface is left to meet the other ranks on",
        "this host or container has no address of IPv4 or IPv6, beside the loopback's",
        "`ip -br address` where the job runs; --network=host for a container",
        FIELD,
        CONFIRMED,
        anywhere=True,
    ),
    Known(
        "socket_family",
        ERROR,
        r"connecting to address .{0,80}neither AF_INET",
        "2.8 and later, in three wordings",
        "another rank handed over an address that is none",
        "that rank failed before it had an interface, or the ranks load different NCCL releases",
        "find the first rank that failed; compare the releases of all ranks",
        FIELD,
        CONFIRMED,
        anywhere=True,
    ),
    Known(
        "comm_id_not_local",
        ERROR,
        r"No interface found in the same subnet as remote address",
        "up to 2.26",
        "the address of NCCL_COMM_ID is on no network of this host",
        "NCCL_COMM_ID was set by hand, or left over",
        "drop NCCL_COMM_ID",
        anywhere=True,
    ),
    Known(
        "connect_failed",
        ERROR,
        rf"[Cc]onnect to (?P<peer>[^\s<]{{1,120}}).{{0,160}}(?:{_UNREACHED})"
        rf"|(?:socketStartConnect|socketPollConnect) .{{0,200}}(?:{_UNREACHED})"
        r"|socket(?:Start|Poll)Connect: exceeded (?:retries|timeouts)|Call to connect (?:failed|timeout) ?: ",
        "all; reworded at 2.4, 2.10, 2.16, 2.24 and 2.27",
        "a TCP connection to another rank did not come about",
        "a firewall, an interface of containers or a VPN was chosen, or the other rank is gone",
        "name the interface with NCCL_SOCKET_IFNAME; open the ports between the hosts",
        anywhere=True,
    ),
    Known(
        "socket_wrong_type",
        ERROR,
        r"socketFinalizeAccept: wrong type",
        "2.16 and later",
        "a connection came from a rank that was meant to reach another part of NCCL",
        "the addresses of two ranks or hosts are mixed up: equal host names, or a port used twice",
        "give every host a name and an address of its own; start the job again",
        FIELD,
        CONFIRMED,
        anywhere=True,
    ),
    Known(
        "create_{}_failed",
        ERROR,
        r"Call to ibv_(?:create|alloc)_(cq|qp|pd) failed",
        "all",
        "the HCA's driver refused a queue",
        "locked memory is limited in this service or container, or it may not lock any",
        "memlock unlimited for the job (`ulimit -l`); --ulimit memlock=-1 for a container",
        FIELD,
        CONFIRMED,
        anywhere=True,
    ),
    Known(
        "reg_mr_failed",
        ERROR,
        r"Call to ibv_reg_(?:mr_iova2|dmabuf_mr|mr) failed",
        "all",
        "memory could not be registered with the HCA",
        "Bad address: GPU memory without peer memory or DMA-BUF; Cannot allocate: locked memory",
        "load nvidia_peermem, or use the open kernel modules with DMA-BUF; memlock unlimited",
        anywhere=True,
    ),
    Known(
        "mixed_link_layer",
        ERROR,
        r"Try selecting NICs of only one link type using NCCL_IB_HCA|different link_layer",
        "2.20 and later",
        "an InfiniBand port was to talk to a RoCE port",
        "a RoCE port for storage or management is not excluded",
        "NCCL_IB_HCA with `=` and the list of rails",
        anywhere=True,
    ),
    Known(
        "version_mismatch",
        ERROR,
        r"Mismatched NCCL (?:git )?versions? detected",
        "2.23 and later",
        "the ranks load different NCCL releases",
        "LD_LIBRARY_PATH, or a wheel that brings its own beside the system's package",
        "one NCCL on every host and in every environment",
        anywhere=True,
    ),
    Known(
        "cuda_driver_insufficient",
        ERROR,
        r"CUDA driver version is insufficient for CUDA runtime version|Failed to find CUDA library libcuda"
        r"|Failed to load CUDA driver",
        "all",
        "the CUDA runtime found no driver, or one that is too old",
        "a container without the driver, or a driver below what this CUDA needs",
        "install the driver, or the container toolkit; see docs/stack.md",
        BINARY,
        CONFIRMED,
        anywhere=True,
    ),
    Known(
        "shm_failed",
        ERROR,
        r"Error while (?:creating|attaching to) shared memory segment|Call to (?:shm_open|posix_fallocate) failed"
        r"|failed to (?:create shared memory file|extend) /dev/shm/\S{1,80}|Could not map /dev/shm/\S{1,80} size",
        "2.4 and later, in several wordings",
        "two ranks of a host could not share memory",
        "/dev/shm is full or small (a container has 64 MiB unless told otherwise), left over from a job, or not the "
        "job's to write",
        "`df -h /dev/shm` where the job runs; --shm-size or --ipc=host for a container; remove old nccl-* files",
        FIELD,
        CONFIRMED,
        anywhere=True,
    ),
    Known(
        "shm_failed",
        ERROR,
        r"No space left on device",
        "2.8 and later, in several wordings",
        "two ranks of a host could not share memory",
        "/dev/shm is full or small (a container has 64 MiB unless told otherwise), left over from a job, or not the "
        "job's to write",
        "`df -h /dev/shm` where the job runs; --shm-size or --ipc=host for a container; remove old nccl-* files",
        FIELD,
        CONFIRMED,
    ),
    Known(
        "shm_failed",
        ERROR,
        r"Call to \w{1,30} failed",
        "2.8 and later",
        "two ranks of a host could not share memory",
        "/dev/shm is full or small, or what the other rank made there is gone",
        "`df -h /dev/shm` where the job runs; --shm-size or --ipc=host for a container; remove old nccl-* files",
        FIELD,
        CONFIRMED,
        place="misc/shmutils",
    ),
    Known(
        "duplicate_gpu",
        ERROR,
        r"Duplicate GPU detected",
        "2.4 and later",
        "two ranks use the same GPU",
        "CUDA_VISIBLE_DEVICES or the local rank is the same for both, or two hosts have the same name",
        "give each rank a GPU of its own (LOCAL_RANK), and each host a name of its own",
        FIELD,
        CONFIRMED,
        anywhere=True,
    ),
    Known(
        "net_not_found",
        ERROR,
        r"Could not find NET with name|Failed to initialize any NET plugin|No NET plugin could be loaded"
        r"|network \S{1,60} not found",
        "2.13 and later",
        "the network that NCCL_NET names is not there",
        "NCCL_NET names a plugin that was not loaded; from 2.27 on IB and Socket are the only words without one",
        "correct or drop NCCL_NET; see whether the plugin lies in the job's LD_LIBRARY_PATH",
        FIELD,
        CONFIRMED,
        anywhere=True,
    ),
    Known(
        "nvls_cuda_failure",
        ERROR,
        r"Cuda failure",
        "2.17 and later",
        "NVLink SHARP could not be set up",
        "the fabric manager was started again while jobs or GPUs knew the old one, an NVSwitch is in a bad state, or "
        "NCCL is newer than the driver can serve",
        "drain the host, restart the fabric manager and reset the GPUs; another release of NCCL, or a newer driver; "
        "NCCL_NVLS_ENABLE=0 until then",
        FIELD,
        CONFIRMED,
        place="transport/nvls",
    ),
    *CUDA,
    Known(
        "cuda_failure",
        ERROR,
        r"(?:(?:Cuda|HIP) failure:? (?:\d{1,5} )?|Test (?:CUDA|HIP) failure \S{1,100}:\d{1,7} )'.{1,200}'"
        r"|terminated with exception: CUDA error: \w",
        "all",
        "a call to CUDA failed",
        "the program, a GPU that is not there or not well, or a driver that does not fit: the message says which",
        "look the CUDA error up; the gpu checks of that host, and `dmesg | grep Xid`",
        FIELD,
        CONFIRMED,
        anywhere=True,
    ),
    Known(
        "p2p_disabled",
        ERROR,
        r"P2P is disabled between NVLINK connected GPUs",
        "2.12 and later",
        "the driver forbids peer access between GPUs that NVLink joins",
        "the fabric manager does not run, or an NVLink is broken",
        "fix what the nvlink checks find; NCCL_IGNORE_DISABLED_P2P=1 only hides it",
        anywhere=True,
    ),
    Known(
        "p2p_disabled",
        LOSS,
        r"P2P is disabled between connected GPUs|Could not enable P2P between dev",
        "2.6 and later",
        "two GPUs of a host cannot reach each other's memory",
        "the driver does not offer it: GeForce, virtual machines, or PCIe access control (ACS)",
        "turn ACS off between GPUs, if these GPUs can do it at all",
        FIELD,
        CONFIRMED,
    ),
    Known(
        "nvls_unavailable",
        LOSS,
        r"NVLS multicast support is not available",
        "2.17 and later",
        "NVLink SHARP is not to be had",
        "no NVSwitch that can do it, an older driver, or the fabric manager does not run",
        "see the fabric manager's checks; nothing to do where the board has no such NVSwitch",
        FIELD,
        CONFIRMED,
    ),
    Known(
        "nvls_failed",
        ERROR,
        r"Failed to bind NVLink SHARP",
        "2.27 and later",
        "a buffer for NVLink SHARP could not be bound",
        "the fabric manager was started again while jobs or GPUs knew the old one, or an NVSwitch is in a bad state",
        "drain the host, restart the fabric manager and reset the GPUs; NCCL_NVLS_ENABLE=0 until then",
        FIELD,
        CONFIRMED,
        anywhere=True,
    ),
    # It ends the job: NVIDIA/nccl issue 1925.
    Known(
        "mnnvl_failed",
        ERROR,
        r"MNNVL \(cliqueSize \d{1,5}\) is available but not (?:supported|working)",
        "2.25 and later",
        "NVLink between hosts is there and does not work",
        "nvidia-imex does not run, or there is no IMEX channel",
        "fix IMEX; NCCL_MNNVL_ENABLE=0 until then",
    ),
    Known(
        "collnet_unavailable",
        REFUSED,
        r"SHARP coll init error|SHARP group create|sharp_coll_caps_query failed|SHARP regmr failed"
        r"|SHARP: unsupported data type",
        "2.6 and later, with NVIDIA's plugin for SHARP (HPC-X)",
        "SHARP in the switches was asked for and could not be set up",
        "no aggregation manager that this host reaches, a fabric without SHARP, or all of its trees are taken: the "
        "text in the message is the SHARP library's",
        "the aggregation manager (sharp_am) and its log; `sharp_hello` on that host; unset NCCL_COLLNET_ENABLE",
        FIELD,
        CONFIRMED,
        loud=True,
    ),
    Known(
        "collnet_unavailable",
        REFUSED,
        r"Cannot initialize CollNet|CollNet is not supported or fails to initialize",
        "2.6 and later",
        "SHARP in the switches was asked for and is not to be had",
        "the plugin or the aggregation manager is missing",
        "unset NCCL_COLLNET_ENABLE, or install the plugin",
        FIELD,
        CONFIRMED,
    ),
    Known(
        "collnet_unavailable",
        LOSS,
        r"fails to share parent comms .{0,40}sharp resources",
        "2.19 and later",
        "SHARP in the switches is not to be had by a part of the job",
        "all of its trees are taken, or the ranks of that part do not fit",
        "nothing; the aggregation manager's log where SHARP was meant to be in use",
    ),
    Known(
        "no_ib_device",
        LOSS,
        r"NET/IB\w{0,20} ?: No device found",
        "2.4 and later",
        "no RDMA port is left to use",
        "no port is up, /dev/infiniband is missing in the container, or NCCL_IB_HCA fits none",
        "`ibv_devinfo` where the job runs; correct or drop NCCL_IB_HCA",
        BINARY,
        CONFIRMED,
    ),
    Known(
        "no_libibverbs",
        LOSS,
        r"Failed to open libibverbs\.so\[|Co(?:un|ul)[dt] not open libibverbs\.so\.1",
        "all",
        "the verbs library is missing where the job runs",
        "rdma-core is not installed in the container or on the host",
        "install rdma-core (libibverbs1 and ibverbs-providers)",
        FIELD,
        CONFIRMED,
    ),
    Known(
        "ib_disabled",
        LOSS,
        r"NCCL_IB_DISABLE set by environment to [1-9]",
        "all",
        "RDMA was switched off by a setting",
        "NCCL_IB_DISABLE was left over in the job's environment or in nccl.conf",
        "remove NCCL_IB_DISABLE",
        FIELD,
        CONFIRMED,
    ),
    Known(
        "port_event",
        ERROR,
        r"NET/IB ?: .{0,80}event ?:? ?.{0,40}(?:port error|device fatal|local catastrophic error|PORT_ERR|DEVICE_FATAL)"
        r"|NET/IB ?: \S{1,80} async fatal event: ",
        "2.4 and later, in libibverbs' words",
        "a port or an HCA failed while the job ran",
        "a link went down: cable, transceiver, switch port; or the HCA stopped",
        "the port's link-downs and error counters, the other end of its cable, `dmesg | grep mlx5`",
    ),
    # Up to 2.22 all events are told in the same way, by libibverbs' words.
    Known(
        "queue_event",
        ERROR,
        r"NET/IB ?: (?:\S{1,60}:\d{1,3} )?Got async event ?: (?:CQ error|WQ fatal"
        r"|(?:SRQ|local work queue) catastrophic error"
        r"|(?:invalid request local|local access violation) work queue error)",
        "2.4 to 2.22",
        "the HCA gave a queue up",
        "the other end wrote where it may not (its process ended, or gave GPU memory back), or the HCA failed",
        "find the first rank that failed; else the HCA's counters and `dmesg | grep mlx5`",
        "libibverbs' words (ibv_event_type_str)",
    ),
    Known(
        "port_event",
        NOTE,
        r"NET/IB ?: (?:\S{1,60}:\d{1,3} )?(?:Got|async(?! fatal event on [CQS])|GID table).{0,80}event",
        "all; reworded at 2.20, 2.23 and 2.28",
        "a port reported an event while the job ran",
        "a link went down or up, or the subnet manager changed",
        "look at the port's counters and at the switch",
    ),
    Known(
        "remote_closed",
        CONSEQUENCE,
        r"Connection closed by remote peer(?: (?P<peer>[^\s<]{1,120}))?"
        r"|Call to (?:recv from|send to) (?P<end>[^\s<]{1,120}).{0,20} failed"
        r"|Call to (?:recv|send) failed ?: (?:Connection reset|Broken pipe|Connection timed out)",
        "2.16 and later",
        "another rank went away",
        "it failed first, or was ended",
        "find the first rank that failed",
        FIELD,
        CONFIRMED,
    ),
    Known(
        "watchdog_timeout",
        CONSEQUENCE,
        r"Watchdog caught collective operation timeout|[Ww]atchdog thread terminated|[Hh]eartbeat monitor timed out"
        r"|NCCL operations have failed or timed out|watchdog got stuck for|Timeout at NCCL work"
        r"|dump signal due to a collective timeout from (?:this local rank| ?rank \d{1,7})",
        "PyTorch 1.11 and later",
        "a collective did not end in time",
        "a rank did not take part, failed or hangs, or data does not arrive",
        "find the rank that is not in the collective: the first that failed, or the one whose log ends first",
        FIELD,
        CONFIRMED,
        anywhere=True,
    ),
    Known(
        "aborted",
        CONSEQUENCE,
        r"NCCL communicator was aborted on (?P<peer>rank \d{1,7})",
        "PyTorch 1.11 and later",
        "the program gave a communicator up",
        "it saw a failure or a timeout before, in that rank or another",
        "find the first rank that failed",
        FIELD,
        CONFIRMED,
        anywhere=True,
    ),
    Known(
        "aborted",
        CONSEQUENCE,
        r"Abort COMPLETE",
        "2.4 and later",
        "the program gave a communicator up",
        "it saw a failure or a timeout, here or on another rank",
        "find the first rank that failed",
        FIELD,
        CONFIRMED,
    ),
    Known(
        "proxy_failed",
        AGAIN,
        r"Failed to execute operation \w{1,30} from rank|Proxy Call to rank \d{1,9} failed"
        r"|Error encountered progressing operation=|communicator encountered a fatal error \(detected in"
        r"|ncclProxyC\w{1,30} call to (?:top parent rank|tpRank) \d{1,9}.{0,60} failed"
        r"|bootstrap\w{4,5}: an (?:earlier )?asynchronous|Socket recv failed while polling for opId"
        r"|Could not receive type from localRank|\[Service thread\] Accept failed|failed in destroy/abort"
        r"|sync (?:host|device)Stream error \d",
        "2.14 and later",
        "NCCL's own thread tells again that a connection failed",
        "what stands before it, in this rank or another",
        "find the first rank that failed",
        FIELD,
        CONFIRMED,
    ),
    Known(
        "no_direct_nic",
        NOTE,
        r"Failed to open libmlx5\.so|dlvsym failed on mlx5dv_|Failed to open mlx5dv symbols",
        "2.27 and later",
        "mlx5's direct verbs are missing or old: no direct NIC on ConnectX-8, else harmless",
        "rdma-core is older than that",
        "nothing, but for ConnectX-8 with direct NIC",
        BINARY,
        CONFIRMED,
    ),
    Known(
        "no_pci_path",
        NOTE,
        r"Could not find real path of \S{1,60} \(/sys/class/infiniband/",
        "2.8 and later",
        "an HCA has no place on the PCI bus",
        "a software device (rxe, siw), or a virtual one",
        "nothing; else exclude the device with NCCL_IB_HCA=^NAME",
        FIELD,
        CONFIRMED,
    ),
    *JOB,
    *HOST,
    *WARNED,
)


# How a call of NCCL ends, as `-> N` tells it; 0 and 7 (still at work) are none. source: nccl.h
# (ncclResult_t); confidence: confirmed.
RESULTS: dict[int, str] = {
    1: "a call to CUDA failed",
    2: "a system call or the network failed",
    3: "NCCL failed within, or met something that it does not take",
    4: "an argument was invalid",
    5: "NCCL was used in a way that it does not take",
    6: "another rank failed, or a connection to it",
}
REMOTE = 6
# The same in the words that nccl-tests prints. source: ncclGetErrorString.
RESULT_NAMES: dict[str, int] = {
    "unhandled cuda error": 1,
    "unhandled system error": 2,
    "internal error": 3,
    "invalid argument": 4,
    "invalid usage": 5,
    "remote process exited": 6,
}
# And in the names of PyTorch's exceptions. source: torch/csrc/distributed/c10d/NCCLUtils.cpp.
RESULT_ERRORS: dict[str, int] = {
    "UnhandledCudaError": 1,
    "SystemError": 2,
    "InternalError": 3,
    "InvalidArgument": 4,
    "InvalidUsage": 5,
    "RemoteError": 6,
}
UNREAD_CAUSE = "nobody here knows this message"
UNREAD_REMEDY = "look the message up in NCCL's issues; the lines before it, of this rank, say what NCCL was about"


# NVLink between hosts: `state`, and the two-bit parts of `healthMask` from the lowest (0 not supported, 1 true,
# 2 false); above them four bits of the configuration, where 0 and 1 are well. source: nvml.h (NVML_GPU_FABRIC_*).
FABRIC_STATES = ("not supported", "not started", "in progress", "completed")
FABRIC_HEALTH = ("degraded_bandwidth", "route_recovery", "route_unhealthy", "access_timeout_recovery")
FABRIC_BAD = 1
FABRIC_CONFIGURATION = "incorrect_configuration"


@dataclass(frozen=True)
class Reason:
    """Why ibv_modify_qp failed, in the kernel's words; what stands for it in the failure's name."""

    reason: str
    code: str
    cause: str


# Seen in public threads, but the last three, which the kernel may give as well.
MODIFY_QP: tuple[Reason, ...] = (
    Reason(
        "Connection timed out",
        "timeout",
        "the other end's address does not answer (ARP): rails that are not joined, or a VLAN",
    ),
    Reason(
        "Network is unreachable",
        "network_unreachable",
        "the GID in use has no route: a wrong GID index, or another address family",
    ),
    Reason("Invalid argument", "invalid_argument", "the GID in use is empty or of the wrong kind"),
    Reason("No such device", "no_such_device", "the GID's interface is not in this container's network"),
    Reason("No route to host", "no_route", "no route leads to the other end's address"),
    Reason("Operation not permitted", "not_permitted", "the job may not use this queue pair"),
    Reason("Cannot allocate memory", "no_memory", "locked memory is limited"),
)
MODIFY_QP_MEANS = "a queue pair could not be joined with the other end"
MODIFY_QP_REMEDY = (
    "leave NCCL_IB_GID_INDEX unset (2.21 and later pick one) or name one that every host has; "
    "compare addresses and routes of the rails; NCCL_CROSS_NIC=0 where rails are not joined"
)


@dataclass(frozen=True)
class Completion:
    """How a work request of RDMA ended: the status of ``struct ibv_wc`` and its meaning."""

    status: int
    name: str
    means: str
    cause: str
    remedy: str
    kind: str = ERROR
    confidence: str = CONFIRMED


_APPLICATION = "look at the other end's log: its first error may be older"
_ASK = "find the first failure on both hosts; keep the output of `mlxlink` and the kernel's log"
FLUSHED = 5

COMPLETIONS: dict[int, Completion] = {
    completion.status: completion
    for completion in (
        Completion(1, "LOC_LEN_ERR", "a message did not fit", _ASK, _ASK, ERROR, RECALLED),
        Completion(2, "LOC_QP_OP_ERR", "the queue pair is broken", _ASK, _ASK, ERROR, RECALLED),
        Completion(
            4,
            "LOC_PROT_ERR",
            "the HCA may not reach the memory that it was given (local protection)",
            "GPUDirect RDMA through PCIe access control (ACS), an IOMMU, or peer memory that is only half there",
            "turn ACS off, boot with iommu=pt, check nvidia_peermem or DMA-BUF; "
            "NCCL_NET_GDR_LEVEL=LOC shows whether it is that",
        ),
        Completion(
            FLUSHED,
            "WR_FLUSH_ERR",
            "the request was thrown away after an earlier failure",
            "the first failure came before, in this log or another rank's",
            "look for the first failure that is not a flush, in every rank's log",
            CONSEQUENCE,
        ),
        Completion(8, "LOC_ACCESS_ERR", "access to local memory was refused", _ASK, _ASK, ERROR, RECALLED),
        Completion(
            9,
            "REM_INV_REQ_ERR",
            "the other end refused the request",
            "the two ends do not agree: different NCCL releases, or a rank that started anew",
            _APPLICATION,
        ),
        Completion(
            10,
            "REM_ACCESS_ERR",
            "the other end refused access to its memory",
            "its memory was given back too early, or GPUDirect RDMA fails over there",
            _APPLICATION,
        ),
        Completion(11, "REM_OP_ERR", "the other end failed", _APPLICATION, _APPLICATION, ERROR, RECALLED),
        Completion(
            12,
            "RETRY_EXC_ERR",
            "the other end did not answer within NCCL_IB_TIMEOUT and NCCL_IB_RETRY_CNT",
            "at the start: wrong GID index or RoCE version, rails that are not joined, MTU, VLAN "
            "or firewall; later: a link that went down, or congestion without flow control",
            "RoCE: leave NCCL_IB_GID_INDEX unset or correct it; NCCL_CROSS_NIC=0 where rails are "
            "not joined; then `ib_write_bw` between these two ports; look at both ports' counters",
        ),
        Completion(
            13,
            "RNR_RETRY_EXC_ERR",
            "the other end was not ready to receive for too long",
            "its process hangs or is gone",
            _APPLICATION,
        ),
        Completion(19, "FATAL_ERR", "the HCA or its driver failed", _ASK, _ASK, ERROR, RECALLED),
        Completion(20, "RESP_TIMEOUT_ERR", "no response came", _ASK, _ASK, ERROR, RECALLED),
        Completion(21, "GENERAL_ERR", "the transport failed", _ASK, _ASK, ERROR, RECALLED),
    )
}

# What mlx5 HCAs give beside it. Other vendors' numbers mean other things.
VENDOR_ERRORS: dict[int, str] = {
    81: "mlx5: memory key or protection",
    129: "mlx5: transport retries used up",
    249: "mlx5: flushed",
}

# Interfaces that other hosts cannot be met on, by how their names begin.
NO_WAY_OUT: tuple[tuple[str, str], ...] = (
    ("lo", "the loopback interface"),
    ("docker", "a bridge of containers"),
    ("virbr", "a bridge of virtual machines"),
    ("veth", "one container's end of a cable"),
    ("cni", "a bridge of containers"),
    ("flannel", "an overlay of containers"),
    ("cali", "one container's end of a cable"),
    ("tailscale", "a VPN"),
    ("CloudflareWARP", "a VPN"),
    ("wg", "a VPN"),
    ("tun", "a VPN"),
)
