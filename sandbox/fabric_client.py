# SPDX-License-Identifier: GPL-3.0-or-later
"""Orders to the agent in the fabric container."""

from __future__ import annotations

import json
import time
from typing import Any

from sandbox import podman
from sandbox.config import NODES, RAILS, Sandbox
from sandbox.errors import SandboxError

PYTHONPATH = "/usr/local/lib/ibready-sandbox"
AGENT = ("python3", "-m", "sandbox.fabric.agent")
_FULL_GBPS = 400.0


def order(box: Sandbox, request: dict[str, Any]) -> dict[str, Any]:
    """Send one order and return the agent's answer."""
    done = podman.run(
        ["exec", "--interactive", box.fabric, *AGENT, "ask"],
        stdin=json.dumps(request).encode() + b"\n",
        timeout=30,
        check=False,
    )
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        cause = said[-1] if said else "no answer"
        raise SandboxError(
            f"the fabric container {box.fabric} cannot be asked: {cause}: `python -m sandbox up` makes a new sandbox"
        ) from None
    if not answer.pop("ok", False):
        raise SandboxError(f"the fabric refuses {request}: {answer.get('error')}")
    return dict(answer)


def wrong(status: dict[str, Any]) -> list[str]:
    """Say what of a status is not as in a healthy fabric, one phrase each."""
    ports = status["ports"]
    names = [f"{node}/{hca}" for node in NODES for hca in RAILS]
    found = [f"{name} is missing" for name in names if name not in ports]
    for name, port in ports.items():
        if port["state"] != "Active" or port["lid"] == 0:
            found.append(f"{name} is {port['state']}")
        elif port["gbps"] != _FULL_GBPS:
            found.append(f"{name} runs at {port['gbps']:.0f} Gb/s")
    if not status.get("web", True):
        found.append("the vendor repositories are not served")
    found += [f"{host} shows other files" for host in status["overrides"]]
    if status["sm"] is not None and "SMINFO_MASTER" not in status["sm"]:
        found.append("no SM answers as master")
    return found


def wait_healthy(box: Sandbox, seconds: float = 30) -> None:
    """Return when every port is Active at full rate and the SM answers."""
    deadline = time.monotonic() + seconds
    while True:
        # A query of the SM takes one of ibsim's few places: only once the ports are up.
        trouble: list[str] = []
        try:
            trouble = wrong(order(box, {"do": "status"})) or wrong(order(box, {"do": "status", "ask_sm": True}))
        except SandboxError as exc:
            trouble = [str(exc)]
        if not trouble:
            return
        if time.monotonic() > deadline:
            raise SandboxError(f"the fabric is not healthy after {seconds:.0f} s: {'; '.join(trouble)}")
        time.sleep(0.1)
