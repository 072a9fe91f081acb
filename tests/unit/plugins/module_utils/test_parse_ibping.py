# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibping
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibping import Ibping, Rtt

# The layout that infiniband-diags 44.0 prints; the values are made up.
CLEAN = """\
Pong from node7.(none) (Lid 26): time 0.065 ms
Pong from node7.(none) (Lid 26): time 0.055 ms

--- node7.(none) (Lid 26) ibping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 2000 ms
rtt min/avg/max = 0.055/0.060/0.065 ms
"""
FACTS = Ibping(
    target_host="node7.(none)",
    target_path="Lid 26",
    sent=2,
    received=2,
    loss_pct=0.0,
    time_ms=2000,
    rtt_ms=Rtt(min=0.055, avg=0.060, max=0.065),
    pong_lines=2,
    error_lines=(),
)
SILENT = """

---  (Lid 5) ibping statistics ---
3 packets transmitted, 0 received, 100% packet loss, time 3000 ms
rtt min/avg/max = 0.000/0.000/0.000 ms
"""
# Recorded from infiniband-diags 44.0 on a host without an HCA, exit status 255.
NO_UMAD = """\
ibwarn: [13305] mad_rpc_open_port: can't open UMAD port ((null):0)
/usr/sbin/ibping: iberror: failed: Failed to open '(null)' port '0'
"""


def counted(counts: str) -> str:
    return CLEAN.replace("2 packets transmitted, 2 received, 0% packet loss", counts)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(CLEAN, id="as printed"),
        pytest.param(CLEAN.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(CLEAN.replace("\n\n", "\n^C\n"), id="interrupted by the keyboard"),
        pytest.param(CLEAN.replace(" ms", "ms"), id="no space before the unit"),
        pytest.param("-----\n\n" + CLEAN, id="rule of dashes before it"),
        pytest.param("  " + CLEAN.replace("\n", "\n  "), id="indented"),
    ],
)
def test_every_layout_gives_the_same_facts(text: str) -> None:
    assert ibping.parse(text) == FACTS


def test_nothing_received_is_a_full_loss_from_a_nameless_host() -> None:
    facts = ibping.parse(SILENT)
    assert (facts.target_host, facts.target_path, facts.pong_lines) == ("", "Lid 5", 0)
    assert (facts.sent, facts.received, facts.loss_pct) == (3, 0, 100.0)
    assert facts.rtt_ms == Rtt(0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("counts", "loss"),
    [
        pytest.param("10 packets transmitted, 7 received, 30% packet loss", 30.0, id="partial"),
        pytest.param("3 packets transmitted, 2 received, 33% packet loss", 33.0, id="rounded down"),
        pytest.param("9 packets transmitted, 8 received, 0% packet loss", 0.0, id="one under way"),
    ],
)
def test_the_loss_is_the_one_printed(counts: str, loss: float) -> None:
    assert ibping.parse(counted(counts)).loss_pct == loss


def test_a_missing_round_trip_line_is_no_zero() -> None:
    assert ibping.parse(CLEAN[: CLEAN.index("rtt")]).rtt_ms is None


def test_warnings_beside_the_statistics_are_kept() -> None:
    warning = "ibwarn: [77] mad_rpc: _do_madrpc failed; dport (Lid 5)"
    assert ibping.parse(warning + "\n" + SILENT).error_lines == (warning,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "ibping: empty output: no statistics block", id="empty"),
        pytest.param(CLEAN[: CLEAN.index("---")], "no statistics block, 2 pongs seen", id="killed half way"),
        pytest.param(CLEAN.replace("ibping statistics", "ping statistics"), "no statistics block", id="ping"),
        pytest.param("Pong from somewhere", "no statistics block, 1 pongs", id="cut pong"),
        pytest.param("Usage: ibping [options] <dest lid|guid>", "no statistics block, 0 pongs", id="usage"),
        pytest.param(
            counted("2 packets transmitted, 2 received, some packet loss"),
            "line 5 .* not 'N packets",
            id="counts not readable",
        ),
        pytest.param(
            counted("10 packets transmitted, 5 received, 0% packet loss"),
            "loss does not follow",
            id="loss contradicts the counts",
        ),
        pytest.param(
            counted("1 packets transmitted, 0 received, 0% packet loss"),
            "loss does not follow",
            id="interrupted before the first answer",
        ),
        pytest.param(
            counted("0 packets transmitted, 0 received, 0% packet loss"), "loss does not follow", id="nothing sent"
        ),
        pytest.param(
            counted("2 packets transmitted, 3 received, 0% packet loss"),
            "loss does not follow",
            id="more received than sent",
        ),
        pytest.param(CLEAN.replace("0.060/", "fast/"), "line 6 .* not 'rtt min/avg/max", id="rtt not a number"),
        pytest.param(CLEAN + SILENT, "line 9 .* contradicts line 4", id="two runs in one text"),
        pytest.param(CLEAN.replace(" (Lid 26) ibping", " ibping"), "not '--- HOST", id="header without path"),
    ],
)
def test_text_without_sound_statistics_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        ibping.parse(text)


def test_the_tools_own_error_is_handed_on() -> None:
    with pytest.raises(ParseError, match=r"Failed to open .* ibping stopped with this error") as got:
        ibping.parse(NO_UMAD)
    assert got.value.line_no == 2
    assert got.value.error_lines == tuple(NO_UMAD.splitlines())


def test_the_facts_are_those_of_the_statistics() -> None:
    facts = ibping.facts(ibping.parse(CLEAN))
    assert facts["rtt_ms"] == {"min": 0.055, "avg": 0.060, "max": 0.065}
    assert (facts["sent"], facts["loss_pct"], facts["error_lines"]) == (2, 0.0, [])


def test_without_statistics_the_pongs_are_still_counted() -> None:
    with pytest.raises(ParseError) as got:
        ibping.parse(CLEAN.partition("---")[0])
    assert ibping.nothing(got.value)["pong_lines"] == 2
