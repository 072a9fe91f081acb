# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of NCCL: messages of many releases, of plugins and of programs, each by its code."""

from __future__ import annotations

import re

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_log as data
from tests.unit.nccl_logs import facts

HEAD = "node-a:10:11 [3] "
KINDS = set(data.KINDS) - {data.UNREAD}

# The words of NCCL 2.18 and 2.32, with what stands in for numbers and names.
WARNINGS = {
    "misc/socket.cc:1 ncclSocketInit: Socket creation failed : Address family not supported": "ifname_not_found",
    "net.cc:1 NET/Socket : No usable listening interface found": "ifname_not_found",
    "misc/socket.cc:1 socketPollConnect: exceeded retries (20000)": "connect_failed",
    "misc/ibvwrap.cc:1 Call to ibv_alloc_pd failed with error Cannot allocate memory": "create_pd_failed",
    "init.cc:1 Mismatched NCCL git versions detected: rank 0 fingerprint 0x1, rank 7 0x2": "version_mismatch",
    "init.cc:1 NCCL library is too old. This application was compiled with NCCL version 2.30.1": "version_mismatch",
    "misc/cudawrap.cc:1 Failed to find CUDA library libcuda.so (NCCL_CUDA_PATH='') : none": "cuda_driver_insufficient",
    "shm.cc:1 Error: failed to extend /dev/shm/nccl-1 to 33030532 bytes, error: No space left (28)": "shm_failed",
    "init.cc:1 Call to stat failed : No such file or directory": "shm_failed",
    "transport/nvls.cc:1 Failed to bind NVLink SHARP (NVLS) Multicast memory : CUDA error 401 'x'": "nvls_failed",
    "include/alloc.h:1 Cuda failure 2 'out of memory'": "cuda_failure",
    "include/alloc.h:1 Failed to CUDA calloc async 8 bytes": "cuda_failure",
    "misc/nvmlwrap.cc:1 nvmlInit_v2() failed: Driver/library version mismatch": "nvml_failed",
    "misc/nvmlwrap.cc:1 nvmlDeviceGetHandleByPciBusId() failed: Not Found": "nvml_failed",
    "misc/socket.cc:1 Call to socket failed: Too many open files": "too_many_files",
    "os.cc:1 Thread creation failed: Resource temporarily unavailable": "no_more_threads",
    "x.cc:1 Failed to malloc 8 bytes": "no_host_memory",
    "graph/xml.h:77 Attribute arch of node cpu not found": "topology_incomplete",
    "graph/xml.cc:1 Could not find real path of /sys/class/pci_bus/0000:07/../../0000:07:00.0": "topology_incomplete",
    "graph/xml.cc:1 XML Parse error : expecting '<', got 'x'": "topology_file",
    "graph/topo.h:234 Could not find NET with id 0": "topology_incomplete",
    "graph/xml.h:381 Error : too many XML nodes (max 256)": "topology_too_large",
    "graph/rings.cc:38 Error : ring 1 does not loop back to start (1 != 0)": "ring_broken",
    "transport/p2p.cc:1 failed to peer with device 3(=1b000): 711 peer mapping resources exhausted": "p2p_disabled",
    # NCCL 2.7 and RCCL; ray-project/ray_lightning issue 24 and ROCm/rocm-systems pull request 7864.
    "transport/p2p.cc:1 failed to open CUDA IPC handle : 217 peer access is not supported between these two devices": (
        "p2p_disabled"
    ),
    "transport/p2p.cc:1 rank 0 failed to get CUDA IPC handle to device 1(=1b000) : 1 invalid argument": "p2p_disabled",
    "transport/p2p.cc:1 hipIpcGetMemHandle failed : invalid argument": "p2p_disabled",
    "graph/paths.cc:1 Failed to find reverse path from remNode 0/5f000 nlinks 4 to node 0/cb000": "topology_incomplete",
    # NVIDIA/nccl-tests issue 15.
    "include/socket.h:360 Call to connect failed : Connection timed out": "connect_failed",
    "transport.cc:1 No transport found for rank 1[1b000] -> rank 0[1a000]": "no_transport",
    "misc/ipcsocket.cc:1 UDS: Sending data over socket /tmp/nccl-1 failed : Connection refused": "uds_failed",
    "misc/gdrwrap.cc:1 gdr_pin_buffer(addr 7f00, size 65536) failed: 12": "gdrcopy_failed",
    "init.cc:1 Mismatched collective detected, please check your collective calls": "collective_mismatch",
    "net_ib.cc:1 NET/IB : req 0/1 tag 0 peer 192.0.2.1<5> collective mismatch error, local 1": "collective_mismatch",
    "bootstrap.cc:1 Bootstrap Root : rank 1 of 8 ranks has already checked in": "ranks_disagree",
    "bootstrap.cc:1 Invalid NCCL_COMM_ID, please use format: <ipv4>:<port>": "comm_id_invalid",
    "misc/socket.cc:1 Call to bind failed : Address already in use": "listen_failed",
    "enqueue.cc:1 Error : no algorithm/protocol available": "no_algorithm",
    "init.cc:1 Detected mixed local Net device counts across ranks (min 7, max 8). Set NCCL_IGNORE_NET_MISMATCH=1 to "
    "continue.": "nic_counts_differ",
    "x.cc:1 NET/OFI Unable to insert remote address into address vector for device 1. RC: 0": "ofi_failed",
    "x.cc:1 NET/OFI Creating new endpoint for domain 0x7f failed: Invalid argument": "ofi_failed",
    "net_ib.cc:1 NET/IB : mlx5_0:1 async fatal event: local catastrophic error": "port_event",
    "net_ib.cc:1 NET/IB : mlx5_0:1 async fatal event on QP (0x7f) qpn=7: QP access error": "queue_event",
    # NVIDIA/nccl issue 230; the words are those of libibverbs' ibv_event_type_str.
    "transport/net_ib.cu:80 NET/IB : Got async event : local catastrophic error": "port_event",
    "net_ib.cc:1 NET/IB : mlx5_0:1 Got async event : port error": "port_event",
    "net_ib.cc:1 NET/IB : Got async event : CQ error": "queue_event",
    "net_ib.cc:1 NET/IB : mlx5_0:1 Got async event : local work queue catastrophic error": "queue_event",
    "net_ib.cc:1 NET/IB : Got async event : invalid request local work queue error": "queue_event",
    "net_ib.cc:1 NET/IB : Got async event : local access violation work queue error": "queue_event",
    "net_ib.cc:1 NET/IB : Got async event : SRQ catastrophic error": "queue_event",
    "net_ib.cc:1 NET/IB : Got async event : WQ fatal": "queue_event",
    "net_ib.cc:1 NET/IB : mlx5_0:1 async fatal event on SRQ, unused (0x7): SRQ catastrophic error": "queue_event",
    "misc/ibvwrap.cc:1 ibv_post_send() failed with error Invalid argument, Bad WR 0x7, First WR 0x7": "post_failed",
    "misc/ibvwrap.cc:1 Call to ibv_query_gid failed with error Invalid argument": "gid_not_read",
    "net_ib.cc:1 NET/IB: NCCL_IB_PKEY_VALUE=0x8001 not found in PKey table (pkey_tbl_len=128)": "pkey_not_found",
    "misc/argcheck.cc:1 Broadcast : invalid root 4 (root should be in the 0..3 range)": "bad_call",
    "misc/argcheck.cc:1 AllReduce : sendbuff 0x7f00 is not a valid pointer": "bad_call",
}
# With these a job goes on.
LOSSES = {
    "net_ib.cc:1 NET/IB : Unable to open device mlx5_1": "ib_device_not_opened",
    "graph/xml.cc:1 Could not open XML topology file /etc/topo.xml : No such file or directory": "topology_file",
    "graph/search.cc:1 Could not find a path for pattern 4, falling back to simple order": "no_path",
    "x.cc:1 NET/OFI Unable to find a protocol that worked. Failing initialization.": "ofi_no_provider",
}
# With these a job goes on as well, and somebody had asked for more. The plugin's are in its src/sharp_plugin.c.
REFUSALS = {
    "x.cc:1 CollNet is not supported or fails to initialize, ignoring NCCL_ALGO=COLLNET": "collnet_unavailable",
    "transport.cc:323 Cannot initialize CollNet, using point-to-point network instead": "collnet_unavailable",
    "sharp_plugin.c:320 NET/IB : SHARP coll init error: Cannot create SHARP job(-11)": "collnet_unavailable",
    "sharp_plugin.c:302 SHARP group create: Streaming Tree lock failed (-18)": "collnet_unavailable",
    "sharp_plugin.c:302 SHARP group create failed: Streaming Tree lock failed (-18)": "collnet_unavailable",
    "sharp_plugin.c:1 sharp_coll_caps_query failed : Not supported(-5)": "collnet_unavailable",
    "sharp_plugin.c:1 SHARP regmr failed": "collnet_unavailable",
}
# Another end, or an earlier failure, is to blame.
CONSEQUENCES = {
    "misc/ibvwrap.cu:220 Call to ibv_get_async_event failed": "verbs_call_failed",
    "process_err_completion:1562 NET/OFI Request 0x7f completed with error. RC: 5. Error: Invalid receiver queue pair "
    "number (QPN) My EFA addr: fi_addr_efa://[fe80::1]:0:6 Peer host id: i-08d8a345 Completed length: 0": (
        "remote_closed"
    ),
    "process_err_completion:1 NET/OFI Request 0x7f completed with error. RC: 5. Error: Receiver connection aborted": (
        "remote_closed"
    ),
}
NOTES = {
    "net_ib.cc:1 NET/IB : Got async event : client reregistration": "port_event",
    "net_ib.cc:1 NET/IB : mlx5_0:1 Got async event : GID table change": "port_event",
    "misc/ibvwrap.cc:1 Call to ibv_open_device failed": "verbs_call_failed",
    "init.cc:1 Detected mixed local Net device counts across ranks (min 7, max 8). Ignoring due to "
    "NCCL_IGNORE_NET_MISMATCH.": "nic_counts_differ",
    "misc/socket.cc:1 socketFinalizeAccept: wrong magic ba8657f4d3a5a02a != 134eccad5a34ad33": "foreign_connection",
    "misc/socket.cc:1 Handshake receive from 192.0.2.9<7> failed, discarding peer connection": "foreign_connection",
    "init.cc:449 Spectrum-X (SPCX) NCCL plugin is not supported on device:mlx5_0, skipping ..": "plugin_skipped",
    "bootstrap.cc:162 Call to setrlimit failed : Invalid argument": "limit_not_raised",
    "x.cc:1 gdrcopy gdr_open() failed; falling back to NCCL internal DMA-BUF mmap backend": "gdrcopy_failed",
    "net_ib.cc:1 Could not find real path of rxe0 (/sys/class/infiniband/rxe0/device)": "no_pci_path",
    "misc/ibvwrap.cc:1 dlvsym failed on ibv_reg_dmabuf_mr - /lib/libibverbs.so.1: undefined symbol": "old_rdma_core",
    "graph/xml.cc:1 KV Convert to int : could not find value of 'x' in dictionary, falling back": "topology_guessed",
    "init.cc:1 NCCL_WORK_FIFO_DEPTH=7 is being ignored because it is not a power of 2.": "bad_setting",
    "init.cc:1 NCCL_MIN_CTAS 0 is too low, leaving it set at 1": "bad_setting",
    "enqueue.cc:1 Invalid NCCL_NTHREADS 7 (minimum 64).": "bad_setting",
    # AMD's.
    'init.cc:1 Missing "iommu=pt" from kernel command line which can lead to system instablity!': "iommu_not_pt",
    "init.cc:1 NUMA auto balancing enabled which can lead to variability in the RCCL performance!": "numa_balancing",
}
AGAINS = {
    "proxy.cc:1 [Service thread] Could not receive type from localRank 3, res=3, closed=0": "proxy_failed",
    "proxy.cc:1 ncclProxyCallBlockingUDS call to tpRank 3(7f) failed : 3": "proxy_failed",
    "init.cc:1 commReclaim: cleanup comm 0x7f rank 3 failed in destroy/abort, error 6": "proxy_failed",
    "net_ib.cc:1 communicator encountered a fatal error (detected in ncclIbTest)": "proxy_failed",
}


@pytest.mark.parametrize(
    ("said", "code", "kind"),
    [
        (said, code, kind)
        for kind, messages in (
            (data.ERROR, WARNINGS),
            (data.LOSS, LOSSES),
            (data.REFUSED, REFUSALS),
            (data.CONSEQUENCE, CONSEQUENCES),
            (data.NOTE, NOTES),
            (data.AGAIN, AGAINS),
        )
        for said, code in messages.items()
    ],
)
def test_every_warning_that_somebody_can_mend_has_a_code(said: str, code: str, kind: str) -> None:
    place, _blank, text = said.partition(" ")
    found = facts(f"{HEAD}{place} NCCL WARN {text}\n")
    assert [(entry["code"], entry["kind"]) for entry in found["failures"]] == [(code, kind)]
    assert found["failures"][0]["rank"] == "node-a:10 GPU 3"
    assert found["errors"] == ([code] if kind in (data.ERROR, data.LOSS, data.REFUSED) else [])


@pytest.mark.parametrize("said", [*WARNINGS, *NOTES])
def test_what_is_told_of_warnings_alone_is_no_failure_at_info(said: str) -> None:
    code = {**WARNINGS, **NOTES}[said]
    heard = facts(f"{HEAD}NCCL INFO {said.partition(' ')[2]}\n")["failures"]
    known = [entry for entry in data.KNOWN if entry.id == code]
    if known and all(entry.loud for entry in known):
        assert heard == []


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("out of memory", "GPU memory is full"),
        ("system not yet initialized", "fabric manager does not run"),
        ("no kernel image is available for execution on the device", "no code for this GPU"),
        ("invalid device ordinal", "more ranks than GPUs"),
        ("an illegal memory access was encountered", "memory or a link of that GPU failed"),
        ("operation not supported", "does not let CUDA share memory"),
        ("initialization error", "no GPU in the container"),
        ("peer access is not supported between these two devices", "containers that see different GPUs"),
        ("an error that is new", "the program, a GPU that is not there"),
    ],
)
def test_what_cuda_said_tells_who_can_mend_it(words: str, cause: str) -> None:
    for text in (
        f"{HEAD}enqueue.cc:1 NCCL WARN Cuda failure 7 '{words}'",
        f"{HEAD}/a/build/rccl/hipify/src/enqueue.cc:1 NCCL WARN HIP failure '{words}'",
        f"node-a: Test CUDA failure common.cu:941 '{words}'",
        f"[rank3]:[E] Process group watchdog thread terminated with exception: CUDA error: {words}",
    ):
        first = facts(f"{text}\n")["first_cause"]
        assert (first["code"], cause in f"{first['means']}: {first['cause']}") == ("cuda_failure", True), text


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("unhandled system error (run with NCCL_DEBUG=INFO for details) / '", "result_2"),
        ("remote process exited or there was a network error / '", "result_6"),
    ],
)
def test_how_a_call_ended_is_told_by_nccl_tests_too(said: str, code: str) -> None:
    text = f"node-a: Test NCCL failure common.cu:958 '{said}\n"
    assert facts(text)["first_cause"]["code"] == code
    why = "Error while creating shared memory segment /dev/shm/nccl-x (size 5)\n"
    assert facts(why + text)["errors"] == ["shm_failed"]


@pytest.mark.parametrize(
    ("text", "peer"),
    [
        ("socketStartConnect: Connect to 192.0.2.1<5> failed : Software caused connection abort", "192.0.2.1"),
        ("Net : Connect to fe80::1%e<5> failed : Connection refused", "fe80::1%e"),
        ("ncclOsSocketPollConnect to node-b.c<5> failed with error No route to host", "node-b.c"),
        (
            "socketPollConnect: connect to 192.0.2.1<5> returned Connection refused, exceeded error retry count",
            "192.0.2.1",
        ),
        ("NET/Socket : peer 192.0.2.1<5> message truncated : receiving 1048576 bytes instead of 65536", "192.0.2.1"),
    ],
)
def test_the_other_end_is_told_where_the_message_names_it(text: str, peer: str) -> None:
    assert facts(f"{HEAD}x.cc:1 NCCL WARN {text}\n")["first_cause"]["peer"] == peer


@pytest.mark.parametrize(
    ("said", "code", "peer"),
    [
        ("Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7)", "watchdog_timeout", ""),
        ("Received a dump signal due to a collective timeout from  rank 7 and we will", "watchdog_timeout", ""),
        ("Received a dump signal due to a collective timeout from this local rank and", "watchdog_timeout", ""),
        ("RuntimeError: NCCL communicator was aborted on rank 2.", "aborted", "rank 2"),
        ("RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is", "collective_mismatch", ""),
    ],
)
def test_pytorch_tells_it_in_its_own_words(said: str, code: str, peer: str) -> None:
    first = facts(f"[rank3]:[E703 17:54:18.1 ProcessGroupNCCL.cpp:19] [PG ID 0 Rank 3] {said}\n")["first_cause"]
    assert (first["code"], first["peer"]) == (code, peer)


def test_rccl_names_a_source_file_by_its_whole_path() -> None:
    text = f"{HEAD}/a/build/rccl/hipify/src/graph/xml.h:77 NCCL WARN Attribute arch of node cpu not found\n"
    assert facts(text)["errors"] == ["topology_incomplete"]


def test_every_known_message_is_whole() -> None:
    for known in data.KNOWN:
        assert known.kind in KINDS
        assert all((known.versions, known.means, known.cause, known.remedy, known.source, known.confidence)), known.id
        assert re.compile(known.pattern).match("") is None, known.id
        assert not re.search(r"(?<!\\)[*+](?!\?:)", re.sub(r"\[[^\]]*\]", "", known.pattern)), known.pattern
