# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric import observe_look as looks
from ansible_collections.ibready.cluster.plugins.modules import fabric_look

RunModule = Callable[..., dict[str, Any]]
TOOLS = ("ibnetdiscover", "iblinkinfo", "ibqueryerrors", "sminfo", "saquery")
_IBSTAT = """CA 'mlx5_{n}'
\tCA type: MT4129
\tNumber of ports: 1
\tFirmware version: 28.39.1002
\tHardware version: 0
\tNode GUID: 0x000000000000{n}c00
\tSystem image GUID: 0x000000000000{n}c00
\tPort 1:
\t\tState: {state}
\t\tPhysical state: {physical}
\t\tRate: 400
\t\tBase lid: {n}
\t\tLMC: 0
\t\tSM lid: 1
\t\tCapability mask: 0x0
\t\tPort GUID: 0x000000000000{n}c01
\t\tLink layer: InfiniBand
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tools that say how they were called; ibqueryerrors counts its calls as well."""
    home = tmp_path / "bin"
    home.mkdir()
    for tool in TOOLS:
        program = home / tool
        program.write_text(f'#!/bin/sh\necho "{tool} $*" | tee -a {tmp_path}/calls\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{home}:/usr/bin:/bin")
    monkeypatch.setattr("ansible_collections.ibready.cluster.plugins.module_utils._ground.command._MORE_PATH", ())
    return tmp_path


def tool(path: Path, name: str, script: str) -> None:
    (path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
    (path / "bin" / name).chmod(0o755)


def test_every_tool_is_asked_of_the_port_and_the_counters_twice(run_module: RunModule, path: Path) -> None:
    result = run_module(fabric_look.main, ports=[{"device": "mlx5_3", "port": 1}], pause=0)
    (look,) = result["looks"]
    (answers,) = looks.unpack([look["packed"]])
    assert (look["device"], look["port"], result["changed"]) == ("mlx5_3", 1, False)
    assert set(answers) == {*(one.name for one in looks.QUESTIONS), looks.AGAIN}
    calls = (path / "calls").read_text().splitlines()
    assert calls[0] == calls[-1] == "ibqueryerrors --threshold-file=/dev/null -C mlx5_3 -P 1"
    assert "saquery SMInfoRecord -C mlx5_3 -P 1" in calls
    assert "iblinkinfo -l -C mlx5_3 -P 1" in calls
    assert len(calls) == 6


def test_the_key_of_the_subnet_manager_does_not_leave_the_host(run_module: RunModule, path: Path) -> None:
    tool(path, "saquery", "echo '  SM_Key................0x00000000deadbeef'")
    result = run_module(fabric_look.main, ports=[{"device": "mlx5_3"}], pause=0)
    said = looks.unpack([result["looks"][0]["packed"]])[0]["saquery_sm"]["stdout"]
    assert "deadbeef" not in said
    assert "SM_Key" in said


def test_a_tool_that_is_not_there_is_unavailable(run_module: RunModule, path: Path) -> None:
    (path / "bin/iblinkinfo").unlink()
    result = run_module(fabric_look.main, ports=[{"device": "mlx5_3"}], pause=0)
    reported = looks.unpack([result["looks"][0]["packed"]])[0]["iblinkinfo"]
    assert "not installed" in reported["unavailable"]


def test_without_ports_one_port_a_fabric_is_asked(run_module: RunModule, path: Path) -> None:
    up = [_IBSTAT.format(n=n, state="Active", physical="LinkUp") for n in range(3)]
    down = _IBSTAT.format(n=3, state="Down", physical="Polling")
    (path / "ibstat.txt").write_text("".join(up) + down)
    tool(path, "ibstat", f"cat {path}/ibstat.txt")
    tool(
        path,
        "sminfo",
        'case "$2" in mlx5_2) g=0xb;; *) g=0xa;; esac\n'
        'echo "sminfo: sm lid 1 sm guid $g, activity count 4 priority 14 state 3 SMINFO_MASTER"',
    )
    result = run_module(fabric_look.main, pause=0)
    assert [one["device"] for one in result["looks"]] == ["mlx5_0", "mlx5_2"]


@pytest.mark.parametrize("device", ["../x", "mlx5 0", "x" * 64])
def test_a_name_that_is_no_device_is_refused(run_module: RunModule, device: str) -> None:
    result = run_module(fabric_look.main, ports=[{"device": device}])
    assert result["failed"] is True
    assert "RDMA device" in result["msg"]


def test_a_bundle_gives_what_it_holds(run_module: RunModule, tmp_path: Path) -> None:
    home = tmp_path / "node7/commands"
    for name, text in (("ibnetdiscover", "one"), ("ibnetdiscover@mlx5_1-1", "two")):
        (home / name).mkdir(parents=True)
        (home / name / "stdout").write_text(text)
        (home / name / "rc").write_text("0\n")
    result = run_module(fabric_look.main, bundle=str(tmp_path / "node7"))
    assert [(one["device"], one["port"]) for one in result["looks"]] == [("", 0), ("mlx5_1", 1)]
    reported = looks.unpack([one["packed"] for one in result["looks"]])
    assert [one["ibnetdiscover"]["stdout"] for one in reported] == ["one", "two"]
    assert "unavailable" in reported[0]["iblinkinfo"]


@pytest.mark.parametrize("packed", ["", "%%%", looks.pack({"a": 1})[:-8], "aGVsbG8="])
def test_what_nobody_packed_is_refused(packed: str) -> None:
    with pytest.raises(ValueError, match="fabric_look packed"):
        looks.unpack([packed])


def test_a_host_whose_ports_have_no_link_could_not_ask(run_module: RunModule, path: Path) -> None:
    down = _IBSTAT.format(n=3, state="Down", physical="Polling")
    (path / "ibstat.txt").write_text(down)
    tool(path, "ibstat", f"cat {path}/ibstat.txt")
    result = run_module(fabric_look.main, pause=0)
    assert result["failed"] is True
    assert "mlx5_3/1" in result["msg"]
    assert "no link" in result["msg"]
    (path / "ibstat.txt").write_text(down.replace("InfiniBand", "Ethernet"))
    assert run_module(fabric_look.main, pause=0)["looks"] == []


def test_a_bundle_without_a_discovery_is_not_a_host_without_a_fabric(run_module: RunModule, tmp_path: Path) -> None:
    home = tmp_path / "node7/commands/ibstat"
    home.mkdir(parents=True)
    (home / "rc").write_text("0\n")
    up = _IBSTAT.format(n=3, state="Active", physical="LinkUp")
    (home / "stdout").write_text(up)
    result = run_module(fabric_look.main, bundle=str(tmp_path / "node7"))
    assert result["failed"] is True
    assert "ibnetdiscover" in result["msg"]
    (home / "stdout").write_text(up.replace("InfiniBand", "Ethernet"))
    assert run_module(fabric_look.main, bundle=str(tmp_path / "node7"))["looks"] == []
    (home / "stdout").unlink()
    assert run_module(fabric_look.main, bundle=str(tmp_path / "node7"))["failed"] is True
