# SPDX-License-Identifier: GPL-3.0-or-later
"""A real listener on the loopback address, asked over real sockets."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._between.tcp import listen, port_owner, process, words
from ansible_collections.ibready.cluster.plugins.module_utils._between.tcp.connect import Peer, ask
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
from ansible_collections.ibready.cluster.plugins.module_utils._ground import command

TOKEN = b"a token of sixteen bytes or more"
LOOPBACK = "127.0.0.1"

Start = Callable[..., dict[str, Any]]


def free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as line:
        return int(line.getsockname()[1])


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a listener on one free port, which is ended with the test."""
    with ExitStack() as after:

        def run(**bent: Any) -> dict[str, Any]:
            given = {
                "ports": (free_port(),),
                "count": 0,
                "address": LOOPBACK,
                "name": "n1",
                "token": TOKEN,
                "lease": 120,
            }
            reported = listen.start(Live(), listen.Wanted(**{**given, **bent}))
            if reported["id"]:
                after.callback(listen.stop, reported["id"])
            return reported

        yield run


def answers(told: dict[str, Any], name: str = "n1", address: str = LOOPBACK) -> set[str]:
    ports = (*told["ports"], *told["range"]["ports"])
    return {one.outcome for one in ask([Peer(name, address, ports)], TOKEN, 30)}


def gone(told: dict[str, Any], seconds: float) -> bool:
    pid = int(told["id"].split(":")[0])
    deadline = time.monotonic() + seconds
    while process.begun(pid) is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    return process.begun(pid) is None


def test_it_answers_on_every_port_and_only_until_it_is_stopped(start: Start) -> None:
    ports = (free_port(), free_port())
    reported = start(ports=ports, count=3)
    assert (reported["address"], reported["ports"], reported["held"]) == (LOOPBACK, list(ports), [])
    assert answers(reported) == {"answered"}
    assert listen.stop(reported["id"]) is True
    assert answers(reported) == {"refused"}
    assert listen.stop(reported["id"]) is False


def test_a_sample_of_the_kernel_s_own_range_is_listened_on(start: Start) -> None:
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    reported = start(count=3)
    sample = reported["range"]["ports"]
    assert (reported["range"]["low"], reported["range"]["high"]) == (low, high)
    assert low <= sample[0] < sample[1] < sample[2] <= high


def test_a_sample_is_the_same_every_time_and_leaves_reserved_ports_out(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A range of this test's own, for others run at the same time.
    (tmp_path / "range").write_text("21300\t21400\n")
    (tmp_path / "reserved").write_text("21300-21309\n")
    monkeypatch.setattr(listen.ports, "RANGE", str(tmp_path / "range"))
    monkeypatch.setattr(listen.ports, "RESERVED", str(tmp_path / "reserved"))
    for _ in range(2):
        reported = start(count=3)
        assert reported["range"] == {
            "low": 21300,
            "high": 21400,
            "ports": [21310, 21350, 21400],
            "why": "",
        }
        listen.stop(reported["id"])


def test_a_range_without_a_free_port_is_told(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "range").write_text("21410 21412\n")
    monkeypatch.setattr(listen.ports, "RANGE", str(tmp_path / "range"))
    first = start(count=3)
    assert first["range"]["ports"] == [21410, 21411, 21412]
    reported = start(count=3)
    assert reported["range"]["ports"] == []
    assert reported["range"]["why"] == "only 0 free ports were found in 21410 to 21412"
    assert answers(reported) == {"answered"}


def test_ports_in_use_are_told_with_their_holder_and_replaced_in_the_sample(start: Start) -> None:
    first = start(count=2)
    second = start(ports=tuple(first["ports"]), count=2)
    pid = first["id"].split(":")[0]
    assert second["held"] == [{"port": first["ports"][0], "by": f"ibready-tcp[{pid}] on 127.0.0.1"}]
    assert second["ports"] == []
    assert not set(second["range"]["ports"]) & set(first["range"]["ports"])
    assert answers(second) == {"answered"}


def test_with_every_port_in_use_there_is_nothing_to_listen_on(start: Start) -> None:
    first = start()
    second = start(ports=tuple(first["ports"]))
    assert (second["id"], second["ports"]) == ("", [])


@pytest.mark.parametrize("address", ["", "node1.example", "192.0.2.77"])
def test_without_an_address_of_its_own_it_listens_on_all(start: Start, address: str) -> None:
    reported = start(address=address)
    assert reported["address"] == ""
    assert answers(reported) == {"answered"}
    assert answers(reported, address="127.0.0.2") == {"answered"}


def test_it_ends_by_itself_when_its_lease_is_over(start: Start) -> None:
    reported = start(lease=1)
    assert answers(reported) == {"answered"}
    assert gone(reported, 60)
    assert answers(reported) == {"refused"}


# Each says something, or nothing, and leaves or stays.
STRANGERS: dict[str, Callable[[socket.socket], None]] = {
    "leaves at once": lambda line: line.close(),
    "says much": lambda line: line.sendall(b"GET / HTTP/1.0\r\n\r\n" * 100),
    "says nothing": lambda line: None,
    "resets": lambda line: line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)),
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_a_crowd_of_strangers_keeps_nobody_out(start: Start, kind: str) -> None:
    reported = start()
    pid = reported["id"].split(":")[0]
    with ExitStack() as kept:
        for _ in range(300):
            line = kept.enter_context(socket.create_connection((LOOPBACK, reported["ports"][0]), timeout=60))
            with suppress(ConnectionError):  # It may have closed before all was said.
                STRANGERS[kind](line)
        assert answers(reported) == {"answered"}
        # Of all these it kept none.
        held = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()]
        assert len([link for link in held if link.startswith("socket:")]) == 1


def test_it_says_one_line_and_closes(start: Start) -> None:
    reported = start()
    (port,) = reported["ports"]
    with socket.create_connection((LOOPBACK, port), timeout=60) as line:
        said = b"".join(iter(lambda: line.recv(1000), b""))
    assert words.name_in(TOKEN, port, said) == "n1"
    assert TOKEN not in said


def test_the_token_is_not_to_be_seen_and_no_right_is_kept(start: Start) -> None:
    reported = start()
    home = Path("/proc") / reported["id"].split(":")[0]
    assert TOKEN.hex().encode() not in (home / "cmdline").read_bytes()
    assert (home / "comm").read_text() == "ibready-tcp\n"
    if os.geteuid() != 0:
        pytest.skip("only root has rights to give up")
    lines = dict(line.split(":", 1) for line in (home / "status").read_text().splitlines() if ":" in line)
    assert set(lines["Uid"].split()) == {"65534"}
    assert int(lines["CapEff"], 16) == 0
    assert int(lines["NoNewPrivs"]) == 1
    assert lines["Groups"].split() in ([], [lines["Gid"].split()[0]])


def test_a_range_that_cannot_be_read_is_told_and_the_ports_are_listened_on(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listen.ports, "RANGE", "/proc/sys/net/ipv4/no_such_file")
    reported = start(count=3)
    assert reported["range"]["ports"] == []
    assert "no such file" in reported["range"]["why"]
    assert answers(reported) == {"answered"}


def test_a_listener_that_cannot_start_says_why(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listen.source, "argv_of", lambda *_: ["/bin/sh", "-c", "echo no memory >&2; exit 3"])
    with pytest.raises(listen.ListenError, match="did not start: no memory"):
        start()


@pytest.mark.parametrize("identity", ["", "1", "x:1", "1:1; reboot", "-1:5"])
def test_what_is_no_id_stops_nothing(identity: str) -> None:
    with pytest.raises(ValueError, match="is not the id of a listener"):
        listen.stop(identity)


def test_a_later_process_with_the_same_number_is_left_alone() -> None:
    assert process.begun(os.getpid()) is not None
    assert listen.stop(f"{os.getpid()}:1") is False


TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:733C 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 777 1
   1: 0700010A:733D 0800010A:0016 01 00000000:00000000 00:00000000 00000000  1000        0 778 1
"""
TCP6 = """\
  sl  local_address                         remote_address                        st tx_queue
   0: 00000000000000000000000000000000:733E 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 9
"""


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        pytest.param(29500, "torchrun[42] on 127.0.0.1", id="a program that listens"),
        pytest.param(29501, "a connection that is open", id="nobody listens"),
        pytest.param(29502, "another process on every address", id="nobody's file can be seen"),
        pytest.param(29503, "another process", id="nothing is to be seen"),
    ],
)
def test_the_holder_of_a_port_is_told_as_far_as_it_can_be_seen(tmp_path: Path, port: int, expected: str) -> None:
    (tmp_path / "proc/net").mkdir(parents=True)
    (tmp_path / "proc/net/tcp").write_text(TCP)
    (tmp_path / "proc/net/tcp6").write_text(TCP6)
    (tmp_path / "proc/42/fd").mkdir(parents=True)
    (tmp_path / "proc/42/comm").write_text("torchrun\n")
    (tmp_path / "proc/42/fd/5").symlink_to("socket:[777]")
    assert port_owner.holder(Live(tmp_path), port) == expected
    assert port_owner.listening(Live(tmp_path)) == {29500, 29502}


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None, database=None)
def test_any_table_of_ports_is_read(text: str) -> None:
    whole = TCP.replace("  sl ", f"{text} sl ")
    with TemporaryDirectory() as root:
        (Path(root) / "proc/net").mkdir(parents=True)
        (Path(root) / "proc/net/tcp").write_text(f"{whole}{text}\n", encoding="utf-8")
        assert 29500 in port_owner.listening(Live(root))


def test_a_table_that_is_not_there_has_no_ports(tmp_path: Path) -> None:
    assert port_owner.listening(Live(tmp_path)) == frozenset()


@pytest.mark.parametrize(
    ("there", "runs", "expected"),
    [
        pytest.param("firewall-cmd nft", True, "firewall-cmd --list-all", id="firewalld"),
        pytest.param("firewall-cmd nft", False, "nft list ruleset", id="it is off"),
        pytest.param("iptables nft", False, "nft list ruleset", id="nft shows all"),
        pytest.param("iptables", False, "iptables -S", id="no nft"),
        pytest.param("", False, "", id="nothing"),
    ],
)
def test_one_command_shows_the_firewall(there: str, runs: bool, expected: str) -> None:
    def find(program: str) -> str:
        if program not in there.split():
            raise command.Unavailable(program, "not installed")
        return f"/usr/sbin/{program}"

    assert listen.firewall_command(find, lambda: runs) == expected
