# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts that lost a part: the head, an inner line, the end, the rest of a line, a digit.

What is left is told, and told rightly; what a check makes of it may be a failure, and is never a pass.
Every parser of `names` is held against this, with its sample and with the smaller real texts.

What nobody can see is not asked for: a line that is missing where the ones around it fit, a number of which
digits are missing at the end of a line that others follow, a word that is shorter than it was. Texts that are
told are not compared, nor are numbers of an entry that nothing names (IDS), nor counts of what is listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.pasted import NOT_GIVEN, Pasted
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._parse import names
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verify import AREAS, verify
from tests.unit.corpus import CORPUS
from tests.unit.parsers import SAMPLES

T = TypeVar("T")
Facts = dict[str, Any]
Place = tuple[Any, ...]
# From lines to what happened to them, and what is left, many times.
Damage = Callable[[list[str]], Iterator[tuple[str, str]]]

_TEXTS, _LARGEST, _FEW = 8, 20_000, 10
# Why a text that lost one line, or a piece of one, is refused as a whole.
REFUSED = {
    "container_probe": "closes itself with the number of its lines: the project's own format",
    "ibping": "has one record, its statistics, of which each number has to fit the others",
    "nvsmi_xml": "XML that is not well formed nests in no way that is sure",
    "sminfo": "has one record",
    "ofed_info": "has one record",
    "nvsmi_error": "has one sentence",
    "fabricmanager_status": "has one record",
    "mlnx_qos": "has one port, of whose tables each is needed",
    "nccl_tests": "its columns are known by their heads",
    "perftest": "its columns are known by their heads",
    "nvsmi_dmon": "its columns are known by their heads",
    "step_csv": "its columns are known by their heads",
    "flight_recorder": "one JSON object",
    "kineto": "one JSON object",
}
# What could still tell more of a damaged text than it does: (parser, why).
NOT_YET = {
    "dkms_status": "refuses all for a line that it does not know",
    "nvlink_throughput": "refuses all where the line of a GPU is lost",
    "ucx_info": "refuses all where the line of a transport is lost",
}
# How many of something are listed: with a line less they are fewer, and nothing shows that they were more.
COUNTS = {
    *("n", "n_gpus", "n_hcas", "n_cas", "n_devices", "n_links", "n_ports", "n_counters", "n_modules", "count"),
    *("active", "inactive", "lines", "error_lines", "unread", "times", "pong_lines", "could_be_warnings"),
    *("state_counts", "link_widths", "switches", "cas", "routers", "gpu_pair_counts", "gdr_channels", "processes"),
    *("ca_lines", "sw_lines", "unknown_speed_lines", "warning_lines", "sections", "records"),
    *("levels", "pings", "connected", "total", "ports", "links", "port_states"),
}
# Not held against the whole, by parser and field: NCCL's numbers stand in sentences, where `nranks 1#` of 16 is 1; and
# of a whole log they are told only where all ranks agree, so that a part may tell more.
# The peak of a benchmark is the highest of the rows that are there, its average stands in a sentence.
NOT_COMPARED = {
    *(("nccl_log", "rank"), ("nccl_log", "nranks"), ("nccl_log", "nodes")),
    *(("nccl_tests", "peak"), ("nccl_tests", "average"), ("perftest", "peak")),
}
# Times of jobs: sums and means of the events and rows that are there, and fewer of them give others. An operation's
# rows stand below its name: where that is lost, they fit the one before.
OF_JOBS = ("deepspeed_log", "flight_recorder", "kineto", "nccl_inspector", "progress_bar")
# These take a number that the text ends within as it stands: 15E-2 of 15E-255.
CUT_NUMBERS = ("ibdiagnet", "mlxlink")
# By what an entry of a list is known again. Where it has none of these, its numbers are not compared.
IDS = (
    *("name", "id", "index", "num", "port", "guid", "node_guid", "local_lid", "local_port", "device", "bus_id", "xid"),
    *("sxid", "link", "counter", "lane", "uuid", "mst", "pci", "target", "host", "rank", "gid", "netdev", "tag", "pid"),
    *("text", "code", "lid", "slot"),
)
# Whose checks all need the whole: with a part missing none of them passes.
STRICT = ("ibqueryerrors", "nvlink_status", "nvlink_errors", "nvlink_caps", "topo")


def spread(found: Sequence[T], most: int) -> list[T]:
    """All, or so many of them from the first to the last."""
    if len(found) <= most:
        return list(found)
    return [found[at * (len(found) - 1) // (most - 1)] for at in range(most)]


def texts(name: str) -> Iterator[tuple[str, str]]:
    """The parser's sample, and real texts where the corpora are."""
    yield "sample", (SAMPLES / f"{name}.txt").read_text()
    found = [
        path
        for corpus in (CORPUS, CORPUS.parent / "corpus-2")
        for path in (corpus / name).glob("*")
        if path.suffix in (".txt", ".log") and 0 < path.stat().st_size < _LARGEST
    ]
    for path in spread(sorted(found, key=lambda path: (path.stat().st_size, path)), _TEXTS):
        yield f"{path.parent.parent.name}/{path.stem}", path.read_bytes().decode("utf-8", "replace")


def without_head(lines: list[str]) -> Iterator[tuple[str, str]]:
    for count in (1, 2, 3, 5):
        if count < len(lines):
            yield f"without its first {count} lines", "".join(lines[count:])


def without_a_line(lines: list[str]) -> Iterator[tuple[str, str]]:
    for at in spread(range(1, len(lines) - 1), _FEW):
        if lines[at].strip():
            yield f"without line {at + 1}", "".join(lines[:at] + lines[at + 1 :])


def without_an_end(lines: list[str]) -> Iterator[tuple[str, str]]:
    """It ends within a line: anywhere, a number included."""
    for at in spread(range(len(lines)), _FEW):
        line = lines[at].rstrip("\r\n")
        for kept in sorted({len(line) // 2, *range(max(1, len(line) - 4), len(line))}):
            if line[:kept].strip():
                yield f"ends behind character {kept} of line {at + 1}", "".join(lines[:at]) + line[:kept]


def with_a_line_cut(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The rest of an inner line is lost, behind a word: a number that was cut looks like another one."""
    for at in spread(range(len(lines) - 1), _FEW):
        line = lines[at].rstrip("\r\n")
        kept = len(line) // 2
        while kept > 0 and line[kept - 1].isalnum() and line[kept].isalnum():
            kept -= 1
        if line[:kept].strip():
            yield f"line {at + 1} cut", "".join([*lines[:at], line[:kept] + "\n", *lines[at + 1 :]])


def with_a_digit_damaged(lines: list[str]) -> Iterator[tuple[str, str]]:
    text = "".join(lines)
    for match in spread(list(re.finditer(r"[0-9]+", text)), _FEW):
        line = text.count("\n", 0, match.start()) + 1
        yield f"a damaged digit in line {line}", f"{text[: match.end() - 1]}#{text[match.end() :]}"


DAMAGES: tuple[Damage, ...] = (without_head, without_a_line, without_an_end, with_a_line_cut, with_a_digit_damaged)
# After these the most of a text is left.
SLIGHT = (without_a_line, with_a_line_cut, with_a_digit_damaged)


def damaged(text: str, damages: Sequence[Damage] = DAMAGES) -> Iterator[tuple[str, str]]:
    lines = text.splitlines(keepends=True)
    for damage in damages:
        yield from damage(lines)


def numbers(value: Any, at: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every number in the facts, with whose it is."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name not in COUNTS or isinstance(one, (list, tuple)):
                yield from numbers(one, (*at, name))
    elif isinstance(value, (list, tuple)):
        for one in value:
            if isinstance(one, dict):
                known = tuple((name, one[name]) for name in IDS if isinstance(one.get(name), (str, int, float)))
                yield from numbers(one, (*at, known)) if known else ()
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield at, value


def told(facts: Facts) -> dict[Place, set[Any]]:
    found: dict[Place, set[Any]] = {}
    for at, number in numbers(facts):
        found.setdefault(at, set()).add(number)
    return found


def records(facts: Facts) -> int:
    """How many entries the longest list of it has."""
    return max((len(one) for one in facts.values() if isinstance(one, (list, dict))), default=0)


@pytest.mark.parametrize("name", names.NAMES)
def test_what_is_left_of_a_text_is_told_rightly(name: str) -> None:
    for label, text in texts(name):
        facts, error = names.facts(name, text)
        if error is not None:
            continue
        whole = told(facts)
        damages = [damage for damage in DAMAGES if damage is not without_an_end or name not in CUT_NUMBERS]
        for damage, left in damaged(text, damages):
            # Whatever is no ParseError comes through, and fails the test.
            part, _refused = names.facts(name, left)
            for at, found in told(part).items():
                if name not in OF_JOBS and at in whole and not any((name, field) in NOT_COMPARED for field in at):
                    assert found <= whole[at], f"{label}, {damage}: {at}"


@pytest.mark.parametrize("name", [name for name in names.NAMES if name not in {**REFUSED, **NOT_YET}])
def test_one_line_does_not_cost_the_others(name: str) -> None:
    for label, text in texts(name):
        facts, error = names.facts(name, text)
        if error is not None or records(facts) < 2:
            continue
        for damage, left in damaged(text, SLIGHT):
            assert names.facts(name, left)[1] is None, f"{label}, {damage}"


def test_every_refusal_has_its_parser_and_reason() -> None:
    for known in (REFUSED, NOT_YET):
        assert set(known) <= set(names.NAMES)
        assert all(known.values())
    assert not set(REFUSED) & set(NOT_YET)


def judged(name: str, text: str) -> list[Check]:
    return verify(Pasted({name: text}), from_inventory({}), [area for area in AREAS if area != "container"]).checks


def goes_by(check: Check, name: str) -> bool:
    return any(name in item.split("|") for item in CATALOG[check.id].looks_at)


def is_partial(facts: Facts) -> bool:
    return bool(facts.get("cut") or facts.get("unread"))


@pytest.mark.parametrize("name", STRICT)
def test_no_check_passes_by_a_text_that_is_cut(name: str) -> None:
    seen = 0
    for label, text in spread(list(texts(name)), 4):
        for damage, left in spread([*damaged(text), ("whole", text)], 30):
            if not is_partial(names.facts(name, left)[0]):
                continue
            seen += 1
            mine = [check for check in judged(name, left) if goes_by(check, name)]
            assert [check for check in mine if check.result == PASS] == [], f"{label}, {damage}"
    assert seen > 10


@pytest.mark.parametrize(
    "name", ["ibstat", "ibstatus", "ibv_devinfo", "rdma_link", "iblinkinfo", "ibhosts", "ibnetdiscover", "lsmod"]
)
def test_a_text_of_which_a_part_is_unread_is_nobody_s_ready_host(name: str) -> None:
    """Each of what was read passes by itself; that there is more is told beside it."""
    seen = 0
    for label, text in spread(list(texts(name)), 4):
        for damage, left in spread(list(damaged(text, SLIGHT)), 15):
            facts, error = names.facts(name, left)
            lost = [line for line in facts.get("error_lines", ()) if "cannot be read" in line]
            if error is not None or not (is_partial(facts) or lost):
                continue
            seen += 1
            mine = [check for check in judged(name, left) if NOT_GIVEN not in check.cause]
            if any(check.result == PASS and goes_by(check, name) for check in mine):
                assert any(check.result in (FAIL, UNKNOWN) for check in mine), f"{label}, {damage}"
    assert seen > 1


@pytest.mark.parametrize(
    ("name", "broken", "check"),
    [
        pytest.param(
            "ibqueryerrors",
            'Errors for "a"\n   GUID 0x1 port 1: [PortRcvErrors == 65535] [SymbolErr',
            "fabric.link.receive_errors",
            id="a counter behind it is cut",
        ),
        pytest.param(
            "ibqueryerrors",
            "   GUID 0x1 port 1: [PortRcvErrors == 65535]\n",
            "fabric.link.receive_errors",
            id="no node, no summary",
        ),
        pytest.param(
            "nvlink_status",
            "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n"
            + "".join(f"Link {n}: 9 GB/s\n" for n in range(4))
            + "Link 5: 9",
            "nvlink.link.speed",
            id="slow links of a listing that is cut",
        ),
        pytest.param(
            "nvlink_errors",
            "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\nLink 0: CRC Errors: 65535\nLink 1: CRC Err",
            "nvlink.errors.many",
            id="a full counter before the cut",
        ),
        pytest.param(
            "topo",
            "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
            "GPU0\tX\tSYS\tSYS\tSYS\t0-9\t0\nGPU1\tSYS\tX\tSYS\tSYS\t0-9\t0\nGPU2\tSYS\tSYS\tX\tSYS\t0-9\t0\n",
            "nvlink.pair.numa",
            id="a row is missing",
        ),
    ],
)
def test_what_can_be_read_may_fail_a_check(name: str, broken: str, check: str) -> None:
    assert is_partial(names.facts(name, broken)[0])
    assert check in [one.id for one in judged(name, broken) if one.result == FAIL]


# What a text ends with, behind which the rest is lost.
ENDS = [
    pytest.param("nvsmi_table", "CUDA Version: 12.8     |\n", id="the head of a table alone"),
    pytest.param("nvsmi_table", "|   0  NVIDIA H1", id="the row of the first GPU"),
    pytest.param("nvsmi_table", "00000000:1B:00.0 Off |                    0 |\n", id="the first line of a GPU alone"),
    pytest.param("nvsmi_table", "|   1  NVIDIA H100 80GB HBM3          Off |", id="the row of the second GPU"),
    pytest.param("nvsmi_table", "|    1   N/A  N/A           812", id="the row of a process"),
    pytest.param("ibv_devinfo", "\t\t\tstate:\t\t\tPO", id="a state"),
    pytest.param("ibv_devinfo", "\tphys_port_cnt:\t\t\t1\n", id="before the port of a device"),
    pytest.param("ibv_devinfo", "\t\tport:\t1\n", id="before the state of a port"),
    pytest.param("ibstatus", "\tbase li", id="before a state"),
    pytest.param("ibstatus", "\tsm lid:\t\t 0x9\n", id="before a state, at the end of a line"),
    pytest.param("ibstatus", "\tstate:\t\t 4: ACTI", id="a state of ibstatus"),
    pytest.param("perfquery", "PortRcvErrors:....", id="before a counter"),
    pytest.param("perfquery", "PortXmitDiscards:................6", id="a counter"),
    pytest.param("perfquery", "CounterSelect:...................0x0000\n", id="before every counter of errors"),
    pytest.param("rdma_link", "link mlx5_7/1 state ACTIVE phys", id="a word of a link"),
    pytest.param("rdma_link", "link mlx5_7/1 state", id="the name of a state"),
    pytest.param("lsmod", "mlx5_core   ", id="the name of a module"),
    pytest.param("lsmod", "ib_umad                40960  1", id="how often a module is used"),
]
CUT_IN_LINES = ("nvsmi_table", "ibv_devinfo", "ibstatus", "perfquery", "rdma_link", "lsmod")


@pytest.mark.parametrize(("name", "end"), ENDS)
def test_a_text_that_ends_within_a_record_was_read_in_part(name: str, end: str) -> None:
    text = (SAMPLES / f"{name}.txt").read_text()
    assert end in text
    before, found, _rest = text.partition(end)
    facts, error = names.facts(name, before + found)
    assert error is None
    assert is_partial(facts)


@pytest.mark.parametrize("name", CUT_IN_LINES)
def test_a_text_that_only_lost_its_last_newline_is_whole(name: str) -> None:
    text = (SAMPLES / f"{name}.txt").read_text()
    for whole in (text, text.rstrip("\n"), text.rstrip()):
        facts, error = names.facts(name, whole)
        assert error is None
        assert not is_partial(facts)
        assert "cut" not in facts
