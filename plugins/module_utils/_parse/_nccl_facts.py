# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of an NCCL log; read by nccl_log, judged by _areas/nccl/check_log."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .._data import nccl_log as data
from ._times import Waiting

SOCKET = "Socket"
IB = "IB"
ROCE = "RoCE"
NONE = "none"
SEVERAL = "mixed"


def over_tcp(provider: str | None) -> bool:
    """Whether libfabric's provider goes over TCP; it may have a layer above, `tcp;ofi_rxm`."""
    return provider is not None and provider.partition(";")[0] in data.TCP_PROVIDERS


@dataclass(frozen=True)
class Hca:
    """One RDMA port that NCCL may use; ``link``: IB or RoCE, "" where no line tells it."""

    name: str
    port: int | None
    link: str


@dataclass(frozen=True)
class Interface:
    """A network interface and its address as NCCL prints it."""

    name: str
    address: str


@dataclass(frozen=True)
class Fabric:
    """NVLink between hosts, as the driver tells it of a GPU.

    ``state``: completed where it works; ``unhealthy``: parts of the health mask that say so.
    """

    uuid: str
    clique: str
    state: str
    unhealthy: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """A known message, told once per rank, in the order of the log.

    ``code``: ``wc_status_12_vendor_129``, ``modify_qp_timeout``, or an id of _data/nccl_log.
    ``status``, ``vendor``, ``peer`` (address) and ``hca`` of a completion, where they are told.
    """

    code: str
    kind: str
    means: str
    cause: str
    remedy: str
    text: str
    rank: str = ""
    status: int | None = None
    vendor: int | None = None
    peer: str = ""
    hca: str = ""
    times: int = 1

    @property
    def listed(self) -> bool:
        """Whether it is one of the log's errors, and not only a remark."""
        return self.status is not None or self.kind in (data.ERROR, data.LOSS, data.REFUSED, data.UNREAD)


@dataclass(frozen=True)
class Evidence:
    """What a log, or one rank's part of it, says. None: no line decides it.

    ``version``: ``2.27.7+cuda12.9``; ``cuda_driver``: CUDA level of the driver, ``12.8``.
    ``plugin``: the external network plugin, "" where there is none.
    ``backend``: the transport that NCCL names (IB, IBext_v8, Socket, AWS Libfabric);
    ``network``: what it really is: IB, RoCE, Socket, another backend's name, or "none" where all
    that was tried failed. IB is also said of InfiniBand verbs whose link no line tells.
    ``links``: the link types seen. ``hcas``: () where NCCL found none.
    ``gdr``: whether data goes from HCA to GPU memory without the host's; False where only a part of
    the channels does. ``gdr_able``: whether NCCL thinks that an HCA could. ``with_gdr``,
    ``without_gdr``: channels between hosts, counted.
    ``intra``: ways between GPUs of a host: P2P, SHM, NVLS. ``net_peers``: ranks reached by network.
    ``provider``: libfabric's, where that is in use: efa, cxi, tcp. ``fabric``: NVLink between hosts, and
    ``clique``: how many ranks it joins.
    ``collnet``: whose CollNet carries a part of the job: SHARP, "" where no line names it.
    ``collnet_plugin``: the one that was loaded for it, "" where the plugin has none. ``collnet_off``: (nodes,
    NCCL_COLLNET_NODE_THRESHOLD) of the largest communicator that is too small for it.
    ``rank`` and ``nranks`` in the largest communicator. ``complete``: each one that began is up.
    """

    version: str | None = None
    versions: tuple[str, ...] = ()
    cuda_driver: str | None = None
    plugin: str | None = None
    backend: str | None = None
    network: str | None = None
    links: tuple[str, ...] = ()
    hcas: tuple[Hca, ...] | None = None
    gdr: bool | None = None
    gdr_able: bool | None = None
    with_gdr: int = 0
    without_gdr: int = 0
    intra: tuple[str, ...] = ()
    p2p: tuple[str, ...] = ()
    bootstrap: Interface | None = None
    sockets: tuple[Interface, ...] | None = None
    net_peers: tuple[int, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    rank: int | None = None
    nranks: int | None = None
    nodes: int | None = None
    complete: bool = False
    provider: str | None = None
    fabric: Fabric | None = None
    clique: int | None = None
    collnet: str | None = None
    collnet_plugin: str | None = None
    collnet_off: tuple[int, int] | None = None


@dataclass(frozen=True)
class Rank:
    """One process and GPU of the job. ``name``: how messages call it."""

    name: str
    tag: str
    host: str
    pid: int | None
    device: int | None
    said: Evidence
    errors: tuple[str, ...] = ()


@dataclass(frozen=True)
class NcclLog:
    """A job's log: what all of it says together, and each rank by itself.

    ``cut``: the text ends within a line. ``differing``: settings that are not the same everywhere. ``waiting``: what
    PyTorch's watchdog tells of a collective that did not end.
    """

    said: Evidence
    ranks: tuple[Rank, ...]
    failures: tuple[Failure, ...] = ()
    differing: tuple[str, ...] = ()
    cut: bool = False
    waiting: tuple[Waiting, ...] = ()

    @property
    def errors(self) -> tuple[str, ...]:
        """The codes of what went wrong, once each, in the order of the log."""
        return tuple(dict.fromkeys(failure.code for failure in self.failures if failure.listed))

    @property
    def first_cause(self) -> Failure | None:
        """The first failure that did not merely follow another; where there is no such, any. Nothing
        is known to follow from another while a warning stands that nobody could read."""
        for kind in (data.ERROR, data.UNREAD, data.CONSEQUENCE, data.AGAIN, data.REFUSED):
            for failure in self.failures:
                if failure.kind == kind:
                    return failure
        return None

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(rank.host for rank in self.ranks if rank.host))

    def to_dict(self) -> dict[str, Any]:
        """As JSON, in the field names of docs/nccl-logs.md."""
        first = self.first_cause
        return {
            **summary(self.said),
            "nccl_versions": list(self.said.versions),
            "errors": list(self.errors),
            "first_cause": asdict(first) if first else None,
            "failures": [asdict(failure) for failure in self.failures],
            "settings_differ": list(self.differing),
            "cut": self.cut,
            "ranks": [
                {
                    "name": rank.name,
                    "tag": rank.tag,
                    "host": rank.host,
                    "pid": rank.pid,
                    "device": rank.device,
                    **summary(rank.said),
                    "errors": list(rank.errors),
                }
                for rank in self.ranks
            ],
        }


def summary(said: Evidence) -> dict[str, Any]:
    """One rank's, or the whole log's, facts as JSON."""
    hcas = said.hcas or ()
    roce = [hca.name for hca in hcas if hca.link == ROCE]
    return {
        "rank": said.rank,
        "nranks": said.nranks,
        "nodes": said.nodes,
        "nccl_version": said.version,
        "cuda_driver": said.cuda_driver,
        "plugin": said.plugin,
        "backend": said.backend,
        "network": said.network,
        "network_mixed": len(said.links) > 1 or said.network == SEVERAL,
        "links": list(said.links),
        "hcas": list(dict.fromkeys(hca.name for hca in hcas)),
        "hca_ports": [dict(vars(hca)) for hca in hcas],
        "roce_hcas": list(dict.fromkeys(roce)),
        "gdr": said.gdr,
        "gdr_able": said.gdr_able,
        "gdr_channels": {"with": said.with_gdr, "without": said.without_gdr},
        "intra": said.intra[0] if said.intra else None,
        "intra_also": list(said.intra[1:]),
        "p2p": list(said.p2p),
        "bootstrap_if": said.bootstrap.name if said.bootstrap else None,
        "bootstrap_address": said.bootstrap.address if said.bootstrap else None,
        "socket_if": ",".join(dict.fromkeys(socket.name for socket in said.sockets or ())) or None,
        "net_peers": list(said.net_peers),
        "settings": dict(said.settings),
        "complete": said.complete,
        "provider": said.provider,
        "mnnvl": {**asdict(said.fabric), "unhealthy": list(said.fabric.unhealthy)} if said.fabric else None,
        "mnnvl_ranks": said.clique,
        "collnet": said.collnet,
        "collnet_plugin": said.collnet_plugin,
    }
