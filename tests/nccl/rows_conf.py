# SPDX-License-Identifier: GPL-3.0-or-later
"""How NCCL reads its files: what each text makes it set, name by name and byte by byte.

Sources: NCCL's source, and what the real library did. The library is asked by test_conf.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.nccl.rows import By

Set = dict[str, bytes]
HOME = "/etc/ibready-home"
OTHER_HOME = "/etc/ibready-other-home"
FILE = "/etc/ibready-conf-file"


@dataclass(frozen=True)
class Conf:
    """``etc``: /etc/nccl.conf. ``home``: .nccl.conf in HOME, the home by the table of users.
    ``other_home``: the same in OTHER_HOME. ``file``: what is at FILE. None: no such file.
    ``env``: the environment. ``sets``: every variable that is set afterwards and was not before.
    ``since``: the version below which the library is not asked."""

    name: str
    sets: By[Set]
    etc: bytes | None = None
    home: bytes | None = None
    other_home: bytes | None = None
    file: bytes | None = None
    env: dict[str, str] = field(default_factory=dict)
    since: tuple[int, ...] = (0,)


def line(name: str, text: bytes, sets: Set, **since: Set) -> Conf:
    """A text in /etc/nccl.conf alone."""
    return Conf(name, By(sets, **since), etc=text)


LONG = b"v" * 1500
NAME = "NCCL_" + "N" * 1018

LINES = (
    line("a plain line", b"NCCL_A=1\n", {"NCCL_A": b"1"}),
    line("several lines", b"NCCL_A=1\nNCCL_B=2\n", {"NCCL_A": b"1", "NCCL_B": b"2"}),
    line("a last line without its end", b"NCCL_A=1\nNCCL_B=2", {"NCCL_A": b"1", "NCCL_B": b"2"}),
    line("an empty file", b"", {}),
    line("empty lines", b"\n\nNCCL_A=1\n\n", {"NCCL_A": b"1"}),
    line("a comment", b"# a text\nNCCL_A=1\n", {"NCCL_A": b"1"}),
    line("a comment with =", b"# NCCL_A=1\n", {"# NCCL_A": b"1"}, v2_26={}),
    line("a setting commented out", b"#NCCL_A=1\n", {"#NCCL_A": b"1"}, v2_26={}),
    line("a comment behind a blank", b" # NCCL_A=1\n", {" # NCCL_A": b"1"}),
    line("a comment behind a setting", b"NCCL_A=1 # note\n", {"NCCL_A": b"1 # note"}),
    line("a blank ahead", b" NCCL_A=1\n", {" NCCL_A": b"1"}),
    line("a tab ahead", b"\tNCCL_A=1\n", {"\tNCCL_A": b"1"}),
    line("blanks around =", b"NCCL_A = 1\n", {"NCCL_A ": b" 1"}),
    line("export", b"export NCCL_A=1\n", {"export NCCL_A": b"1"}),
    line("double quotes", b'NCCL_A="a"\n', {"NCCL_A": b'"a"'}),
    line("single quotes", b"NCCL_A='a b'\n", {"NCCL_A": b"'a b'"}),
    line("blanks at the end", b"NCCL_A=1 \t \n", {"NCCL_A": b"1 \t "}),
    line("two =", b"NCCL_A==ens1f0\n", {"NCCL_A": b"=ens1f0"}),
    line("= in the value", b"NCCL_A=a=b=c\n", {"NCCL_A": b"a=b=c"}),
    line("no value", b"NCCL_A=\n", {"NCCL_A": b""}),
    line("no name", b"=1\nNCCL_A=1\n", {"NCCL_A": b"1"}),
    line("no =", b"NCCL_A\nNCCL_B=1\n", {"NCCL_B": b"1"}),
    line(
        "lines that end in CR LF",
        b"NCCL_A=1\r\nNCCL_B=2\r\n",
        {"NCCL_A": b"1\r", "NCCL_B": b"2\r"},
        v2_30_3={"NCCL_A": b"1", "NCCL_B": b"2"},
    ),
    line(
        "two CR",
        b"NCCL_A=1\r\r\nNCCL_B=\r\n",
        {"NCCL_A": b"1\r\r", "NCCL_B": b"\r"},
        v2_30_3={"NCCL_A": b"1\r", "NCCL_B": b""},
    ),
    line(
        "lines that end in CR",
        b"NCCL_A=1\rNCCL_B=2\r",
        {"NCCL_A": b"1\rNCCL_B=2\r"},
        v2_30_3={"NCCL_A": b"1\rNCCL_B=2"},
    ),
    line("a NUL", b"NCCL_A=a\0b\n\0NCCL_B=1\nNCCL_C=1\n", {"NCCL_A": b"a", "NCCL_C": b"1"}),
    line("the same name twice", b"NCCL_A=1\nNCCL_A=2\n", {"NCCL_A": b"1"}),
    line("a section", b"[nccl]\nNCCL_A=1\n", {"NCCL_A": b"1"}),
    line("a line that is continued", b"NCCL_A=a\\\nb=c\n", {"NCCL_A": b"a\\", "b": b"c"}),
    line("another variable in the value", b"NCCL_A=$HOME/a\n", {"NCCL_A": b"$HOME/a"}),
    line("another file", b"include /etc/a\nNCCL_A=1\n", {"NCCL_A": b"1"}),
    line("a byte order mark", b"\xef\xbb\xbfNCCL_A=1\n", {"\ufeffNCCL_A": b"1"}),
    line("bytes that are no UTF-8", b"NCCL_A=\xff\xfe\n", {"NCCL_A": b"\xff\xfe"}),
    line("a name of somebody else", b"UCX_TLS=rc\n", {"UCX_TLS": b"rc"}),
    line("a name that nobody knows", b"NCCL_NO_SUCH=1\n", {"NCCL_NO_SUCH": b"1"}),
    line("lower case", b"nccl_a=1\n", {"nccl_a": b"1"}),
    line("a value of 1023 bytes", b"NCCL_A=" + LONG[:1023] + b"\n", {"NCCL_A": LONG[:1023]}),
    line("a value of 1500 bytes", b"NCCL_A=" + LONG + b"\n", {"NCCL_A": LONG[:1023]}),
    line("a name of 1023 bytes", NAME.encode() + b"=1\n", {NAME: b"1"}),
    # Before, this writes past the end of a buffer, and what comes of it is by chance.
    Conf(
        "a name of 1500 bytes",
        By({NAME: b"1"}),
        etc=NAME.encode() + LONG[: 1500 - len(NAME)] + b"=1\n",
        since=(2, 23, 4),
    ),
    line(
        "a line of more than 4095 bytes",
        b"NCCL_A=" + b"v" * (4095 - 7) + b"NCCL_B=2\n",
        {"NCCL_A": b"v" * 1023},
        v2_30_3={"NCCL_A": b"v" * 1023, "NCCL_B": b"2"},
    ),
    line("NCCL_DEBUG", b"NCCL_DEBUG=WARN\n", {"NCCL_DEBUG": b"WARN"}),
    # Here and there a file that a running job may write to: test_conf.py looks that it is left be.
    line(
        "a log file",
        b"NCCL_DEBUG=INFO\nNCCL_DEBUG_FILE=/etc/log\n",
        {
            "NCCL_DEBUG": b"INFO",
            "NCCL_DEBUG_FILE": b"/etc/log",
        },
    ),
)
ONE, TWO, THREE = b"NCCL_A=1\n", b"NCCL_A=2\nNCCL_B=2\n", b"NCCL_A=3\nNCCL_B=3\nNCCL_C=3\n"

FILES = (
    Conf("the home's file goes first", By({"NCCL_A": b"1", "NCCL_B": b"2"}), etc=TWO, home=ONE),
    Conf(
        "an empty value at home hides the one in /etc",
        By({"NCCL_A": b"", "NCCL_B": b"2"}),
        etc=TWO,
        home=b"NCCL_A=\n",
    ),
    Conf("no file", By({})),
    Conf("only the home's file", By({"NCCL_A": b"1"}), home=ONE),
    Conf("the environment goes first", By({"NCCL_B": b"2"}), etc=TWO, env={"NCCL_A": "0"}),
    Conf("an empty variable blocks the files", By({"NCCL_B": b"2"}), etc=TWO, env={"NCCL_A": ""}),
    Conf(
        "NCCL_CONF_FILE goes before /etc and stands for the home's file",
        By(
            {"NCCL_A": b"1", "NCCL_B": b"3", "NCCL_C": b"3"},
            v2_23_4={"NCCL_A": b"2", "NCCL_B": b"2", "NCCL_C": b"3"},
        ),
        etc=THREE,
        home=ONE,
        file=TWO,
        env={"NCCL_CONF_FILE": FILE},
    ),
    Conf(
        "NCCL_CONF_FILE that is not there still stands for the home's file",
        By({"NCCL_A": b"1", "NCCL_B": b"2"}, v2_23_4={"NCCL_A": b"2", "NCCL_B": b"2"}),
        etc=TWO,
        home=ONE,
        env={"NCCL_CONF_FILE": FILE},
    ),
    Conf(
        "an empty NCCL_CONF_FILE is none",
        By({"NCCL_A": b"1", "NCCL_B": b"2"}),
        etc=TWO,
        home=ONE,
        env={"NCCL_CONF_FILE": ""},
    ),
    Conf(
        "~ is not the home",
        By({"NCCL_A": b"1", "NCCL_B": b"2"}, v2_23_4={"NCCL_A": b"2", "NCCL_B": b"2"}),
        etc=TWO,
        home=ONE,
        env={"NCCL_CONF_FILE": "~/.nccl.conf", "HOME": HOME},
    ),
    Conf(
        "NCCL_CONF_FILE in a file leads nowhere",
        By({"NCCL_CONF_FILE": FILE.encode(), "NCCL_A": b"1"}),
        etc=ONE,
        home=b"NCCL_CONF_FILE=" + FILE.encode() + b"\n",
        file=TWO,
    ),
    Conf(
        "an empty HOME is no home from 2.30.3 on",
        By({"NCCL_A": b"1", "NCCL_B": b"2"}, v2_30_3={"NCCL_A": b"2", "NCCL_B": b"2"}),
        etc=TWO,
        home=ONE,
        env={"HOME": ""},
    ),
    Conf(
        "HOME counts from 2.30.3 on, the table of users before",
        By(
            {"NCCL_A": b"1", "NCCL_B": b"3", "NCCL_C": b"3"},
            v2_30_3={
                "NCCL_A": b"2",
                "NCCL_B": b"2",
                "NCCL_C": b"3",
            },
        ),
        etc=THREE,
        home=ONE,
        other_home=TWO,
        env={"HOME": OTHER_HOME},
    ),
)
ROWS = (*LINES, *FILES)
