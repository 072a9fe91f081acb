# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach the sandbox's nodes with testinfra's paramiko backend: no Ansible on this road."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import testinfra
from testinfra.host import Host

STATE = Path(os.environ["IBREADY_SANDBOX_STATE"])
NODES = [f"{os.environ['IBREADY_SANDBOX_SUBNET']}.{last}" for last in (11, 12, 13)]


@pytest.fixture(scope="session")
def ssh_config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sandbox's key and its own known hosts; an unknown host key is refused."""
    path = tmp_path_factory.mktemp("ssh") / "config"
    path.write_text(
        "Host *\n"
        f'  IdentityFile "{STATE / "id_ed25519"}"\n'
        f'  UserKnownHostsFile "{STATE / "known_hosts"}"\n'
        "  StrictHostKeyChecking yes\n"
    )
    return path


@pytest.fixture(scope="session", params=NODES)
def node(request: pytest.FixtureRequest, ssh_config: Path) -> Host:
    """One node, as the ordinary user that operators log in as, with sudo."""
    return testinfra.get_host(
        f"paramiko://ops@{request.param}", ssh_config=str(ssh_config), sudo=True
    )
