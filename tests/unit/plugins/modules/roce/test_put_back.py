# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes back to what it was: a value no longer asked for, and a run that failed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.roce import program
from ansible_collections.ibready.cluster.plugins.module_utils._ground.host_program import HostError, Setting
from tests.unit.plugins.module_utils import test_observe_roce as hca
from tests.unit.roce_box import ALL, CM, Box


def test_emptied_everything_is_as_it_was(box: Box) -> None:
    (box.root / f"{hca.IB[1:]}/tc/1/traffic_class").write_text("Global tclass=106\n")
    before, values = box.files(), box.values()
    box.apply(**ALL)
    gone = box.apply()
    assert gone["changed"]
    assert len(gone["restored"]) == 5
    assert (box.files(), box.values()) == (before, values)
    assert not (box.root / "etc/systemd/network").exists() or not list((box.root / "etc/systemd/network").iterdir())
    assert not box.apply()["changed"]


def test_one_value_is_put_back_and_the_others_stay(box: Box) -> None:
    box.apply(mode="v2", trust="dscp")
    done = box.apply(mode="v2")
    assert [one["knob"] for one in done["restored"]] == ["trust"]
    assert box.values()["trust"] == "pcp"
    assert box.values()[f"{CM}/mlx5_0/ports/1/default_roce_mode"] == "RoCE v2"


def test_what_somebody_else_changed_since_is_not_put_back(box: Box) -> None:
    box.apply(trust="dscp", pfc=[3], mtu=9000)
    box.state(pfc="0,0,0,0,1,0,0,0", mtu=4200)
    box.apply()
    assert (box.values()["pfc"], box.values()["mtu"]) == ("0,0,0,0,1,0,0,0", "4200")
    assert box.values()["trust"] == "pcp"


@pytest.mark.parametrize(
    ("bent", "words"),
    [
        pytest.param({"refuses": "Operation not supported"}, "Operation not supported", id="rc"),
        pytest.param({"deaf": True}, "trust of eth0 was set to dscp, and it shows pcp", id="deaf"),
        pytest.param({"takes": 4000}, "does not take MTU 9000: Error: mtu greater", id="mtu"),
    ],
)
def test_what_is_not_taken_puts_back_what_was_set_before(box: Box, bent: dict[str, Any], words: str) -> None:
    before = box.files()
    values = box.values()
    box.state(**bent)
    reported = box.apply(mode="v2", trust="dscp", mtu=9000)
    assert reported.get("failed")
    assert words in reported["msg"]
    assert "Next: " in reported["msg"]
    if "refuses" not in bent:  # then it was refused before anything
        assert "What was set before in this run is put back" in reported["msg"]
    assert box.values() == values
    assert {path for path in box.files() if path.startswith("etc")} == {
        path for path in before if path.startswith("etc")
    }


def test_a_run_that_fails_forgets_nothing_of_an_earlier_one(box: Box) -> None:
    shutil.rmtree(box.root / f"{hca.IB[1:]}/tc")
    values = box.values()
    assert box.apply(tos=104, mtu=4200)["changed"]
    after = box.values()
    box.state(takes=4500)
    assert "is put back" in box.apply(tos=106, mtu=9000)["msg"]
    assert box.values() == after
    assert len(box.apply()["restored"]) == 1
    assert box.values() == values


def test_the_two_sides_of_ecn_go_back_to_what_each_was(box: Box) -> None:
    sides = [box.root / f"{hca.NET[1:]}/ecn/{side}/enable/3" for side in ("roce_np", "roce_rp")]
    sides[0].write_text("1\n")
    box.apply(ecn=True, pfc=[3])
    assert [one.read_text() for one in sides] == ["1\n", "1\n"]
    assert not box.apply().get("failed")
    assert [one.read_text() for one in sides] == ["1\n", "0\n"]


def test_half_of_a_value_that_is_not_taken_is_put_back(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    write = program.Host._write

    def refuse(host: program.Host, path: str, value: str) -> None:
        if "roce_rp" in path and value == "1":
            raise OSError(95, "Operation not supported")
        write(host, path, value)

    monkeypatch.setattr(program.Host, "_write", refuse)
    before = box.values()
    assert "does not take ecn 1" in box.apply(ecn=True, pfc=[3])["msg"]
    assert box.values() == before


def test_files_that_no_service_reads_are_taken_away_again(box: Box, tools: Path) -> None:
    before, values = box.files(), box.values()
    text = (tools / "networkctl").read_text()
    (tools / "networkctl").write_text(text.replace("home = ", "if 'reload' in sys.argv: sys.exit(1)\nhome = ", 1))
    failed = box.apply(trust="dscp", mtu=9000)
    assert "`networkctl reload` ended with status 1" in failed["msg"]
    assert "Next: look at `journalctl -u systemd-networkd.service`" in failed["msg"]
    assert "is put back" in failed["msg"]
    assert (box.files(), box.values()) == (before, values)
    (tools / "networkctl").write_text(text)
    assert box.apply(trust="dscp", mtu=9000)["changed"]
    assert "networkctl reload" in box.calls("networkctl")


def test_a_host_that_went_to_another_network_service_loses_the_old_file(box: Box, tools: Path) -> None:
    box.apply(mtu=9000)
    text = (tools / "networkctl").read_text()
    (tools / "networkctl").write_text(text.replace("home = ", "if 'reload' in sys.argv: sys.exit(1)\nhome = ", 1))
    box.state(active=["NetworkManager.service"])
    assert not box.apply().get("failed")
    assert not list((box.root / "etc/systemd/network").rglob("*.conf"))
    assert box.values()["mtu"] == "1500"


def test_what_had_no_value_is_not_said_to_be_put_back(box: Box) -> None:
    one = Setting("traffic_class", "mlx5_0/1", "", "106")
    with pytest.raises(HostError, match="traffic_class of mlx5_0/1: no value could be"):
        program.Host(str(box.root)).undo([one])


def test_what_stays_until_the_next_boot_is_said(box: Box) -> None:
    record = box.root / program.RECORD[1:]
    record.parent.mkdir(parents=True)
    record.write_text('{"traffic_class": {"mlx5_0/1": ["", "106"]}}')
    (box.root / f"{hca.IB[1:]}/tc/1/traffic_class").write_text("Global tclass=106\n")
    reported = box.apply(mode="v2")["left"]
    assert reported == {"the old traffic_class of mlx5_0/1": "it had none; 106 holds until the next boot"}
    assert box.apply(mode="v2")["left"] == {}
