# SPDX-License-Identifier: GPL-3.0-or-later
"""A host for the module roce_settings: a laid-out /sys, and stand-ins for its programs.

The stand-in for mlnx_qos prints what NVIDIA documents of it; no real one was asked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._data import roce_files as data
from ansible_collections.ibready.cluster.plugins.modules import roce_settings
from tests.gauntlet.tree import Tree
from tests.unit.on_disk import lay_out
from tests.unit.plugins.module_utils import test_observe_roce as hca

Run = Callable[..., dict[str, Any]]
ALL = {"mode": "v2", "tos": 106, "trust": "dscp", "pfc": [3], "ecn": True, "mtu": 9000}
CM = "sys/kernel/config/rdma_cm"
STAND_IN = """#!/usr/bin/python3
import json, pathlib, sys
home = pathlib.Path({home!r})
tool, argv = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
with open(home / "calls", "a") as stream:
    stream.write(" ".join([tool, *argv]) + "\\n")
state = json.loads((home / "state.json").read_text())
if tool == "mlnx_qos":
    if "refuses" in state:
        print("Error: " + state["refuses"]); sys.exit(1)
    if "--trust" in argv and not state.get("deaf"):
        state["trust"] = argv[-1]
    if "--pfc" in argv:
        state["pfc"] = argv[-1]
    flags = "   ".join(state["pfc"].split(","))
    classes = "".join(f"tc: {{at}} ratelimit: unlimited, tsa: vendor\\n\\t priority:  {{at}}\\n"
                      for at in range(8))
    print(f"DCBX mode: OS controlled\\nPriority trust state: {{state['trust']}}\\n"
          f"PFC configuration:\\n\\tpriority    0   1   2   3   4   5   6   7\\n"
          f"\\tenabled     {{flags}}   \\n{{classes}}", end="")
elif tool == "ip" and "set" in argv:
    if int(argv[-1]) > state["takes"]:
        print("Error: mtu greater than device maximum.", file=sys.stderr); sys.exit(2)
    state["mtu"] = int(argv[-1])
    (home / "sys/class/net" / argv[3] / "mtu").write_text(argv[-1] + "\\n")
elif tool == "ip" and "addr" in argv:
    print(json.dumps([{{"ifindex": 2, "ifname": "eth0", "flags": ["UP"], "mtu": state["mtu"],
        "link_type": "ether", "addr_info": [{{"family": "inet", "local": "10.0.1.5",
        "prefixlen": 24, "scope": "global"}}]}}]))
elif tool == "ip":
    print(json.dumps([{{"ifindex": 2, "ifname": argv[-1], "mtu": state["mtu"], "min_mtu": 68,
                       "max_mtu": state["most"]}}]))
elif tool == "systemctl" and argv[0] == "is-active":
    if "no bus" in state:
        print("Failed to connect to bus", file=sys.stderr); sys.exit(1)
    print("active" if argv[-1] in state["active"] else "inactive")
    sys.exit(0 if argv[-1] in state["active"] else 3)
elif tool == "networkctl" and argv[0] != "reload":
    print("* 2: eth0\\n                   Link File: /usr/lib/systemd/network/99-default.link\\n"
          f"                Network File: {{state.get(argv[-1], state['file'])}}\\n"
          "                       Type: ether")
elif tool == "nmcli" and "GENERAL.CONNECTION" in argv:
    print(state["profile"])
elif tool == "nmcli" and "show" in argv:
    print(state["own_mtu"])
elif tool == "modprobe":
    (home / "sys/kernel/config/rdma_cm").mkdir(parents=True)
(home / "state.json").write_text(json.dumps(state))
"""


class Box:
    """One 400 Gb/s port of an HCA of NVIDIA's, as a boot leaves it."""

    def __init__(self, root: Path, run: Run, tree: Tree) -> None:
        self.root, self._run = root, run
        lay_out(tree, root)
        (root / "proc/net").mkdir(parents=True, exist_ok=True)
        (root / "proc/net/tcp").write_text("  sl  local_address rem_address   st\n")
        self.state(
            trust="pcp",
            pfc="0,0,0,0,0,0,0,0",
            mtu=1500,
            most=9978,
            takes=9978,
            active=["systemd-networkd.service"],
            file="/etc/systemd/network/20-rail.network",
            profile="rail",
            own_mtu="auto",
        )

    def state(self, **more: Any) -> dict[str, Any]:
        path = self.root / "state.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        known.update(more)
        path.write_text(json.dumps(known))
        return known

    def apply(self, *, check: bool = False, **options: Any) -> dict[str, Any]:
        return self._run(roce_settings.main, check=check, root=str(self.root), **options)

    def values(self) -> dict[str, str]:
        """What the kernel and the interface have now."""
        found = {
            str(path.relative_to(self.root)): path.read_text().strip()
            for home in (CM, "sys/devices")
            for path in sorted((self.root / home).rglob("*"))
            if path.is_file() and not path.is_symlink()
        }
        state = self.state()
        return {**found, **{key: str(state[key]) for key in ("trust", "pfc", "mtu")}}

    def files(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.root)): path.read_text()
            for home in ("etc", "usr/local", "var")
            for path in sorted((self.root / home).rglob("*"))
            if path.is_file()
        }

    def calls(self, *tools: str) -> list[str]:
        path = self.root / "calls"
        found = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [one for one in found if one.split()[0] in tools]

    def program(self, word: str = "apply") -> subprocess.CompletedProcess[str]:
        """Run the installed program as the unit does; it knows no other root than /."""
        text = (self.root / data.PROGRAM.lstrip("/")).read_text()
        text = text.replace('root: str = "/"', f"root: str = {str(self.root)!r}")
        return subprocess.run([sys.executable, "-I", "-c", text, word], capture_output=True, text=True)


def on_mlx5() -> Tree:
    tree = hca.host()
    tree.file(f"{hca.PLACE}/vendor", "0x15b3")
    tree.symlink(f"{hca.PLACE}/driver", "../../../bus/pci/drivers/mlx5_core")
    tree.file(f"{hca.IB}/tc/1/traffic_class", "Global tclass=0")
    tree.file(f"{hca.NET}/mtu", "1500")
    tree.symlink(f"{hca.PLACE}/net/eth0/device", "../..")
    for side in ("roce_np", "roce_rp"):
        tree.file(f"{hca.NET}/ecn/{side}/enable/3", "0")
    tree.file(f"/{CM}/mlx5_0/ports/1/default_roce_mode", "IB/RoCE v1")
    tree.file(f"/{CM}/mlx5_0/ports/1/default_roce_tos", "0")
    for file in ("etc/machine-id", "var/lib/dpkg/status", "usr/local/x"):
        tree.file(f"/{file}", "x")
    return tree
