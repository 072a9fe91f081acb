# SPDX-License-Identifier: GPL-3.0-or-later
"""What containers on a simulated node see: a probe in docker with the image of a framework.

`node.more["container"]` understands `drop` (beginnings of lines to leave out, "root device" or for
all "device"), `add` (lines before the end, "root net\teth1 plain"; a bar | stands for a tab) and
`image` (its origin: local or built). Of the image's CUDA, `cuda` (its release, that of the driver by
itself), `compat` (the release of its compatibility libraries) and `ahead` (the loader takes those).
"""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ip_addr
from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree

IMAGE = "registry.example.com/train:25.10"
_LIB = "/usr/lib/{}-linux-gnu"
_USERS = {"root": 0, "user": 65534}


def add(tree: Tree, node: Node) -> None:
    """The probe, as root and as nobody."""
    more = node.more.get("container", {})
    host = [
        "format|1",
        "wish|{}",
        "engine|docker|28.5.1|/usr/bin/docker",
        f"image|{IMAGE}|{more.get('image', 'local')}",
    ]
    lines = [f"host|{one}" for one in host]
    for who, user in _USERS.items():
        lines.append(f"host|run|{who}|{user}|ran|")
        inside = [f"{who}|{one}" for one in _inside(tree, node, user)]
        inside = [one for one in inside if not _dropped(one, more.get("drop", ()))]
        inside += [one for one in more.get("add", ()) if one.startswith(f"{who}|")]
        lines += [f"{who}|begin|1", *inside, f"{who}|end|1"]
    text = "".join(f"{one}\n" for one in [*lines, f"host|end|{len(lines)}"])
    tree.command("container_probe", text.replace("|", "\t"))


def _dropped(line: str, beginnings: list[str]) -> bool:
    rest = line.split("|", 1)[1]
    return any(line.startswith(one) or rest.startswith(one) for one in beginnings)


def _inside(tree: Tree, node: Node, user: int) -> Iterator[str]:
    numbers = "|".join(4 * [str(user)])
    yield f"status|Uid:|{numbers}"
    yield f"status|CapEff:|{'0' * 16 if user else '00000000a80465fb'}"
    yield "limits|Max open files            1048576              1048576              files"
    yield "limits|Max locked memory         unlimited            unlimited            bytes"
    yield "uid_map|0          0 4294967295"
    for name in _names(tree, "/dev/infiniband"):
        yield f"device|{name}|ok"
    yield "shm|tmpfs|rw,nosuid,nodev,inode64"
    yield "memory|MemTotal:       2113478652 kB"
    netdevs = {one.netdev for one in node.hcas}
    for one in ip_addr.parse(tree.commands["ip_addr"].stdout):
        yield f"net|{one.name}|{'rdma' if one.name in netdevs else 'plain'}"
    for hca in node.hcas:
        yield f"rdma|{hca.name}"
    yield "os|ID=ubuntu"
    yield "os|ID_LIKE=debian"
    yield 'os|VERSION_ID="24.04"'
    yield from _libraries(node)
    for number in range(len(node.cards)):
        yield f"gpu|nvidia{number}"
    if node.cards:
        yield "smi.rc|0"
        for card in node.cards:
            yield f"smi|GPU {card.index}: {node.gpu_name} (UUID: {card.uuid})"
    yield from _conf(tree)
    yield from _cuda(node)
    yield "env|LC_ALL='C'"
    yield "env|LD_LIBRARY_PATH='/usr/local/nvidia/lib'"
    yield "opens.by|ibv_devinfo"
    yield "opens.rc|0"
    for hca in node.hcas:
        yield f"opens|{hca.name}|ok"


def _libraries(node: Node) -> Iterator[str]:
    folder = _LIB.format(node.machine)
    for name in ("libibverbs.so.1", "libibverbs.so.1.14.56.0", "librdmacm.so.1"):
        yield f"library|{folder}/{name}"
    yield f"library|{folder}/libmlx5.so.1.25.56.0"
    yield f"library|{folder}/libibverbs/libmlx5-rdmav57.so"
    yield f"library|{folder}/libnccl.so.2"
    yield "driver|mlx5"
    yield "packages|dpkg"
    yield "package|ibverbs-providers|56.0-1|installed"
    yield "package|libibverbs1|56.0-1|installed"
    yield "package|libnccl2|2.28.7-1+cuda13.0|installed"


def _cuda(node: Node) -> Iterator[str]:
    """An image of the CUDA that the driver brings, and the host's libcuda, as CDI puts it into a container."""
    more = node.more.get("container", {})
    cuda, compat = more.get("cuda", node.cuda), more.get("compat", "")
    release = f"{cuda}.1"
    yield f"env|CUDA_VERSION='{release}'"
    alternatives = (f"brand={brand},driver>=535,driver<536" for brand in ("unknown", "tesla", "nvidia"))
    yield f"env|NVIDIA_REQUIRE_CUDA='cuda>={cuda} {' '.join(alternatives)}'"
    yield "cuda.looked|1"
    for line in ("{", '"cuda" : {', '"name" : "CUDA SDK",', f'"version" : "{release}"', "}", "}"):
        yield f"cuda.json|{line}"
    yield f"cudart|/usr/local/cuda/lib64/libcudart.so.{cuda.split('.')[0]}"
    yield f"cudart|/usr/local/cuda/lib64/libcudart.so.{cuda}.96"
    if compat:
        yield f"compat|/usr/local/cuda/compat/libcuda.so.{compat}"
        if more.get("ahead"):
            yield f"loads|/usr/local/cuda/compat/libcuda.so.1|/usr/local/cuda-{cuda}/compat/libcuda.so.{compat}"
    if node.cards:
        folder = _LIB.format(node.machine)
        yield f"loads|{folder}/libcuda.so.1|{folder}/libcuda.so.{node.driver}"


def _conf(tree: Tree) -> Iterator[str]:
    if "/etc/nccl.conf" not in tree.files:
        yield "conf|none"
        return
    yield "conf|readable"
    for line in tree.read("/etc/nccl.conf").splitlines():
        yield f"conf.line|{line}"


def _names(tree: Tree, path: str) -> list[str]:
    try:
        return tree.list(path)
    except Unavailable:
        return []
