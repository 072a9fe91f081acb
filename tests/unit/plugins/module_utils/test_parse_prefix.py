# SPDX-License-Identifier: GPL-3.0-or-later
"""What people put before a tool's lines changes no fact, and no two hosts become one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._parse import names, prefix
from tests import cases
from tests.unit.corpus import CORPUS
from tests.unit.parsers import SAMPLES

Put = Callable[[str, str], str]


def before(head: str) -> Put:
    """Before every line: ``{}`` is the host's name."""
    return lambda text, host: "".join(f"{head.format(host)}{line}\n" for line in text.split("\n")[:-1])


PREFIXES: dict[str, Put] = {
    "pdsh": before("{}: "),
    "mpirun": lambda text, host: before(f"[1,{host[-1]}]<stdout>:")(text, host),
    "mpirun with a blank": lambda text, host: before(f"[1,{host[-1]}]<stdout>: ")(text, host),
    "srun -l": lambda text, host: before(f"{host[-1]}: ")(text, host),
    "kubectl": before("[pod/{}/main] "),
    "docker compose": before("{}  | "),
    "docker's time": before("2025-11-24T03:20:21.001125857Z "),
    "syslog": before("Nov 24 03:20:21 {} check[77]: "),
    "Ray": before("(Worker pid=7, ip={}) "),
    "a mail": before("> "),
    "a mail of a mail": before("> > "),
    "a mail of pdsh": before("> {}: "),
    "a block of Markdown": lambda text, _host: f"```\n{text}```\n",
    "clush -b": lambda text, host: f"---------------\n{host}\n---------------\n{text}",
}
# What has no name of a host in it, and what the kernel's log has of its own.
NAMELESS = {"docker's time", "a mail", "a mail of a mail", "a block of Markdown"}
NOT_OF = {
    "dmesg": {"docker's time", "syslog"},
    "opensm_log": {"docker's time", "syslog"},
    "job_end": {"srun -l"},
    "nccl_log": {*PREFIXES} - {"a mail", "a block of Markdown"},
}


def texts() -> list[tuple[str, str, str]]:
    """Name of the parser, of the text, and the text: of both corpora, and a sample of each parser."""
    found = [
        (name, f"{folder.name}/{path.stem}", path.read_bytes().decode("utf-8", "replace"))
        for folder in (CORPUS, CORPUS.parent / "corpus-2")
        for name in names.NAMES
        for path in sorted((folder / name).glob("*"))
        if path.suffix in (".txt", ".log")
    ]
    found += [(name, "sample", (SAMPLES / f"{name}.txt").read_text()) for name in names.NAMES]
    # The last line has its end, and what a terminal overwrites is no line.
    return [(name, label, text) for name, label, text in found if text.endswith("\n") and "\r" not in text]


TEXTS = texts()


def facts(name: str, text: str) -> str:
    return json.dumps(names.facts(name, text)[0], sort_keys=True)


@pytest.mark.parametrize(("name", "label", "text"), TEXTS, ids=[f"{name} {label}" for name, label, _ in TEXTS])
def test_a_text_that_nobody_passed_on_stays_as_it_is(name: str, label: str, text: str) -> None:
    (part,) = prefix.parts(name, text)
    if part.text != text and names.facts(name, text)[1] is None:
        assert facts(name, part.text) == facts(name, text), label


@pytest.mark.thorough
@pytest.mark.parametrize("how", PREFIXES)
def test_no_prefix_changes_a_fact(how: str) -> None:
    wrong = []
    for name, label, text in TEXTS:
        if how in NOT_OF.get(name, ()) or len(text.splitlines()) < 3 or (name == "dmesg" and not _timed(text)):
            continue
        plain = prefix.parts(name, text)[0].text
        parts = prefix.parts(name, PREFIXES[how](plain, "node7"))
        if len(parts) != 1 or facts(name, parts[0].text) != facts(name, plain):
            wrong.append(f"{name} {label}")
    assert wrong == []


def _timed(text: str) -> bool:
    return all(line.startswith("[") for line in text.splitlines() if line)


@pytest.mark.thorough
@pytest.mark.parametrize("how", sorted(set(PREFIXES) - NAMELESS))
def test_two_hosts_are_never_one(how: str) -> None:
    for name in names.NAMES:
        if how in NOT_OF.get(name, ()):
            continue
        text = (SAMPLES / f"{name}.txt").read_text()
        if len(text.splitlines()) < 3 or (name == "dmesg" and not _timed(text)):
            continue
        said = [PREFIXES[how](text, host) for host in ("node7", "node8")]
        if "clush" not in how:
            # As they arrive: line by line.
            said = [
                "".join(line for two in zip(*(each.splitlines(True) for each in said), strict=True) for line in two)
            ]
        parts = prefix.parts(name, "".join(said))
        assert len(parts) == 2, name
        assert {facts(name, part.text) for part in parts} == {facts(name, text)}, name
        assert parts[0].who != parts[1].who


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ibstat", "mlx5_0: one\nmlx5_0: two\nmlx5_0: three\n"),
        ("sminfo", "sminfo: sm lid 1 sm guid 0x1, activity count 7 priority 15 state 3 SMINFO_MASTER\n"),
        ("perfquery", "SymbolErrorCounter:....0\nLinkDownedCounter:....0\nPortRcvErrors:....0\n"),
        ("dmesg", "nvidia-nvswitch3: SXid one\nnvidia-nvswitch3: two\nnvidia-nvswitch3: three\n"),
        ("ibping", "ibwarn: [1] one\nibwarn: [1] two\nibwarn: [1] three\n"),
    ],
)
def test_what_a_tool_says_itself_is_no_prefix(name: str, text: str) -> None:
    assert prefix.parts(name, text) == (prefix.Part("", text),)


def test_a_half_of_the_lines_is_no_prefix() -> None:
    text = "node1: CA 'mlx5_0'\nnode1: \tCA type: MT4129\n\tNumber of ports: 1\n"
    assert prefix.parts("ibstat", text) == (prefix.Part("", text),)


def test_underscores_that_markdown_escaped() -> None:
    (part,) = prefix.parts("ibstat", "CA 'mlx5\\_0'\n\tCA type: MT4129\n")
    assert part.text == "CA 'mlx5_0'\n\tCA type: MT4129\n"


def test_a_text_that_is_cut_stays_cut() -> None:
    (part,) = prefix.parts("ibstat", "node1: a\nnode1: b\nnode1: c")
    assert (part.who, part.text) == ("node1", "a\nb\nc")
    assert prefix.parts("ibstat", "") == (prefix.Part("", ""),)


def test_hosts_are_named(tmp_path: Path) -> None:
    assert tmp_path
    text = "node1: a\nnode2: b\nnode1: c\nnode2: d\n"
    assert prefix.parts("ibstat", text) == (prefix.Part("node1", "a\nc\n"), prefix.Part("node2", "b\nd\n"))


@pytest.mark.thorough
def test_the_tool_is_known_by_its_text() -> None:
    some = TEXTS[:: 1 if cases.ALL else 4]
    guessed = {(name, label): names.guess(text) for name, label, text in some}
    # Of what a tool only complains of nobody can tell which it was.
    told = {key: found for key, found in guessed.items() if found and len(found) < 6}
    wrong = [key for key, found in told.items() if found[0] != key[0]]
    assert len(told) > 0.9 * len(some)
    assert len(wrong) <= 0.02 * len(told), wrong
