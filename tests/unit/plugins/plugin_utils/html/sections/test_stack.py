# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.models import stack
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections import told as sections
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import mapped, runs
from tests.unit.markup import Piece

DRIVER = "fleet.driver.version"


def told(run: dict[str, Any], name: str = "driver") -> stack.Component:
    (found,) = (one for one in stack.read(run) if one.name == name)
    return found


def driven(version: str, result: str, **bent: Any) -> dict[str, Any]:
    check = mapped.same(DRIVER, f"{version} open", result, **bent)
    return mapped.host(check, driver=version)


GOOD = driven("580.95.05", "pass")
ODD = driven("570.86.15", "fail", expected="580.95.05 open")


def test_the_minority_is_named_and_the_majority_counted() -> None:
    found = told(runs.run({"n1": GOOD, "n2": GOOD, "n3": GOOD, "n4": ODD}))
    assert [(one.text, one.standing, one.hosts) for one in found.versions] == [
        ("580.95.05 open", "usual", ((), 3)),
        ("570.86.15 open", "odd", (("n4",), 0)),
    ]


def test_the_table_tells_who_is_odd_in_words() -> None:
    html = sections.stack(runs.run({"n1": GOOD, "n2": GOOD, "n3": GOOD, "n4": ODD}), Speech())
    assert html is not None
    piece = Piece(html.html)
    assert [" ".join(cell.split()) for cell in piece.row("570.86.15 open")] == [
        *("570.86.15 open", "1", "odd one out", "n4")
    ]
    assert piece.row("NVIDIA driver")[1:4] == ["580.95.05 open", "3", "same as most"]


def test_where_there_is_no_majority_all_are_named() -> None:
    why = {"cause": "no majority: 580.95.05 open on 1, 570.86.15 open on 1"}
    run = runs.run({"n1": driven("580.95.05", "unknown", **why), "n2": driven("570.86.15", "unknown", **why)})
    assert {one.standing for one in told(run).versions} == {"split"}
    assert {one.hosts.shown for one in told(run).versions} == {("n1",), ("n2",)}


def test_a_host_that_nobody_compared_is_neither_usual_nor_odd() -> None:
    assert [one.standing for one in told(runs.run({"n1": mapped.host()})).versions] == ["alone"]


def test_a_host_that_did_not_tell_and_one_nobody_looked_at_are_told_apart() -> None:
    silent = mapped.host(gpu={"driver": None, "gpus": None})
    found = told(runs.run({"n1": GOOD, "n2": silent, "n3": runs.judged()}))
    assert found.silent.shown == ("n2",)
    assert found.unseen.shown == ("n3",)
    assert sum(one.hosts.total for one in found.versions) == 1


def test_what_nobody_looked_at_on_some_hosts_opens_the_section_unless_they_are_dark() -> None:
    no_gpu = mapped.host(gpu={})
    assert not told(runs.run({"n1": GOOD, "n2": GOOD})).odd
    assert told(runs.run({"n1": GOOD, "n2": GOOD, "n3": no_gpu})).odd
    # A host that nobody could reach is told once, and not again of each component.
    assert not told(runs.run({"n1": GOOD, "n2": GOOD, "n3": runs.judged()})).odd
    assert told(runs.run({"n1": GOOD, "n2": no_gpu, "n3": runs.judged()})).odd


def test_what_nobody_looked_at_on_any_host_is_not_left_out() -> None:
    run = runs.run({"n1": mapped.host(gpu={}), "n2": mapped.host(gpu={})})
    found = told(run)
    assert (found.versions, found.unseen.shown) == ([], ("n1", "n2"))
    html = sections.stack(run, Speech())
    assert html is not None
    assert Piece(html.html).row("NVIDIA driver")[1:4] == ["?", "2", "not checked"]
    assert sections.stack(runs.run({"n1": runs.judged()}), Speech()) is None


def test_firmware_is_of_a_model() -> None:
    found = told(runs.run({"n1": mapped.host()}), "firmware")
    assert [(one.text, one.hosts.total) for one in found.versions] == [("MT4129 28.43.1014", 1)]


def test_what_a_lock_names_comes_from_packages() -> None:
    run = runs.run({"n1": mapped.host()})
    assert told(run, "nccl").versions[0].text == "1.0"
    assert told(run, "container").versions[0].text == "containerd 1.0"
    assert told(run, "fabric_manager").versions[0].text == "1.0"
    assert told(run, "os").versions[0].text == "ubuntu 24.04"


def test_facts_of_another_shape_are_not_told() -> None:
    nonsense = mapped.host(stack={"packages": 7}, gpu="x", machine={"gpus": 5, "bios": 4})
    found = {one.name: one for one in stack.read(runs.run({"n1": nonsense}))}
    assert "n1" in (*found["nccl"].silent.shown, *found["nccl"].unseen.shown)


def test_versions_beyond_the_room_are_counted() -> None:
    hosts = {f"n{at}": driven(f"5{at}", "fail", expected="1") for at in range(30)}
    assert told(runs.run(hosts)).more == 30 - stack.VERSIONS
