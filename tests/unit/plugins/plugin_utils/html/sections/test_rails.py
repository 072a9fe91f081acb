# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.models import judged, rails
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections.rails import section
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import mapped, runs
from tests.unit.markup import Piece


def fleet(count: int = 4, **bent: Any) -> dict[str, Any]:
    """Equal hosts of which ``bent`` replaces some."""
    return runs.run({**{f"n{at}": mapped.host() for at in range(count)}, **bent})


def with_port(**bent: Any) -> dict[str, Any]:
    """A host with one bent port."""
    ports = {f"mlx5_{at}": mapped.port() for at in range(8)}
    return mapped.host(ports={**ports, "mlx5_3": {**mapped.port(), **bent}})


def shown(run: dict[str, Any]) -> Piece:
    found = section(run, Speech())
    assert found is not None
    return Piece(found.html)


def test_every_port_of_equal_hosts_is_as_it_should_be() -> None:
    (one,) = rails.read(fleet()).maps
    assert one.rails == tuple(f"mlx5_{at}/1" for at in range(8))
    assert [row.hosts.shown for row in one.rows] == [("n0",), ("n1",), ("n2",), ("n3",)]
    assert {port.look for row in one.rows for port in row.ports if port} == {"ok"}
    assert one.odd == 0


def test_a_port_that_is_down_fails_and_a_slow_one_is_odd() -> None:
    run = fleet(6, n1=with_port(state="Down"), n2=with_port(rate=200.0))
    (one,) = rails.read(run).maps
    down, slow = one.rows[1].ports[3], one.rows[2].ports[3]
    assert down is not None
    assert slow is not None
    assert (down.look, down.odd, down.why) == ("fail", True, "ib.port.state: Down")
    assert (slow.look, slow.odd, slow.rate) == ("ok", True, "200")
    assert one.odd == 2
    piece = shown(run)
    assert piece.row("n1")[4] == "X ≠ Down"
    assert piece.row("n2")[4] == "≠ Active 200"
    assert piece.row("n0")[4] == "Active 400"


def test_a_port_without_a_state_is_not_drawn_as_a_good_one() -> None:
    (one,) = rails.read(fleet(n1=with_port(state=""))).maps
    port = one.rows[1].ports[3]
    assert port is not None
    assert port.look == "unknown"
    assert one.looks[1][3] == "unknown"


def test_a_port_on_which_no_check_passed_was_not_looked_at() -> None:
    bent = mapped.host()
    bent["checks"] = []
    (one,) = rails.read(fleet(n1=bent)).maps
    assert set(one.looks[1]) == {"none"}
    assert shown(fleet(n1=bent)).row("n1")[1] == "- Active 400"


def test_a_result_that_nobody_knows_is_unknown() -> None:
    odd = [{"id": "ib.port.state", "subject": "mlx5_0/1", "result": "great"}]
    good = [{"id": "ib.port.state", "subject": "mlx5_0/1", "result": "pass"}]
    assert judged.word(odd, ["ib.port.state"]) == "unknown"
    assert judged.word([*odd, *good], ["ib.port.state"]) == "unknown"


def test_a_waived_failure_is_told_from_a_good_port() -> None:
    waived = runs.check("fail", "ib.port.rate", "mlx5_0/1", waived="until 2026-12-31: ordered")
    (one,) = rails.read(fleet(n1=mapped.host(waived))).maps
    assert one.looks[1][0] == "waived"


def test_a_port_that_is_set_apart_is_no_rail() -> None:
    bent = mapped.host()
    for check in bent["checks"]:
        if check["subject"] == "mlx5_7/1":
            check["result"] = "skip"
    (one,) = rails.read(runs.run({f"n{at}": bent for at in range(3)})).maps
    assert "mlx5_7/1" not in one.rails


def test_a_rail_that_only_one_host_lacks_is_seen() -> None:
    bent = mapped.host(ports={f"mlx5_{at}": mapped.port() for at in range(7)})
    (one,) = rails.read(fleet(n1=bent)).maps
    assert one.rows[1].ports[7] is None
    assert one.odd == 1
    assert shown(fleet(n1=bent)).row("n1")[8] == "no such port"


def test_a_port_that_no_check_names_beside_others_is_no_rail() -> None:
    bent = mapped.host()
    bent["checks"] = [one for one in bent["checks"] if one["subject"] != "mlx5_7/1"]
    (one,) = rails.read(runs.run({"n0": bent})).maps
    assert one.rails == tuple(f"mlx5_{at}/1" for at in range(7))


def test_what_could_not_be_looked_at_on_all_ports_is_good_on_none() -> None:
    folded = runs.check("unknown", "ib.port.mtu", "host", cause="no such file")
    (one,) = rails.read(fleet(n1=mapped.host(folded))).maps
    assert set(one.looks[1]) == {"unknown"}


def test_counters_that_nobody_could_read_say_nothing_of_a_rail_but_rising_ones_do() -> None:
    unread = runs.check("unknown", "ib.port.errors", "mlx5_0/1", cause="no such file")
    rising = runs.check("fail", "ib.port.errors", "mlx5_0/1", observed="symbol_error +5")
    (one,) = rails.read(fleet(n1=mapped.host(unread), n2=mapped.host(rising))).maps
    assert [mine[0] for mine in one.looks] == ["ok", "ok", "fail", "ok"]


def test_the_gid_of_a_roce_port_is_compared() -> None:
    def roce(index: int) -> dict[str, Any]:
        gids = mapped.told([{"index": index, "kind": "IPv4", "type": "RoCE v2"}])
        ports = [{"device": f"mlx5_{at}", "num": 1, "gids": gids} for at in range(8)]
        return mapped.host(roce={"ports": mapped.told(ports)})

    run = runs.run({"n0": roce(3), "n1": roce(3), "n2": roce(3), "n3": roce(5)})
    (one,) = rails.read(run).maps
    assert [row.ports[0].gid for row in one.rows if row.ports[0]] == ["3 IPv4"] * 3 + ["5 IPv4"]
    assert [row.ports[0].odd for row in one.rows if row.ports[0]] == [False] * 3 + [True]


def test_a_host_of_which_nothing_is_known_is_named() -> None:
    silent = runs.judged(runs.check("unknown", "host.access.reachable", "host"))
    reported = rails.read(fleet(gone=silent))
    assert reported.unseen.shown == ("gone",)
    assert "gone" not in reported.maps[0].hosts
    assert "1 host whose ports are unknown: gone" in " ".join(shown(fleet(gone=silent)).text.split())


def test_unequal_hosts_are_maps_of_their_own() -> None:
    others = {f"b{at}": mapped.host(product="DGX B200") for at in range(3)}
    reported = rails.read(fleet(4, **others))
    assert [len(one.hosts) for one in reported.maps] == [4, 3]
    assert "DGX B200" in reported.maps[1].name


def test_of_many_hosts_equal_ones_are_one_row_and_odd_ones_come_first() -> None:
    run = fleet(200, n77=with_port(state="Down"), n78=with_port(rate=200.0))
    (one,) = rails.read(run).maps
    assert [row.count for row in one.rows] == [1, 1, 198]
    assert [row.hosts.shown[0] for row in one.rows[:2]] == ["n77", "n78"]
    assert one.rows[2].hosts.more == 192
    html = section(run, Speech())
    assert html is not None
    assert html.html.count("<svg") == 1
    piece = Piece(html.html)
    assert "n77 mlx5_3/1" in piece.text
    assert "198 hosts:" in piece.rows[-1][0]


def test_a_run_without_hosts_has_no_map() -> None:
    assert section(runs.run({}), Speech()) is None
