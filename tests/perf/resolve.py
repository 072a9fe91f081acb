# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan costs for a large fleet: 2,000 hosts of 20 classes, with the matrix read anew.

Nobody runs anything comparable by hand: beside it stands what Ansible needs only to read an
inventory of as many hosts.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "collections"))

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.install import Sites
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.make import Host, make

HOSTS = 2000
_SYSTEMS = (
    ("ubuntu", "24.04", "6.8.0-88-generic"),
    ("ubuntu", "22.04", "5.15.0-25-generic"),
    ("rocky", "9.4", "5.14.0-427.13.1.el9_4.x86_64"),
    ("almalinux", "8.10", "4.18.0-553.el8_10.x86_64"),
    ("debian", "12", "6.1.0-40-amd64"),
)
# GPU, NVSwitches, HCA: PCI device ids.
_HARDWARE = (
    ("2330", "22a3", "1021"),
    ("20b2", "1af1", "101b"),
    ("2901", "", "1021"),
    ("", "", "1021"),
)
NOW = "2026-11-20T00:00:00+00:00"


def fleet(count: int) -> Iterator[Host]:
    """Hosts of every system and hardware in turn."""
    kinds = itertools.cycle(itertools.product(_SYSTEMS, _HARDWARE))
    for number, ((name, version, kernel), (gpu, switch, hca)) in zip(range(count), kinds, strict=False):
        node = {
            "os": {"id": name, "version": version},
            "kernel": kernel,
            "machine": "x86_64",
            "gpus": [{"vendor": "10de", "device": gpu}] * 8 if gpu else [],
            "nvswitches": [switch] * 4 if switch else [],
            "hcas": [{"vendor": "15b3", "device": hca}] * 8,
            "installed": {"rdma": "", "driver": ""},
        }
        yield Host(f"node{number}", node)


def main() -> None:
    hosts = list(fleet(HOSTS))
    begun = time.process_time()
    made = make(hosts, load.load(()), None, relock=False, sites=Sites(), now=NOW)
    took = time.process_time() - begun
    print(f"plan for {HOSTS} hosts of {len(made.rows)} classes: {took:.2f} s of CPU")
    assert not made.refused, made.refused
    with tempfile.TemporaryDirectory() as folder:
        inventory = Path(folder) / "hosts"
        inventory.write_text("\n".join(host.name for host in hosts) + "\n")
        begun = time.perf_counter()
        program = str(Path(sys.executable).with_name("ansible-inventory"))
        subprocess.run([program, "-i", inventory, "--list"], check=True, stdout=subprocess.DEVNULL)
        print(f"ansible-inventory --list of as many: {time.perf_counter() - begun:.2f} s")


if __name__ == "__main__":
    main()
