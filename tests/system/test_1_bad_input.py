# SPDX-License-Identifier: GPL-3.0-or-later
"""What is refused before any host is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import cases
from tests.system.conftest import ROOT, command, run

HOSTS = """---
all:
  hosts:
    n1:
      ansible_host: 127.0.0.1
      ansible_port: 9
"""


@pytest.mark.parametrize("playbook", cases.daily(["site.yml", "playbooks/verify.yml", "playbooks/converge.yml"]))
def test_a_missing_inventory_is_named(playbook: str) -> None:
    done = run(command("ansible-playbook"), playbook, "-i", "nowhere")
    assert done.returncode != 0
    assert "nowhere" in done.stdout
    assert "PLAY [" not in done.stdout


@pytest.mark.parametrize("playbook", cases.daily(["site.yml", "playbooks/verify.yml", "playbooks/converge.yml"]))
def test_an_inventory_without_hosts_is_never_a_pass(playbook: str, tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text("---\nall:\n  hosts: {}\n")
    done = run(command("ansible-playbook"), playbook, "-i", str(tmp_path / "hosts.yml"))
    assert done.returncode != 0
    assert "names no host" in done.stdout


@pytest.mark.parametrize(
    ("variables", "message"),
    cases.daily(
        [
            pytest.param("ibready_ping_cuont: 9", "did you mean ibready_ping_count?", id="misspelt"),
            pytest.param("rdma_port_type: best", "must be one of: keep, ", id="wrong choice"),
            pytest.param("host_tuning_nofile: many", "unable to convert to int", id="wrong type"),
            pytest.param("ibready_expect: {rate: 400}", "ibready_expect.rate", id="wrong expectation"),
            pytest.param("ibready_expect: {hcas: -1}", "ibready_expect.hcas", id="impossible count"),
        ],
        2,
    ),
)
def test_a_bad_variable_is_refused_with_host_and_name(variables: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text(f"{HOSTS}  vars:\n    {variables}\n")
    done = run(command("ansible-playbook"), "site.yml", "-i", str(tmp_path / "hosts.yml"))
    assert done.returncode != 0
    assert "n1: " in done.stdout
    assert message in " ".join(done.stdout.split())
    assert "Nothing was changed on any host" in " ".join(done.stdout.split())
    assert "Collect what the host is" not in done.stdout  # n1 was not even contacted


def test_a_site_s_own_variables_are_no_bad_input(tmp_path: Path) -> None:
    own = "firewall_allowed_tcp_ports: [22]\n    mpi_version: 5\n    rdma_port_typ: keep"
    (tmp_path / "hosts.yml").write_text(f"{HOSTS}  vars:\n    {own}\n")
    report = f"ibready_report_dir={tmp_path / 'reports'}"
    done = run(command("ansible-playbook"), "playbooks/verify.yml", "-i", str(tmp_path / "hosts.yml"), "-e", report)
    said = " ".join(done.stdout.split())
    told = "n1: rdma_port_typ is not a variable of ibready, and nothing here reads it; did you mean rdma_port_type?"
    assert told in said
    assert "firewall_allowed" not in said
    # It went on to the host, which does not answer.
    assert "Judge all that one host can tell" in said


SILENT = [
    pytest.param(["playbooks/verify.yml"], id="verify"),
    pytest.param(["playbooks/converge.yml"], id="converge"),
    pytest.param(["site.yml"], id="site"),
    pytest.param(["playbooks/verify.yml", "--limit", "n1"], id="verify with a limit"),
    pytest.param(["playbooks/verify.yml", "--tags", "nccl_conf"], id="verify with a tag"),
    pytest.param(["playbooks/verify.yml", "--check"], id="verify in check mode"),
    pytest.param(["playbooks/converge.yml", "--limit", "n1"], id="converge with a limit"),
    pytest.param(["site.yml", "--check"], id="site in check mode"),
    pytest.param(["site.yml", "--tags", "rdma_packages"], id="site with a tag"),
]


@pytest.mark.parametrize("argv", cases.daily(SILENT, 3))
def test_a_host_that_does_not_answer_never_lets_a_run_pass(argv: list[str], tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text(HOSTS)
    report = f"ibready_report_dir={tmp_path / 'reports'}"
    inventory = ["-i", str(tmp_path / "hosts.yml"), "-e", report]
    done = run(command("ansible-playbook"), *argv, *inventory)
    assert done.returncode != 0, done.stdout
    assert "n1" in done.stdout
    if "converge.yml" not in argv[0] and "--check" not in argv[1:2]:
        assert "unreachable by ssh" in (tmp_path / "reports/ibready-report.json").read_text()


def test_a_limit_does_not_let_bad_variables_through(tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text(f"{HOSTS}  vars:\n    ibready_rebot_ok: true\n")
    inventory = ["-i", str(tmp_path / "hosts.yml")]
    done = run(command("ansible-playbook"), "site.yml", *inventory, "--limit", "n1")
    assert done.returncode != 0
    assert "did you mean ibready_reboot_ok?" in " ".join(done.stdout.split())
    assert "Collect what the host is" not in done.stdout


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        pytest.param(["site.yml", "--tags", "nvidia-driver"], "did you mean nvidia_driver_gds, ", id="a role's name"),
        pytest.param(["ibready.cluster.site", "--tags", "nosuch"], "has the tag nosuch; next: ", id="a foreign word"),
        pytest.param(["site.yml", "--skip-tags", "nccl-conf"], "did you mean nccl_conf?", id="to be skipped"),
        pytest.param(["playbooks/verify.yml", "-e", "ibready_serial=half"], "ibready_serial holds 'half'", id="batch"),
        pytest.param(["playbooks/cordon.yml"], "Nobody said which cluster it is", id="cordon without a cluster"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_a_host_is_asked(argv: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text(HOSTS)
    done = run(command("ansible-playbook"), *argv, "-i", str(tmp_path / "hosts.yml"))
    assert done.returncode == 2, done.stdout
    assert message in " ".join(done.stdout.split())
    assert "Traceback" not in done.stdout
    assert "Collect what the host is" not in done.stdout
    assert "Judge all that one host can tell" not in done.stdout


def test_run_names_an_unknown_command() -> None:
    done = run("./run", "dmeo", cwd=ROOT)
    assert done.returncode != 0
    assert "there is no command 'dmeo'" in done.stdout


GATE = """---
- name: Ask the role alone, of which only the refusals are for every tag
  hosts: n1
  connection: local
  gather_facts: false
  roles: [ibready.cluster.health_agent]
"""


KEPT_BY_NOBODY = [
    # -e gives all of them as text.
    pytest.param("health_agent_gate_intervals=1", "health_agent_gate_intervals to 2 or more", id="too short"),
    pytest.param("health_agent_seconds=30 health_agent_gate_intervals=2.5 health_agent_interval=90", "", id="good"),
    pytest.param("health_agent_seconds=0", "seconds must be above 0", id="no time to look"),
    pytest.param("health_agent_timer=false health_agent_npd=true", "no job would ever start", id="nobody looks"),
    pytest.param("health_agent_slurm_prolog=true", "set health_agent_slurm to true", id="no prolog"),
    pytest.param("health_agent_gate_intervals=1 health_agent_state=absent", "", id="taken away all the same"),
]


@pytest.mark.parametrize(("variables", "message"), cases.daily(KEPT_BY_NOBODY))
def test_a_gate_that_nobody_would_keep_is_refused_before_anything_changes(
    variables: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "hosts.yml").write_text(HOSTS)
    (tmp_path / "play.yml").write_text(GATE)
    argv = [str(tmp_path / "play.yml"), "-i", str(tmp_path / "hosts.yml"), "--check", "--tags", "nosuch"]
    done = run(command("ansible-playbook"), *argv, "-e", variables)
    reported = " ".join(done.stdout.split())
    assert (done.returncode == 0) == (message == "")
    assert message in reported
    assert ("n1: " in reported and "Nothing was changed. Next: " in reported) == (message != "")
