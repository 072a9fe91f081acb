# SPDX-License-Identifier: GPL-3.0-or-later
"""Running configurations of NX-OS, EOS and Onyx: what is told of a port, and no answer to what is not understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.plugin_utils._switch import texts
from tests.unit import switch_texts as made
from tests.unit.switch_configs import (
    EOS,
    NEGOTIATED,
    NXOS,
    ONYX,
    PARSERS,
    ROCE,
    RUNNING,
    SHOW_ROCE,
    TABLE,
    bent,
    read,
    read_eos,
    read_nxos,
    read_onyx,
)

FEW = settings(max_examples=80, deadline=None, database=None)
EACH = pytest.mark.parametrize("parser", PARSERS)
CONFIGS = pytest.mark.parametrize("parser", ["nxos", "eos", "onyx"])


@EACH
@FEW
@given(text=st.text())
def test_any_text_is_an_error_that_names_the_file(parser: str, text: str) -> None:
    assert read(parser, text) is None


@EACH
@FEW
@given(data=st.data())
def test_a_text_with_a_hole_is_read_or_refused(parser: str, data: st.DataObject) -> None:
    read(parser, made.holed(data, PARSERS[parser][1]))


@pytest.mark.parametrize("parser", ["nxos", "eos", "onyx", "onyx by hand", "onyx roce"])
def test_a_text_that_was_cut_behind_or_within_any_line_is_refused(parser: str) -> None:
    """Up to the line that has to be the last; a cut NX-OS text may have lost the lines behind the interfaces."""
    lines = PARSERS[parser][1].splitlines(keepends=True)
    end = next(at for at, line in enumerate(lines) if line.startswith("line console")) if parser == "nxos" else -1
    last = len(lines) - 1 if end < 0 else end
    for at in range(last + 1):
        assert read(parser, "".join(lines[:at])) is None, lines[at]
        assert read(parser, "".join(lines[:at]) + lines[at].rstrip("\n")[:-1]) is None, lines[at]


@CONFIGS
@FEW
@given(data=st.data())
def test_a_text_that_lost_its_head_is_refused(parser: str, data: st.DataObject) -> None:
    lines = PARSERS[parser][1].splitlines(keepends=True)
    head = next(at for at, line in enumerate(lines) if line.lower().find("running") >= 0)
    assert read(parser, "".join(lines[data.draw(st.integers(head + 1, len(lines))) :])) is None


@CONFIGS
@FEW
@given(data=st.data())
def test_what_a_terminal_puts_between_the_lines_is_refused(parser: str, data: st.DataObject) -> None:
    lines = PARSERS[parser][1].splitlines(keepends=True)
    strange = data.draw(st.sampled_from([" --More-- \n", "% Invalid command\n", "--more--\n"]))
    banner = [at for at, line in enumerate(lines) if "no place" in line]
    allowed = [at for at in range(6, len(lines)) if not banner or at not in (banner[0], banner[0] + 1)]
    at = data.draw(st.sampled_from(allowed))
    assert read(parser, "".join([*lines[:at], strange, *lines[at:]])) is None


@pytest.mark.parametrize("text", [NXOS, EOS])
def test_what_greets_people_is_no_configuration(text: str) -> None:
    parse = read_nxos if text is NXOS else read_eos
    assert "no place for you" in text
    assert not any("place" in name for name in parse(text))


def test_the_mark_of_a_banner_is_both_of_its_characters() -> None:
    """A ``^`` within the text ends none: what stands behind it is no configuration either."""
    inside = "interface Ethernet1/1 is no place for you\n"
    assert read_nxos(bent(NXOS, (inside, "a hat: ^\ninterface Ethernet1/9\n"))).keys() == read_nxos(NXOS).keys()


@pytest.mark.parametrize("parser", ["nxos", "eos"])
def test_a_text_that_lost_its_indentation_is_refused(parser: str) -> None:
    """Whose a line is cannot be told any more, and a port without lines would have the defaults."""
    assert read(parser, "\n".join(line.strip() for line in PARSERS[parser][1].split("\n"))) is None


def facts(parser: str, text: str) -> dict[str, Any] | None:
    """What a text tells of each port, without the lines that tell it."""
    found = read(parser, text)
    return found and {
        name: (
            *(getattr(port, what).value for what in ("pfc", "trust", "ecn", "mtu", "watchdog")),
            {dscp: (led.priority, led.queue) for dscp, led in (port.classes.value or {}).items()},
        )
        for name, port in found.items()
    }


@pytest.mark.parametrize("parser", ["nxos", "eos", "onyx", "onyx by hand"])
def test_a_line_that_does_not_count_tells_nothing(parser: str) -> None:
    """As a comment it is as good as gone; undone, or as a description, it never tells what it told."""
    lines = PARSERS[parser][1].splitlines(keepends=True)
    whole, counted = facts(parser, "".join(lines)), 0
    comment = "# " if parser.startswith("onyx") else "! "
    for at, line in enumerate(lines):
        if line.strip() in ("", "^C"):
            continue
        blank, said = line[: len(line) - len(line.lstrip())], line.lstrip()
        gone, *others = (
            facts(parser, "".join([*lines[:at], *instead, *lines[at + 1 :]]))
            for instead in ([], [blank + comment + said], [f"{blank}no {said}"], [f"{blank}description {said}"])
        )
        assert others[0] == gone, line
        if gone not in (None, whole):
            counted += 1
            assert whole not in others, line
    assert counted


@CONFIGS
def test_a_name_of_any_length_is_quoted_in_part_and_in_print(parser: str) -> None:
    long = "x\a" * 100_000
    lines = {
        "nxos": f"interface {long}\n\ninterface {long}\n\nline console\n",
        "eos": f"interface {long}\n!\ninterface {long}\n!\nend\n",
        "onyx": f"   interface ethernet {long}\n\ncli default prefix-modes enable\n",
    }[parser]
    last = lines.rstrip("\n").rpartition("\n")[2] + "\n"
    said = "\n" + last
    with pytest.raises(ParseError) as refused:
        PARSERS[parser][0](bent(PARSERS[parser][1], (said, "\n" + lines)))
    assert len(str(refused.value)) < 1000
    assert "\a" not in str(refused.value)


def test_ports_have_the_names_that_others_call_them_by() -> None:
    assert read_nxos(NXOS)["Ethernet1/1"].names == {"ethernet1/1", "eth1/1"}
    assert read_eos(EOS)["Ethernet1/1"].names == {"ethernet1/1", "et1/1"}
    assert {"eth1/1", "ethernet 1/1", "1/1"} <= read_onyx(ONYX)["Eth1/1"].names
    assert set(read_onyx(ONYX)) == {f"Eth1/{at}" for at in range(1, 5)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (NXOS, "pause pfc-cos 3"),
        (EOS, "priority-flow-control priority 3 no-drop"),
        (ONYX, "switch-priority 3: enabled"),
    ],
)
def test_the_line_that_tells_is_quoted(text: str, said: str) -> None:
    parse: Any = {NXOS: read_nxos, EOS: read_eos, ONYX: read_onyx}[text]
    line = parse(text)["Eth1/1" if text is ONYX else "Ethernet1/1"].pfc.line
    number = int(line.rpartition(f": {said}")[0].rpartition(" ")[2])
    assert (ROCE if text is ONYX else text).splitlines()[number - 1].strip() == said


FILES: dict[str, tuple[dict[str, str], str]] = {
    "another command": ({RUNNING: NXOS.replace("running-config\n", "running-config interface Ethernet1/1\n", 1)},
                        "no head of `show running-config`"),
    "with defaults": ({RUNNING: NXOS.replace("running-config\n", "running-config all\n", 1)}, "no head"),
    "no system": ({RUNNING: "version 12.4\nhostname leaf1\n"}, "no head of `show running-config` of Cisco NX-OS"),
    "empty": ({RUNNING: ""}, "no head"),
    "two heads": ({RUNNING: NXOS + NXOS}, "several heads"),
    "another switch": ({RUNNING: NXOS.replace("hostname leaf1", "hostname leaf9")}, "calls itself leaf9"),
    "another switch of a long name": (
        {RUNNING: NXOS.replace("hostname leaf1", f"hostname {'leaf' * 100}")},
        f"calls itself {'leaf' * 29}l...",
    ),
    "another EOS switch": ({RUNNING: EOS.replace("hostname leaf1", "hostname leaf9")}, "calls itself leaf9"),
    "another Onyx switch": ({RUNNING: ONYX.replace("leaf1", "leaf9"), SHOW_ROCE: ROCE}, "calls itself leaf9"),
    "no show roce": ({RUNNING: ONYX}, "hand in show_roce.txt (`show roce`)"),
    "show roce alone": ({SHOW_ROCE: ROCE}, "hand in show_running-config.txt"),
    "show roce of another": ({RUNNING: EOS, SHOW_ROCE: ROCE}, "texts of two systems"),
    "a table of another": ({RUNNING: EOS, NEGOTIATED: TABLE}, "texts of two systems"),
    "a table alone": ({NEGOTIATED: TABLE}, "hand in show_running-config.txt"),
    "no ports": ({RUNNING: NXOS.replace("interface Ethernet", "interface Fast").replace("port-channel7", "vlan7")},
                 "no interface Ethernet"),
    "nested": ({RUNNING: NXOS.replace("vlan 1,10\n", "".join(" " * at + "x\n" for at in range(20)))},
               "nested too deep"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_texts_that_do_not_belong_together_are_an_error(tmp_path: Path, name: str) -> None:
    files, why = FILES[name]
    made.write(tmp_path, {"leaf1": files})
    handed = texts.asked({"ibready_switch_texts": str(tmp_path)})
    assert handed is not None
    assert [why in error for error in handed.errors] == [True], handed.errors


def test_the_terminal_after_the_configuration_is_left_out() -> None:
    assert read_nxos(f"leaf1# show running-config\n{NXOS}\nleaf1# show clock\n09:00\n").keys() == read_nxos(NXOS).keys()


@pytest.mark.parametrize("encoded", [NXOS.encode("utf-16"), NXOS.encode() + b"\xff\n"], ids=["UTF-16", "Latin-1"])
def test_a_text_of_another_encoding_is_an_error_that_names_the_file(tmp_path: Path, encoded: bytes) -> None:
    made.write(tmp_path, {"leaf1": {RUNNING: ""}, "leaf2": {RUNNING: ""}})
    (tmp_path / "leaf2" / RUNNING).write_bytes(encoded)
    handed = texts.asked({"ibready_switch_texts": str(tmp_path)})
    assert handed is not None
    assert f"leaf2/{RUNNING}: not UTF-8" in handed.switches[1].error


@EACH
@pytest.mark.parametrize(
    "long", ["A" + " " * 300_000, "   " + "1 " * 150_000, "x" * 300_000, " " * 300_000, "Eth1/9 On On" + " " * 300_000]
)
def test_a_line_of_any_length_ends_no_reader(parser: str, long: str) -> None:
    lines = PARSERS[parser][1].splitlines(keepends=True)
    half = len(lines) // 2
    read(parser, "".join([*lines[:half], long, "x\n", *lines[half:]]))


@pytest.mark.parametrize("parser", ["nxos", "eos", "onyx"])
def test_no_error_quotes_a_password(tmp_path: Path, parser: str) -> None:
    """Of a configuration that was cut behind or within its line, or lost its head."""
    whole = f"username x password 5 $5$SECRET\n{PARSERS[parser][1]}"
    lines = whole.splitlines(keepends=True)
    head = next(at for at, line in enumerate(lines) if "running" in line.lower())
    secret = "username y password 5 $5$SECRET"
    parts = [
        f"{''.join(lines[:at])}{secret}{end}" for at in range(head + 1, len(lines)) for end in ("", "\n", " --More--\n")
    ]
    for part in [*parts, "".join([secret, "\n", *lines[head + 1 :]])]:
        made.write(tmp_path, {"leaf1": {RUNNING: part, **({SHOW_ROCE: ROCE} if parser == "onyx" else {})}})
        handed = texts.asked({"ibready_switch_texts": str(tmp_path)})
        assert handed is not None
        # Behind its last lines a text is whole.
        assert len(handed.errors) == 1 or part in parts[-15:]
        assert "SECRET" not in str(handed.errors)
