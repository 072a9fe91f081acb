# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for every text: facts or ParseError, never another exception, in linear time."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from re import _constants as sre_constants
from re import _parser as sre_parser
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._parse import (
    _text,
    ibping,
    ibstat,
    sminfo,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import ParseError

CA = """\
CA 'mlx5_{n}'
\tCA type: MT4129
\tNumber of ports: 1
\tFirmware version: 28.39.1002
\tHardware version: 0
\tNode GUID: 0xa088c20300e3142a
\tSystem image GUID: 0xa088c20300e3142a
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tBase lid: 26
\t\tLMC: 0
\t\tSM lid: 1
\t\tCapability mask: 0xa751e848
\t\tPort GUID: 0xa088c20300e3142a
\t\tLink layer: InfiniBand
"""
PONG = "Pong from node7.(none) (Lid 26): time 0.065 ms\n"
STATISTICS = """
--- node7.(none) (Lid 26) ibping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 2000 ms
rtt min/avg/max = 0.055/0.060/0.065 ms
"""
ANSWER = (
    "sminfo: sm lid 4 sm guid 0x8c0eb0300f6fc26, "
    "activity count 5568705 priority 15 state 3 SMINFO_MASTER\n"
)
WARNING = "ibwarn: [88] mad_rpc: _do_madrpc failed; dport (Lid 1)\n"

Parser = Callable[[str], Any]
TOOLS: dict[str, tuple[Parser, str]] = {
    "ibstat": (ibstat.parse, CA.format(n=0) + CA.format(n=1)),
    "ibping": (ibping.parse, PONG * 2 + STATISTICS),
    "sminfo": (sminfo.parse, WARNING + ANSWER),
}
PARSERS = [pytest.param(parser, id=tool) for tool, (parser, _sample) in TOOLS.items()]
SAMPLES = [pytest.param(*pair, id=tool) for tool, pair in TOOLS.items()]
few = settings(max_examples=150, deadline=None, database=None)


def facts_or_parse_error(parser: Parser, text: str) -> None:
    try:
        parser(text)
        return
    except ParseError as exc:
        error = exc
    assert "\n" not in str(error)
    assert len(error.line) <= len(text)
    assert 0 <= error.line_no <= len(text) + 1


@pytest.mark.parametrize("parser", PARSERS)
@few
@given(text=st.text(st.characters()))
def test_any_text_gives_facts_or_a_parse_error(parser: Parser, text: str) -> None:
    facts_or_parse_error(parser, text)


# Words the parsers look for, put together wrongly.
WORDS = st.sampled_from(
    [
        *("CA 'a'", "CA '", "Port 1:", "Port 999:", "Rate:", "Base lid: 0x", "State: ", "\n", "\r"),
        *("--- ", " (", ") ", "ibping statistics ---", "1 packets transmitted, ", "0 received, "),
        *("0% packet loss, time 1 ms", "rtt min/avg/max = ", "Pong from ", "iberror:", "ibwarn:"),
        *("sminfo: sm lid ", "0x1", " sm guid 0x1, ", "activity count 1 ", "state 3 ", "???"),
        *("\x1b[", "\x1b]0;", "\0", "\u00a0", "\ud800", "²", "9" * 9, "1e9", "nan", ":", "-", "'"),
    ]
)


@pytest.mark.parametrize("parser", PARSERS)
@few
@given(words=st.lists(WORDS, max_size=40))
def test_any_heap_of_known_words_gives_facts_or_a_parse_error(
    parser: Parser, words: list[str]
) -> None:
    facts_or_parse_error(parser, "".join(words))


def drop(lines: list[str], at: int, other: int) -> list[str]:
    return lines[:at] + lines[at + 1 :]


def duplicate(lines: list[str], at: int, other: int) -> list[str]:
    return lines[: at + 1] + lines[at:]


def swap(lines: list[str], at: int, other: int) -> list[str]:
    swapped = list(lines)
    swapped[at], swapped[other] = swapped[other], swapped[at]
    return swapped


def cut(lines: list[str], at: int, other: int) -> list[str]:
    return [*lines[:at], lines[at][: other % (len(lines[at]) + 1)]]


def crlf(lines: list[str], at: int, other: int) -> list[str]:
    return [line + "\r" for line in lines]


def tabs(lines: list[str], at: int, other: int) -> list[str]:
    return [line.replace(" ", "\t") for line in lines]


def flat(lines: list[str], at: int, other: int) -> list[str]:
    return [line.lstrip() for line in lines]


def colour(lines: list[str], at: int, other: int) -> list[str]:
    return [f"\x1b[1;31m{line}\x1b[0m\x1b[K" for line in lines]


def blank(lines: list[str], at: int, other: int) -> list[str]:
    return [part for line in lines for part in (line, "")]


HARMLESS = [crlf, tabs, flat, colour, blank]
MUTATIONS = [drop, duplicate, swap, cut, *HARMLESS]
PLACE = st.integers(0, 10_000)


@pytest.mark.parametrize(("parser", "sample"), SAMPLES)
@few
@given(steps=st.lists(st.tuples(st.sampled_from(MUTATIONS), PLACE, PLACE), min_size=1, max_size=4))
def test_any_mutation_gives_facts_or_a_parse_error(
    parser: Parser, sample: str, steps: list[tuple[Any, int, int]]
) -> None:
    lines = sample.split("\n")
    for mutate, at, other in steps:
        lines = mutate(lines, at % len(lines), other % len(lines)) or [""]
    facts_or_parse_error(parser, "\n".join(lines))


@pytest.mark.parametrize(("parser", "sample"), SAMPLES)
@pytest.mark.parametrize("mutate", [pytest.param(m, id=m.__name__) for m in HARMLESS])
def test_a_harmless_mutation_changes_no_fact(parser: Parser, sample: str, mutate: Any) -> None:
    assert parser("\n".join(mutate(sample.split("\n"), 0, 0))) == parser(sample)


@pytest.mark.parametrize(("parser", "sample"), SAMPLES)
def test_no_dropped_line_changes_another_fact(parser: Parser, sample: str) -> None:
    # A line less may leave a field empty or be refused; it must not turn one value into another.
    lines = sample.split("\n")
    known = set(values(parser(sample)))
    for at in range(len(lines)):
        try:
            facts = parser("\n".join(drop(lines, at, 0)))
        except ParseError:
            continue
        assert set(values(facts)) - known <= {"", None, (), 0, 1}


def values(facts: Any) -> list[Any]:
    """Flatten dataclasses and tuples into the values they hold."""
    if hasattr(facts, "__dataclass_fields__"):
        return [v for name in facts.__dataclass_fields__ for v in values(getattr(facts, name))]
    if isinstance(facts, tuple) and facts:
        return [v for item in facts for v in values(item)]
    return [facts]


def steps_of(parser: Parser, text: str) -> int:
    """Count the lines of Python that run while `text` is parsed."""
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        parser(text)
    except ParseError:
        pass
    finally:
        sys.settrace(before)
    return count


def many_cas(n: int) -> str:
    return "".join(CA.format(n=i) for i in range(n))


def many_ports(n: int) -> str:
    head, port = CA.format(n=0).split("\tPort 1:\n")
    return head + "".join(f"\tPort {i}:\n{port}" for i in range(n))


@pytest.mark.parametrize(
    ("parser", "build"),
    [
        pytest.param(ibstat.parse, many_cas, id="ibstat, many CAs"),
        pytest.param(ibstat.parse, many_ports, id="ibstat, many ports"),
        pytest.param(ibstat.parse, lambda n: CA + WARNING * n, id="ibstat, many warnings"),
        pytest.param(ibping.parse, lambda n: PONG * n + STATISTICS, id="ibping, many pongs"),
        pytest.param(ibping.parse, lambda n: WARNING * n, id="ibping, many errors"),
        pytest.param(sminfo.parse, lambda n: WARNING * n + ANSWER, id="sminfo, many warnings"),
        pytest.param(sminfo.parse, lambda n: ANSWER * n, id="sminfo, many answers"),
    ],
)
def test_twice_the_text_takes_twice_the_steps(parser: Parser, build: Callable[[int], str]) -> None:
    one, two = steps_of(parser, build(100)), steps_of(parser, build(200))
    assert one > 100
    assert two <= 2.1 * one


MODULES = [_text, ibstat, ibping, sminfo]
PATTERNS = [
    pytest.param(value.pattern, id=f"{module.__name__.rpartition('.')[2]} {name}")
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, re.Pattern)
]
REPEATS = (sre_constants.MAX_REPEAT, sre_constants.MIN_REPEAT)


def nested_repeats(tree: Any, *, inside: bool = False) -> bool:
    """Tell whether an unbounded repeat holds another repeat: what makes a regex blow up."""
    for op, argument in tree:
        repeat = op in REPEATS and argument[1] > 1
        if repeat and inside:
            return True
        unbounded = repeat and argument[1] == sre_constants.MAXREPEAT
        if any(nested_repeats(sub, inside=inside or unbounded) for sub in subtrees(argument)):
            return True
    return False


def subtrees(argument: Any) -> list[Any]:
    if isinstance(argument, sre_parser.SubPattern):
        return [argument]
    if isinstance(argument, (tuple, list)):
        return [tree for part in argument for tree in subtrees(part)]
    return []


@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_regex_nests_its_repeats(pattern: str) -> None:
    assert not nested_repeats(sre_parser.parse(pattern))


def test_nested_repeats_are_seen() -> None:
    assert nested_repeats(sre_parser.parse("(?:a+b?)*c"))
    assert not nested_repeats(sre_parser.parse("a+(?:b{1,3}|c)d*"))
