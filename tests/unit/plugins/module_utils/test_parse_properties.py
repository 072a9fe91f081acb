# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for every parser and every text: facts or ParseError, never another exception, soon.

Every module of _parse/ is found by itself and needs a sample in tests/unit/parse_samples: NAME.txt
(or NAME.FUNCTION.txt for ``parse_...``), a made-up output in the tool's format; NAME.hex for bytes.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import is_dataclass
from re import _constants as sre_constants, _parser as sre_parser
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils import _data, _parse
from ansible_collections.ibready.cluster.plugins.module_utils._parse import names
from tests.unit.parsers import (
    ALL,
    BINARY,
    OTHERS,
    PARSERS,
    SAMPLED,
    SAMPLES,
    TEXT,
    Parser,
    facts_or_parse_error,
    modules,
    plain,
)

pytestmark = pytest.mark.thorough

few = settings(max_examples=100, deadline=None, database=None)


def each(found: list[Parser]) -> Any:
    return pytest.mark.parametrize("parser", [pytest.param(one, id=one.name) for one in found])


@pytest.mark.parametrize("name", names.NAMES)
def test_every_name_has_a_parser_with_facts_and_a_sample(name: str) -> None:
    module = importlib.import_module(f"{_parse.__name__}.{name}")
    assert isinstance(module.NOTHING, dict)
    assert name in {one.name for one in SAMPLED}
    facts, error = names.facts(name, (SAMPLES / f"{name}.txt").read_text())
    assert error is None
    assert json.loads(json.dumps(facts))
    nothing, error = names.facts(name, "")
    assert error is not None or not any(nothing.get(key) for key in facts)
    assert json.dumps(nothing)


def test_every_parser_has_a_sample_and_every_sample_a_parser() -> None:
    assert {one.path.name for one in PARSERS} == {path.name for path in SAMPLES.iterdir()}


@each(PARSERS)
def test_the_sample_gives_facts(parser: Parser) -> None:
    assert parser(bytes.fromhex(parser.sample) if parser.binary else parser.sample)


@each([*TEXT, *OTHERS])
@few
@given(text=st.text(st.characters()))
def test_any_text_gives_facts_or_a_parse_error(parser: Parser, text: str) -> None:
    facts_or_parse_error(parser, text)


@each([one for one, _ in ALL if one.binary])
@few
@given(data=st.binary(max_size=600))
def test_any_bytes_give_facts_or_a_parse_error(parser: Parser, data: bytes) -> None:
    facts_or_parse_error(parser, data)


@each(BINARY)
@few
@given(
    places=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=6),
    cut=st.integers(0, 10_000),
)
def test_any_change_of_bytes_gives_facts_or_a_parse_error(
    parser: Parser, places: list[tuple[int, int]], cut: int
) -> None:
    data = bytearray.fromhex(parser.sample)
    for at, value in places:
        data[at % len(data)] = value
    facts_or_parse_error(parser, bytes(data[: cut % (len(data) + 1)]))


# What no tool means to print, or prints when it fails.
ODD = [
    *("\n", "\r", "\t", " ", ":", "-", "'", '"', "[", "(", ")", "<", ">", "=", "0x", "N/A", "<!--"),
    *(
        "\x1b[",
        "\x1b]0;",
        "\0",
        "\u00a0",
        "\ud800",
        "²",
        "٣",
        "9" * 25,
        "-1",
        "1e9",
        "nan",
        "1.5.2",
    ),
    *("iberror:", "ibwarn:", "Failed to", "<![CDATA[", "&#0;", "&a;", "{", "}"),
]


def words_of(text: str) -> list[str]:
    """The pieces of a sample that a parser may look for: words, and whole lines."""
    return sorted({*re.findall(r"\w+|\s+|[^\w\s]+", text), *text.split("\n"), *ODD})


@each(SAMPLED)
@few
@given(data=st.data())
def test_any_heap_of_known_words_gives_facts_or_a_parse_error(parser: Parser, data: st.DataObject) -> None:
    heap = data.draw(st.lists(st.sampled_from(words_of(parser.sample)), max_size=40))
    facts_or_parse_error(parser, "".join(heap))


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
_FILE = "a file of the kernel or of a package manager, not what a terminal showed"
# Where a mutation is not harmless, and why: the format itself says something with it.
HARMFUL: dict[str, dict[str, str]] = {
    "container_probe": {"tabs": "tabs part its words"},
    "dpkg_status": {"colour": _FILE, "blank": "an empty line ends a package"},
    "fabricmanager_log": {"blank": "its lines are counted"},
    "gid": {"colour": _FILE, "blank": _FILE},
    "mlxlink": {"drop": "without the cable's type its technology takes the place"},
    "modules_dep": {"colour": _FILE},
    "nccl_copies": {"tabs": "tabs part its words"},
    "pci_resource": {"blank": _FILE, "drop": "its lines have places and no names"},
    "topo": {"colour": "whether there were escapes is a fact"},
}


def mutated(text: str, mutate: Any, at: int = 0) -> str:
    """The text with its lines changed; how its last line ends stays."""
    whole, end = (text[:-1], "\n") if text.endswith("\n") else (text, "")
    return "\n".join(mutate(whole.split("\n"), at, 0)) + end


@each(SAMPLED)
@few
@given(steps=st.lists(st.tuples(st.sampled_from(MUTATIONS), PLACE, PLACE), min_size=1, max_size=4))
def test_any_mutation_gives_facts_or_a_parse_error(parser: Parser, steps: list[tuple[Any, int, int]]) -> None:
    lines = parser.sample.split("\n")
    for mutate, at, other in steps:
        lines = mutate(lines, at % len(lines), other % len(lines)) or [""]
    facts_or_parse_error(parser, "\n".join(lines))


@each(SAMPLED)
@pytest.mark.parametrize("mutate", [pytest.param(m, id=m.__name__) for m in HARMLESS])
def test_a_harmless_mutation_changes_no_fact(parser: Parser, mutate: Any) -> None:
    if mutate.__name__ in HARMFUL.get(parser.name, {}):
        return
    assert plain(parser(mutated(parser.sample, mutate))) == plain(parser(parser.sample))


def test_every_harmful_mutation_says_why_and_of_which_parser() -> None:
    assert set(HARMFUL) <= {one.name for one in SAMPLED}
    for exceptions in HARMFUL.values():
        assert set(exceptions) <= {"drop", *(mutate.__name__ for mutate in HARMLESS)}
        assert all(exceptions.values())


@each(SAMPLED)
def test_no_dropped_line_changes_another_fact(parser: Parser) -> None:
    # A line less may leave a field empty, make a count one less, or be refused; it must not turn
    # one value into another.
    if "drop" in HARMFUL.get(parser.name, {}):
        return
    lines = parser.sample.rstrip("\n").split("\n")
    known = set(values(parser(parser.sample)))
    counts = {str(int(one) - 1) for one in known if re.fullmatch("[1-9][0-9]{0,9}", one)}
    fine = known | counts | {"", "None", "0", "1", "True", "False"}
    for at in range(len(lines)):
        try:
            facts = parser(mutated(parser.sample, drop, at))
        except ValueError:
            continue
        if isinstance(facts, dict):
            # What cannot be placed any more is counted, and named.
            facts = {name: value for name, value in facts.items() if name not in ("unread", "error_lines")}
        assert set(values(facts)) <= fine, f"without line {at + 1}: {lines[at]!r}"


def values(facts: Any) -> list[str]:
    """Every value in the facts, as text."""
    found = plain(facts)
    if isinstance(found, dict):
        return [one for value in found.values() for one in values(value)]
    if isinstance(found, list):
        return [one for value in found for one in values(value)]
    return [str(found)]


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
    except ValueError:
        pass
    finally:
        sys.settrace(before)
    return count


@each(SAMPLED)
def test_twice_the_text_takes_twice_the_steps(parser: Parser) -> None:
    # Every line of the sample in turn, many times over: any of them may be what a reader collects.
    lines = parser.sample.split("\n")
    places = {line.lstrip()[:6]: at for at, line in enumerate(lines)}
    for at in places.values():
        one, two, four = (steps_of(parser, "\n".join(lines[:at] + [lines[at]] * n + lines[at:])) for n in (25, 50, 100))
        assert four - two <= 2.3 * (two - one) + 200, f"many times line {at + 1}: {lines[at]!r}"


@each(SAMPLED)
def test_a_long_text_comes_to_its_end(parser: Parser) -> None:
    # The sample many times over, and each of the longest lines on one line: 200 KB each. Milliseconds, or hours where
    # an expression tries every way to part them.
    longest = [line for line in sorted(parser.sample.split("\n"), key=len)[-2:] if line]
    for text in (parser.sample, *longest):
        begun = time.process_time()
        facts_or_parse_error(parser, text * (200_000 // len(text) + 1))
        assert time.process_time() - begun < 60


def patterns() -> Iterator[Any]:
    """Every compiled pattern of the parsers, and the ones that the data tables hold as text."""
    for module in (*modules(_parse), *modules(_data)):
        stem = module.__name__.rpartition(".")[2]
        for name, value in vars(module).items():
            for pattern in compiled(value):
                yield pytest.param(pattern, id=f"{stem} {name}")


def compiled(value: Any) -> Iterator[str]:
    if isinstance(value, re.Pattern):
        yield value.pattern
    elif isinstance(value, dict):
        for one in value.values():
            yield from compiled(one)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from compiled(one)
    elif is_dataclass(value) and not isinstance(value, type) and hasattr(value, "pattern"):
        yield value.pattern


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


@pytest.mark.parametrize("pattern", list(patterns()))
def test_no_regex_nests_its_repeats(pattern: str) -> None:
    assert not nested_repeats(sre_parser.parse(pattern))


def test_nested_repeats_are_seen() -> None:
    assert nested_repeats(sre_parser.parse("(?:a+b?)*c"))
    assert not nested_repeats(sre_parser.parse("a+(?:b{1,3}|c)d*"))
