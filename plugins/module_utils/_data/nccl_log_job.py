# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of NCCL's log about the job: ranks that do not agree, settings, plugins, calls. Data only; see nccl_log."""

from __future__ import annotations

from .nccl_known import CONFIRMED, CONSEQUENCE, ERROR, FIELD, LOSS, NOTE, REFUSED, WORDS, Known

_CALL = r"\b[A-Za-z]{3,30} : "

# Libfabric's providers that go over TCP or UDP; a layer above may follow: `tcp;ofi_rxm`.
TCP_PROVIDERS = ("tcp", "sockets", "udp")

_OFI = (
    "the plugin of libfabric failed",
    "what it says; the plugin's release may not fit libfabric's",
    "the message; releases of plugin, libfabric and EFA driver that belong together",
)


def _ofi(pattern: str, means: str, cause: str, remedy: str, anywhere: bool = False) -> Known:
    """A failure of libfabric's plugin, in its own words."""
    return Known(
        "ofi_failed", ERROR, pattern, "aws-ofi-nccl", means, cause, remedy, FIELD, CONFIRMED, anywhere, loud=True
    )


def _no_provider(kind: str, pattern: str, versions: str) -> Known:
    """Libfabric's plugin found nothing to go over."""
    return Known(
        "ofi_no_provider",
        kind,
        pattern,
        versions,
        "libfabric found no device that the plugin may use",
        "/dev/infiniband is missing in the container, the EFA driver or provider is missing, or FI_PROVIDER is wrong",
        "`fi_info -p efa` (or cxi) where the job runs; give the container the devices",
        FIELD,
        CONFIRMED,
    )


JOB: tuple[Known, ...] = (
    Known(
        "collective_mismatch",
        ERROR,
        r"Mismatched collective detected|Detected mismatch between collectives on ranks"
        r"|collective mismatch error|posted incorrect receive info"
        r"|NET/\w{1,20} ?: peer (?P<peer>[^\s<]{1,120})\S{0,10} message truncated",
        "all",
        "two ranks do not agree on a collective: the one sent more than the other expected",
        "ranks call collectives in another order or of another size, or their settings (NCCL_*) or releases differ",
        "compare the environments of all hosts; TORCH_DISTRIBUTED_DEBUG=DETAIL names the call",
        FIELD,
        CONFIRMED,
        anywhere=True,
        loud=True,
    ),
    Known(
        "version_mismatch",
        ERROR,
        r"NCCL library is (?:too old|not backwards compatible)",
        "2.29 and later",
        "the program was built for another release of NCCL than it loads",
        "LD_LIBRARY_PATH, or a wheel that brings its own beside the system's package",
        "one NCCL on every host and in every environment",
        WORDS,
        anywhere=True,
        loud=True,
    ),
    Known(
        "ranks_disagree",
        ERROR,
        r"Bootstrap Root ?: (?:mismatch in |rank \d{1,9} of \d{1,9} ranks has already)",
        "all",
        "the ranks do not agree on how many they are, or two have the same number",
        "two jobs meet at the same address, a rank was started twice, the launcher's numbers are wrong, or the ranks "
        "load different releases of NCCL",
        "a port of its own for each job; compare RANK, WORLD_SIZE and NCCL's release of all processes",
        WORDS,
        anywhere=True,
        loud=True,
    ),
    Known(
        "ring_broken",
        ERROR,
        r"ring \d{1,4} does not (?:loop back to start|contain rank)",
        "all",
        "the ranks do not agree on the order in which they are joined",
        "hosts that differ (GPUs in sight, NCCL_* settings, topology files), or a fault of this release",
        "compare environment, GPUs and NCCL's release of all hosts",
        FIELD,
        CONFIRMED,
        loud=True,
    ),
    # PyTorch's ranks meet by Gloo beside NCCL: where it fails, a job has not come to NCCL.
    Known(
        "gloo_connect_failed",
        ERROR,
        r"Gloo connectFullMesh failed(?:.{0,300}remote=\[(?P<peer>[^\]\s]{1,60})\])?",
        "PyTorch, and what is built on it",
        "the ranks could not meet by Gloo, PyTorch's own way over TCP",
        "Gloo took an address that other hosts do not reach: the host's name leads to the loopback (/etc/hosts), or to "
        "another network; or a firewall, or a rank that is gone",
        "GLOO_SOCKET_IFNAME with the interface that leads to the other hosts; `getent ahosts $(hostname)` on each",
        FIELD,
        CONFIRMED,
        anywhere=True,
    ),
    Known(
        "plugin_skipped",
        NOTE,
        r"Spectrum-X \(SPCX\) NCCL plugin is not supported",
        "HPC-X and NVIDIA's network plugins",
        "the plugin for Spectrum-X does not take a device",
        "the device is no SuperNIC of Spectrum-X",
        "nothing",
        FIELD,
        CONFIRMED,
        loud=True,
    ),
    Known(
        "comm_id_invalid",
        ERROR,
        r"Invalid NCCL_COMM_ID|No valid (?:<IPv4_or_hostname>|\[IPv6\]):|error encountered when getting address info",
        "all",
        "the address of NCCL_COMM_ID cannot be used",
        "it is no host and port, or the name cannot be resolved",
        "drop NCCL_COMM_ID, or write it as ADDRESS:PORT; `getent hosts NAME`",
        WORDS,
        loud=True,
    ),
    Known(
        "listen_failed",
        ERROR,
        r"Call to (?:bind|listen) failed",
        "all",
        "NCCL could not wait for connections at an address",
        "the port is in use, all ports are, or the address (NCCL_COMM_ID) is none of this host's",
        "`ss -lntp`; net.ipv4.ip_local_port_range; drop NCCL_COMM_ID",
        WORDS,
        loud=True,
    ),
    Known(
        "no_algorithm",
        ERROR,
        r"[Nn]o algorithm/protocol (?:nor symKernelId )?available",
        "all",
        "the settings leave NCCL no way to do a collective",
        "NCCL_ALGO or NCCL_PROTO names what this job cannot use: NVLS, CollNet, one node only",
        "drop NCCL_ALGO and NCCL_PROTO",
        WORDS,
        loud=True,
        anywhere=True,
    ),
    Known(
        "nic_counts_differ",
        ERROR,
        r"Detected mixed local \w{1,10} device counts.{0,80}Set NCCL_IGNORE_",
        "2.30 and later",
        "the ranks do not have the same number of network devices",
        "a host has lost an HCA, a container sees fewer, or NCCL_IB_HCA differs",
        "compare `ibv_devinfo` and NCCL_IB_HCA of all hosts; the variable that it names only hides it",
        WORDS,
        anywhere=True,
        loud=True,
    ),
    Known(
        "nic_counts_differ",
        NOTE,
        r"Detected mixed local \w{1,10} device counts",
        "2.30 and later",
        "the ranks do not have the same number of network devices",
        "a host has lost an HCA, a container sees fewer, or NCCL_IB_HCA differs",
        "compare `ibv_devinfo` and NCCL_IB_HCA of all hosts",
        WORDS,
        loud=True,
    ),
    Known(
        "foreign_connection",
        NOTE,
        r"socketFinalizeAccept: wrong magic|Socket magic mismatch|discarding peer connection",
        "2.14 and later",
        "something that is no rank of this job connected to it",
        "a scanner of ports, or another job at the same address",
        "keep scanners off the job's network; a port of its own for each job",
        FIELD,
        CONFIRMED,
        loud=True,
    ),
    _no_provider(REFUSED, r"NET/OFI Could(?:n't| not) find any optimal provider", "aws-ofi-nccl up to 1.6"),
    _no_provider(
        LOSS,
        r"NET/OFI (?:No eligible providers were found|Unable to find a protocol that worked"
        r"|Only EFA provider is supported"
        r"|aws-ofi-nccl initialization failed)",
        "aws-ofi-nccl",
    ),
    Known(
        "ofi_tcp",
        LOSS,
        r"NET/OFI Selected [Pp]rovider is (?:tcp|sockets|udp)\b",
        "aws-ofi-nccl",
        "libfabric goes over TCP",
        "no device of EFA or Slingshot was found, or FI_PROVIDER names TCP",
        "`fi_info -p efa` (or cxi) where the job runs; drop FI_PROVIDER",
        FIELD,
        CONFIRMED,
    ),
    # The words of EFA's driver in libfabric for a queue of the other end that is gone.
    Known(
        "remote_closed",
        CONSEQUENCE,
        r"NET/OFI .{1,80}completed with error.{1,120}(?:Invalid receiver queue pair number|Receiver connection aborted"
        r"|Flushed during queue pair destroy)(?:.{1,400}Peer host id: (?P<peer>[\w-]{1,60}))?",
        "aws-ofi-nccl",
        "another rank went away",
        "it failed first, or was ended: killed for memory, or by the launcher",
        "find the first rank that failed; `dmesg | grep -i 'out of memory'` and the events of its pod on that host",
        FIELD,
        CONFIRMED,
        anywhere=True,
        loud=True,
    ),
    _ofi(
        r"NET/OFI (?:Unable to insert remote address|Request .{0,80}completed with error|Couldn't connect"
        r"|.{0,80}[Cc]onnect\w{0,4} .{0,80}(?:failed|refused|timed out))",
        "the plugin of libfabric could not reach another rank",
        "EFA: the security group must name itself in both directions; a device that is missing on one host",
        "the security group's inbound and outbound rules; `fi_pingpong -p efa` between the hosts",
        anywhere=True,
    ),
    _ofi(r"NET/OFI (?:Unable to|Couldn't)", *_OFI, anywhere=True),
    _ofi(r"NET/OFI .{1,200}(?:[Ff]ailed|[Ee]rror|[Ii]nvalid |[Cc]ould not|[Cc]annot|[Uu]nsupported|[Uu]nable)", *_OFI),
    Known(
        "ib_device_not_opened",
        LOSS,
        r"NET/IB\w{0,20} ?: Unable to (?:open|query) (?:device|port)(?:_num)? (?P<hca>[\w.-]{1,64})",
        "all",
        "NCCL goes on without an HCA, or a port, that this process may not open",
        "the container has the device in /sys and not in /dev/infiniband, its cgroup forbids it, or the HCA is ill",
        "all of /dev/infiniband for the container; `ibv_devinfo` there; else exclude the device with NCCL_IB_HCA=^NAME",
        FIELD,
        CONFIRMED,
        loud=True,
    ),
    Known(
        "verbs_call_failed",
        NOTE,
        r"Call to ibv_(?:open_device|query_device|query_port|close_device|dealloc_pd|dereg_mr|destroy_\w{2}) failed",
        "all",
        "a call to the verbs library failed",
        "the line after it tells what NCCL was about",
        "`ibv_devinfo` where the job runs",
        WORDS,
        loud=True,
    ),
    Known(
        "verbs_call_failed",
        CONSEQUENCE,
        r"Call to ibv_(?:get|ack)_async_event failed",
        "all",
        "NCCL no longer hears of an HCA's events",
        "the HCA failed before, or was taken away",
        "the first failure before it; `dmesg | grep mlx5`",
        FIELD,
        CONFIRMED,
        loud=True,
    ),
    Known(
        "queue_event",
        ERROR,
        r"async fatal event on (?:CQ|QP|SRQ)\b",
        "2.23 and later",
        "the HCA gave a queue up",
        "the other end wrote where it may not (its process ended, or gave GPU memory back), or the HCA failed",
        "find the first rank that failed; else the HCA's counters and `dmesg | grep mlx5`",
        WORDS,
        loud=True,
    ),
    Known(
        "post_failed",
        ERROR,
        r"ibv_post_(?:send|recv)\(\) failed with error|ibv_poll_cq\(\) returned",
        "all",
        "the HCA's driver refused a request",
        "the queue broke before: an earlier failure here or at the other end; or memory that the HCA cannot reach",
        "find the first rank that failed; else `dmesg | grep mlx5`",
        WORDS,
        loud=True,
    ),
    Known(
        "old_rdma_core",
        NOTE,
        r"dlv?sym failed on ibv_",
        "all",
        "the verbs library is older than what NCCL would use",
        "rdma-core of the host or container lacks a call; without ibv_reg_dmabuf_mr there is no DMA-BUF",
        "a newer rdma-core, where DMA-BUF is meant to be in use",
        WORDS,
        loud=True,
    ),
    Known(
        "gid_not_read",
        ERROR,
        r"Call to ibv_query_gid failed",
        "all",
        "the GID that was asked for is not in the port's table",
        "NCCL_IB_GID_INDEX is larger than the table",
        "leave NCCL_IB_GID_INDEX unset (2.21 and later pick one), or name one that every host has",
        WORDS,
        loud=True,
    ),
    Known(
        "pkey_not_found",
        ERROR,
        r"NCCL_IB_PKEY(?:_VALUE)?=\w{1,12} not found in PKey table",
        "2.30 and later",
        "the partition that was asked for is not one of the port's",
        "the subnet manager has not put this port into that partition, or the number is wrong",
        "the port's table in /sys/class/infiniband/*/ports/*/pkeys; drop the setting",
        WORDS,
        anywhere=True,
        loud=True,
    ),
    Known(
        "bad_call",
        ERROR,
        rf"{_CALL}(?:invalid (?:root|type|reduction operation)|\w{{1,30}} argument is NULL"
        r"|\w{1,30} (?:0x[0-9a-f]{1,20}|\(nil\)) is not a valid pointer|\w{1,30} allocated on device \d)"
        r"|Invalid (?:rank requested|device count requested|config \w)|not in a group call"
        r"|Attempt to use communicator before|is in abort state|argument not initialized via"
        r"|are not allowed in the same group|\bhas already been destroyed",
        "all",
        "the program called NCCL in a way that it does not take",
        "a fault of the program, or of its framework's release",
        "the message, and where the program makes that call; no setting of the host fixes it",
        WORDS,
        loud=True,
    ),
    Known(
        "bad_setting",
        NOTE,
        r"Invalid (?:value \S{1,200} for NCCL_\w{1,60}, using default|NCCL_\w{1,60} -?\d)"
        r"|\bNCCL_[A-Z0-9_]{2,60}\b.{0,120}(?:\bignor(?:ed|ing)\b|using (?:the )?(?:default|built-in)|leaving it set"
        r"|has no effect|Limiting value|is too small|greater than the maximum)|ENV \w{1,80} is unused",
        "all",
        "NCCL does not take a setting as it was given, and goes on without it",
        "a typing error, a number out of range, or a variable of another release",
        "correct or drop the setting",
        WORDS,
        loud=True,
    ),
    Known(
        "hint",
        NOTE,
        r"^HINT: ",
        "2.32",
        "NCCL tells what is mostly behind the failure before this line",
        "the hint says it",
        "do what the hint says",
        WORDS,
    ),
)
