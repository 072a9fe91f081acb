# SPDX-License-Identifier: GPL-3.0-or-later
"""The pair of machines: reached by ssh without Ansible, switched by their own program."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import paramiko
import pytest
import testinfra
from testinfra.host import Host

ROOT = Path(__file__).resolve().parents[2]
STATE = Path(os.environ["IBREADY_SANDBOX_STATE"])
SUBNET = os.environ["IBREADY_SANDBOX_SUBNET"]
NAME = os.environ["IBREADY_SANDBOX_NAME"]
NAMES = ("vm1", "vm2")
PORT = 2222


# Of a converge, all but the kernel's arguments and the reboot, which goes with everything.
_NOT_REBOOT = (
    "container_runtime_cdi",
    "container_runtime_config",
    "container_runtime_engine",
    "container_runtime_packages",
    "firewall_rules",
    "host_tuning_blacklist",
    "host_tuning_boot",
    "host_tuning_limits",
    "host_tuning_sysctl",
    "host_tuning_systemd",
    "mpi_conf",
    "mpi_packages",
    "nccl_conf",
    "nccl_packages",
    "nccl_proof",
    "rdma_modules",
    "rdma_names",
    "rdma_packages",
    "rdma_ports",
    "rdma_soft_roce",
    "roce_settings",
)
# Molecule asks for colours.
_PLAIN = {"ANSIBLE_FORCE_COLOR": "0", "ANSIBLE_NOCOLOR": "1"}


class Playing:
    """An ansible-playbook that runs; its output goes to a file, which never is full."""

    def __init__(self, command: list[str], log: IO[bytes]) -> None:
        self.command = command
        self._log = log
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **_PLAIN, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    @property
    def output(self) -> str:
        # Not by the file's own place, at which the program writes.
        log = self._log.fileno()
        return os.pread(log, os.fstat(log).st_size, 0).decode(errors="replace")

    @property
    def status(self) -> int:
        status = self._process.poll()
        assert status is not None, f"it still runs: {self.output}"
        return status

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def wait(self, seconds: float) -> None:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it runs after {seconds:.0f} s: {self.output}") from None
        print(self.output)

    def end(self) -> None:
        if self.runs:
            self._process.terminate()
            self._process.wait(60)


class Machines:
    """Both machines, each with one login that is kept and made again after a boot."""

    def __init__(self) -> None:
        self._logins: dict[str, paramiko.SSHClient] = {}

    @property
    def gate(self) -> tuple[str, ...]:
        """The words by which a converge is little more than its reboot."""
        return ("--skip-tags", ",".join(_NOT_REBOOT))

    def host(self, name: str) -> Host:
        """One machine for testinfra, as the ordinary user with sudo."""
        host = testinfra.get_host(f"paramiko://ops@{self.door(name)}:{PORT}", sudo=True)
        # The backend's own client knows no known_hosts file and would take any host key.
        host.backend.client = self._login(name)
        return host

    @property
    def subnet(self) -> str:
        return SUBNET

    def door(self, name: str) -> str:
        return f"127.{SUBNET.partition('.')[2]}.{11 + NAMES.index(name)}"

    def root(self, name: str, command: str) -> str:
        """Run a line of shell as root; what it writes to standard output."""
        done = self.host(name).run(command)
        assert done.rc == 0, f"{name}: {command}: {done.stdout}{done.stderr}"
        return str(done.stdout)

    def seen(self, name: str, condition: str, seconds: float) -> threading.Event:
        """Set when a condition (a line of shell that starts no program) becomes true there."""
        happened = threading.Event()
        deadline = f"end=$((SECONDS + {seconds:.0f}))"
        loop = f"{deadline}; until {condition}; do [ $SECONDS -lt $end ] || exit 1; sleep 0.5; done"
        host = self.host(name)

        def look() -> None:
            if host.run("bash -c %s", loop).rc == 0:
                happened.set()

        threading.Thread(target=look, daemon=True).start()
        return happened

    def forget(self, name: str) -> None:
        """The machine has gone down: its login is dead."""
        login = self._logins.pop(name, None)
        if login is not None:
            login.close()

    def switch(self, *argv: str) -> None:
        """Run a command of the machines' own program; its output belongs to the test's."""
        box = ["--name", NAME, "--subnet", SUBNET]
        command = [sys.executable, "-m", "sandbox.machines", *argv, *box]
        subprocess.run(command, cwd=ROOT, check=True, timeout=400)

    def play(
        self, playbook: str, variables: Mapping[str, Any], *more: str, seconds: float = 1200
    ) -> subprocess.CompletedProcess[str]:
        """Run what an operator runs; see the status and the output yourself."""
        with self.playing(playbook, variables, *more) as running:
            running.wait(seconds)
            return subprocess.CompletedProcess(running.command, running.status, running.output)

    @contextlib.contextmanager
    def playing(self, playbook: str, variables: Mapping[str, Any], *more: str) -> Iterator[Playing]:
        """Begin it; what is still running at the end is ended."""
        box = {"sandbox_name": NAME, "sandbox_subnet": SUBNET}
        command = [
            str(Path(sys.executable).with_name("ansible-playbook")),
            playbook,
            "-i",
            "molecule/kernel/inventory",
            "-e",
            json.dumps({**box, **variables}),
            *more,
        ]
        with tempfile.TemporaryFile() as log:
            running = Playing(command, log)
            try:
                yield running
            finally:
                running.end()

    def _login(self, name: str) -> paramiko.SSHClient:
        login = self._logins.get(name)
        transport = login.get_transport() if login is not None else None
        if login is None or transport is None or not transport.is_active():
            self.forget(name)
            login = paramiko.SSHClient()
            login.load_host_keys(str(STATE / "known_hosts"))
            login.set_missing_host_key_policy(paramiko.RejectPolicy())
            login.connect(
                self.door(name),
                port=PORT,
                username="ops",
                key_filename=str(STATE / "id_ed25519"),
                banner_timeout=60,
                auth_timeout=60,
            )
            self._logins[name] = login
        return login


@pytest.fixture(scope="session")
def machines() -> Iterator[Machines]:
    both = Machines()
    yield both
    for name in NAMES:
        both.forget(name)


@pytest.fixture(scope="session", params=NAMES)
def machine(request: pytest.FixtureRequest, machines: Machines) -> Host:
    """One machine after the other."""
    return machines.host(request.param)
