# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.firewall import firewalld
from ansible_collections.ibready.cluster.plugins.module_utils._act.firewall.desired import Wanted

BOTH = Wanted(("10.1.0.11", "10.1.0.12/31", "fd00::11"), ((22, 22), (32768, 60999)), ((4791, 4791),))
# As firewalld 2.3.1 prints them, running and permanent.
RUNNING = """\
ibready (active)
  rich rules:\x20
\trule family="ipv4" source ipset="ibready-nodes4" port port="22" protocol="tcp" accept

public (default, active)
  target: default
  interfaces: eth0
  services: ssh
  ports:\x20
"""
PERMANENT = """\
public (default)
  target: default
  interfaces:\x20
  services: ssh
  ports:\x20
"""


def test_the_policy_lets_in_the_sets_alone_and_leaves_the_rest_to_the_zones() -> None:
    texts = dict(firewalld._files(BOTH))
    policy = ET.fromstring(texts[firewalld.POLICY])
    assert (policy.get("target"), int(policy.get("priority", "0")) < 0) == ("CONTINUE", True)
    assert [policy.find(tag).get("name") for tag in ("ingress-zone", "egress-zone")] == [  # type: ignore[union-attr]
        "ANY",
        "HOST",
    ]
    rules = policy.findall("rule")
    assert len(rules) == 6
    assert {rule.find("source").get("ipset") for rule in rules} == {  # type: ignore[union-attr]
        "ibready-nodes4",
        "ibready-nodes6",
    }
    assert all(rule.find("accept") is not None for rule in rules)
    entries = [one.text for one in ET.fromstring(texts[firewalld.SETS[4]]).findall("entry")]
    assert entries == ["10.1.0.11", "10.1.0.12/31"]


def test_a_set_without_nodes_is_no_file_and_no_rule() -> None:
    texts = dict(firewalld._files(Wanted(("10.1.0.11",), ((22, 22),))))
    assert texts[firewalld.SETS[6]] == ""
    assert "nodes6" not in texts[firewalld.POLICY]
    assert set(dict(firewalld._files(None)).values()) == {""}


def test_what_comes_and_goes_by_itself_is_no_rule_that_a_reload_loses() -> None:
    assert firewalld._compared(RUNNING) == firewalld._compared(PERMANENT)


@pytest.mark.parametrize(
    ("old", "new"),
    [("services: ssh", "services: ssh nfs"), ("ports: ", "ports: 9999/tcp"), ("public", "site")],
)
def test_what_somebody_set_without_permanent_shows(old: str, new: str) -> None:
    bent = RUNNING.replace(old, new, 1)
    assert firewalld._compared(bent) != firewalld._compared(PERMANENT)
