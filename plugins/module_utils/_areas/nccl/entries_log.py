# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for a log of NCCL that somebody gave (nccl.log.*)."""

from __future__ import annotations

from ..._ground.catalog import declare, error, warning

_LOG = ("nccl_log",)

ENTRIES = declare(
    error(
        "nccl.log.errors",
        "NCCL reported no failure, and every communicator came up",
        "The first failure that did not merely follow another is told, with what it means. A flush "
        "(status 5) is never the cause.",
        (
            "see the failure's own cause; docs/nccl-logs.md",
            "only flushes are in this log: the first failure is in another rank's",
        ),
        "do what the failure's remedy says; get the logs of all ranks with NCCL_DEBUG=INFO",
        _LOG,
    ),
    error(
        "nccl.log.network",
        "The job's network was InfiniBand or RoCE, and not TCP",
        "NCCL falls back to TCP sockets without a failure where it finds no RDMA device: the job "
        "runs, many times slower.",
        ("NCCL found no RDMA device that it may use", "RDMA was switched off by a setting"),
        "`ibv_devinfo` where the job runs (in its container); drop NCCL_IB_DISABLE; correct or "
        "drop NCCL_IB_HCA; install rdma-core in the container",
        _LOG,
        ask=("ls /dev/infiniband", "ibv_devinfo", "env | grep NCCL"),
    ),
    error(
        "nccl.log.gdr",
        "Data went from HCA to GPU memory directly (GPUDirect RDMA)",
        "In use, not merely possible: the channels between hosts carry /GDRDMA. Without it, all "
        "traffic is copied through host memory.",
        (
            "GPU and HCA are farther apart than NCCL lets them be (NCCL_NET_GDR_LEVEL)",
            "NCCL saw neither peer memory nor DMA-BUF",
        ),
        "see stack.gpudirect.path, stack.gpudirect.nccl and `nvidia-smi topo -m`; let NCCL pick "
        "the HCA beside each GPU",
        _LOG,
    ),
    error(
        "nccl.log.collnet",
        "A job that is meant to use SHARP used it",
        "Judged where the job asks for it (NCCL_COLLNET_ENABLE) or the inventory does (expect.sharp). `/SHARP` in the "
        "list of devices and a number of collnet channels prove nothing: only a channel `via COLLNET/` does. Where "
        "NCCL goes on without, the line that says so is named.",
        (
            "no aggregation manager that the hosts reach, or all trees of the switches are taken",
            "no plugin with CollNet where the job runs, in its container for example",
            "NCCL_COLLNET_ENABLE does not reach the job",
        ),
        "see host.service.sharp_am, fabric.sharp.nodes and nccl.sharp.enabled; `sharp_hello` where the job runs",
        _LOG,
    ),
    error(
        "nccl.log.hcas",
        "NCCL had every rail of each host, and no other HCA",
        "NCCL lists the ports that it may use. If one is missing, that rail is not used.",
        ("a port was down when the job started", "NCCL_IB_HCA names other devices"),
        "compare with `ibstat` and NCCL_IB_HCA: without `=` it is a prefix, and only one `^` or "
        "`=` at its very start counts",
        _LOG,
    ),
    error(
        "nccl.log.mixed",
        "No job uses InfiniBand and RoCE ports together",
        "Unset, NCCL_IB_HCA takes every active port, those for storage and management as well.",
        ("a RoCE port that is no rail is not excluded",),
        "NCCL_IB_HCA with `=` and the list of rails, on every host",
        _LOG,
    ),
    error(
        "nccl.log.bootstrap",
        "The ranks met on an interface that leads to other hosts",
        "Without a setting, NCCL may pick the loopback interface, a container bridge or a VPN. "
        "The job then hangs, or its TCP traffic goes through it.",
        ("NCCL_SOCKET_IFNAME names it, is not set, or excludes too little: `^ib` leaves lo",),
        "NCCL_SOCKET_IFNAME with the interface's name (`=eth0`), or `^ib,docker,lo,virbr,veth`",
        _LOG,
    ),
    error(
        "nccl.log.version",
        "All ranks load the same NCCL release",
        "Releases do not work with each other. From 2.23 on, NCCL compares them itself.",
        ("a wheel brings its own NCCL beside the system's", "hosts have different environments"),
        "one NCCL in every environment; `LD_DEBUG=libs` shows which library is loaded",
        _LOG,
    ),
    warning(
        "nccl.log.alike",
        "All hosts of a job have the same plugin, HCAs, interface and settings",
        "Each host's lines are held against the others': network plugin, HCAs, interface, the driver's CUDA and every "
        "variable of NCCL. Network and release have checks of their own.",
        ("one host has another environment, image or cabling",),
        "make the odd host like the others: its environment, /etc/nccl.conf, image and ports",
        _LOG,
    ),
)
