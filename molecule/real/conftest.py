# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts with real packages: reached by ssh without Ansible, converged by what an operator runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paramiko
import pytest
import testinfra
from testinfra.host import Host

ROOT = Path(__file__).resolve().parents[2]
STATE = Path(os.environ["IBREADY_SANDBOX_STATE"])
SUBNET = os.environ["IBREADY_SANDBOX_SUBNET"]
NAME = os.environ["IBREADY_SANDBOX_NAME"]
NODES = ("real1", "real2")
# Molecule asks for colours.
_PLAIN = {"ANSIBLE_FORCE_COLOR": "0", "ANSIBLE_NOCOLOR": "1"}
# Of a converge, what brings the driver. Its modules are built, and a container can load none.
_DRIVER = "nvidia_driver_packages"


# The site's key for kernel modules, by the line of roles/nvidia_driver/README.md; where the inventory has it.
_SITE = "/etc/site"
_MAKE_KEY = (
    f"cd {_SITE} && openssl req -new -x509 -newkey rsa:2048 -nodes -outform DER -days 3650"
    " -subj /CN=SITE -keyout MOK.priv -out MOK.der"
)


class Real:
    """A host, and an operator at work on it; ``port``: where its sshd is reached."""

    def __init__(self, node: str, folder: Path, address: str, port: int = 22) -> None:
        self._node = node
        self._folder = folder
        self._address, self._port = address, port
        self.log_in()

    def log_in(self) -> None:
        """Connect, anew after a boot."""
        self.login = paramiko.SSHClient()
        self.login.load_host_keys(str(STATE / "known_hosts"))
        self.login.set_missing_host_key_policy(paramiko.RejectPolicy())
        self.login.connect(self._address, self._port, username="ops", key_filename=str(STATE / "id_ed25519"))

    @property
    def host(self) -> Host:
        """For testinfra, as the ordinary user with sudo."""
        host = testinfra.get_host(f"paramiko://ops@{self._address}:{self._port}", sudo=True)
        # The backend's own client knows no known_hosts file and would take any host key.
        host.backend.client = self.login
        return host

    def root(self, command: str) -> str:
        """Run a line of shell as root; what it writes to standard output."""
        done = self.host.run(command)
        assert done.rc == 0, f"{command}: {done.stdout}{done.stderr}"
        return str(done.stdout)

    def converge(self, tags: str = _DRIVER, **wishes: Any) -> subprocess.CompletedProcess[str]:
        """What an operator runs, for the driver alone; see the status and the output yourself."""
        words = ["--tags", tags, "-e", json.dumps({"stack_relock": True, **wishes})]
        return self._play("playbooks/converge.yml", *words)

    def checks(self, *areas: str) -> list[dict[str, Any]]:
        """Every check of these areas, as ibverify judges the host."""
        variables = {"look_areas": list(areas), "look_folder": str(self._folder)}
        done = self._play("molecule/look.yml", "-e", json.dumps(variables))
        assert done.returncode == 0, done.stdout
        checks: list[dict[str, Any]] = json.loads((self._folder / f"{self._node}.json").read_text())
        return checks

    @property
    def _where(self) -> dict[str, Any]:
        return {**_BOX, "ansible_host": self._address, "ansible_port": self._port}

    def _play(self, playbook: str, *words: str) -> subprocess.CompletedProcess[str]:
        program = str(Path(sys.executable).with_name("ansible-playbook"))
        done = subprocess.run(
            [program, playbook, *_INVENTORY, "--limit", self._node, "-e", json.dumps(self._where), *words],
            cwd=ROOT,
            env={**os.environ, **_PLAIN, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=1800,
        )
        print(done.stdout)
        return done


_BOX = {"sandbox_name": NAME, "sandbox_subnet": SUBNET}
_INVENTORY = ("-i", "molecule/real/inventory")


def _address(node: str) -> str:
    return f"{SUBNET}.{11 + NODES.index(node)}"


def sandbox(command: str, node: str, *words: str) -> None:
    """What the sandbox's own command line does with a machine's power and console."""
    where = ["--name", NAME, "--subnet", SUBNET, "--state", str(STATE)]
    argv = [sys.executable, "-m", "sandbox.real", command, *where, node, *words]
    done = subprocess.run(argv, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    print(done.stdout)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    """Debian."""
    host = Real("real1", tmp_path_factory.mktemp("real1"), _address("real1"))
    host.root(f"install -d -m 0700 {_SITE}; test -s {_SITE}/MOK.der || ({_MAKE_KEY})")
    yield host
    host.login.close()


@pytest.fixture(scope="session")
def ubuntu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    host = Real("real2", tmp_path_factory.mktemp("real2"), _address("real2"))
    yield host
    host.login.close()


class Machine(Real):
    """Debian with a kernel of its own; ``real``, as it was at that moment."""

    certificate = f"{_SITE}/MOK.der"

    def start(self, *words: str) -> None:
        """Cut the power, and turn it on again."""
        sandbox("kill", self._node)
        sandbox("start", self._node, *words)
        self.log_in()

    def enrol(self, password: str) -> None:
        """Reboot, and be the person at the console whom MokManager asks."""
        self.login.exec_command("sudo systemctl reboot")
        sandbox("enrol", self._node, password)
        self.log_in()


@pytest.fixture(scope="session")
def machine(real: Real, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    # As the files before leave it, where they ran.
    if ": installed" not in real.root("dkms status nvidia-tesla-535 || true"):
        done = real.converge(stack_driver="535", ibready_replace_stack_ok=True)
        assert done.returncode == 0, done.stdout
    sandbox("boot", "real1")
    _, second, third = SUBNET.split(".")
    made = Machine(
        "real1", tmp_path_factory.mktemp("machine"), f"127.{second}.{third}.{11 + NODES.index('real1')}", 2222
    )
    yield made
    made.login.close()
    sandbox("kill", "real1")
