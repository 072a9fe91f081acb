# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of NCCL: what an operator can meet, by the sources of NCCL, its plugins and PyTorch, has a kind."""

from __future__ import annotations

import re

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_log as data, nccl_log_words as words
from tests.unit.nccl_logs import facts

HEAD = "node-a:10:11 [3] x.cc:1 NCCL WARN "

# Formats of NCCL 2.18 to 2.32 (its binaries), RCCL and the plugins, with what stands in for numbers and names.
WARNINGS = {
    "[Rem Allocator] Allocation failed (segment 0, fd 130)": "allocator_stranger",
    "sendProxySetup: net plugin returned invalid value for maxP2pBytes 7 [allowed range: 1 - 9]": "plugin_refused",
    "network plugin has invalid properties callbacks": "plugin_refused",
    "TOPO/NET : Could not force merge NICs x. Please specify a valid NCCL_NET_FORCE_MERGE string.": "setting_refused",
    "Invalid number of network devices = 0 for policy MAX": "setting_refused",
    "NET/IB: OOO RQ is force enabled but AR is not enabled, which is required for OOO RQ (device=x)": "setting_refused",
    "RMA/Socket : rma_socket requires GDRCopy; and GDR Copy is not available": "setting_refused",
    "XML Import Channel : dev 1 not found.": "topology_file",
    "Could not find any local path from gpu 3 to net.": "topology_incomplete",
    "Add NVLink error : could not find GPU 1b000": "topology_incomplete",
    "Could not find intermediate GPU between GPU rank 3 and NIC 0": "topology_incomplete",
    "Error : too many Topo links (max 128)": "topology_too_large",
    "Could not get speed from /sys/class/net/eth0/speed. Defaulting to 10 Gbps.": "topology_guessed",
    "Message truncated : received 1024 bytes instead of 256": "ranks_disagree",
    "Failed to determine local ranks rank 3 hostHash 1 pidHash 2 localRank -1 localRanks 0": "ranks_disagree",
    "NCCL version mismatch with remote peer 192.0.2.1 (local: 2.27.3, remote 2.26.2)": "version_mismatch",
    "NET/IB : There are mismatched physical devices between local (a) and remote (b).": "nic_counts_differ",
    "no device found matching eth9, verify NCCL_OOB_NET_IFNAME": "ifname_not_found",
    "NET/Socket : socket progress error": "remote_closed",
    "socketPollConnect: poll() timed out": "connect_failed",
    "Call to accept failed: Resource temporarily unavailable": "socket_call_failed",
    "ncclSocketTryAccept: get errno 22 that is not EAGAIN or EWOULDBLOCK": "socket_call_failed",
    "Net : unsupported IP family": "socket_call_failed",
    "Call to pthread_attr_setstacksize failed: Invalid argument": "no_more_threads",
    "Error waiting for pthread_join : Invalid argument": "no_more_threads",
    "Call to open failed: Permission denied": "system_call_failed",
    "Call to sched_getaffinity failed : Invalid argument": "system_call_failed",
    "Failed to open /proc/self/x": "system_call_failed",
    "Failed to allocate CPU memory.": "no_host_memory",
    "NET/Socket : unable to allocate requests": "no_host_memory",
    "Error while attaching to shared memory segment /dev/shm/nccl-\u040c (size 0), error: x (2)": "shm_failed",
    "Error while closing shared memory segment x (size 8)": "shm_failed",
    "munmap of shared memory 0x7f size 8 failed, error: Invalid argument (22)": "shm_left",
    "UDS: Cannot bind provided name to socket. Name too large": "uds_failed",
    "NET/IB: Got CQE with error (devIndex=0, req=0x7f, comm=0x7f (Send), wr_id=7, qp_num=9)": "proxy_failed",
    "NET/IB: WQE stall (no CQE): peer=192.0.2.1<5> | local: qpn=7 dev=mlx5_0 port=1": "wqe_stalled",
    "NET/IB: ncclIbPortRecovery: Marking device 0 as permanently failed (Send comm=0x7f)": "ib_device_failed",
    "NET/IB: Fatal error. Detected 2 failed devices out of 2 devices on the Send communicator": "ib_device_failed",
    "NET/IB: x: Device 0 was already marked as failed.": "ib_device_recovers",
    "Call to ibv_query_ece failed with error Invalid argument errno 22": "verbs_call_failed",
    "Call to ibv_fork_init failed": "verbs_call_failed",
    "NET/MLX5: lib wrapper not initialized.": "nccl_fault",
    "NET/MLX5: Call to mlx5dv_reg_dmabuf_mr failed with error Bad address": "reg_mr_failed",
    "NET/MLX5: Call to mlx5dv_query_device failed with error x": "verbs_call_failed",
    "NET/IB : Failed to open mlx5dv symbols. Advance features like CX-8 Direct-NIC will be disabled.": "no_direct_nic",
    "NET/IB: Error in mlx5dv_get_data_direct_sysfs_path with device mlx5_0": "no_direct_nic",
    "NET/IB: Invalid resiliency context (comm=0x7f)": "nccl_fault",
    "NET/IB: x: resiliency context is NULL": "nccl_fault",
    "NET/IB: Invalid local device count 0": "nccl_fault",
    "Mismatched response size for opId=0x7f: got 8, expected 16": "nccl_fault",
    "Error: corrupted comm object detected": "nccl_fault",
    "Invalid NET register response size 8, expected 16": "nccl_fault",
    "NVLS Multicast bind of size 7 at MC group 7 offset 0 dev 3 failed transiently: CUDA error 2 'x'.": "nvls_failed",
    "Failed to multicast-bind user buffer: CUDA error 401 'x'": "nvls_failed",
    "MNNVL is not supported on this system": "mnnvl_failed",
    "Failed to load CUDA missing symbol cuGetProcAddress": "cuda_driver_insufficient",
    "NCCL cannot be captured in a graph if the installed CUDA driver < R465.": "cuda_driver_insufficient",
    "rsmi_init failed": "nvml_failed",
    "Could register CPU memory to CUDA 7f00, err 7": "cuda_failure",
    "P2P not supported between GPU3 and GPU7": "p2p_disabled",
    "peer query failed between dev 3(=1b000) and dev 7(=1c000)": "p2p_disabled",
    "cuMem host allocations do not appear to be working; falling back to a /dev/shm/ based implementation.": (
        "cumem_host_failed"
    ),
    "rank 3 failed to NET register userbuff 0x7f buffSize 8 GDR flag 1": "register_failed",
    "commReclaim: comm 0x7f (rank = 3) in abort, error 6": "proxy_failed",
    "[Proxy Service 3] something that nobody wrote yet": "proxy_failed",
    "GDRCOPY lib wrapper not initialized.": "nccl_fault",
    "RMA/Socket : invalid GDRCopy signal mapping 0x7f": "nccl_fault",
    "gdr_map(handle 7f, size 65536) failed: 12": "gdrcopy_failed",
    "Failed to open libgdrapi.so - x; falling back to NCCL internal DMA-BUF mmap backend": "gdrcopy_failed",
    "DMABuf not supported on this system by this CUDA installation.": "dmabuf_missing",
    "GIN: DevComm setup failed on all available backends": "gin_failed",
    "DOCA SDK function returned an error": "gin_failed",
    "Failed to create UMEM": "gin_failed",
    "RMA/Socket : peer=7 closed before GET requestId=7 completed": "gin_failed",
    "Unable to use GIN: Peermem is not supported": "gin_unavailable",
    "Failed to create gpu umem with dmabuf. Fallback to legacy nvidia-peermem mode": "gin_unavailable",
    "NET/UCX: Failed to create a worker": "ucx_failed",
    "External network plugin libnccl-net.so is unsupported": "plugin_failed",
    "TUNER/Plugin: Failed to initialize tuner plugin x": "plugin_failed",
    "Env var for maxCTAs=99 is ignored because value out of bound min/max=[1, 64]": "bad_setting",
    "NET/IB: NCCL_IB_SUBNET_PREFIX_LEN=99 is out of range [1,32]": "bad_setting",
    "NCCL_NET_MERGE_POLICY: unknown value 'x', defaulting to ALL": "bad_setting",
    "Unable to recognize NCCL_NETDEVS_POLICY=x, using NCCL_NETDEVS_POLICY_AUTO instead.": "bad_setting",
    "config->CTAPolicy=7 is invalid, accepted values are [1, 7]": "bad_call",
    "ncclSetEncryption: NCCL_ENCRYPTION_MODE_PSK requires config->psk": "bad_call",
    "Data type supplied to user-created ncclRedOp_t does not match type given to reduction operation": "bad_call",
    "Comm config netName (a) does not match the parent (b)": "bad_call",
    "ncclRedOpDestroy : invalid communicator passed.": "bad_call",
    "Continuing in spite of a RAS initialization error": "ras_failed",
    # aws-ofi-nccl, up to 1.6 and later.
    "NET/OFI Couldn't find any optimal provider": "ofi_no_provider",
    "NET/OFI Could not find any optimal provider": "ofi_no_provider",
    "NET/OFI Received an invalid tag 0 for device 0": "ofi_failed",
    "Call to connect timeout : Connection refused": "connect_failed",
}
# What PyTorch and its launchers print beside NCCL.
TOLD = {
    "[W socket.cpp:663] [c10d] The client socket has failed to connect to [192.0.2.1]:29500 (errno: 110 - Connection "
    "timed out).": "store_unreachable",
    "[E socket.cpp:610] [c10d] The client socket has failed to connect to any network address of (node-a, 29500).": (
        "store_unreachable"
    ),
    "TimeoutError: The client socket has timed out after 900s while trying to connect to (192.0.2.1, 29500).": (
        "store_unreachable"
    ),
    "[c10d] TCP client failed to connect/validate to host 192.0.2.1:29500 - timed out (try=1)": "store_unreachable",
    "RuntimeError: The server socket has failed to listen on any local network address. port: 29500": "listen_failed",
    "[W socket.cpp:426] [c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - x)": "listen_failed",
    "torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 1/2 clients joined.": (
        "ranks_missing"
    ),
    "torch.distributed.elastic.multiprocessing.api: failed (exitcode: -9) local_rank: 1 (pid: 7) of binary": "killed",
    "  traceback : Signal 9 (SIGKILL) received by PID 7": "killed",
    "RuntimeError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!": "no_gpu",
    "RuntimeError: No CUDA GPUs are available": "no_gpu",
    "[W TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=3): Connection reset by peer": "store_lost",
    "is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0'": (
        "store_lost"
    ),
    "[rank7]: torch.distributed.DistBackendError: wait timeout after 600000ms, keys: /default_pg/0": "store_lost",
    "[PG 1 Rank 0] Exception (either an error or timeout) detected by watchdog at work: 7": "watchdog_timeout",
    "RuntimeError: [enforce fail at device.cc:84] ifa != nullptr. Unable to find address for: ^lo": (
        "gloo_connect_failed"
    ),
    "using GPU 3 to perform barrier as devices used by this process are currently unknown.": "device_guessed",
}
# How a call ended, in the words of programs; a line that says why takes its place.
ENDED = {
    "RuntimeError: NCCL error in: /pytorch/c10d/ProcessGroupNCCL.cpp:784, unhandled cuda error, NCCL version 2.7.8": 1,
    "ncclUnhandledCudaError: Call to CUDA function failed.": 1,
    "RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)": 2,
    "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.": 2,
    "RuntimeError: NCCL Error 2: unhandled system error": 2,
    "UnknownError: ncclCommInitRank failed: unhandled system error": 2,
    "[rank3]: ncclInternalError: Internal check failed.": 3,
    "ncclInvalidArgument: Invalid value for an argument.": 4,
    "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.": 5,
    "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.": 6,
}


@pytest.mark.parametrize(("said", "code"), WARNINGS.items())
def test_every_warning_has_a_kind(said: str, code: str) -> None:
    assert [entry["code"] for entry in facts(f"{HEAD}{said}\n")["failures"]] == [code]


@pytest.mark.parametrize(("said", "code"), TOLD.items())
def test_what_programs_tell_has_a_kind(said: str, code: str) -> None:
    for text in (f"{said}\n", f"node-a:10:11 [3] NCCL INFO Using network IB\n[rank3]: {said}\n"):
        (found,) = facts(text)["failures"]
        assert (found["code"], bool(found["means"] and found["cause"] and found["remedy"])) == (code, True)


@pytest.mark.parametrize(("said", "number"), ENDED.items())
def test_how_a_call_ended_is_told_until_a_line_says_why(said: str, number: int) -> None:
    assert facts(f"{said}\n")["first_cause"]["code"] == f"result_{number}"
    why = f"{HEAD}Call to bind failed : Address already in use\n"
    assert [entry["code"] for entry in facts(f"{said}\n{why}")["failures"]] == ["listen_failed"]


def test_every_entry_by_class_is_met_by_an_example() -> None:
    said = [*WARNINGS, *TOLD]
    for known in (*words.FIRST, *words.TOLD, *words.WARNED):
        assert any(re.search(known.pattern, line) for line in said), known.id
        bare = re.sub(r"\[[^\]]{1,60}\]", "", known.pattern)
        assert not re.search(r"(?<!\\)[*+]", bare), "every repetition has an end"


def test_a_word_of_a_class_is_no_failure_but_in_a_warning() -> None:
    for known in words.WARNED:
        assert (known.loud, known.anywhere) == (True, False)
    for said in ("NET/IB : Using [0]mlx5_0:1/IB [RO]", "NET/Plugin: Failed to find ncclNetPlugin_v8 symbol."):
        assert facts(f"node-a:10:11 [3] NCCL INFO {said}\n")["failures"] == []
    assert facts(f"{HEAD}what nobody has written until now\n")["errors"] == ["unread_warning"]


# A scanner of ports: NVIDIA/nccl issues 844 and 1612.
@pytest.mark.parametrize(
    ("told", "code"),
    [
        ("[Rem Allocator] Allocation failed (segment 0, fd 130)", "allocator_stranger"),
        ("socketFinalizeAccept: wrong magic ba8657f4d3a5a02a != 134eccad5a34ad33", "foreign_connection"),
    ],
)
def test_a_stranger_s_connection_is_told_as_a_stranger_s(told: str, code: str) -> None:
    gone = "socketProgress: Connection closed by remote peer 192.0.2.9<36138>"
    found = facts(f"{HEAD}{gone}\n{HEAD}{told}\n")
    assert {entry["code"] for entry in found["failures"]} == {code}
    assert found["first_cause"]["code"] == code


@pytest.mark.parametrize("stranger", ["[Rem Allocator] Allocation failed (segment 0, fd 130)", "wrong magic"])
def test_a_stranger_at_one_rank_explains_nothing_of_the_others(stranger: str) -> None:
    told = stranger if "Rem" in stranger else "socketFinalizeAccept: wrong magic ba86 != 134e"
    gone = "socketProgress: Connection closed by remote peer 192.0.2.9<36138>"
    memory = "Cuda failure 'out of memory'"
    other = HEAD.replace("node-a", "node-b")
    found = facts(f"{HEAD}{told}\n{other}{gone}\n{other}{memory}\n")
    codes = {entry["code"] for entry in found["failures"] if entry["rank"].startswith("node-b")}
    assert codes == {"remote_closed", "cuda_failure"}


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("socketProgress: Connection closed by remote peer 192.0.2.2<36138>", "remote_closed"),
        ("Cuda failure 'an illegal memory access was encountered'", "cuda_failure"),
    ],
)
def test_a_stranger_is_not_blamed_for_what_no_stranger_does(said: str, code: str) -> None:
    ours = "node-b:10:11 [3] NCCL INFO Bootstrap : Using eth0:192.0.2.2<0>\n"
    found = facts(f"{ours}{HEAD}[Rem Allocator] Allocation failed (segment 0, fd 130)\n{HEAD}{said}\n")
    assert code in {entry["code"] for entry in found["failures"]}


def test_a_hint_of_nccl_is_read_where_nccl_prints_it() -> None:
    hint = "HINT: In many cases this error indicates that ACS is enabled, which breaks GPU Direct RDMA"
    (found,) = facts(f"node-a:10:11 [3] NCCL INFO {hint}\n")["failures"]
    assert (found["code"], found["kind"], found["text"]) == ("hint", "note", hint)


def test_a_line_between_warning_and_information_counts_as_a_warning() -> None:
    head = "[2026-11-01 10:00:00] node-a:10:11 [3] NCCL ATTN "
    stranger = "Socket magic mismatch from 192.0.2.9<5> (peer 0x7f != expected 0x8f), discarding peer connection"
    assert [entry["code"] for entry in facts(f"{head}{stranger}\n")["failures"]] == ["foreign_connection"]
    assert facts(f"{head}something that nobody wrote yet\n")["errors"] == ["unread_warning"]


def test_the_same_line_many_times_is_read_once() -> None:
    text = "NET/OFI Received x\n" * 2000 + f"{HEAD}Call to accept failed: x\n"
    assert facts(text)["errors"] == ["socket_call_failed"]


def test_results_have_names_everywhere() -> None:
    assert set(data.RESULT_ERRORS.values()) == set(data.RESULT_NAMES.values()) == set(data.RESULTS)
