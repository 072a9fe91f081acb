# SPDX-License-Identifier: GPL-3.0-or-later
"""Record what the real tools print in the project's sandbox. See README.md; run it by hand."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox import config, fabric_client, faults, lifecycle, podman
from sandbox.config import NODES, Sandbox
from sandbox.errors import SandboxError
from tests.unit.recordings.expected import (
    MASTER,
    Expected,
    State,
    counter,
    ibhosts,
    iblinkinfo,
    ibnetdiscover,
    ibqueryerrors,
    ibstat,
    ibstatus,
    ports_list,
)

HERE = Path(__file__).parent
BOX = config.sandbox("ibready-record", "198.18.79")
PACKAGES = ("infiniband-diags", "ibverbs-utils", "iproute2", "kmod")
RIG = "this project's sandbox: containers, with a fabric that ibsim simulates"
SIMULATED = "HCAs, cables, switches and their counters; /sys/class/infiniband. The programs are unmodified."


@dataclass(frozen=True)
class Command:
    """One command of one parser's tool; ``expected`` is worked out from the fabric's state."""

    name: str
    argv: tuple[str, ...]
    node: str = "node1"
    expected: Callable[[State], Expected] = field(default=lambda state: [])
    # Whether the text must give facts; None where either will do.
    facts: bool | None = True


def whole(node: str = "node1") -> list[Command]:
    """The tools that look at a whole fabric, or at one host."""
    return [
        Command("ibstat", ("ibstat",), node, lambda s: ibstat(s, node)),
        Command("ibstatus", ("ibstatus",), node, lambda s: ibstatus(s, node)),
        Command("iblinkinfo", ("iblinkinfo",), node, iblinkinfo),
        Command("iblinkinfo", ("iblinkinfo", "-l"), node, iblinkinfo),
        Command("ibnetdiscover", ("ibnetdiscover",), node, ibnetdiscover),
        Command("ibnetdiscover", ("ibnetdiscover", "-p"), node, ports_list),
        Command("ibqueryerrors", ("ibqueryerrors",), node, ibqueryerrors),
        Command("ibhosts", ("ibhosts",), node, ibhosts),
    ]


def only_here(node: str) -> list[Command]:
    """What a container can show of tools that ask its kernel: that they cannot."""
    return [
        Command("ibv_devinfo", ("ibv_devinfo",), node, facts=False),
        Command("rdma_link", ("rdma", "link"), node, facts=False),
        Command("lsmod", ("lsmod",), node, facts=False),
        Command("dmesg", ("dmesg",), node, facts=False),
    ]


def healthy(box: Sandbox) -> list[Command]:
    lid = State(ports(box)).ports["node2/ibsim0"]["lid"]
    serve(box, "node2", "ibsim0")
    pinged: Expected = [
        *([["sent", 3], ["received", 3], ["loss_pct", 0.0]]),
        *([["pong_lines", 3], ["target_path", f"Lid {lid}"]]),
    ]
    ping = ("ibping", "-c", "3", "-L", str(lid))
    flood = ("ibping", "-f", "-c", "200", "-L", str(lid))
    return [
        *whole(),
        *only_here("node1"),
        Command("ibnetdiscover", ("ibnetdiscover", "-l"), expected=lambda s: ibnetdiscover(s)[:2]),
        Command("ibqueryerrors", ("ibqueryerrors", "--counters"), facts=None),
        Command("sminfo", ("sminfo",), expected=lambda s: MASTER),
        Command("perfquery", ("perfquery",)),
        Command("perfquery", ("perfquery", "-x")),
        Command("ibping", ping, expected=lambda s: pinged),
        Command("ibping", flood, expected=lambda s: [["sent", 200], ["pong_lines", 0]]),
    ]


def cable(box: Sandbox) -> list[Command]:
    lid = State(ports(box)).ports["node2/ibsim1"]["lid"] or 9
    faults.strike(box, "cable", "node2", say)
    unheard: Expected = [["sent", 2], ["received", 0], ["loss_pct", 100.0], ["pong_lines", 0]]
    ping = ("ibping", "-c", "2", "-L", str(lid))
    return [
        *whole(),
        Command("ibstat", ("ibstat",), "node2", lambda s: ibstat(s, "node2")),
        Command("ibstatus", ("ibstatus",), "node2", lambda s: ibstatus(s, "node2")),
        # Through the port that is cut off nothing can be asked.
        Command("ibnetdiscover", ("ibnetdiscover", "-C", "ibsim1"), "node2", facts=False),
        Command("sminfo", ("sminfo", "-C", "ibsim1"), "node2", facts=False),
        Command("ibping", ping, expected=lambda s: unheard),
    ]


def degraded(box: Sandbox) -> list[Command]:
    faults.strike(box, "degraded", "node3", say)
    return [*whole(), Command("ibstat", ("ibstat",), "node3", lambda s: ibstat(s, "node3"))]


def no_manager(box: Sandbox) -> list[Command]:
    faults.strike(box, "sm-dead", None, say)
    # A link that comes back while no subnet manager runs stays in Initialize.
    for line in ('Unlink "H-node2-1"[1]', 'ReLink "H-node2-1"[1]'):
        fabric_client.order(box, {"do": "console", "line": line})
    time.sleep(1)
    return [
        *(one for one in whole() if one.name in ("iblinkinfo", "ibhosts")),
        Command("ibstat", ("ibstat",), "node2", lambda s: ibstat(s, "node2")),
        Command("sminfo", ("sminfo",), facts=False),
        Command("ibqueryerrors", ("ibqueryerrors",), facts=None),
    ]


def lossy(box: Sandbox) -> list[Command]:
    faults.strike(box, "lossy", "node1", say)
    lid = State(ports(box)).ports["node2/ibsim1"]["lid"]
    serve(box, "node2", "ibsim1")
    ping = ("ibping", "-C", "ibsim1", "-c", "8", "-L", str(lid))
    return [Command("ibping", ping, expected=lambda s: [["sent", 8]])]


def counters(box: Sandbox) -> list[Command]:
    set_to = {
        '"H-node1-1"[1] PortCounters.SymbolErrorCounter=77',
        '"H-node2-0"[1] PortCounters.LinkDownedCounter=255',
        '"H-node3-0"[1] PortCounters.SymbolErrorCounter=65535',
    }
    inside(box, "node1", ["ibqueryerrors", "--clear-errors"])
    for one in sorted(set_to):
        fabric_client.order(box, {"do": "console", "line": f"PerformanceSet {one}"})

    def set_counters(state: State) -> Expected:
        bad = len(set_to)
        return [*ibqueryerrors(state), ["bad_nodes", bad], ["ports_with_errors", bad]]

    return [
        Command("ibqueryerrors", ("ibqueryerrors",), expected=set_counters),
        Command("ibqueryerrors", ("ibqueryerrors", "-r", "--data"), expected=set_counters),
        Command("perfquery", ("perfquery", "-C", "ibsim1"), expected=lambda s: counter("SymbolErrorCounter", 77)),
        Command("perfquery", ("perfquery",), "node2", lambda s: counter("LinkDownedCounter", 255)),
    ]


def no_device(box: Sandbox) -> list[Command]:
    """The real programs without the sandbox's stand-in for /dev/infiniband: no port opens."""
    tools = ("iblinkinfo", "ibnetdiscover", "ibqueryerrors", "perfquery", "sminfo")
    return [
        *(Command(name, (f"/usr/sbin/{name}",), facts=False) for name in tools),
        Command("ibhosts", ("env", "IBPATH=/usr/sbin", "/usr/sbin/ibhosts"), facts=False),
        Command("ibping", ("/usr/sbin/ibping", "-c", "2", "-L", "3"), facts=False),
    ]


SCENARIOS: dict[str, Callable[[Sandbox], list[Command]]] = {
    "healthy": healthy,
    "cable": cable,
    "degraded": degraded,
    "no-manager": no_manager,
    "lossy": lossy,
    "counters": counters,
    "no-device": no_device,
}


def say(line: str) -> None:
    print(line, flush=True)


def ports(box: Sandbox) -> dict[str, dict[str, Any]]:
    reported: dict[str, dict[str, Any]] = fabric_client.order(box, {"do": "status"})["ports"]
    return reported


def inside(box: Sandbox, node: str, argv: Sequence[str]) -> tuple[int, str, str]:
    done = podman.run(["exec", "--env", "LC_ALL=C", box.container(node), *argv], timeout=120, check=False)
    return (done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def serve(box: Sandbox, node: str, hca: str) -> None:
    """Leave an ibping server running on one HCA."""
    podman.run(["exec", "--detach", box.container(node), "ibping", "-S", "-C", hca])
    time.sleep(2)


def install(box: Sandbox) -> dict[str, str]:
    """Put the tools into the nodes; their versions."""
    for node in NODES:
        script = (
            "apt-get -qq update && DEBIAN_FRONTEND=noninteractive "
            f"apt-get -qq install -y --no-install-recommends {' '.join(PACKAGES)}"
        )
        rc, _out, error = inside(box, node, ["sh", "-c", script])
        if rc != 0:
            raise SandboxError(f"{node}: {error.strip().splitlines()[-1:]}")
    _rc, reported, _error = inside(box, "node1", ["dpkg-query", "-W", *PACKAGES])
    return dict(line.split("\t") for line in reported.splitlines())


def record(box: Sandbox) -> int:
    """Every scenario; the number of recordings."""
    versions = install(box)
    for old in HERE.iterdir():
        if old.is_dir() and old.name != "__pycache__":
            shutil.rmtree(old)
    written = 0
    for scenario, arrange in SCENARIOS.items():
        say(f"== {scenario}")
        for command in arrange(box):
            write(box, scenario, command, versions)
            written += 1
        faults.heal(box, None, None, say)
    return written


def write(box: Sandbox, scenario: str, command: Command, versions: dict[str, str]) -> None:
    rc, stdout, stderr = inside(box, command.node, command.argv)
    state = State(ports(box))
    folder = HERE / command.name
    folder.mkdir(exist_ok=True)
    number = len(list(folder.glob("*.json"))) + 1
    path = folder / f"{number:02}-{scenario}.txt"
    path.write_text(stdout)
    sidecar = {
        "command": " ".join(command.argv),
        "node": command.node,
        "scenario": scenario,
        "rc": rc,
        "stderr": stderr,
        "rig": RIG,
        "simulated": SIMULATED,
        "packages": versions,
        "facts": command.facts,
        "expected": command.expected(state),
    }
    path.with_suffix(".json").write_text(json.dumps(sidecar, indent=1) + "\n")


def main() -> int:
    lifecycle.up(BOX, say, keep=False)
    try:
        say(f"{record(BOX)} recordings")
    finally:
        lifecycle.down(BOX, say)
    return 0


if __name__ == "__main__":
    sys.exit(main())
