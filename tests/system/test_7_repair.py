# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of ready nodes are mended by repair.yml, none without consent; each is looked at by another road than its own.

Modules, GPUs and the fabric are the sandbox's simulated ones; files, services, packages, systemd and ssh are real. Here
are those that no other fault hides; `./run test all` plants all of them at once.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest

from tests import cases
from tests.system.conftest import Box, said

ALLOWED = ["packages", "value", "unit", "module", "converge", "service", "reboot"]
DRAINED = "/run/ibready-test-drained"
CONSENT = {
    "repair_allow": ALLOWED,
    "repair_hosts": 3,
    "repair_per_leaf": 3,
    "ibready_drain": [{"run": ["touch", DRAINED], "where": "host"}],
    "ibready_undrain": [{"run": ["rm", DRAINED], "where": "host"}],
}
# What is wrong shows in layers: what a missing driver hides is found once the driver is there.
RUNS = 5
_SYSTEMD = "/etc/systemd/system.conf.d/90-ibready.conf"


@dataclass(frozen=True)
class Fault:
    """``breaks``: a script that makes it; ``well``: a script that succeeds only where it is not there."""

    node: str
    breaks: str
    well: str


def conf(node: str, line: str) -> Fault:
    return Fault(
        node, f"printf '{line}\\n' >> /etc/nccl.conf", f"test -e /etc/nccl.conf; ! grep -qx '{line}' /etc/nccl.conf"
    )


def limit(node: str, name: str, value: str) -> Fault:
    show = f"systemctl show --value --property=DefaultLimit{name}"
    return Fault(node, f"sed -i /{name}/d {_SYSTEMD}; systemctl daemon-reexec", f'test "$({show})" = {value}')


def unloaded(node: str, *names: str) -> Fault:
    return Fault(node, f"modprobe -r {' '.join(names)}", " && ".join(f"test -d /sys/module/{name}" for name in names))


def removed(node: str, package: str) -> Fault:
    shown = f"dpkg-query --show --showformat='${{db:Status-Status}}' {package}"
    return Fault(node, f"dpkg --purge --force-all {package}", f'test "$({shown})" = installed')


def service(node: str, verb: str, name: str) -> Fault:
    return Fault(
        node, f"systemctl -q {verb} {name}", f"systemctl -q is-active {name} && systemctl -q is-enabled {name}"
    )


ALL = (
    *(conf("node1", line) for line in ("NCCL_IB_DISABLE=1", "NCCL_NET=Socket", "NCCL_IB_CUDA_SUPPORT = 1")),
    *(conf("node2", line) for line in ("NCCL_IB_TIMEOUT=0", "NCCL_IB_RETRY_CNT=0", 'NCCL_MIN_NCHANNELS="4"')),
    *(conf("node3", line) for line in ("NCCL_ALGO=Rings", "NCCL_IB_HCA==mlx5_99")),
    *(limit(node, "MEMLOCK", "infinity") for node in ("node1", "node2", "node3")),
    *(limit(node, "NOFILE", "1048576") for node in ("node1", "node2")),
    service("node1", "stop", "nvidia-fabricmanager"),
    service("node2", "mask --now", "nvidia-fabricmanager"),
    service("node3", "disable --now", "nvidia-fabricmanager"),
    *(service(node, "stop", "openibd") for node in ("node1", "node2")),
    unloaded("node1", "ib_umad"),
    unloaded("node2", "mlx5_ib"),
    unloaded("node3", "rdma_ucm", "rdma_cm"),
    removed("node1", "libnccl2"),
    removed("node3", "libnccl2"),
    Fault("node3", "rm /etc/modules-load.d/ibready-rdma.conf", "test -s /etc/modules-load.d/ibready-rdma.conf"),
    Fault("node1", "chmod 0600 /etc/nccl.conf", 'test "$(stat -c %a /etc/nccl.conf)" = 644'),
)

FAULTS = ALL if cases.ALL else (ALL[0], ALL[3], ALL[8], ALL[13], ALL[20])


@pytest.fixture(scope="module")
def broken(ready: Box) -> Box:
    """All of it at once, on nodes that were ready."""
    for fault in FAULTS:
        ready.root(fault.node, f"{{ {fault.breaks}; }} >&2")
    return ready


def left(box: Box) -> list[Fault]:
    """The faults that are there."""
    script = "({}) >/dev/null 2>&1 && echo well || echo ill"
    return [fault for fault in FAULTS if box.root(fault.node, script.format(fault.well)).strip() == "ill"]


def repair(box: Box, **variables: Any) -> tuple[int, str]:
    """How many acts were planned, and all that was said."""
    done = box.playbook("playbooks/repair.yml", "-e", json.dumps(variables))
    planned = re.search(r"^REPAIR: (\d+) actions?, ", done.stdout, re.MULTILINE)
    assert planned is not None, done.stdout
    return int(planned.group(1)), said(done.stdout)


def test_nothing_is_done_without_consent(broken: Box) -> None:
    assert left(broken) == list(FAULTS)
    acts, text = repair(broken)
    assert acts == 0
    assert "to repair_allow" in text
    assert left(broken) == list(FAULTS)


@pytest.mark.thorough
def test_with_consent_all_of_it_is_mended_and_every_host_given_back(broken: Box) -> None:
    texts = []
    for _run in range(RUNS):
        acts, text = repair(broken, **CONSENT)
        texts.append(text)
        if not acts or not left(broken):
            break
    assert left(broken) == [], texts
    for node in ("node1", "node2", "node3"):
        broken.root(node, f"test ! -e {DRAINED} && test ! -e /var/lib/ibready/drained")
    assert (
        set(broken.verdicts().values()) <= {"ready", "degraded"}
        or broken.playbook("playbooks/verify.yml").returncode == 0
    )
