# SPDX-License-Identifier: GPL-3.0-or-later
"""What is refused before any host is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.conftest import ROOT, command, run

HOSTS = """---
all:
  hosts:
    n1:
      ansible_host: 192.0.2.1
"""


@pytest.mark.parametrize("playbook", ["site.yml", "playbooks/verify.yml", "playbooks/converge.yml"])
def test_a_missing_inventory_is_named(playbook: str) -> None:
    done = run(command("ansible-playbook"), playbook, "-i", "nowhere")
    assert done.returncode != 0
    assert "nowhere" in done.stdout
    assert "PLAY [" not in done.stdout


@pytest.mark.parametrize("playbook", ["site.yml", "playbooks/verify.yml", "playbooks/converge.yml"])
def test_an_inventory_without_hosts_is_never_a_pass(playbook: str, tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text("---\nall:\n  hosts: {}\n")
    done = run(command("ansible-playbook"), playbook, "-i", str(tmp_path / "hosts.yml"))
    assert done.returncode != 0
    assert "names no host" in done.stdout


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        pytest.param("rdma_flavor: inbox", "did you mean rdma_flavour?", id="misspelt"),
        pytest.param("rdma_flavour: best", "must be one of: inbox", id="wrong choice"),
        pytest.param("host_tuning_nofile: many", "unable to convert to int", id="wrong type"),
        pytest.param("ibready_expect: {rate: 400}", "ibready_expect.rate", id="wrong expectation"),
        pytest.param("ibready_expect: {hcas: -1}", "ibready_expect.hcas", id="impossible count"),
    ],
)
def test_a_bad_variable_is_refused_with_host_and_name(
    variables: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "hosts.yml").write_text(f"{HOSTS}  vars:\n    {variables}\n")
    done = run(command("ansible-playbook"), "site.yml", "-i", str(tmp_path / "hosts.yml"))
    assert done.returncode != 0
    assert "n1: " in done.stdout
    assert message in " ".join(done.stdout.split())
    assert "Nothing was changed on any host" in " ".join(done.stdout.split())
    assert "Collect what the host is" not in done.stdout  # n1 was not even contacted


def test_run_names_an_unknown_command() -> None:
    done = run("./run", "dmeo", cwd=ROOT)
    assert done.returncode != 0
    assert "there is no command 'dmeo'" in done.stdout
