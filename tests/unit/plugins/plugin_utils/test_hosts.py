# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest
from ansible import context
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.template import trust_as_template
from ansible.vars.hostvars import HostVars
from ansible.vars.manager import VariableManager

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._verify import brief
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import silence
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.hosts import Host, participant
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.rounds import Rail
from tests.unit.samples import facts, hca, node, port

INFINIBAND = {"link_layer": "InfiniBand"}


def one_port(expect: dict[str, Any], **bent: Any) -> Host:
    return Host("n1", ib=facts(hca("mlx5_0", port(**bent))), expect=from_inventory(expect))


def test_a_live_port_is_a_rail_at_its_own_lid() -> None:
    who = participant(one_port(INFINIBAND, num=2, lid=12))
    assert who.rails == {"mlx5_0/2": Rail("mlx5_0/2", "mlx5_0", 2, 12)}
    assert who.missing == {}


@pytest.mark.parametrize(
    ("bent", "why"),
    [
        pytest.param({"state": "Down"}, "the port is Down", id="Down, with an old LID"),
        pytest.param({"state": "Armed"}, "the port is Armed", id="not yet set up"),
        pytest.param({"state": ""}, "the port is in no known state", id="no state shown"),
        pytest.param({"lid": 0}, "the port has no LID", id="LID zero"),
        pytest.param({"lid": None}, "the port has no LID", id="no LID shown"),
    ],
)
def test_a_port_that_nobody_can_reach_is_missing_with_its_reason(bent: dict[str, Any], why: str) -> None:
    who = participant(one_port(INFINIBAND, **bent))
    assert who.rails == {}
    assert who.missing == {"mlx5_0/1": why}


@pytest.mark.parametrize("expect", [{}, {"link_layer": "Ethernet"}])
def test_an_ethernet_port_is_no_rail_whoever_expects_it(expect: dict[str, Any]) -> None:
    who = participant(one_port(expect, link_layer="Ethernet"))
    assert (who.rails, who.missing) == ({}, {})


@pytest.mark.parametrize(
    ("host", "why"),
    [
        pytest.param(Host("n1", absent="unreachable by ssh"), "unreachable by ssh", id="absent"),
        pytest.param(Host("n1", ib_error="no ibstat"), "no ibstat", id="not judged"),
    ],
)
def test_a_host_of_which_nothing_is_known_misses_every_rail(host: Host, why: str) -> None:
    assert participant(host).missing == {"*": why}


@pytest.mark.parametrize(
    "clock",
    [
        None,
        "late",
        {},
        {"began": 1.0, "ended": 2.0},
        {"asked": 1.0, "answered": 2.0, "began": "1", "ended": 2.0},
        {"asked": 1.0, "answered": 2.0, "began": True, "ended": 2.0},
        {"asked": 1.0, "answered": 2.0, "began": float("nan"), "ended": 2.0},
    ],
)
def test_a_visit_without_a_clock_is_none(clock: object) -> None:
    judged = {"checks": [], "facts": {"ib": node(1).to_dict()}, "clock": clock}
    reported = {"ibready_node": {"node": {}}, "ibready_ibverify": judged}
    assert _hosts.gather({"n1": reported}, ["n1"])[0].visit is None


def test_a_visit_tells_the_clock() -> None:
    clock = {"asked": 10, "answered": 20.0, "began": 1e9, "ended": 1e9 + 8}
    judged = {"checks": [], "facts": {"ib": node(1).to_dict()}, "clock": clock}
    reported = {"ibready_node": {"node": {}}, "ibready_ibverify": judged}
    visit = _hosts.gather({"n1": reported}, ["n1"])[0].visit
    assert visit is not None
    assert visit.bounds == (1e9 + 8 - 20, 1e9 - 10)


def findings(facts: dict[str, Any]) -> dict[str, Any]:
    """The answer of a visit that says what the host is, too."""
    return brief.brief({"host": "n1", "verdict": "ready", "checks": [], "facts": facts})


def gathered(**registered: Any) -> Host:
    return _hosts.gather({"n1": registered}, ["n1"])[0]


def test_a_visit_of_findings_is_its_own_contact() -> None:
    told = {"ib": node(1).to_dict(), "node": {"hostname": "gpu-7", "root": True}}
    before = {"node": {"hostname": "gpu-7", "kernel": "before its reboot"}}
    for more in ({}, {"ibready_node": before}):
        host = gathered(ibready_ibverify=findings(told), **more)
        assert (host.absent, host.node) == ("", told["node"])


LOST = {"unreachable": True, "msg": "no route to host"}
BROKEN = {"failed": True, "msg": "No module named 'json'"}
FROZEN = {"failed": True, "msg": "Timed out after 20 second(s).", "timedout": {"period": 20}}
DENIED = {"failed": True, "msg": "sudo: a password is required"}


@pytest.mark.parametrize(
    ("registered", "why"),
    [
        pytest.param({"ibready_ibverify": LOST}, "unreachable by ssh: no route to host", id="never seen"),
        pytest.param(
            {"ibready_ibverify": LOST, "ibready_node": {"node": {}}}, "unreachable by ssh: no route", id="lost since"
        ),
        pytest.param({"ibready_node": LOST}, "unreachable by ssh: no route to host", id="lost at its contact"),
        pytest.param({"ibready_ibverify": BROKEN}, "the first module failed there: No module", id="no module runs"),
        pytest.param({"ibready_ibverify": DENIED}, "could not become root", id="no root"),
        pytest.param({}, "it took no part in this run", id="not asked"),
        pytest.param({"ibready_node": FROZEN}, "gave no answer for 20 s to: its first question", id="frozen"),
        pytest.param(
            {"ibready_ibverify": findings({"ib": node(1).to_dict()})}, "it does not tell what it is", id="no node"
        ),
        pytest.param({"ibready_ibverify": {"packed": "?"}}, "cannot be read", id="garbled"),
        pytest.param(
            {"ibready_ibverify": findings({"ib": node(1).to_dict(), "node": {"root": "yes"}})},
            "root",
            id="of a wrong type",
        ),
    ],
)
def test_a_host_that_was_not_looked_at_says_why(registered: dict[str, Any], why: str) -> None:
    host = gathered(**registered)
    assert why in host.absent + host.ib_error
    assert host.absent


WHY = "gave no answer for 20 s to: Start the ping servers"


def test_a_host_that_hung_before_its_visit_is_absent_and_one_that_hung_since_keeps_its_findings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(silence, "SILENT", {"n1": WHY})
    contacted = {"ibready_node": {"node": {"hostname": "gpu-7", "root": True}}, "ibready_converge_error": "x"}
    host = gathered(**contacted)
    assert (host.absent, host.remedy, host.converge_error) == (WHY, silence.NEXT, "")
    host = gathered(ibready_ibverify=findings({"ib": node(1).to_dict(), "node": {"hostname": "gpu-7", "root": True}}))
    assert (host.absent, host.silent) == ("", WHY)
    (access,) = cluster._access(host)
    assert (access.id, access.result, access.cause, access.remedy) == (
        "host.access.reachable",
        "unknown",
        WHY,
        silence.NEXT,
    )


SSH = {"ansible_host": "10.0.0.7", "ansible_port": 2222, "ansible_user": "ops"}


@pytest.mark.parametrize(
    ("said", "command"),
    [
        pytest.param({}, "ssh -v n1", id="by its name alone"),
        pytest.param(SSH, "ssh -v -p 2222 ops@10.0.0.7", id="user, port and host of the inventory"),
        pytest.param(
            {"ansible_user": "o'brien", "ansible_ssh_private_key_file": "/keys/my key"},
            """ssh -v -i '/keys/my key' 'o'"'"'brien@n1'""",
            id="what a shell would take apart is quoted",
        ),
        pytest.param(
            {**SSH, "ansible_ssh_common_args": "-o ProxyJump='a b'"},
            "ssh -v -p 2222 -o ProxyJump='a b' ops@10.0.0.7",
            id="by the same way",
        ),
    ],
)
def test_whoever_is_not_reached_is_told_the_command_that_ansible_used(said: dict[str, Any], command: str) -> None:
    host = gathered(ibready_node=LOST, **said)
    assert f"try `{command}`, as Ansible did; `ansible n1 -i INVENTORY -m ping -vvv`" in host.remedy
    assert host.address == said.get("ansible_host", "n1")


def test_the_command_line_and_the_environment_tell_user_and_arguments_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSIBLE_SSH_EXTRA_ARGS", "-F /etc/other")
    monkeypatch.setattr(context, "CLIARGS", {"remote_user": "root", "private_key_file": None})
    assert "`ssh -v -F /etc/other root@n1`" in gathered(ibready_node=LOST, inventory_hostname="n1").remedy


def test_the_inventory_is_the_one_that_was_given_and_a_password_stays_out() -> None:
    proxy = "-o ProxyCommand='sshpass -p geheim ssh -W %h:%p gate'"
    said = {"ansible_inventory_sources": ["inventories/my site"], "ansible_ssh_common_args": proxy}
    remedy = gathered(ibready_node=LOST, inventory_hostname="n1", **said).remedy
    assert "`ansible n1 -i 'inventories/my site' -m ping -vvv`" in remedy
    assert "sshpass -p [masked] ssh -W %h:%p gate" in remedy
    assert "geheim" not in remedy


def test_a_host_that_no_ssh_leads_to_is_told_no_ssh() -> None:
    host = gathered(ibready_node=LOST, ansible_connection="containers.podman.podman")
    assert host.absent == "unreachable by containers.podman.podman: no route to host"
    assert host.remedy == "`ansible n1 -i INVENTORY -m ping -vvv` tells where it stops"


def test_a_host_that_was_contacted_and_could_not_be_judged_takes_part() -> None:
    host = gathered(ibready_node={"node": {"root": True}}, ibready_ibverify=BROKEN)
    assert (host.absent, host.ib_error) == ("", BROKEN["msg"])


def test_ansible_templates_what_the_site_says_and_not_what_hosts_returned() -> None:
    loader = DataLoader()
    inventory = InventoryManager(loader, ["n1,"])
    manager = VariableManager(loader, inventory)
    judged = {"checks": [], "facts": {"ib": node(1).to_dict(), "told": ["{{ 6 * 7 }}"]}}
    said = {"hcas": trust_as_template("{{ 6 * 7 }}")}
    registered = {"ibready_node": {"node": {}}, "ibready_ibverify": judged, "ibready_expect": said}
    manager.set_nonpersistent_facts("n1", registered)
    (host,) = _hosts.gather(HostVars(inventory, manager, loader), ["n1"])
    assert host.facts["told"] == ["{{ 6 * 7 }}"]
    assert host.expect.values["hcas"].value == 42
