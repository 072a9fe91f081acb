# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules with stand-ins for opensm, systemctl, ibstat and sminfo that share one fabric."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.opensm import apply, ask
from ansible_collections.ibready.cluster.plugins.module_utils._data import opensm as data
from ansible_collections.ibready.cluster.plugins.module_utils._ground import state as _state
from ansible_collections.ibready.cluster.plugins.modules import opensm_instances, opensm_look

Run = Callable[..., dict[str, Any]]
GUID, OTHER, FOREIGN = (f"{number:#018x}" for number in (0x202, 0x302, 0xFF01))
IBSTAT = """CA 'mlx5_0'
\tCA type: MT4129
\tNumber of ports: 1
\tFirmware version: 28.39.1002
\tHardware version: 0
\tNode GUID: 0x0000000000000201
\tSystem image GUID: 0x0000000000000201
\tPort 1:
\t\tState: Active
\t\tPhysical state: {physical}
\t\tRate: 400
\t\tBase lid: 7
\t\tLMC: 0
\t\tSM lid: 7
\t\tCapability mask: 0xa741e84a
\t\tPort GUID: 0x0000000000000202
\t\tLink layer: InfiniBand
"""
UP, BAD = "SUBNET UP", "osm: 0x01 -> PARSE ERROR: line 4: bad PortGUID\nSUBNET UP"
# In fabric.json, `sms`: the state and GUID of the subnet manager at each LID; `says`: what it logs
# at one SIGHUP after the other.
TOOL = """#!/usr/bin/python3
import json, pathlib, re, sys
home = pathlib.Path({home!r})
tool, argv = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
world = json.loads((home / "fabric.json").read_text())
sms, log = world["sms"], home / "logs/fabric.log"
with open(home / "calls", "a") as stream:
    stream.write(" ".join([tool, *argv]) + "\\n")

def save():
    (home / "fabric.json").write_text(json.dumps(world))

if tool == "ibstat":
    print((home / "ibstat").read_text(), end="")
elif tool == "sminfo":
    lid = argv[4] if len(argv) > 4 else next((n for n in sms if sms[n][0] == 3), "")
    if lid not in sms:
        sys.exit("sminfo: iberror: failed: query")
    state, guid = sms[lid]
    name = ["NOTACT", "DISCOVER", "STANDBY", "MASTER"][state]
    print(f"sminfo: sm lid {{lid}} sm guid {{guid}}, activity count 5 priority 9"
          f" state {{state}} SMINFO_{{name}}")
elif tool == "opensm":
    pathlib.Path(argv[1]).write_text("guid 0x0\\n# How often\\nsweep_interval 10\\nqos FALSE\\n")
elif tool == "systemctl":
    if argv[0] == "is-active":
        if world.get("no bus"):
            sys.exit("Failed to connect to bus")
        print("active" if "7" in sms else "inactive")
        sys.exit(0 if "7" in sms else 3)
    if argv[0] == "restart" and not world["broken"]:
        master = any(one[0] == 3 for lid, one in sms.items() if lid != "7")
        sms["7"] = [2 if master else 3, {guid!r}]
        log.write_text("SUBNET UP\\n")
    if argv[0] == "disable":
        sms.pop("7", None)
    if argv[0] == "reload":
        with open(log, "a") as stream:
            stream.write(world["says"].pop(0) + "\\n")
    save()
"""


class Host:
    def __init__(self, home: Path, run: Run) -> None:
        self.home, self._run = home, run
        self.conf = home / "opensm/fabric.conf"
        self.partitions = home / "opensm/fabric.partitions.conf"
        self.world: dict[str, Any] = {"sms": {}, "broken": False, "says": [UP] * 9}
        self.ibstat()
        self.put()

    def put(self, **more: Any) -> None:
        self.world.update(more)
        (self.home / "fabric.json").write_text(json.dumps(self.world))

    def sms(self) -> dict[str, Any]:
        self.world = json.loads((self.home / "fabric.json").read_text())
        found: dict[str, Any] = self.world["sms"]
        return found

    def ibstat(self, physical: str = "LinkUp") -> None:
        (self.home / "ibstat").write_text(IBSTAT.format(physical=physical))

    def calls(self, word: str) -> list[str]:
        path = self.home / "calls"
        found = [line for line in path.read_text().splitlines() if word in line]
        path.write_text("")
        return found

    def apply(self, **args: Any) -> dict[str, Any]:
        given = {"host": "a", "hosts": ["a", "b"], "wait": 0.2, "seen": [seen("a", GUID, 7)]}
        return self._run(opensm_instances.main, **{**given, **args})


def seen(host: str, guid: str, lid: int) -> dict[str, Any]:
    return {"host": host, "fabrics": {"fabric": {"guid": guid, "lid": lid}}}


@pytest.fixture
def host(tmp_path: Path, run_module: Run, monkeypatch: pytest.MonkeyPatch) -> Host:
    (tmp_path / "bin").mkdir()
    (tmp_path / "logs").mkdir()
    (tmp_path / "calls").touch()
    for name in ("opensm", "systemctl", "ibstat", "sminfo"):
        path = tmp_path / "bin" / name
        path.write_text(TOOL.format(home=str(tmp_path), guid=GUID))
        path.chmod(0o755)
    monkeypatch.setattr(
        "ansible_collections.ibready.cluster.plugins.module_utils._ground.command._search_path",
        lambda: f"{tmp_path}/bin",
    )
    for name, where in {
        "FOLDER": "opensm",
        "LOGS": "logs",
        "CACHE": "cache",
        "UNIT_FILE": "unit",
        "LOGROTATE": "logrotate",
    }.items():
        monkeypatch.setattr(data, name, str(tmp_path / where))
    monkeypatch.setattr(apply, "_PAUSE", 0.05)
    monkeypatch.setattr(ask, "others", lambda: [])
    return Host(tmp_path, run_module)


@pytest.mark.parametrize(
    "nonsense",
    [
        {"host": "b", "fabrics": "x"},
        {"host": "b", "fabrics": {"fabric": 5}},
        {"host": "b", "fabrics": {"fabric": {"guid": OTHER}}},
        {"host": "b", "fabrics": {"fabric": {"guid": "x", "lid": 9}}},
        {"host": "b", "fabrics": {"fabric": {"guid": OTHER, "lid": "x"}}},
        {"host": ["b"], "fabrics": {"fabric": {"guid": OTHER, "lid": 9}}},
        {},
    ],
)
def test_what_another_host_cannot_have_seen_counts_as_not_told(nonsense: dict[str, Any]) -> None:
    mine = seen("a", GUID, 7)
    assert ask.told([nonsense, mine]) == [mine]


def test_the_first_host_becomes_the_master(host: Host) -> None:
    result = host.apply()
    assert result["changed"], result
    assert result["acts"] == {"fabric": "started"}
    assert result["msg"] == f"fabric fabric: {GUID} (mlx5_0/1) is the master"
    assert f"guid {GUID}\nsm_priority 14\n" in host.conf.read_text()
    assert "ALL=full" in host.partitions.read_text()
    assert f"ExecStart={host.home}/bin/opensm --config" in (host.home / "unit").read_text()
    assert host.calls("enable") == ["systemctl enable ibready-opensm@fabric.service"]

    again = host.apply()
    assert not again["changed"], again
    assert host.calls("systemctl re") == []


def test_the_second_stands_by(host: Host) -> None:
    host.put(sms={"9": [3, OTHER]})
    result = host.apply(host="b", seen=[seen("a", OTHER, 9), seen("b", GUID, 7)])
    assert result["msg"].endswith(f"stands by, {OTHER} is the master"), result
    assert "sm_priority 13\n" in host.conf.read_text()


def test_check_mode_changes_nothing(host: Host) -> None:
    result = host._run(opensm_instances.main, check=True, host="a", hosts=["a", "b"], seen=[seen("a", GUID, 7)])
    assert result["acts"] == {"fabric": "started"}
    assert any("sm_priority 14" in one["after"] for one in result["diff"])
    assert not host.conf.exists()
    assert host.sms() == {}


def test_nothing_is_started_beside_somebody_elses_master(host: Host) -> None:
    host.put(sms={"1": [3, FOREIGN]})
    result = host.apply()
    assert result["failed"]
    assert f"{FOREIGN} is its master (priority 9) and no port" in result["msg"]
    assert "that of b, which did not tell" in result["msg"]
    assert not host.conf.exists()
    assert host.apply(beside=True)["msg"].endswith(f"{FOREIGN} is the master")


def test_partitions_are_reloaded_and_routing_is_not(host: Host) -> None:
    host.apply()
    host.put(sms={**host.sms(), "9": [2, OTHER]})
    both = [seen("a", GUID, 7), seen("b", OTHER, 9)]
    listed = [{"name": "Default", "pkey": 0x7FFF, "ipoib": True, "mtu": 4096, "full": ["ALL"]}]
    host.calls("")
    assert host.apply(partitions=listed, seen=both)["acts"] == {"fabric": "reload"}
    assert host.calls("systemctl re") == ["systemctl reload ibready-opensm@fabric.service"] * 2

    given = {"partitions": listed, "routing_engine": "ftree"}
    refused = host.apply(**given)
    assert "its only subnet manager runs here and has to be restarted for routing_engine" in (refused["msg"])
    assert "routing_engine minhop" in host.conf.read_text()
    assert host.calls("systemctl re") == []
    # Another one that stands by may take over meanwhile.
    assert host.apply(**given, seen=both)["acts"] == {"fabric": "restart"}
    assert "routing_engine ftree" in host.conf.read_text()
    assert host.apply(**{**given, "routing_engine": "updn"}, restart_ok=True)["acts"] == {"fabric": "restart"}


def test_a_file_that_opensm_does_not_take_goes_back(host: Host) -> None:
    host.apply()
    before = host.partitions.read_text()
    listed = [{"name": "All", "pkey": 0x7FFF, "full": ["ALL"]}]
    # At the first SIGHUP a sweep ended that had begun before the files changed.
    host.put(sms=host.sms(), says=[UP, BAD, UP])
    result = host.apply(partitions=listed)
    assert "opensm says: PARSE ERROR: line 4" in result["msg"], result
    assert "The files are as before" in result["msg"]
    assert host.partitions.read_text() == before

    host.put(sms=host.sms(), says=[UP, "", UP])
    assert "shows no sweep" in host.apply(partitions=listed)["msg"]
    assert host.partitions.read_text() == before
    assert host.sms()["7"] == [3, GUID], "the master was not restarted for it"


def test_one_that_does_not_come_up_is_taken_away_again(host: Host) -> None:
    host.put(broken=True)
    result = host.apply()
    assert "no master answers on mlx5_0/1" in result["msg"], result
    assert not host.conf.exists()
    assert host.calls("disable") == ["systemctl disable --now ibready-opensm@fabric.service"]


def test_files_go_back_where_one_cannot_be_written(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.apply()
    before = {path.name: path.read_text() for path in (host.home / "opensm").iterdir()}
    write = _state.write

    def full(path: str, text: str, mode: int) -> None:
        if path == str(host.partitions) and "mtu=5" in text:
            raise OSError(28, "No space left on device", path)
        write(path, text, mode)

    monkeypatch.setattr(_state, "write", full)
    listed = [{"name": "Default", "pkey": 0x7FFF, "ipoib": True, "mtu": 4096, "full": ["ALL"]}]
    result = host.apply(partitions=listed, settings={"sweep_interval": 20})
    assert "No space left on device" in result["msg"], result
    assert "The files are as before" in result["msg"]
    assert {path.name: path.read_text() for path in (host.home / "opensm").iterdir()} == before


def test_nothing_is_restarted_where_it_cannot_be_told_who_stands_by(host: Host) -> None:
    host.apply()
    (host.home / "bin/sminfo").unlink()
    host.calls("")
    both = [seen("a", GUID, 7), seen("b", OTHER, 9)]
    refused = host.apply(beside=True, routing_engine="updn", seen=both)
    assert "may be its only one (sminfo: not installed" in refused["msg"], refused
    assert "may be its only one" in host.apply(state="absent", hosts=["b", "c"], seen=[])["msg"]
    assert host.calls("systemctl re") == []
    assert "routing_engine minhop" in host.conf.read_text()


def test_only_root_reads_what_may_hold_keys(host: Host) -> None:
    host.apply(settings={"qos": True})
    assert {path.stat().st_mode & 0o777 for path in (host.home / "opensm").iterdir()} == {0o600}
    assert (host.home / "unit").stat().st_mode & 0o777 == 0o644
    assert (host.home / "logrotate").stat().st_mode & 0o777 == 0o644


def test_the_log_is_read_from_where_it_was(host: Host) -> None:
    log = host.home / "logs/fabric.log"
    log.write_text("a node is called Zürich Überlingen\n" * 20)
    begin = apply.log_end("fabric")
    with open(log, "a", encoding="utf-8") as stream:
        stream.write("x -> PARSE ERROR: line 4\n")
    assert apply.complaint("fabric", begin) == "PARSE ERROR: line 4"
    log.write_text("begun anew -> PARSE ERROR: line 5\n")
    assert apply.complaint("fabric", begin) == "PARSE ERROR: line 5"


def test_a_host_that_left_the_list_runs_none(host: Host) -> None:
    host.apply()
    host.put(sms={**host.sms(), "9": [2, OTHER]})
    refused = host.apply(state="absent", hosts=["b", "c"], seen=[])
    assert "has to be stopped to be taken away" in refused["msg"], refused
    result = host.apply(state="absent", hosts=["b", "c"], seen=[seen("b", OTHER, 9)])
    assert result["acts"] == {"fabric": "stopped"}, result
    assert "7" not in host.sms()
    assert list((host.home / "opensm").iterdir()) == []
    assert not (host.home / "unit").exists()
    assert not host.apply(state="absent")["changed"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"settings": {"qso": True}}, "this opensm has no 'qso'"),
        ({"hosts": ["a"]}, "names a alone"),
        ({"host": "c"}, "c is not one of a, b"),
        ({"fabrics": [{"name": "x", "port": "mlx5_9/1"}]}, "no InfiniBand port mlx5_9/1"),
    ],
)
def test_nonsense_is_refused_before_anything_changes(host: Host, args: dict[str, Any], said: str) -> None:
    assert said in host.apply(**args)["msg"]
    assert host.sms() == {}
    assert not (host.home / "unit").exists()


def test_a_port_without_a_link_is_refused(host: Host) -> None:
    host.ibstat("Polling")
    assert "mlx5_0/1 is Polling" in host.apply()["msg"]


def test_an_opensm_of_somebody_elses_is_left_alone(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "others", lambda: ["opensm.service (process 12)"])
    assert "not as an instance of ibready: opensm.service" in host.apply()["msg"]
    assert not host.conf.exists()


def test_where_nobody_can_be_asked_none_is_started(host: Host) -> None:
    (host.home / "bin/sminfo").unlink()
    result = host.apply()
    assert "cannot be told whether a subnet manager is there already" in result["msg"], result


def test_looking_tells_who_manages_the_fabric(host: Host) -> None:
    host.put(sms={"7": [2, GUID], "9": [3, OTHER]})
    result = host._run(opensm_look.main, host="a", fabrics=[{"name": "fabric"}])
    assert result["fabrics"]["fabric"] == {
        "port": "mlx5_0/1",
        "guid": GUID,
        "lid": 7,
        "state": "Active",
        "physical": "LinkUp",
        "master": OTHER,
        "priority": 9,
        "own": "SMINFO_STANDBY",
        "unasked": "",
    }


def test_processes_of_our_own_units_are_told_from_others(tmp_path: Path) -> None:
    for pid, comm, cgroup in (
        (12, "opensm", "0::/system.slice/opensm.service"),
        (13, "opensm", "0::/system.slice/system-x.slice/ibready-opensm@fabric.service"),
        (14, "sshd", "0::/system.slice/ssh.service"),
    ):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "comm").write_text(f"{comm}\n")
        (tmp_path / str(pid) / "cgroup").write_text(f"{cgroup}\n")
    assert ask.others(str(tmp_path)) == ["opensm.service (process 12)"]
