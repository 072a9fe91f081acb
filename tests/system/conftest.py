# SPDX-License-Identifier: GPL-3.0-or-later
"""A sandbox of the system tests' own, and the commands that an operator types."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._run.read import read
from sandbox import config, lifecycle, podman
from tests.system.excerpt import excerpt

ROOT = Path(__file__).resolve().parents[2]
# `./run test` has two parts at work side by side; "alone" needs no sandbox.
_PART = os.environ.get("IBREADY_SYSTEM_PART", "all")
NAME = f"ibready-system-{_PART}"
SUBNET = {"all": "198.18.80", "alone": "198.18.80", "ready": "198.18.81", "bare": "198.18.82"}[_PART]
# In group_vars, because the vars of an inventory file lose against those of inventories/sandbox.
VARIABLES = f"""---
sandbox_name: {NAME}
sandbox_subnet: {SUBNET}
# What goes for one part goes for all; molecule installs every one.
stack_container_toolkit: none
"""
# Every apt reads the 68,000 packages of the distribution's archive, for seconds; most stories need none of them.
LAID_ASIDE = "/root/archive"
LAY_ASIDE = f"""
mkdir -p {LAID_ASIDE}
find /etc/apt -path '/etc/apt/sources.list*' -type f ! -name 'ibready-*' -exec mv -t {LAID_ASIDE} {{}} +
"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Have what a failed test prints begin with what failed, however long a playbook's output is."""
    report = yield
    if report.failed:
        report.longrepr = excerpt(str(report.longrepr))
    return report


def command(name: str) -> str:
    """A program of the virtual environment that runs the tests."""
    return str(Path(sys.executable).with_name(name))


def run(
    *argv: str, cwd: Path = ROOT, env: dict[str, str] | None = None, timeout: float = 900
) -> subprocess.CompletedProcess[str]:
    """Run a command with colours off; stdout and stderr in one text, in ``stdout``."""
    plain = {**os.environ, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_FORCE_COLOR": "0"}
    plain.pop("ANSIBLE_CONFIG", None)
    return subprocess.run(
        list(argv),
        cwd=cwd,
        env={**plain, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=timeout,
    )


def said(text: str) -> str:
    """The output with every run of white space made one blank, for messages are folded."""
    return " ".join(text.split())


@dataclass(frozen=True)
class Box:
    """The sandbox, and an inventory that means it."""

    inventory: Path
    reports: Path

    @property
    def inventories(self) -> list[str]:
        return ["-i", str(ROOT / "inventories/sandbox"), "-i", str(self.inventory)]

    def sandbox(self, *argv: str) -> str:
        """``python -m sandbox``; fails the test with its output where it fails."""
        done = run(sys.executable, "-m", "sandbox", argv[0], "--name", NAME, "--subnet", SUBNET, *argv[1:])
        assert done.returncode == 0, done.stdout
        return done.stdout

    def up(self, *, archive: bool = False) -> None:
        """Three nodes that nobody has touched yet; ``archive``: with the distribution's own packages to be had."""
        self.sandbox("up")
        if not archive:
            for node in config.NODES:
                self.root(node, LAY_ASIDE)

    @contextlib.contextmanager
    def archive(self, node: str) -> Iterator[None]:
        """A node with the distribution's own packages to be had for a while."""
        self.root(node, f"mv {LAID_ASIDE}/* /etc/apt/sources.list.d/; apt-get -qq update")
        try:
            yield
        finally:
            self.root(node, LAY_ASIDE)

    def root(self, node: str, script: str) -> str:
        """Run a shell script as root inside a node, past ssh and sudo."""
        # Not by `sandbox exec`: some hundred times a Python would start for it.
        container = config.sandbox(NAME, SUBNET).container(node)
        done = run(*podman.argv("exec", "--interactive", container, "sh", "-ec", script))
        assert done.returncode == 0, done.stdout
        return done.stdout

    def back(self, node: str, seconds: float = 90) -> None:
        """Return when a node that went down runs again and answers."""
        box = config.sandbox(NAME, SUBNET)
        deadline = time.monotonic() + seconds
        up = ["exec", box.container(node), "systemctl", "is-system-running", "--wait"]
        while podman.run(up, check=False).stdout.strip() != b"running":
            assert time.monotonic() < deadline, f"{node} did not come back"
            time.sleep(0.2)
        lifecycle.wait_ssh(box)

    def playbook(self, name: str, *argv: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        """``ansible-playbook NAME`` against this sandbox."""
        report = json.dumps({"ibready_report_dir": str(self.reports)})
        return run(command("ansible-playbook"), name, *self.inventories, "-e", report, *argv, cwd=cwd)

    def adhoc(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """``ansible`` against this sandbox, each host by itself."""
        return run(command("ansible"), *self.inventories, *argv, env={"ANSIBLE_STDOUT_CALLBACK": "minimal"})

    def report(self, name: str = "ibready-report") -> dict[str, Any]:
        """The JSON report of the last run, of all hosts or (``ibready-report-limited``) of some."""
        return read(self.reports / f"{name}.json")

    def verdicts(self, name: str = "ibready-report") -> dict[str, str]:
        return {host: told["verdict"] for host, told in self.report(name)["hosts"].items()}


@pytest.fixture(scope="session")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """Three nodes, in the state that the story before left them in; taken away at the end."""
    folder = tmp_path_factory.mktemp("box")
    inventory = folder / "inventory"
    (inventory / "group_vars").mkdir(parents=True)
    (inventory / "hosts.yml").write_text("---\nall: {}\n")
    (inventory / "group_vars/all.yml").write_text(VARIABLES)
    made = Box(inventory, folder / "reports")
    yield made
    made.sandbox("down")


@pytest.fixture(scope="module")
def bare(box: Box) -> Box:
    """Three nodes made anew."""
    box.up()
    return box


@pytest.fixture(scope="module")
def stocked(box: Box) -> Box:
    """Three nodes made anew, for stories that install packages of the distribution."""
    box.up(archive=True)
    return box


@pytest.fixture(scope="module")
def ready(box: Box) -> Box:
    """Ready nodes, whatever was before."""
    if not _is_ready(box):
        done = box.playbook("site.yml")
        assert done.returncode == 0, done.stdout
    return box


def _is_ready(box: Box) -> bool:
    """Whether an earlier story left ready nodes; what it broke it has to heal itself."""
    if not config.sandbox(NAME, SUBNET).state.exists():
        box.up()
        return False
    # What is between hosts every story looks at itself.
    return box.adhoc("all", "-m", "ibready.cluster.hostverify").returncode == 0
