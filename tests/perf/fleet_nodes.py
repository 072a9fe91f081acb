# SPDX-License-Identifier: GPL-3.0-or-later
"""Live nodes for a benchmark: the sandbox's node image in as many systemd containers as asked.

Simulated, as in the sandbox: the PCI bus and /sys/class/infiniband, which show two Active HCAs and
eight GPUs. There is no fabric behind them, because ibsim serves ten clients and no more: tools that
ask it end with an error at once. infiniband-diags is the distribution's, and unmodified.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import signal
import subprocess
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

import yaml

from sandbox import config, image, keys, lifecycle, parcel, podman
from sandbox.fabric import dump, sysfs
from sandbox.hardware.board import build

NAME, SUBNET = "ibready-perf-fleet", "198.18.87"
_INOTIFY = Path("/proc/sys/fs/inotify/max_user_instances")
_ENOUGH = 8192
# What a /24 holds.
_MOST = 240


@dataclasses.dataclass(frozen=True)
class Fleet(config.Sandbox):
    """A sandbox of ``count`` nodes and without a fabric."""

    count: int = 30

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(f"node{number}" for number in range(1, self.count + 1))

    def address(self, node: str) -> str:
        return f"{self.subnet}.{10 + int(node[4:])}"

    @property
    def containers(self) -> tuple[str, ...]:
        return tuple(self.container(node) for node in self.nodes)

    @property
    def volumes(self) -> tuple[str, ...]:
        return tuple(self.engines(node) for node in self.nodes)


@contextlib.contextmanager
def up(count: int) -> Iterator[Fleet]:
    """The nodes, gone when the block ends, also by SIGTERM."""
    signal.signal(signal.SIGTERM, _ended)
    # Always the same place, by which the next run knows what one left that was killed.
    state = config.REPOSITORY / ".sandbox" / NAME
    box = Fleet(name=NAME, subnet=SUBNET, state=state, count=count)
    before = int(_INOTIFY.read_text())
    if before < _ENOUGH:
        # Each systemd takes several; 20 containers exhaust the usual 128.
        _allow(_ENOUGH)
    _remove(box)
    try:
        _make(box)
        yield box
    finally:
        _remove(box)
        if before < _ENOUGH:
            _allow(before)


def _ended(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(f"ended by {signal.Signals(number).name}")


def _remove(box: Fleet) -> None:
    # As many as there may be: an earlier run may have had more.
    podman.remove(dataclasses.replace(box, count=_MOST))
    shutil.rmtree(box.state, ignore_errors=True)


def _allow(instances: int) -> None:
    """How many inotify instances a user may have."""
    setting = f"fs.inotify.max_user_instances={instances}"
    subprocess.run([*podman.prefix(), "sysctl", "-qw", setting], check=True)


def _image() -> str:
    recipe = image.ensure(print)
    tag = f"{image.NODE_PERF}:{recipe.node.rpartition(':')[2]}"
    if podman.run(["image", "exists", tag], check=False).returncode != 0:
        script = Path(__file__).with_name("fleet_setup.sh")
        image._build_upon(recipe.node, script, tag)
    return tag


def _make(box: Fleet) -> None:
    tag = _image()
    box.state.mkdir(parents=True)
    podman.run(["network", "create", "--label", box.label, "--subnet", f"{SUBNET}.0/24", box.network])
    operator = keys.make(box.private_key, f"ops@{box.name}")
    with ThreadPoolExecutor(8) as pool:
        known = list(pool.map(lambda node: _start(box, node, tag, operator.public), box.nodes))
        box.known_hosts.write_text("".join(known))
        list(pool.map(lambda node: lifecycle.wait_for_node(box, node, 120), box.nodes))


def _start(box: Fleet, node: str, tag: str, operator: str) -> str:
    """Make one node; return its line of known_hosts."""
    podman.run(["volume", "create", "--label", box.label, box.engines(node)])
    shown = box.state / f"sysfs-{node}"
    _show(box, node, shown / "infiniband")
    argv = [
        f"--volume={shown}:/srv/simulated-sysfs:ro" if ":/srv/simulated-sysfs" in word else word
        for word in lifecycle.node_argv(box, node, tag)
    ]
    host = keys.make(box.state / f"host-{node}", f"root@{node}")
    files = parcel.for_node(box, node, operator, host, uuid.uuid4().hex, "")
    lifecycle.start(box.container(node), argv, files, box.state)
    return f"{box.address(node)} {' '.join(host.public.split()[:2])}\n"


def _show(box: Fleet, node: str, home: Path) -> None:
    """What a kernel would show of the node's HCAs, both Active at 400 Gb/s."""
    said = yaml.safe_load((config.REPOSITORY / "sandbox/hardware/hca.yml").read_text())
    places = {one.name: one.place for one in build(parcel.hardware_data()["board"], config.RAILS).hcas}
    for rail, hca in enumerate(config.RAILS):
        number = int(node[4:])
        guid = 0x0200_0000_0000_0000 | number << 16 | rail << 4
        port = dump.Port(1, guid + 1, 2 * number + rail, 0, 1, 4, 100.0, "Active", "LinkUp")
        seen = dump.Node(node, "Ca", guid, guid, (port,))
        tree = sysfs.files(seen, {"node": node, "hca": hca}, said, {})
        (home / hca).mkdir(parents=True)
        sysfs.write(home / hca, tree, home.parent)
        sysfs.link(home / hca / "device", places[hca])


def cpu(box: Fleet) -> float:
    """CPU seconds that all containers have used by now."""
    return sum(_used(str(podman.inspect(name, ".ID"))) for name in box.containers)


def _used(container: str) -> float:
    # The second hierarchy's groups count CPU time wherever they are mounted.
    for root in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        for folder in Path(root).rglob(f"libpod-{container}*"):
            words = (folder / "cpu.stat").read_text().split()
            if "usage_usec" in words:
                return int(words[words.index("usage_usec") + 1]) / 1e6
    raise SystemExit(f"no control group counts the CPU time of container {container[:12]}")
