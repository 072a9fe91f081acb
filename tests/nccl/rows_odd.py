# SPDX-License-Identifier: GPL-3.0-or-later
"""A hundred files of /etc/nccl.conf, odd, wrong, unwise or right, and which check has to tell.

What the library takes of each is no part of the table: it is asked of every library, and held
against ibready's own model and word.
"""

from __future__ import annotations

from dataclasses import dataclass

LINES, DOUBTS, HARM, DERIVED = "nccl.conf.lines", "nccl.conf.doubts", "nccl.conf.harm", "nccl.conf.derived"
# The rails of the simulated host (tests/nccl/answer.py).
_RAILS = b"NCCL_IB_HCA==" + b",".join(b"mlx5_%d" % number for number in range(8)) + b"\n"


@dataclass(frozen=True)
class Odd:
    """``told``: the check that fails by it, "" where the file is right as far as its lines go.
    ``since``: the release from which that holds."""

    text: bytes
    told: str
    since: tuple[int, ...] = (0,)

    @property
    def name(self) -> str:
        return ascii(self.text)[2:60]


def _all(told: str, *lines: bytes, since: tuple[int, ...] = (0,)) -> tuple[Odd, ...]:
    return tuple(Odd(line + b"\n", told, since) for line in lines)


ROWS = (
    # Bytes and blanks.
    *_all(
        LINES,
        *(b"NCCL_IB_TC=\xc2\xa0106", b"NCCL_IB_TC=\xe2\x80\x8b106", b"NCCL_DEBUG=\xe3\x80\x80WARN"),
        *(b"NCCL_DEBUG=WARN\xc2\xa0", b"NCCL_IB_HCA=mlx5_0\xc2\xa0,mlx5_1", b"\xc2\xa0NCCL_DEBUG=WARN"),
        *(b"NCCL_DEBUG\xc2\xa0=WARN", b"\xef\xbb\xbfNCCL_DEBUG=WARN", b"NCCL_DEBUG=\tWARN", b"NCCL_DEBUG=WARN\t"),
        *(
            b"NCCL_DEBUG=WARN\x0b",
            b"NCCL_IB_GID_INDEX=\x003",
            b"NCCL_DEBUG=\xffWARN",
            b"NCCL_SOCKET_FAMILY=AF_INET\xe9",
        ),
    ),
    *_all("", b"# caf\xe9"),
    # NCCL takes the name as it is; the host has no such plugin.
    *_all(DOUBTS, b"NCCL_NET_PLUGIN=caf\xe9"),
    # Separators and signs of lists.
    *_all(
        LINES,
        *(b"NCCL_IB_HCA=mlx5_0;mlx5_1", b"NCCL_IB_HCA=mlx5_0|mlx5_1", b"NCCL_IB_HCA==mlx5_0,=mlx5_1"),
        *(
            b"NCCL_IB_HCA==^mlx5_1",
            b"NCCL_IB_HCA=mlx5_0, mlx5_1",
            b"NCCL_IB_HCA=^",
            b"NCCL_IB_HCA=,",
            b"NCCL_IB_HCA=mlx5_0:0",
        ),
        *(
            b"NCCL_SOCKET_IFNAME=eth0;eth1",
            b"NCCL_SOCKET_IFNAME=^ib,^docker",
            b"NCCL_SOCKET_IFNAME=^ib",
            b"NCCL_SOCKET_IFNAME=e",
        ),
        *(
            b'NCCL_IB_HCA="mlx5_0"',
            b"NCCL_SOCKET_IFNAME='eth0'",
            b"NCCL_IB_HCA=[mlx5_0] ",
            b"NCCL_IB_HCA=mlx5_0 mlx5_1",
        ),
    ),
    *_all(DOUBTS, b"NCCL_IB_HCA=", b"NCCL_IB_HCA=mlx5_99"),
    # The simulated host has no mlx5_10, which mlx5_1 would take, and neither docker0 nor virbr0.
    *_all("", b"NCCL_SOCKET_IFNAME=^lo"),
    *_all(
        DERIVED,
        b"NCCL_IB_HCA=mlx5_1",
        b"NCCL_IB_HCA=mlx5",
        b"NCCL_IB_HCA==mlx4_0",
        b"NCCL_IB_HCA==mlx5_0",
        b"NCCL_SOCKET_IFNAME==eth9",
    ),
    # Words.
    *_all(
        LINES,
        *(b"NCCL_ALGO=Tre", b"NCCL_ALGO=Ring;Tree", b"NCCL_ALGO=Ring,Tree,Mesh", b"NCCL_ALGO=,", b"NCCL_PROTO=LL64"),
        b"NCCL_ALGO=;Ring",
        *(
            b"NCCL_PROTO=Simple LL",
            b"NCCL_PROTO=0",
            b"NCCL_NET=InfiniBand",
            b"NCCL_NET=mlx5_0",
            b"NCCL_NET=RoCE",
            b"NCCL_NET=TCP",
        ),
        *(
            b"NCCL_DEBUG=DEBUG",
            b"NCCL_DEBUG=3",
            b"NCCL_SOCKET_FAMILY=IPv4",
            b"NCCL_NET_GDR_LEVEL=pix",
            b"NCCL_P2P_LEVEL=NVLINK",
        ),
        *(b"NCCL_IB_DISABLE=no", b"NCCL_SHM_DISABLE=true", b"NCCL_LAUNCH_MODE=SERIAL", b"NCCL_COMM_ID=node1"),
        *(
            b"NCCL_DEBUG=WARN # once",
            b"export NCCL_DEBUG=WARN",
            b"NCCL_DEBUG: WARN",
            b"NCCL_DEBUG = WARN",
            b"set NCCL_DEBUG=WARN",
        ),
    ),
    *_all(
        LINES,
        b"NCCL_SOCKET_FAMILY=AF_INET 6",
        b"NCCL_IB_ADDR_FAMILY=IPv6",
        b"NCCL_IB_ADDR_RANGE=10.0",
        since=(2, 21, 5),
    ),
    *_all(LINES, b"NCCL_NETDEVS_POLICY=MAX", b"NCCL_NETDEVS_POLICY=max:2", since=(2, 28, 3)),
    *_all(DOUBTS, b"NCCL_NET=Mine", b"NCCL_DEBUG_SUBSYS=INIT,NETWORK", b"NCCL_DEBUG=TRACE", b"NCCL_PROTO=LL128"),
    *_all(DOUBTS, b"NCCL_ALGO=Tree", b"NCCL_ALGO=NVLS", b"NCCL_ALGO=Ring;", since=(2, 24)),
    *_all(DOUBTS, b"NCCL_ALGO=^", b"NCCL_ALGO=Ring,", b"NCCL_ALGO=Tree,,Ring", b"NCCL_PROTO=Simple,"),
    *_all("", b"NCCL_NET=ib", b"NCCL_DEBUG=warn", b"NCCL_DEBUG_SUBSYS=INIT,NET,", b"NCCL_P2P_LEVEL=NVL"),
    # Numbers.
    *_all(
        LINES,
        *(b"NCCL_IB_QPS_PER_CONNECTION=0", b"NCCL_IB_QPS_PER_CONNECTION=256", b"NCCL_IB_QPS_PER_CONNECTION=4,4"),
        *(
            b"NCCL_IB_TIMEOUT=40",
            b'NCCL_IB_TIMEOUT="22"',
            b"NCCL_IB_GID_INDEX=0,3",
            b"NCCL_IB_GID_INDEX=-9",
            b"NCCL_BUFFSIZE=4M",
        ),
        *(
            b"NCCL_BUFFSIZE=0",
            b"NCCL_IB_TC=0106",
            b"NCCL_IB_TC=512",
            b"NCCL_IB_SL=16",
            b"NCCL_IB_TC=9999999999999999999999",
        ),
        *(b"NCCL_IB_PKEY=-1", b"NCCL_COMM_BLOCKING=0", b"NCCL_P2P_NET_CHUNKSIZE=0", b"NCCL_IB_TC=one"),
    ),
    *_all(LINES, b"NCCL_IB_ROCE_VERSION_NUM=0", since=(2, 21, 5)),
    *_all(LINES, b"NCCL_SOCKET_RETRY_CNT=0", since=(2, 24, 3)),
    *_all(
        DOUBTS,
        *(
            b"NCCL_IB_TIMEOUT=1",
            b"NCCL_IB_TIMEOUT=30",
            b"NCCL_IB_RETRY_CNT=1",
            b"NCCL_IB_RETRY_CNT=9",
            b"NCCL_MAX_NCHANNELS=1",
        ),
        *(
            b"NCCL_MAX_CTAS=2",
            b"NCCL_MIN_NCHANNELS=64",
            b"NCCL_NTHREADS=33",
            b"NCCL_NTHREADS=64",
            b"NCCL_BUFFSIZE=65536",
        ),
        *(b"NCCL_IB_QPS_PER_CONNECTION=64", b"NCCL_CROSS_NIC=9", b"NCCL_CHECK_POINTERS=1"),
    ),
    *_all(
        HARM,
        b"NCCL_IB_DISABLE=1",
        b"NCCL_NET=Socket",
        b"NCCL_IB_TIMEOUT=0",
        b"NCCL_IB_RETRY_CNT=0",
        b"NCCL_IB_DISABLE=2",
    ),
    # What is left from a search for a fault, and files that are not there.
    *_all(
        DOUBTS,
        *(
            b"NCCL_P2P_DISABLE=1",
            b"NCCL_SHM_DISABLE=1",
            b"NCCL_PXN_DISABLE=1",
            b"NCCL_NVB_DISABLE=1",
            b"NCCL_NVLS_ENABLE=0",
        ),
        *(
            b"NCCL_ALGO=Ring",
            b"NCCL_PROTO=Simple",
            b"NCCL_NET_SHARED_BUFFERS=0",
            b"NCCL_CUMEM_ENABLE=0",
            b"NCCL_GRAPH_REGISTER=0",
        ),
        *(b"NCCL_TOPO_FILE=/nowhere/topo.xml", b"NCCL_TOPO_DUMP_FILE=/tmp/topo.xml", b"NCCL_DEBUG_FILE=/tmp/nccl.log"),
    ),
    *_all(LINES, b"NCCL_GRAPH_FILE=/nowhere/graph.xml", b"NCCL_TOPO_FILE=~/topo.xml", b"NCCL_TOPO_FILE=$HOME/topo.xml"),
    # Names.
    *_all(
        LINES,
        b"NCCL_IB_HCAS=mlx5_0",
        b"NCCL_NCHANNELS=4",
        b"NCCL_IB_GDR_LEVEL=5",
        b"nccl_debug=WARN",
        b"NCCL_TIMEOUT=100",
    ),
    *_all(DOUBTS, b"LD_LIBRARY_PATH=/opt", b"UCX_TLS=rc", b"NCCL_HOSTID=a"),
    # Right.
    *_all(
        "",
        _RAILS[:-1],
        b"NCCL_SOCKET_IFNAME==eth0",
        b"NCCL_IB_TC=106",
        b"NCCL_IB_QPS_PER_CONNECTION=4",
        b"NCCL_CROSS_NIC=1",
    ),
    *_all("", b"NCCL_IB_TIMEOUT=22\nNCCL_IB_RETRY_CNT=7", b"NCCL_IB_GID_INDEX=3", b"NCCL_NET_GDR_LEVEL=SYS"),
)
