# SPDX-License-Identifier: GPL-3.0-or-later
"""The line of progress on a real run, on a pseudo-terminal and without one."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import cases
from tests.system.conftest import ROOT, command
from tests.unit.terminal import screen_of

# What begins a line of ours, and what takes it away.
DRAWN = re.compile(r"\r([^\r\n\x1b]+)\x1b\[K")
ERASE = "\r\x1b[K"
EVIL = "n3\x07\x08gone"
BOOK = """---
- name: Begin
  hosts: localhost
  gather_facts: false
  tasks:
    - name: See that there is a host
      ansible.builtin.assert:
        that: groups['all'] | length == 3
- name: Converge them
  hosts: all
  gather_facts: false
  serial: 2
  tasks:
    - name: "Look \\e[2J\\x07 at \\u202eit"
      ansible.builtin.command: sleep {{ pause }}
      changed_when: false
    - name: Fail softly
      ansible.builtin.fail:
        msg: as it should
      ignore_errors: true
    - name: Say much
      ansible.builtin.debug:
        msg: "{{ range(60) | list }}"
"""


@dataclass
class Site:
    """A playbook over three hosts that are all this machine, and its folder of reports."""

    folder: Path

    def argv(self, pause: float = 0.6) -> list[str]:
        files = ("-i", str(self.folder / "hosts.yml"), str(self.folder / "book.yml"))
        return [command("ansible-playbook"), *files, "-f", "1", "-e", f"pause={pause}"]


def environ(more: Mapping[str, str]) -> dict[str, str]:
    """Ours, without what rules colours and progress but for ``more``."""
    rule = ("CI", "NO_COLOR", "TERM", "COLUMNS")
    kept = {name: one for name, one in os.environ.items() if name not in rule}
    kept = {name: one for name, one in kept.items() if not name.startswith("ANSIBLE_")}
    return {**kept, "TERM": "xterm-256color", **more}


def on_terminal(
    argv: list[str],
    *,
    columns: int = 100,
    during: Callable[[int, str], None] = lambda _pid, _text: None,
    **more: str,
) -> tuple[str, int]:
    """All that a terminal gets, and the status; ``during`` is told of it as it comes."""
    env = environ(more)
    pid, ours = pty.fork()
    if pid == 0:
        try:
            os.chdir(ROOT)
            os.execve(argv[0], argv, env)
        finally:
            os._exit(127)
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    found = b""
    try:
        while more_bytes := os.read(ours, 65536):
            found += more_bytes
            during(pid, found.decode(errors="replace"))
    except OSError:  # Its last process has closed it.
        pass
    os.close(ours)
    return found.decode(), os.waitpid(pid, 0)[1]


def without(text: str) -> str:
    """What others wrote."""
    return DRAWN.sub("", text).replace(ERASE, "")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    hosts = {name: {"ansible_connection": "local"} for name in ("n1", "n2", EVIL)}
    variables = {"ibready_report_dir": str(tmp_path), "ansible_python_interpreter": "{{ python }}"}
    variables["python"] = "{{ ansible_playbook_python }}"
    inventory = {"all": {"hosts": hosts, "vars": variables}}
    (tmp_path / "hosts.yml").write_text(json.dumps(inventory))
    (tmp_path / "book.yml").write_text(BOOK)
    return Site(tmp_path)


def test_a_terminal_sees_where_the_run_is_and_what_it_would_see_without(site: Site) -> None:
    text, status = on_terminal(site.argv(), NO_COLOR="1")
    bare, _ = on_terminal(site.argv(), NO_COLOR="1", IBREADY_PROGRESS="0")
    drawn = DRAWN.findall(text)
    assert status == 0, text
    first = next(one for one in drawn if "Look" in one)
    assert first.startswith("Converge them  batch 1/2  0/2 hosts  0:0")
    assert first.endswith("Look ?[2J? at ?it")
    assert any("batch 1/2  1/2 hosts" in one and "waiting for n2" in one for one in drawn)
    assert any("batch 2/2  0/1 host " in one for one in drawn)
    assert not any("left" in one for one in drawn)
    assert not any("\x1b" in one for one in drawn)
    # Byte for byte, and so on the screen.
    assert not DRAWN.search(bare)
    assert without(text) == bare
    assert screen_of(text.replace("\x1b[2J", "").replace("\x1b[H", "")) == screen_of(
        bare.replace("\x1b[2J", "").replace("\x1b[H", "")
    )
    assert not re.search(r"\x1b\[[\d;]*m", text)


@pytest.mark.thorough
def test_the_second_run_says_what_is_left_by_the_first(site: Site) -> None:
    for known in (False, True):
        text, _ = on_terminal(site.argv(), NO_COLOR="1")
        assert any("left" in one for one in DRAWN.findall(text)) is known
    kept = json.loads((site.folder / "ibready-durations.json").read_text())
    (run,) = kept["runs"]
    assert run["run"]["hosts"] == 3
    assert [one[0][1:3] for one in run["sections"]] == [
        ["Begin", "1"],
        ["Converge them", "1"],
        ["Converge them", "2"],
    ]
    assert all(0.5 < one[1] < 60 for one in run["sections"][1:])


@pytest.mark.thorough
def test_with_colours_the_line_is_dim_and_the_output_as_it_would_be(site: Site) -> None:
    text, _ = on_terminal(site.argv())
    bare, _ = on_terminal(site.argv(), IBREADY_PROGRESS="0")
    assert "\x1b[2mConverge them" in text
    shaded = re.compile(r"\r\x1b\[2m[^\r\n\x1b]+\x1b\[0m\x1b\[K")
    assert shaded.sub("", text).replace(ERASE, "") == bare


@pytest.mark.thorough
def test_a_narrow_terminal_cuts_it(site: Site) -> None:
    text, _ = on_terminal(site.argv(), columns=30, NO_COLOR="1")
    drawn = DRAWN.findall(text)
    assert drawn
    assert 20 < max(map(len, drawn)) <= 29
    assert any(one.endswith("...") for one in drawn)
    narrow, _ = on_terminal(site.argv(0), columns=8, NO_COLOR="1")
    assert not DRAWN.search(narrow)


@pytest.mark.thorough
@pytest.mark.parametrize("more", [{"TERM": "dumb"}, {"CI": "true"}, {"IBREADY_PROGRESS": "false"}])
def test_it_is_off_where_it_is_not_wanted(site: Site, more: dict[str, str]) -> None:
    text, _ = on_terminal(site.argv(0), **{"NO_COLOR": "1", **more})
    assert "ok: [n[1-2]]" in text
    assert "\x1b[K" not in text
    assert not (site.folder / "ibready-durations.json").exists()


@pytest.mark.thorough
def test_a_pipe_gets_the_same_bytes(site: Site) -> None:
    found = []
    for callbacks in (
        "ibready.cluster.changes,ibready.cluster.progress",
        "ibready.cluster.changes",
    ):
        done = subprocess.run(
            site.argv(0),
            cwd=ROOT,
            env=environ({"ANSIBLE_CALLBACKS_ENABLED": callbacks}),
            capture_output=True,
            check=True,
            timeout=120,
        )
        found.append((done.stdout, done.stderr))
    assert found[0] == found[1]
    assert b"ok: [n[1-2]]" in found[0][0]
    assert not (site.folder / "ibready-durations.json").exists()


@pytest.mark.parametrize("number", cases.daily([signal.SIGTERM, signal.SIGINT]))
def test_a_run_that_is_ended_leaves_no_line_behind(site: Site, number: int) -> None:
    sent: list[float] = []

    def end(pid: int, text: str) -> None:
        if not sent and DRAWN.search(text) and "Look" in text:
            sent.append(time.monotonic())
            os.kill(pid, number)

    text, status = on_terminal(site.argv(20), NO_COLOR="1", during=end)
    assert sent
    assert time.monotonic() - sent[0] < 15
    assert status != 0
    assert not DRAWN.search(text[text.rindex(ERASE) :])
    assert not any("batch 1/2" in one for one in screen_of(text.replace("\x1b[2J", "")))
