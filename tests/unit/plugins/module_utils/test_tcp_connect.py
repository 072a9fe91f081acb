# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections to real sockets on the loopback address that do not answer as they should."""

from __future__ import annotations

import errno
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.tcp import connect, words
from ansible_collections.ibready.cluster.plugins.module_utils._between.tcp.connect import Peer, ask

TOKEN = b"a token of sixteen bytes or more"
LOOPBACK = "127.0.0.1"
# Set when whoever called has its answer.
GIVEN_UP = threading.Event()

Serve = Callable[[Callable[[socket.socket], None]], int]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Have callers of a new port talked to; returns the port."""
    with ExitStack() as after:

        def run(talk: Callable[[socket.socket], None]) -> int:
            line = after.enter_context(socket.create_server((LOOPBACK, 0)))

            def once() -> None:
                try:
                    caller, _address = line.accept()
                except OSError:
                    return
                with caller:
                    talk(caller)

            thread = threading.Thread(target=once, daemon=True)
            thread.start()
            after.callback(thread.join, 5)
            after.callback(line.shutdown, socket.SHUT_RDWR)
            return int(line.getsockname()[1])

        yield run


def echo(caller: socket.socket) -> None:
    caller.sendall(caller.recv(4096))


def banner(caller: socket.socket) -> None:
    caller.sendall(b"220 mail ready\r\n")
    caller.recv(4096)


def close(caller: socket.socket) -> None:
    caller.recv(4096)


def reset(caller: socket.socket) -> None:
    caller.recv(4096)
    caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def silence(_caller: socket.socket) -> None:
    GIVEN_UP.wait(60)


def namesake(caller: socket.socket) -> None:
    caller.sendall(words.says(TOKEN, caller.getsockname()[1], b"n7"))


@pytest.mark.parametrize(
    ("talk", "outcome", "said"),
    [
        pytest.param(echo, "other", "closed without an answer", id="an echo"),
        pytest.param(banner, "other", "something else answered", id="another service"),
        pytest.param(close, "other", "closed without an answer", id="closed"),
        pytest.param(reset, "other", "connected, then connection reset", id="reset"),
        pytest.param(silence, "silent", "no answer came", id="a middlebox that accepts"),
        pytest.param(namesake, "other", "the listener of n7 answered", id="another host of ours"),
    ],
)
def test_who_is_not_our_listener_is_not_taken_for_it(
    serve: Serve, talk: Callable[[socket.socket], None], outcome: str, said: str
) -> None:
    GIVEN_UP.clear()
    (found,) = ask([Peer("n2", LOOPBACK, (serve(talk),))], TOKEN, 2 if talk is silence else 30)
    GIVEN_UP.set()
    assert found.outcome == outcome
    assert said in found.said
    assert found.ms is not None


def test_a_held_port_is_only_connected_to(serve: Serve) -> None:
    heard: list[bytes] = []
    port = serve(lambda caller: heard.append(caller.recv(100)))
    (found,) = ask([Peer("n2", LOOPBACK, (), held=(port,))], TOKEN, 30)
    assert (found.outcome, found.said) == ("connected", "")
    deadline = time.monotonic() + 60
    while not heard and time.monotonic() < deadline:
        time.sleep(0.01)
    assert heard == [b""]


def test_without_a_token_whoever_accepts_will_do(serve: Serve) -> None:
    (found,) = ask([Peer("n2", LOOPBACK, (serve(close),))], b"", 30)
    assert found.outcome == "connected"


def test_all_are_asked_at_once_and_told_in_order() -> None:
    with socket.socket() as full, ExitStack() as waiting:
        # The kernel drops the calls that come when its queue is full.
        full.bind((LOOPBACK, 0))
        full.listen(0)
        waiting.enter_context(socket.create_connection(full.getsockname()))
        with socket.socket() as closed:
            closed.bind((LOOPBACK, 0))
            ports = (full.getsockname()[1], closed.getsockname()[1])
            begun = time.monotonic()
            found = ask([Peer(f"n{index}", LOOPBACK, ports) for index in range(30)], TOKEN, 2)
            took = time.monotonic() - begun
    assert [one.server for one in found] == [f"n{index}" for index in range(30) for _ in ports]
    assert [one.outcome for one in found] == ["dropped", "refused"] * 30
    assert {one.ms for one in found} == {None}
    # One after the other they would take 60 s.
    assert took < 30


def test_a_name_without_an_address_is_told_and_does_not_hold_up_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = threading.Event()
    real = socket.getaddrinfo

    def resolve(host: str, *args: Any, **kwargs: Any) -> Any:
        if host == "nowhere":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if host == "slow":
            slow.wait(600)
        return real(LOOPBACK, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with socket.socket() as closed:
        closed.bind((LOOPBACK, 0))
        port = closed.getsockname()[1]
        names = ("nowhere", "slow", "a..b", "node3")
        begun = time.monotonic()
        found = ask([Peer(name, name, (port,)) for name in names], TOKEN, 2)
        took = time.monotonic() - begun
        slow.set()
    assert [one.outcome for one in found] == ["unresolved", "unresolved", "refused", "refused"]
    assert found[0].said == "Name or service not known"
    assert found[1].said == "no answer from the resolver within 2 s"
    assert took < 30


def test_the_second_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed, socket.create_server((LOOPBACK, 0)) as line:
        port = line.getsockname()[1]
        closed.bind(("127.0.0.3", port))
        two = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("127.0.0.3", LOOPBACK)]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_more: two)
        (found,) = ask([Peer("n2", "n2", (port,))], b"", 30)
        assert found.outcome == "connected"
        (found,) = ask([Peer("n2", "n2", (1,))], b"", 30)
    assert (found.outcome, found.said) == ("refused", "127.0.0.3: connection refused")


@pytest.mark.parametrize(
    ("number", "outcome"),
    [
        (errno.ECONNREFUSED, "refused"),
        (errno.ETIMEDOUT, "dropped"),
        (errno.EHOSTUNREACH, "unreachable"),
        (errno.ENETUNREACH, "unreachable"),
        (errno.EADDRNOTAVAIL, "unable"),
        (errno.EMFILE, "unable"),
        (errno.EPERM, "unable"),
    ],
)
def test_the_kernel_s_word_becomes_ours(number: int, outcome: str) -> None:
    assert connect._outcome(OSError(number, "x")) == outcome
