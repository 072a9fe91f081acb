# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.models import nvlink
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections import told as sections
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import mapped, runs
from tests.unit.markup import Piece


def fleet(**bent: Any) -> dict[str, Any]:
    return runs.run({**{f"n{at}": mapped.host() for at in range(4)}, **bent})


def shown(run: dict[str, Any]) -> Piece:
    found = sections.nvlink(run, Speech())
    assert found is not None
    return Piece(found.html)


def bent_facts(**facts: Any) -> dict[str, Any]:
    """A host whose facts of NVLink are bent."""
    host = mapped.host()
    host["facts"]["nvlink"] = {**host["facts"]["nvlink"], **facts}
    return host


def test_equal_hosts_are_one_picture_of_gpus_and_links() -> None:
    (one,) = nvlink.read(fleet()).maps
    assert one.hosts.total == 4
    assert [gpu for gpu, _ in one.gpus] == [str(at) for at in range(8)]
    assert all(cells == [nvlink.Cell(up=4)] * 18 for _, cells in one.gpus)
    assert one.joined == [("NV18", 28)]
    assert one.differences == []
    assert shown(fleet()).row("GPU 0") == ["GPU 0", *["4"] * 18]


def test_a_link_that_is_down_is_in_the_picture_and_told_with_its_host() -> None:
    run = fleet(n2=mapped.host(links={5: (17, [3])}))
    (one,) = nvlink.read(run).maps
    cells = dict(one.gpus)["5"]
    assert cells[3] == nvlink.Cell(up=3, down=1)
    assert cells[17] == nvlink.Cell(up=4)
    assert one.differences == [nvlink.Difference("n2", "GPU 5", "down", "3")]
    piece = shown(run)
    assert piece.row("GPU 5")[4] == "X 1"
    assert piece.row("n2") == ["n2", "GPU 5", "links down", "3", "\N{EN DASH}"]


def test_a_link_that_is_down_where_nobody_could_judge_is_not_unused() -> None:
    blind = runs.check("unknown", "nvlink.link.count", "host")
    passes = runs.check("pass", "nvlink.link.state", "host")
    run = fleet(n2=mapped.host(passes, blind, links={5: (17, [3])}))
    (one,) = nvlink.read(run).maps
    assert dict(one.gpus)["5"][3] == nvlink.Cell(up=3, down=1)


def test_a_link_that_no_check_minds_is_not_used_and_no_difference() -> None:
    passes = (runs.check("pass", "nvlink.link.state", "host"),)
    bridged = {gpu: (12, list(range(12, 18))) for gpu in range(8)}
    run = runs.run({f"n{at}": mapped.host(*passes, links=bridged) for at in range(3)})
    (one,) = nvlink.read(run).maps
    assert one.differences == []
    assert dict(one.gpus)["0"][12] == nvlink.Cell(unused=3)
    assert shown(run).row("GPU 0")[13] == "o 3"


def test_links_that_are_not_listed_and_a_gpu_that_is_missing_differ() -> None:
    short = bent_facts(links=[{"gpu": gpu, "active": 12, "down": []} for gpu in range(7)])
    (one,) = nvlink.read(fleet(n1=short)).maps
    assert [(said.what, said.seen, said.usual) for said in one.differences] == [
        ("missing", "", "18"),
        *[("fewer", "12", "18")] * 7,
    ]


def test_pairs_errors_switches_and_managers_differ() -> None:
    odd = bent_facts(
        pairs={"GPU0-GPU1": "SYS"},
        errors=[{"gpu": 1, "link": 4, "counter": "Replay Errors", "value": 9}],
        fabric_manager={"state": "failed", "package": "1", "log_errors": 2},
        sxids=[{"switch": "0000:a1:00.0", "sxid": 20034, "text": "fatal"}],
    )
    (one,) = nvlink.read(fleet(n3=odd)).maps
    assert [(said.what, said.part, said.seen, said.usual) for said in one.differences] == [
        ("joined", "GPU0-GPU1", "SYS", "NV18"),
        ("errors", "GPU 1 / 4", "Replay Errors 9", ""),
        ("manager", "", "failed", "active (running)"),
        ("switch", "0000:a1:00.0", "SXid 20034 fatal", ""),
    ]
    assert dict(one.gpus)["1"][4] == nvlink.Cell(up=4, errors=1)


def test_of_two_that_differ_both_are_told() -> None:
    odd = bent_facts(pairs={"GPU0-GPU1": "SYS"})
    (one,) = nvlink.read(runs.run({"a": mapped.host(), "b": odd})).maps
    assert [(said.host, said.seen) for said in one.differences] == [("a", "NV18"), ("b", "SYS")]


def test_a_host_without_facts_is_shown_as_not_looked_at() -> None:
    reported = nvlink.read(fleet(n1=mapped.host(nvlink={}), n2=runs.judged()))
    assert [hosts.shown for _, hosts in reported.unseen] == [("n1", "n2")]
    assert reported.maps[0].hosts.shown == ("n0", "n3")
    assert "2 hosts were not checked: n1, n2" in " ".join(
        shown(fleet(n1=mapped.host(nvlink={}), n2=runs.judged())).text.split()
    )


def test_why_nobody_could_look_is_told() -> None:
    silent = runs.check("unknown", "nvlink.link.state", "host", cause="nvidia-smi: timeout")
    reported = nvlink.read(fleet(n1=mapped.host(silent, nvlink={})))
    assert [(why, hosts.shown) for why, hosts in reported.unseen] == [("nvidia-smi: timeout", ("n1",))]


def test_a_host_without_nvlink_is_no_unseen_one() -> None:
    without = runs.check("skip", "nvlink.link.state", "host", cause="it has no GPU")
    reported = nvlink.read(fleet(n1=mapped.host(without, nvlink={})))
    assert [(why, hosts.shown) for why, hosts in reported.without] == [("it has no GPU", ("n1",))]
    assert reported.unseen == []


def test_more_differences_than_there_is_room_for_are_counted() -> None:
    run = runs.run({f"n{at}": mapped.host(links={0: (17, [at % 18])}) for at in range(150)})
    (one,) = nvlink.read(run).maps
    assert (len(one.differences), one.more) == (nvlink.DIFFERENCES, 50)
    assert "and 50 more, in the JSON report" in shown(run).text
