# SPDX-License-Identifier: GPL-3.0-or-later
"""Firewalls of the site's own: the role opens them between the nodes, and for nobody else."""

from __future__ import annotations

import pytest

from sandbox import podman
from tests.system.conftest import Box

pytestmark = pytest.mark.thorough

PLAYBOOK = "tests/system/firewall.yml"
PREPARED = """
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nftables
"""
# A ruleset that drops what it does not know, loaded as Debian loads it.
RULESET = """
cat > /etc/nftables.conf <<'EOF'
flush ruleset
table inet site {
  chain inbound {
    type filter hook input priority 10; policy drop;
    iif lo accept
    ct state established,related accept
    tcp dport 22 accept
  }
}
EOF
systemctl enable --now nftables 2>/dev/null
nft list ruleset > /root/ruleset
"""
LISTEN = "systemd-run -q --collect --unit=listen-{port} python3 -m http.server {port}"


@pytest.fixture(scope="module")
def walled(spare: Box) -> Box:
    """node1 and node2 let nobody in but ssh."""
    spare.up(prepared=dict.fromkeys(("node1", "node2"), PREPARED))
    for node in ("node1", "node2"):
        spare.root(node, RULESET)
    return spare


def tcp_checks(box: Box, *argv: str) -> dict[tuple[str, str], str]:
    """What each host has of fabric.tcp.*, after the playbook."""
    done = box.playbook(PLAYBOOK, "-e", "ibready_tcp_timeout=1", *argv)
    assert done.returncode == 0, done.stdout
    return {
        (name, one["id"]): one["result"]
        for name, host in box.report()["hosts"].items()
        for one in host["checks"]
        if one["id"].startswith("fabric.tcp.")
    }


def connects(box: Box, source: str, port: int) -> bool:
    """Whether a container of the sandbox reaches a port of node1."""
    script = f"exec 3<>/dev/tcp/{box.rig.address('node1')}/{port}"
    argv = [
        "exec",
        box.rig.fabric if source == "fabric" else box.rig.container(source),
        "timeout",
        "2",
        "bash",
        "-c",
        script,
    ]
    return podman.run(argv, check=False).returncode == 0


def test_closed_ports_are_opened_between_the_nodes_alone(walled: Box) -> None:
    before = tcp_checks(walled)
    assert before["node1", "fabric.tcp.rendezvous"] == before["node2", "fabric.tcp.range"] == "fail"
    after = tcp_checks(walled, "-e", "firewall_manage=true")
    assert set(after.values()) == {"pass"}
    for port in (29500, 8080):
        walled.root("node1", LISTEN.format(port=port))
    walled.root("node1", "until ss -ltn | grep -q :29500 && ss -ltn | grep -q :8080; do sleep 0.1; done")
    assert connects(walled, "node2", 29500)
    assert not connects(walled, "fabric", 29500), "the address of no node"
    assert not connects(walled, "node2", 8080), "a port that no job needs"


def test_the_second_run_changes_nothing_and_a_loaded_ruleset_is_opened_again(walled: Box) -> None:
    done = walled.playbook(PLAYBOOK, "-e", "firewall_manage=true")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("changed=0") == 3, done.stdout
    walled.root("node1", "systemctl reload nftables")
    assert connects(walled, "node2", 29500)
    walled.root("node1", "systemctl restart nftables")
    assert connects(walled, "node2", 29500)


def test_all_of_it_goes_again(walled: Box) -> None:
    opened = ["-e", "firewall_manage=true", "-e", "firewall_state=absent"]
    after = tcp_checks(walled, *opened)
    assert after["node1", "fabric.tcp.range"] == after["node2", "fabric.tcp.range"] == "fail"
    assert not connects(walled, "node2", 29500)
    for node in ("node1", "node2"):
        walled.root(node, "nft list ruleset | diff /root/ruleset -; ! ls /etc/ibready/firewall.nft")
