# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn on a terminal, seen from its other end."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from typing import TextIO

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.progress.screen import ERASE, Screen, wanted
from tests.unit.terminal import screen_of

LINE = "converge  1/3 hosts"


class Box:
    """A pseudo-terminal with a Screen that draws LINE; no thread draws, only the test does."""

    def __init__(self, *, color: bool = False) -> None:
        self._ours, theirs = os.openpty()
        self.out = os.fdopen(theirs, "w", buffering=1)
        self.err = os.fdopen(os.dup(theirs), "w", buffering=1)
        self.text = LINE
        self.screen = Screen(self.out, (self.err,), threading.RLock(), lambda _: self.text, color=color)
        self.screen._ended.set()
        self.screen.begin()
        self.screen._ended.clear()

    def draw(self) -> None:
        self.screen._at = -1e9
        self.screen.changed()

    def seen(self) -> str:
        """All that was written so far."""
        self.out.flush()
        self.err.flush()
        os.set_blocking(self._ours, False)
        found = b""
        try:
            while more := os.read(self._ours, 65536):
                found += more
        except BlockingIOError:
            pass
        return found.decode()

    def close(self) -> None:
        self.screen.end()
        for one in (self.out, self.err):
            one.close()
        os.close(self._ours)


@pytest.fixture
def box() -> Iterator[Box]:
    made = Box()
    yield made
    made.close()


def test_it_is_gone_before_a_line_and_back_below_it(box: Box) -> None:
    box.draw()
    for text in ("ok: [n1]\n", "ok: [n2]\n"):
        print(text, end="", file=box.out)
        box.draw()
    print("a warning", file=box.err)
    box.draw()
    assert screen_of(box.seen()) == ["ok: [n1]", "ok: [n2]", "a warning", LINE]
    box.screen.end()
    print("the end", file=box.out)


def test_at_the_end_nothing_of_it_is_left(box: Box) -> None:
    box.draw()
    print("ok: [n1]", file=box.out)
    box.draw()
    box.screen.end()
    print("the end", file=box.out)
    box.draw()
    seen = box.seen()
    assert LINE in seen
    assert screen_of(seen) == ["ok: [n1]", "the end"]


def test_the_bytes_of_others_stay_as_they_are(box: Box) -> None:
    texts = ["a\n", "", "b ", "c\n", "\x1b[31md\x1b[0m\n", "节点\n\n"]
    for text in texts:
        assert box.out.write(text) == len(text)
        box.draw()
    seen = box.seen().replace("\r\n", "\n")
    drawn = f"\r{LINE}\x1b[K"
    assert seen.count(drawn) >= 4
    assert seen.replace(drawn, "").replace(ERASE, "") == "".join(texts)


def test_a_line_without_an_end_is_not_drawn_into(box: Box) -> None:
    box.out.write("Continue? ")
    box.draw()
    assert box.seen() == "Continue? "
    box.out.write("yes\n")
    box.draw()
    assert screen_of(box.seen())[-1] == LINE


def test_it_is_silent_while_somebody_asks(box: Box) -> None:
    box.draw()
    box.screen.quiet(True)
    box.draw()
    assert screen_of(box.seen()) == []
    box.screen.quiet(False)
    box.draw()
    assert screen_of(box.seen()) == [LINE]


def test_the_same_line_is_drawn_once(box: Box) -> None:
    box.draw()
    box.draw()
    assert box.seen().count(LINE) == 1
    box.text = ""
    box.draw()
    assert box.seen() == ERASE


def test_shade_is_a_colour() -> None:
    for color in (True, False):
        made = Box(color=color)
        made.draw()
        assert (made.seen().count("\x1b[2m") == 1) is color
        made.close()


def test_after_the_end_the_streams_are_as_before() -> None:
    made = Box()
    made.screen.end()
    assert "write" not in vars(made.out)
    assert "write" not in vars(made.err)
    made.close()


class _Stream:
    def __init__(self, *, terminal: bool) -> None:
        self.isatty = lambda: terminal


@pytest.mark.parametrize(
    ("environ", "out", "err", "found"),
    [
        pytest.param({"TERM": "xterm"}, True, True, True, id="a terminal"),
        pytest.param({"TERM": "xterm"}, False, True, False, id="stdout is a pipe"),
        pytest.param({"TERM": "xterm"}, True, False, False, id="stderr is a file"),
        pytest.param({"TERM": "dumb"}, True, True, False, id="dumb"),
        pytest.param({"TERM": ""}, True, True, False, id="nobody knows which"),
        pytest.param({}, True, True, False, id="nobody says which"),
        pytest.param({"TERM": "xterm", "CI": "true"}, True, True, False, id="ci"),
        pytest.param({"TERM": "xterm", "CI": ""}, True, True, True, id="no ci"),
    ],
)
def test_when_it_is_wanted(environ: Mapping[str, str], out: bool, err: bool, found: bool) -> None:
    streams: list[TextIO] = [_Stream(terminal=out), _Stream(terminal=err)]  # type: ignore[list-item]
    assert wanted(environ, *streams) is found


def test_a_closed_stream_is_no_terminal() -> None:
    with open(os.devnull) as stream:
        pass
    assert not wanted({"TERM": "xterm"}, stream)
