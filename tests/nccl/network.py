# SPDX-License-Identifier: GPL-3.0-or-later
"""A network of our own to ask the library in: run as a program inside ``unshare --net``.

Reads one JSON object (the interfaces, and the rows to ask) and prints one list of answers. The
interfaces are gone when the last process in it has ended.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 300


def ask(library: str, network: Any, rows: list[dict[str, str]]) -> list[dict[str, Any]]:
    """What the library does for each environment, in such a network."""
    request = {
        "library": library,
        "interfaces": network.interfaces,
        "silent": network.silent,
        "rows": rows,
    }
    done = subprocess.run(
        ["unshare", "--net", "--", sys.executable, "-m", "tests.nccl.network"],
        input=json.dumps(request),
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH": f"{ROOT}:{ROOT}/collections"},
        check=True,
        timeout=_SECONDS,
    )
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def set_up(interfaces: dict[str, list[str]], silent: list[str]) -> None:
    """Make the interfaces in this order. Each is one end of a pair, up at both ends."""
    # Before anything is up: an interface gets a link-local address by itself, and NCCL takes those.
    for place in ("all", "default", "lo"):
        Path(f"/proc/sys/net/ipv6/conf/{place}/addr_gen_mode").write_text("1")
    ip("link", "set", "lo", "up")
    for number, (name, addresses) in enumerate(interfaces.items()):
        other = f"other{number}"
        ip("link", "add", name, "type", "veth", "peer", "name", other)
        for one in (name, other):
            Path(f"/proc/sys/net/ipv6/conf/{one}/addr_gen_mode").write_text("1")
        for address in addresses:
            more = ["nodad"] if ":" in address else []
            ip("address", "add", address, "dev", name, *more)
        ip("link", "set", name, "up")
        if name not in silent:
            ip("link", "set", other, "up")


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, timeout=20)


def main() -> None:
    from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.proof import prove

    request = json.load(sys.stdin)
    set_up(request["interfaces"], request["silent"])
    answers = []
    for env in request["rows"]:
        proof = prove(request["library"], env=env, etc={"nccl.conf": None})
        reported = proof.value
        answers.append(
            {
                "why": proof.why,
                "result": reported.result if reported else None,
                "interface": reported.interface if reported else "",
                "address": reported.listener.address if reported and reported.listener else "",
                "port": reported.listener.port if reported and reported.listener else 0,
                "log": reported.log if reported else (),
            }
        )
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
