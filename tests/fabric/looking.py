# SPDX-License-Identifier: GPL-3.0-or-later
"""fabric_look, asked of a fabric of the rig: the same words, real tools, simulated ports."""

from __future__ import annotations

import time
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric import observe_look
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import COMMANDS, Evidence, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from sandbox.rig.container import Fabric, Rig
from sandbox.rig.faults.who import ASKING
from sandbox.rig.plan import Plan

# What ibsim's clients see as their HCA.
DEVICE = "ibsim0"


class Simulated:
    """The host that asks, as fabric_look sees it."""

    recorded = False

    def __init__(self, fabric: Fabric, plan: Plan, limit: float) -> None:
        self._fabric = fabric
        self._limit = limit
        self._plan = plan
        self._host = plan.topology.hca(ASKING, 0).id

    def run(self, name: str, *args: str) -> Output:
        """Run the tool inside the rig."""
        answer = self._fabric.run(self._host, [*COMMANDS[name].argv, *args], self._limit)
        return Output(answer.rc, answer.stdout, answer.stderr)

    def again(self, seconds: float) -> tuple[Evidence, float]:
        """Do what happens between both looks, which takes the place of waiting."""
        begun = time.monotonic()
        self._fabric.do(self._plan.between)
        return self, time.monotonic() - begun

    def read(self, path: str) -> str:
        raise Unavailable(path, "a fabric has no files")

    def read_bytes(self, path: str) -> bytes:
        raise Unavailable(path, "a fabric has no files")

    def link(self, path: str) -> str:
        raise Unavailable(path, "a fabric has no files")

    def mode(self, path: str) -> int:
        raise Unavailable(path, "a fabric has no files")

    def list(self, path: str) -> list[str]:
        raise Unavailable(path, "a fabric has no files")


def look(rig: Rig, plan: Plan, seconds: float = 20) -> dict[str, Any]:
    """What fabric_look gives of a fabric in the planned state."""
    with rig.fabric(plan.topology, seconds) as fabric:
        fabric.do(plan.before)
        return observe_look.look(Simulated(fabric, plan, seconds), DEVICE, 1, pause=0)
