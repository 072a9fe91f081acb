# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach the sandbox's nodes with testinfra's paramiko backend: no Ansible on this road."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paramiko
import pytest
import testinfra
import yaml
from testinfra.host import Host

STATE = Path(os.environ["IBREADY_SANDBOX_STATE"])
NODES = [f"{os.environ['IBREADY_SANDBOX_SUBNET']}.{last}" for last in (11, 12, 13)]


@pytest.fixture(scope="session", params=NODES)
def node(request: pytest.FixtureRequest) -> Iterator[Host]:
    """One node, as the ordinary user that operators log in as, with sudo."""
    client = paramiko.SSHClient()
    client.load_host_keys(str(STATE / "known_hosts"))
    client.set_missing_host_key_policy(paramiko.RejectPolicy())
    client.connect(request.param, username="ops", key_filename=str(STATE / "id_ed25519"))
    host = testinfra.get_host(f"paramiko://ops@{request.param}", sudo=True)
    # The backend's own client knows no known_hosts file and would take any host key.
    host.backend.client = client
    yield host
    client.close()


@pytest.fixture(scope="session")
def stack() -> dict[str, Any]:
    """The stack of the nodes' one class, as the lock has it."""
    lock = yaml.safe_load((STATE / "stack.lock.yml").read_text())
    (one,) = lock["classes"].values()
    found: dict[str, Any] = one["stack"]
    return found
