# SPDX-License-Identifier: GPL-3.0-or-later
"""Every fault of faults.yml: broken, found under its own name, healed, nothing left behind.

Faults that one machine shows by itself are broken two at a time, one on each machine: looking takes
an emulated processor longest.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

NAMES = ("vm1", "vm2")
_FILE = Path(__file__).with_name("faults.yml")
_USUAL = Path(__file__).parents[1] / "inventory/group_vars/all.yml"
FAULTS: list[dict[str, Any]] = yaml.safe_load(_FILE.read_text())["faults"]


@dataclass(frozen=True)
class Round:
    """Machine -> what is broken there, and how both are looked at."""

    faults: dict[str, dict[str, Any]]
    look: tuple[str, ...] | str

    def __str__(self) -> str:
        return "+".join(fault["name"] for fault in self.faults.values())


def rounds(faults: list[dict[str, Any]]) -> Iterator[Round]:
    """Share the faults out: one alone where both machines are needed to see it."""
    # Alike ones next to each other: no area is looked at in vain.
    local = [fault for fault in faults if not isinstance(fault["look"], str)]
    local.sort(key=lambda fault: sorted(fault["look"]))
    for first in range(0, len(local), 2):
        two = local[first : first + 2]
        areas = sorted({area for fault in two for area in fault["look"]})
        yield Round(dict(zip(NAMES, two, strict=False)), tuple(areas))
    for fault in faults:
        if isinstance(fault["look"], str):
            yield Round({fault.get("machine", NAMES[0]): fault}, fault["look"])


def take(machines: Any, name: str, steps: list[dict[str, str]]) -> None:
    """Break or heal something on a machine."""
    subnet = machines.subnet
    places = {"address": f"{subnet}.{11 + NAMES.index(name)}"}
    places["other"] = f"{subnet}.{12 - NAMES.index(name)}"
    for step in steps:
        ((kind, what),) = step.items()
        if kind == "run":
            machines.root(name, what.format(**places))
        elif kind == "link":
            machines.switch("link", name, what)
        else:
            raise AssertionError(f"{_FILE.name}: there is no step {kind!r}")


def look(machines: Any, how: tuple[str, ...] | str, folder: Path, variables: dict[str, Any]) -> dict[str, list[Any]]:
    """Machine -> its checks."""
    if isinstance(how, str):
        done = machines.play(how, {**variables, "ibready_report_dir": str(folder)})
        reports = list(folder.glob("ibready-*.json"))
        assert len(reports) == 1, done.stdout
        hosts = json.loads(reports[0].read_text())["hosts"]
        # A host that is degraded does not fail the run.
        failed = {one["verdict"] for one in hosts.values()} - {"ready", "degraded"}
        assert (done.returncode != 0) == bool(failed), done.stdout
        return {name: hosts[name]["checks"] for name in NAMES}
    done = machines.play(
        "molecule/look.yml",
        {**variables, "look_areas": list(how), "look_folder": str(folder)},
    )
    assert done.returncode == 0, done.stdout
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in NAMES}


def asked(one: Round) -> dict[str, Any]:
    """The variables by which both machines are looked at."""
    given = {key: v for fault in one.faults.values() for key, v in fault.get("with", {}).items()}
    if not any("wanted" in fault for fault in one.faults.values()):
        return given
    usual = yaml.safe_load(_USUAL.read_text())["ibready_expect"]
    planted = {name: one.faults.get(name, {}).get("wanted", usual) for name in NAMES}
    return {**given, "planted": planted, "ibready_expect": "{{ planted[inventory_hostname] }}"}


def bad(checks: list[Any]) -> list[Any]:
    """What fails or cannot be told, and was not expected to."""
    wrong = [check for check in checks if check["result"] in ("fail", "unknown")]
    return [check for check in wrong if not check.get("waived")]


@pytest.mark.parametrize("one", list(rounds(FAULTS)), ids=str)
def test_a_fault_is_named_and_nothing_else_is(machines: Any, one: Round, tmp_path: Path) -> None:
    with contextlib.ExitStack() as heals:
        for name, fault in one.faults.items():
            heals.callback(take, machines, name, fault["heal"])
            take(machines, name, fault["break"])
        found = look(machines, one.look, tmp_path, asked(one))
    for name, fault in one.faults.items():
        expect = fault["expect"]
        others = {check["id"] for check in bad(found[name])}
        for check_id in expect["checks"]:
            named = [one for one in bad(found[name]) if one["id"] == check_id]
            named = [one for one in named if one["result"] == "fail"]
            assert named, f"{fault['name']}: {check_id} did not fail; found {others}"
            assert all(check["cause"] and check["remedy"] for check in named), named
            if check_id == expect["checks"][0]:
                named = [check for check in named if check["subject"] == expect["subject"]]
                assert named, f"{fault['name']}: {check_id} did not fail of {expect['subject']}"
                assert expect.get("cause", "") in named[0]["cause"]
        others -= {*expect["checks"], *expect["consequences"]}
        assert not others, f"{fault['name']} also made {others} fail"
    for name in set(NAMES) - set(one.faults):
        blamed = {check["id"] for check in bad(found[name])}
        also = {check for f in one.faults.values() for check in f["expect"].get("also", [])}
        assert blamed <= also, f"{name} is blamed, where nothing was broken: {blamed}"


def test_nothing_is_wrong_after_the_last_heal(machines: Any, tmp_path: Path) -> None:
    broken = [f for f in FAULTS if f["break"] and not isinstance(f["look"], str)]
    areas = sorted({area for fault in broken for area in fault["look"]})
    found = look(machines, tuple(areas), tmp_path, {})
    assert {name: bad(checks) for name, checks in found.items()} == {name: [] for name in NAMES}
