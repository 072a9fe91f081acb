# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric behind simulated hosts, as the tools would print it: a rail-optimised fat tree.

In pods of 32 hosts each rail has a leaf switch, with as many cables up as down: to eight spines,
and from them, where there are several pods, to core switches. A port that is not Active has no
cable, and what a host says of its rate is what its cable trained at.
"""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import gather, judge, read
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.report import Query
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from tests.unit import fabrics

POD, SPINES, UP = 32, 8, 32
# Where the gauntlet's nodes say that the subnet manager is.
MANAGER = "b8599f0300a10000"
MANAGERS = "ufm1"
_SPEEDS = {400.0: "4xNDR", 200.0: "4xHDR", 100.0: "4xEDR"}


def asked(hosts: Sequence[_hosts.Host]) -> Query:
    """What the first host's first rail heard of the fabric of all."""
    fabric = _cabled(hosts)
    answers = fabric.answers()
    answers["sminfo"]["stdout"] = (
        f"sminfo: sm lid 1 sm guid 0x{int(MANAGER, 16) + 1:x}, activity count 242 priority 14 state 3 SMINFO_MASTER\n"
    )
    first = hosts[0]
    look = {"device": "mlx5_0", "port": 1, "seconds": 5.0, "answers": answers}
    names = [host.name for host in hosts]
    return Query([read.read(first.name, look)], judge.DesiredSettings(), (MANAGERS,), inventory=names)


def _cabled(hosts: Sequence[_hosts.Host]) -> fabrics.Fabric:
    fabric = fabrics.Fabric(managers=fabrics.sm_record(f"0x{int(MANAGER, 16) + 1:x}"))
    rates = {(host.name, ca.name): port.rate for host in hosts for ca, port in _hosts.infiniband_rails(host)}
    place = {host.name: number for number, host in enumerate(hosts)}
    pods = -(-len(hosts) // POD)
    spines = [_pod(fabric, pod) for pod in range(pods)]
    if pods > 1:
        _cores(fabric, spines)
    for hca in gather.inventory(hosts).rails:
        device = hca.name.partition("/")[0]
        guid = fabric.hca(hca.node_guid, hca.host, device, hca.rail)
        pod, at = divmod(place[hca.host], POD)
        leaf = (_leaf(pod, hca.rail), at + 1)
        if hca.state == "Active":
            fabric.plug((guid, 1), leaf, _SPEEDS[rates[hca.host, device] or 0.0])
        else:
            fabric.down += [(guid, 1), leaf]
        fabric.asks = fabric.asks or guid
    manager = fabric.hca(MANAGER, MANAGERS, "mlx5_0", 0)
    fabric.plug((manager, 1), (_leaf(0, 0), POD + UP + 1))
    return fabric


def _leaf(pod: int, rail: int) -> str:
    return f"{0xB859_9F03_0010_0000 + 0x1000 * pod + 0x10 * rail:x}"


def _pod(fabric: fabrics.Fabric, pod: int) -> list[str]:
    """Leaves and spines of a pod, cabled; the spines."""
    spines = [
        fabric.switch(f"{0xB859_9F03_0020_0000 + 0x1000 * pod + 0x10 * one:x}", f"spine-{pod + 1}-{one + 1}")
        for one in range(SPINES)
    ]
    each = UP // SPINES
    for rail in range(8):
        leaf = fabric.switch(_leaf(pod, rail), f"leaf-{pod + 1}-{rail + 1}")
        for at in range(UP):
            spine, cable = divmod(at, each)
            fabric.plug((leaf, POD + at + 1), (spines[spine], rail * each + cable + 1))
    return spines


def _cores(fabric: fabrics.Fabric, pods: Sequence[Sequence[str]]) -> None:
    """To every core of its group, a spine has as many cables as 64 ports allow."""
    each = max(1, 64 // len(pods))
    for group in range(SPINES):
        for number in range(-(-UP // each)):
            guid = f"{0xB859_9F03_0030_0000 + 0x1000 * group + 0x10 * number:x}"
            core = fabric.switch(guid, f"core-{group + 1}-{number + 1}")
            for pod, spines in enumerate(pods):
                for cable in range(min(each, UP - number * each)):
                    up = UP + number * each + cable + 1
                    fabric.plug((spines[group], up), (core, pod * each + cable + 1))
