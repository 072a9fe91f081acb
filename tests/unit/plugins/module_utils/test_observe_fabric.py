# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric import observe as fabric
from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric.facts import NOT_ASKED, FabricFacts
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Output, Unavailable

LINKS = """\
Switch: 0x0000000000200001 leaf-1:
          70   14[  ] ==(                Down/ Polling)==>             [  ] "" ( )
"""
NODES = 'Ca\t : 0x0200000000010000 ports 1 devid 0x1021 vendid 0x2c9 "gpu-a1 mlx5_3"\n'
SUMMARY = """
## Summary: 6 nodes checked, 0 bad nodes found
##          70 ports checked, 0 ports have errors beyond threshold
"""
HOSTS = 'Ca\t: 0x0200000000010000 ports 1 "gpu-a1 mlx5_3"\n'
SM = "sminfo: sm lid 1 sm guid 0x10000d, activity count 242 priority 0 state 3 SMINFO_MASTER\n"
PING = """
--- node2.(none) (Lid 4) ibping statistics ---
200 packets transmitted, 200 received, 0% packet loss, time 2 ms
rtt min/avg/max = 0.008/0.010/0.069 ms
"""
WHOLE = {
    "iblinkinfo": Output(0, LINKS, ""),
    "ibnetdiscover": Output(0, NODES, ""),
    "ibqueryerrors": Output(0, SUMMARY, ""),
    "ibhosts": Output(0, HOSTS, ""),
    "sminfo": Output(0, SM, ""),
    "ibping": Output(0, PING, ""),
}
NO_PORT = "ibwarn: [7] mad_rpc_open_port2: can't open UMAD port ((null):0)\nFailed to open port 0\n"


@dataclass
class Bundle:
    """Only what the fabric's observer asks of an evidence."""

    commands: dict[str, Output] = field(default_factory=lambda: dict(WHOLE))
    recorded: bool = True
    why: str = "not in the bundle"
    asked: list[str] = field(default_factory=list)

    def run(self, name: str, *args: str) -> Output:
        self.asked.append(name)
        if name not in self.commands:
            raise Unavailable(name, self.why)
        return self.commands[name]


def observe(bundle: Bundle) -> FabricFacts:
    return fabric.observe(bundle, Machine())  # type: ignore[arg-type]


def with_one(name: str, output: Output) -> Bundle:
    return Bundle({**WHOLE, name: output})


def test_a_live_host_is_never_asked() -> None:
    live = Bundle(recorded=False)
    facts = observe(live)
    assert live.asked == []
    assert facts.links.missing
    assert facts.links.why == NOT_ASKED
    assert facts.to_dict() == {}


def test_a_bundle_gives_all_of_it() -> None:
    facts = observe(Bundle())
    assert facts.to_dict() == {
        "iblinkinfo": {"ports": 1},
        "ibnetdiscover": {"cas": 1, "switches": 0},
        "ibqueryerrors": {"ports": 70},
        "ibhosts": {"hosts": 1},
        "sminfo": {"lid": 1, "state": "SMINFO_MASTER"},
        "ibping": {"sent": 200, "received": 200},
    }
    assert facts.links.value is not None
    assert facts.links.value.incomplete == ""


def test_what_a_bundle_does_not_hold_was_not_asked() -> None:
    facts = observe(Bundle({}))
    assert all(one.missing for one in (facts.links, facts.discovery, facts.sm, facts.ping))


def test_what_could_not_be_recorded_is_unknown() -> None:
    links = observe(Bundle({}, why="gave no complete answer within 120 s")).links
    assert (links.known, links.missing) == (False, False)
    assert "within 120 s" in links.why


@pytest.mark.parametrize("streams", [(NO_PORT, ""), ("", NO_PORT)], ids=["stdout", "stderr"])
def test_a_tool_that_could_not_ask_has_errors_and_no_facts(streams: tuple[str, str]) -> None:
    answer = observe(with_one("iblinkinfo", Output(1, *streams))).links.value
    assert answer is not None
    assert (answer.facts, answer.errors) == (None, tuple(NO_PORT.splitlines()))


@pytest.mark.parametrize("name", ["ibnetdiscover", "ibqueryerrors", "ibhosts", "sminfo", "ibping"])
def test_so_it_is_with_every_tool(name: str) -> None:
    output = Output(255, f"{name}: iberror: failed: Failed to open '(null)' port '0'\n", "")
    reported = observe(with_one(name, output)).to_dict()[name]
    assert reported == {"errors": [output.stdout.strip()]}


def test_an_unreadable_text_is_unknown() -> None:
    links = observe(with_one("iblinkinfo", Output(0, LINKS[:-8], ""))).links
    assert (links.value, links.missing) == (None, False)
    assert "line 2" in links.why
    assert "exit status 0" in links.why


@pytest.mark.parametrize(
    ("name", "output"),
    [
        pytest.param("iblinkinfo", Output(1, LINKS, ""), id="status"),
        pytest.param("iblinkinfo", Output(0, LINKS, "discover failed\n"), id="error behind it"),
        pytest.param("iblinkinfo", Output(0, LINKS + "ibpanic: [7] x\n", ""), id="error in it"),
    ],
)
def test_facts_with_a_bad_end_are_incomplete(name: str, output: Output) -> None:
    answer = observe(with_one(name, output)).links.value
    assert answer is not None
    assert answer.facts is not None
    assert "iblinkinfo ended with status" in answer.incomplete


def test_what_can_be_read_of_a_text_is_kept_and_is_not_all() -> None:
    text = LINKS + LINKS.splitlines()[1].replace(" 14[", " 15[").replace("==>", "") + "\n"
    answer = observe(with_one("iblinkinfo", Output(0, text, ""))).links.value
    assert answer is not None
    assert answer.facts is not None
    assert [port.port for port in answer.facts.ports] == [14]
    assert answer.incomplete.startswith("iblinkinfo: the text is cut: line 3 cannot be read: ")


def test_some_statuses_say_nothing() -> None:
    facts = observe(Bundle({"ibqueryerrors": Output(1, SUMMARY, ""), "ibping": Output(130, PING, "")}))
    assert facts.counters.value is not None
    assert facts.ping.value is not None
    assert (facts.counters.value.incomplete, facts.ping.value.incomplete) == ("", "")


def test_warnings_beside_an_answer_are_no_errors() -> None:
    warning = "ibwarn: [7] mad_rpc: _do_madrpc failed; dport (Lid 1)\n"
    answer = observe(with_one("iblinkinfo", Output(0, LINKS, warning))).links.value
    assert answer is not None
    assert (answer.errors, answer.incomplete) == ((), "")


@pytest.mark.parametrize("name", ["iblinkinfo", "ibhosts", "sminfo"])
def test_facts_that_end_within_a_line_are_incomplete(name: str) -> None:
    text = WHOLE[name].stdout.rstrip("\n")
    facts = observe(with_one(name, Output(0, text, "")))
    reported = {"iblinkinfo": facts.links, "ibhosts": facts.hosts, "sminfo": facts.sm}[name].value
    assert reported is not None
    assert "ends within a line" in reported.incomplete
