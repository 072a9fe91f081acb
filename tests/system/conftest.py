# SPDX-License-Identifier: GPL-3.0-or-later
"""Sandboxes of the system tests' own, and the commands that an operator types.

Each file begins on nodes of its own making or on saved ones: stories run alone and in any order.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._run.read import read
from sandbox import config, lifecycle, podman, saved
from tests.system.excerpt import excerpt

ROOT = Path(__file__).resolve().parents[2]
# The nodes that molecule's default scenario saved once they were converged, where it ran before (`./run test`); or
# nodes of a step that runs beside another one with nodes.
_NODES = os.environ.get("IBREADY_SYSTEM_NODES", "")
HANDED_ON = _NODES == "molecule"
CONVERGED = {"molecule": ("ibready-molecule", "198.18.78"), "more": ("ibready-more", "198.18.83")}.get(
    _NODES, ("ibready-ready", "198.18.81")
)
# The nodes of stories that make theirs anew.
SPARE = ("ibready-more-spare", "198.18.84") if _NODES == "more" else ("ibready-spare", "198.18.82")
# What goes for one part of a stack goes for all; the nodes that are saved have every one.
LESS = "stack_container_toolkit: none\n"
# In group_vars, because the vars of an inventory file lose against those of inventories/sandbox.
VARIABLES = """---
sandbox_name: {name}
sandbox_subnet: {subnet}
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
    """A sandbox, and an inventory that means it."""

    name: str
    subnet: str
    inventory: Path
    reports: Path

    @property
    def rig(self) -> config.Sandbox:
        return config.sandbox(self.name, self.subnet)

    @property
    def inventories(self) -> list[str]:
        return ["-i", str(ROOT / "inventories/sandbox"), "-i", str(self.inventory)]

    def sandbox(self, *argv: str) -> str:
        """``python -m sandbox``; fails the test with its output where it fails."""
        done = run(sys.executable, "-m", "sandbox", argv[0], "--name", self.name, "--subnet", self.subnet, *argv[1:])
        assert done.returncode == 0, done.stdout
        return done.stdout

    def up(self, *, archive: bool = False, prepared: Mapping[str, str] | None = None) -> None:
        """Three nodes that nobody has touched yet.

        ``archive``: with the distribution's own packages to be had; ``prepared``: by node, what has run on it before
        (`sandbox.image.prepared`).
        """
        lifecycle.up(self.rig, print, keep=False, prepared=prepared)
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
        container = self.rig.container(node)
        done = run(*podman.argv("exec", "--interactive", container, "sh", "-ec", script))
        assert done.returncode == 0, done.stdout
        return done.stdout

    def back(self, node: str, seconds: float = 90) -> None:
        """Return when a node that went down runs again and answers."""
        box = self.rig
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


@contextlib.contextmanager
def _made(name: str, subnet: str, folder: Path, more: str = "") -> Iterator[Box]:
    """A sandbox of tests, which is taken away at the end."""
    inventory = folder / "inventory"
    (inventory / "group_vars").mkdir(parents=True)
    (inventory / "hosts.yml").write_text("---\nall: {}\n")
    (inventory / "group_vars/all.yml").write_text(VARIABLES.format(name=name, subnet=subnet) + more)
    made = Box(name, subnet, inventory, folder / "reports")
    try:
        yield made
    finally:
        made.sandbox("down")


@pytest.fixture(scope="session")
def converged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """Three nodes that were saved when a first converge had made them ready."""
    with _made(*CONVERGED, tmp_path_factory.mktemp("converged")) as box:
        # What an earlier run left, if it was killed, was converged by other code.
        if not (HANDED_ON and saved.is_saved(box.rig)):
            box.up()
            done = box.playbook("site.yml")
            assert done.returncode == 0, done.stdout
            box.sandbox("save")
        yield box


@pytest.fixture(scope="session")
def spare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A sandbox for stories that make its nodes."""
    with _made(*SPARE, tmp_path_factory.mktemp("spare"), LESS) as box:
        yield box


@pytest.fixture(scope="module")
def ready(converged: Box) -> Box:
    """Three ready nodes, whatever a story before did to them."""
    converged.sandbox("restore")
    return converged


@pytest.fixture(scope="module")
def bare(spare: Box) -> Box:
    """Three nodes made anew."""
    spare.up()
    return spare


@pytest.fixture(scope="module")
def stocked(spare: Box) -> Box:
    """Three nodes made anew, for stories that install packages of the distribution."""
    spare.up(archive=True)
    return spare
