# SPDX-License-Identifier: GPL-3.0-or-later
"""The module with stand-ins for ufw and nft on PATH, which keep what they were told in files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.firewall import act, firewalld, nftables
from ansible_collections.ibready.cluster.plugins.module_utils._ground import state as _state
from ansible_collections.ibready.cluster.plugins.modules import firewall_rules

Run = Callable[..., dict[str, Any]]
RECORDED = Path(__file__).parents[1] / "module_utils/firewall"
NODES = {name: {"addresses": [f"10.1.0.{last}"], "complete": True} for name, last in (("n1", 1), ("n2", 9))}
# Which the stand-in of ufw adds and does not delete.
BAD = "10.1.0.44"
UFW = """#!/usr/bin/python3
import pathlib, shlex, sys
state = pathlib.Path({state!r})
rules = state.read_text().splitlines()
argv = sys.argv[1:]
if argv == ["status"]:
    print("ERROR: problem running" if "broken" in rules else "Status: active")
elif argv == ["show", "added"]:
    print("Added user rules (see 'ufw status' for running firewall):")
    print("\\n".join(rules))
elif argv[0] == "--dry-run":
    sys.exit(7 if "10.1.0.66" in argv else 0)
else:
    at = argv.index("from")
    source, ports, proto = argv[at + 1], argv[argv.index("port") + 1], argv[argv.index("proto") + 1]
    line = f"ufw allow from {{source}} to any port {{ports}} proto {{proto}} comment 'ibready'"
    if argv[0] == "prepend":
        assert argv[-2:] == ["comment", "ibready"]
        rules.insert(0, line)
    else:
        if "10.1.0.44" in argv:
            sys.exit(1)
        rules.remove(line)
    state.write_text("".join(one + "\\n" for one in rules))
"""
# firewalld, whose running part is what it read from the files, but for what a test takes out.
FIREWALLD = """#!/usr/bin/python3
import pathlib, re, sys
home = pathlib.Path({home!r})
argv = sys.argv[1:]
policy, four, runs = home / "policy/file", home / "s4", home / "runs"
with open(home / "calls", "a") as stream:
    stream.write(" ".join(argv) + "\\n")
if argv == ["--state"]:
    sys.exit(int((home / "state").read_text()))
elif argv == ["--version"]:
    print("2.3.1")
elif argv == ["--get-policies"]:
    print("allow-host-ipv6" + (" ibready" if runs.exists() else ""))
elif argv == ["--reload"]:
    if (home / "refuse").exists():
        (home / "refuse").unlink()
        sys.exit(13)
    if policy.exists():
        runs.write_text("\\n".join(re.findall("<entry>(.*)</entry>", four.read_text())))
        ports = re.findall('port="(.*)" protocol="(.*)"', policy.read_text())
        shown = 'rule family="ipv4" source ipset="ibready-nodes4"'
        shown += ' port port="%s" protocol="%s" accept'
        (home / "rich").write_text("\\n".join(shown % one for one in ports))
    else:
        runs.unlink(missing_ok=True)
elif argv == ["--direct", "--get-all-rules"] and (home / "direct").exists():
    print((home / "direct").read_text())
elif argv[-1] == "--list-rich-rules":
    print((home / "rich").read_text())
elif argv[-1] == "--get-entries":
    print(runs.read_text())
"""
IPTABLES = """#!/bin/sh
[ "$*" = "-S INPUT" ] || exit 2
printf '%s\\n' {lines}
"""
NFT = """#!/usr/bin/python3
import json, pathlib, sys
home = pathlib.Path({home!r})
argv = sys.argv[1:]
if argv == ["-j", "list", "ruleset"]:
    print((home / (home / "now").read_text()).read_text())
elif argv[:2] == ["-c", "-f"]:
    sys.exit(1 if (home / "refuse").exists() else 0)
else:
    text = open(argv[1]).read()
    with open(home / "scripts", "a") as stream:
        stream.write(text)
    (home / "now").write_text("opened.json" if "insert rule" in text else "closed.json")
"""


class Host:
    """A host with one firewall, and nothing of the machine that runs the tests."""

    def __init__(self, home: Path, run: Run) -> None:
        self.home, self._run = home, run

    def tool(self, name: str, text: str) -> None:
        path = self.home / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def ufw(self, *rules: str) -> Path:
        state = self.home / "rules"
        state.write_text("".join(f"{one}\n" for one in rules))
        self.tool("ufw", UFW.format(state=str(state)))
        return state

    def nft(self, now: str = "closed.json") -> None:
        for one in RECORDED.glob("*.json"):
            (self.home / one.name).write_text(one.read_text())
        (self.home / "now").write_text(now)
        self.tool("nft", NFT.format(home=str(self.home)))
        self.tool("systemctl", "#!/bin/sh\necho enabled\n")

    def firewalld(self, state: int = 0) -> None:
        (self.home / "state").write_text(str(state))
        self.tool("firewall-cmd", FIREWALLD.format(home=str(self.home)))

    def apply(self, **args: Any) -> dict[str, Any]:
        given = {"tcp": ["22"], "kernel_range": False, "roce": "never"}
        return self._run(firewall_rules.main, **{**given, "nodes": NODES, **args})

    def absent(self, **args: Any) -> dict[str, Any]:
        return self._run(firewall_rules.main, state="absent", **args)


@pytest.fixture
def host(tmp_path: Path, run_module: Run, monkeypatch: pytest.MonkeyPatch) -> Host:
    (tmp_path / "bin").mkdir()
    # Those that look for the tool elsewhere, too, would find the machine's own.
    monkeypatch.setattr(
        "ansible_collections.ibready.cluster.plugins.module_utils._ground.command._search_path",
        lambda: str(tmp_path / "bin"),
    )
    monkeypatch.setattr(_state, "DIRECTORY", str(tmp_path / "lib"))
    for module, names in ((nftables, ("SCRIPT", "DROPIN")), (firewalld, ("POLICY",))):
        for name in names:
            monkeypatch.setattr(module, name, str(tmp_path / name.lower() / "file"))
    names = {one: str(tmp_path / f"{one}.names") for one in ("iptables", "ip6tables")}
    monkeypatch.setattr(act, "LEGACY", names)
    monkeypatch.setattr(firewalld, "SETS", {4: str(tmp_path / "s4"), 6: str(tmp_path / "s6")})
    return Host(tmp_path, run_module)


def test_without_a_firewall_nothing_is_opened_and_it_says_so(host: Host) -> None:
    result = host.apply()
    assert (result["changed"], result["backend"]) == (False, "none")
    assert "no firewall is active" in result["msg"]
    assert not (host.home / "lib").exists()


def test_ufw_gets_a_rule_for_each_node_and_loses_those_of_nodes_that_left(host: Host) -> None:
    site = "ufw allow from 10.1.0.1 to any port 22 proto tcp comment 'of the site'"
    state = host.ufw(site)
    result = host.apply(udp=["4791"])
    assert (result["backend"], result["sources"]) == ("ufw", ["10.1.0.1", "10.1.0.9"])
    assert len(state.read_text().splitlines()) == 5
    assert not host.apply(udp=["4791"])["changed"]
    assert host.apply(nodes={"n1": NODES["n1"]}, udp=["4791"])["changed"]
    assert "10.1.0.9" not in state.read_text()
    assert host.absent()["changed"]
    assert state.read_text() == f"{site}\n"
    assert not (host.home / "lib/firewall.json").exists()
    assert not host.absent()["changed"]


def test_check_mode_tells_and_changes_nothing(host: Host) -> None:
    state = host.ufw()
    result = host.apply(check=True)
    assert result["changed"]
    assert result["msg"].startswith("ufw would let 2 addresses")
    assert "tcp 22 from 10.1.0.1" in result["diff"][0]["after"]
    assert (state.read_text(), (host.home / "lib").exists()) == ("", False)


def test_what_ufw_took_before_it_refused_goes_again(host: Host) -> None:
    state = host.ufw()
    result = host.apply(sources=["10.1.0.66"])
    assert result["failed"]
    assert "ufw --dry-run prepend" in result["msg"]
    assert state.read_text() == ""


def test_what_ufw_deleted_before_it_refused_comes_back(host: Host) -> None:
    shown = "ufw allow from {} to any port 22 proto tcp comment 'ibready'"
    old = [shown.format("10.1.0.1"), shown.format(BAD)]
    state = host.ufw(*old)
    result = host.apply(tcp=["22", "29500"])
    assert "ufw delete" in result["msg"]
    assert "could not be put back" not in result["msg"]
    assert sorted(state.read_text().splitlines()) == old


def test_what_ufw_does_not_take_back_is_named(host: Host) -> None:
    host.ufw()
    result = host.apply(sources=["10.1.0.66"], nodes={"n1": {**NODES["n1"], "addresses": [BAD]}})
    assert "ufw --dry-run prepend" in result["msg"]
    assert f"could not be put back: ufw delete allow proto tcp from {BAD}" in result["msg"]


def test_a_ufw_that_does_not_tell_is_not_taken_for_inactive(host: Host) -> None:
    host.ufw("broken")
    result = host.apply()
    assert result["failed"]
    assert "whether ufw filters is not known" in result["msg"]


def test_firewalld_is_read_back_on_every_run(host: Host) -> None:
    host.firewalld()
    assert host.apply()["changed"]
    assert not host.apply()["changed"]
    (host.home / "runs").write_text("10.1.0.9")
    result = host.apply()
    assert result["changed"]
    assert (host.home / "runs").read_text().split() == ["10.1.0.1", "10.1.0.9"]
    assert not host.apply()["changed"]
    (host.home / "rich").write_text("")
    assert host.apply()["changed"]
    assert host.absent()["changed"]
    assert not (host.home / "runs").exists()


def test_firewalld_that_does_not_take_the_files_runs_with_those_before(host: Host) -> None:
    host.firewalld()
    host.apply()
    (host.home / "refuse").touch()
    result = host.apply(tcp=["22", "29500"])
    assert "--reload` ended with status 13" in result["msg"]
    assert "29500" not in (host.home / "policy/file").read_text()
    assert (host.home / "calls").read_text().splitlines()[-2:] == ["--reload", "--reload"]


def test_a_reload_is_refused_where_it_loses_a_direct_rule(host: Host) -> None:
    host.firewalld()
    (host.home / "direct").write_text("ipv4 filter INPUT 0 -p tcp --dport 9999 -j ACCEPT")
    result = host.apply()
    assert "`firewall-cmd --direct --get-all-rules`" in result["msg"]
    assert not (host.home / "policy/file").exists()
    assert host.apply(reload_ok=True)["changed"]


def test_firewalld_in_an_unknown_state_is_not_taken_for_stopped(host: Host) -> None:
    host.firewalld(state=251)
    result = host.apply()
    assert result["failed"]
    assert "whether firewalld filters is not known" in result["msg"]
    host.firewalld(state=252)
    assert host.apply()["backend"] == "none"


def test_what_filters_beside_firewalld_is_told(host: Host) -> None:
    host.nft()
    host.firewalld()
    result = host.apply()
    assert any("inet filter input filters input beside firewalld" in w for w in result["warnings"])
    assert not (host.home / "scripts").exists()


@pytest.mark.parametrize(
    ("program", "line"),
    [("iptables", "-P INPUT DROP"), ("ip6tables", "-A INPUT -j REJECT --reject-with icmp6-x")],
)
def test_iptables_is_asked_where_there_is_no_nft(host: Host, program: str, line: str) -> None:
    host.tool(program, IPTABLES.format(lines="'-P INPUT ACCEPT' '-A INPUT -i lo -j ACCEPT'"))
    assert host.apply()["backend"] == "none"
    host.tool(program, IPTABLES.format(lines=f"'{line}'"))
    assert "iptables drops input" in host.apply()["msg"]


def test_the_old_iptables_which_nft_does_not_show_is_asked(host: Host) -> None:
    host.nft("iptables.json")
    (host.home / "iptables.json").write_text('{"nftables": []}')
    host.tool("iptables-legacy", IPTABLES.format(lines="'-P INPUT DROP'"))
    assert host.apply()["backend"] == "none"
    (host.home / "iptables.names").write_text("nat\nfilter\n")
    assert "iptables drops input" in host.apply()["msg"]
    (host.home / "ip6tables.names").mkdir()
    assert "whether iptables closes input is not known" in host.apply()["msg"]
    assert host.apply(backend="none")["backend"] == "none"


def test_a_node_that_was_not_seen_keeps_its_addresses(host: Host) -> None:
    state = host.ufw()
    host.apply(nodes={"n1": {"addresses": ["10.1.0.1", "10.2.0.1"], "complete": True}})
    host.apply(nodes={"n1": {"addresses": ["10.1.0.1"], "complete": False}})
    assert "10.2.0.1" in state.read_text()
    host.apply(nodes={"n1": {"addresses": ["10.1.0.1"], "complete": True}})
    assert "10.2.0.1" not in state.read_text()


# What recorded opened.json was made from.
OPENED: dict[str, Any] = {
    "nodes": {"n1": {"addresses": ["198.18.96.11"], "complete": True}},
    "sources": ["10.0.0.0/24", "198.18.96.12/31"],
    "tcp": ["22", "29500", "32768-60999"],
    "udp": ["4791"],
}


def test_nft_is_told_in_one_script_and_shows_it_afterwards(host: Host) -> None:
    host.nft()
    result = host.apply(**OPENED)
    assert (result["changed"], result["backend"]) == (True, "nftables")
    script = (host.home / "scripts").read_text()
    assert script.count("insert rule inet filter input jump ibready_input") == 1
    assert script.splitlines()[-1] in (host.home / "script/file").read_text()
    assert "ExecStartPost=-" in (host.home / "dropin/file").read_text()
    assert not host.apply(**OPENED)["changed"]


def test_what_nft_took_and_does_not_show_fails_the_run(host: Host) -> None:
    host.nft()
    result = host.apply(**{**OPENED, "udp": ["4792"]})
    assert result["failed"]
    assert "does not show them" in result["msg"]


def test_a_script_that_nft_refuses_changes_nothing(host: Host) -> None:
    host.nft()
    (host.home / "refuse").touch()
    result = host.apply(**OPENED)
    assert result["failed"]
    assert "nft -c -f" in result["msg"]
    assert not (host.home / "scripts").exists()
    assert not (host.home / "script/file").exists()


def test_what_cannot_be_kept_for_the_next_boot_is_not_opened_now(host: Host) -> None:
    host.nft()
    host.tool("systemctl", '#!/bin/sh\n[ "$1" != daemon-reload ] || exit 4; echo enabled\n')
    result = host.apply(**OPENED)
    assert "`systemctl daemon-reload` ended with status 4" in result["msg"]
    assert not (host.home / "scripts").exists()
    assert not (host.home / "script/file").exists()


def test_nft_takes_everything_back(host: Host) -> None:
    host.nft("opened.json")
    for name in ("script", "dropin"):
        (host.home / name).mkdir()
        (host.home / name / "file").write_text("ours\n")
    result = host.absent()
    assert result["changed"]
    assert "delete chain inet filter ibready_input" in (host.home / "scripts").read_text()
    assert not (host.home / "script/file").exists()
    assert not (host.home / "dropin/file").exists()
    assert not host.absent()["changed"]


def test_iptables_that_drops_is_named_and_not_touched(host: Host) -> None:
    host.nft("iptables.json")
    ruleset = json.loads((host.home / "iptables.json").read_text())
    site = [one for one in ruleset["nftables"] if "inet" not in json.dumps(one)]
    (host.home / "iptables.json").write_text(json.dumps({"nftables": site}))
    result = host.apply(**OPENED)
    assert result["failed"]
    assert "iptables drops input" in result["msg"]
    assert not (host.home / "scripts").exists()


def test_a_firewall_that_is_not_active_is_not_enabled(host: Host) -> None:
    result = host.apply(backend="firewalld")
    assert result["failed"]
    assert "firewalld is not active" in result["msg"]


@pytest.mark.parametrize(
    ("args", "cause"),
    [
        ({"sources": ["0.0.0.0/0"]}, "opens the ports to everybody"),
        ({"tcp": ["0"]}, "port '0'"),
        ({"nodes": {}, "sources": []}, "no node, or no port"),
    ],
    ids=["everybody", "no port", "nobody"],
)
def test_what_cannot_be_meant_is_refused(host: Host, args: dict[str, Any], cause: str) -> None:
    state = host.ufw()
    result = host.apply(**args)
    assert result["failed"]
    assert cause in result["msg"]
    assert state.read_text() == ""


def test_too_many_ports_for_ufw_are_named(host: Host) -> None:
    host.ufw()
    result = host.apply(tcp=[str(port) for port in range(100, 140, 2)])
    assert "at most 15 ports" in result["msg"]


def test_the_kernels_range_is_read_from_the_kernel(host: Host) -> None:
    host.ufw()
    low, high = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    assert host.apply(kernel_range=True)["tcp"] == ["22", f"{low}-{high}"]
    assert os.environ.get("PATH")
