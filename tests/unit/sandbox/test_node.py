# SPDX-License-Identifier: GPL-3.0-or-later
"""What leads the real tools to the simulated fabric."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from sandbox.node import simulated_umad
from sandbox.node.link_tools import link, needs_umad, wanted
from sandbox.node.simulated_umad import _FORWARDED as FORWARDED, Choice, choose, run

HCAS = ["ibsim0", "ibsim1"]


@pytest.mark.parametrize(
    ("tool", "line", "choice"),
    [
        pytest.param(
            "ibping",
            "-C ibsim1 -P 1 -c 5 -L 9",
            Choice(1, ["-C", "ibsim0", "-P", "1", "-c", "5", "-L", "9"], False),
            id="the second HCA",
        ),
        pytest.param("sminfo", "", Choice(0, [], False), id="no HCA named is the first"),
        pytest.param("sminfo", "--Ca=ibsim1", Choice(1, ["--Ca=ibsim0"], False), id="the long form"),
        pytest.param("sminfo", "--Ca ibsim1", Choice(1, ["--Ca", "ibsim0"], False), id="in two words"),
        pytest.param("sminfo", "-Cibsim1", Choice(1, ["-Cibsim0"], False), id="in one word"),
        pytest.param(
            "sminfo",
            "-C mlx5_7",
            Choice(0, ["-C", "mlx5_7"], False),
            id="an HCA that is not there is left for the tool to refuse",
        ),
        pytest.param("ibping", "-S -C ibsim1", Choice(1, ["-S", "-C", "ibsim0"], True), id="a ping server"),
        pytest.param("ibping", "-dS", Choice(0, ["-dS"], True), id="a server in a cluster"),
        pytest.param("ibping", "--Server", Choice(0, ["--Server"], True), id="a server in words"),
        pytest.param("saquery", "-S", Choice(0, ["-S"], False), id="-S of another tool"),
    ],
)
def test_the_hca_is_read_out_of_the_command_line(tool: str, line: str, choice: Choice) -> None:
    assert choose(tool, line.split(), HCAS) == choice


@pytest.mark.parametrize(
    ("content", "needed"),
    [
        pytest.param(b"\x7fELF...libibumad.so.3...", True, id="a program that opens umad"),
        pytest.param(b"\x7fELF...libc.so.6...", False, id="a program that does not"),
        pytest.param(b"#!/bin/sh\n$IBPATH/ibnetdiscover\n", True, id="a script that calls one"),
        pytest.param(b"#!/bin/sh\ncat /sys/class/infiniband\n", False, id="a script of its own"),
    ],
)
def test_tools_are_told_by_what_they_use(content: bytes, needed: bool, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_bytes(content)
    assert needs_umad(str(tool)) is needed


def test_a_package_s_documentation_is_no_tool() -> None:
    files = ["/.", "/usr/share/doc/infiniband-diags/copyright", "/usr/sbin/not-there"]
    assert wanted(files) == set()


def test_links_follow_the_installed_tools_and_nothing_else_is_touched(tmp_path: Path) -> None:
    launcher = str(tmp_path / "launcher")
    (tmp_path / "own-script").write_text("")
    (tmp_path / "ibping").symlink_to("/opt/other/ibping")
    link(str(tmp_path), launcher, {"sminfo", "ibping"})
    link(str(tmp_path), launcher, {"saquery", "ibping"})
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["ibping", "own-script", "saquery"]
    assert str((tmp_path / "ibping").readlink()) == "/opt/other/ibping"
    assert str((tmp_path / "saquery").readlink()) == launcher


class Fabric:
    """Stands in for ibsim's control port: there is always a place when somebody looks."""

    _ERROR = 0

    def __init__(self, address: str) -> None:
        self.address = address

    def connect(self, host: str) -> int | None:
        return 3

    def disconnect(self, slot: int) -> None:
        pass


@pytest.mark.parametrize(
    ("lost", "status", "said"),
    [
        pytest.param(2, 0, "no route\n", id="a place lost is asked for again"),
        pytest.param(99, 255, "ibpanic: [1] sim_init: connect failed: Success\n", id="and again, but not forever"),
    ],
)
def test_a_tool_that_lost_its_place_is_started_again(
    lost: int,
    status: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    tool = tmp_path / "ibstat"
    tool.write_text(
        "#!/bin/sh\n"
        f"echo x >>{tmp_path}/runs\n"
        f'if [ "$(wc -l <{tmp_path}/runs)" -le {lost} ]; then\n'
        "  echo 'ibpanic: [1] sim_init: connect failed: Success' >&2; exit 255\n"
        "fi\n"
        "echo 'CA type'; echo 'no route' >&2\n"
    )
    tool.chmod(0o755)

    def started() -> int:
        runs = tmp_path / "runs"
        return len(runs.read_text().split()) if runs.exists() else 0

    monkeypatch.setattr(simulated_umad, "Server", Fabric)
    monkeypatch.setattr(simulated_umad, "LIBRARY", "")
    monkeypatch.setattr(simulated_umad, "RUN", str(tmp_path / "run"))
    # A busy machine starts a tool slowly; its patience ends with the sixth start, not by the clock.
    clock = time.monotonic
    monkeypatch.setattr(simulated_umad, "_START_LOOKS", 15_000)
    monkeypatch.setattr(simulated_umad.time, "monotonic", lambda: clock() + (1e6 if started() > 5 else 0))
    kept = {number: signal.getsignal(number) for number in (*FORWARDED, signal.SIGALRM)}
    config = {"server": "127.0.0.1", "hcas": [{"host": "node1", "gid": os.getgid()}]}
    try:
        ended = run("ibstat", str(tool), Choice(0, [], False), config)
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    reported = capfd.readouterr()
    assert (ended, reported.err) == (status, said)
    assert started() == min(lost + 1, 6)
