# SPDX-License-Identifier: GPL-3.0-or-later
"""One rig for all tests, and the healthy looks that others are compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from sandbox.rig.container import Rig, rig
from sandbox.rig.plan import healthy
from sandbox.rig.topology import Topology
from tests.fabric.judging import Look, look

Healthy = Callable[[Topology], Look]


@pytest.fixture(scope="session")
def simulated() -> Iterator[Rig]:
    """A container with ibsim, opensm and infiniband-diags."""
    with rig(seconds=600) as started:
        yield started


@pytest.fixture(scope="session")
def sound(simulated: Rig) -> Healthy:
    """What a topology tells when nothing is wrong with it; asked once each."""
    return cache(lambda topology: look(simulated, topology, healthy(topology)))
