# SPDX-License-Identifier: GPL-3.0-or-later
"""One question to qemu's monitor, against a server that speaks as it does."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.errors import SandboxError
from sandbox.machines import qmp

GREETING = {"QMP": {"version": {"qemu": {"major": 7}}, "capabilities": []}}
EVENT = {"event": "NIC_RX_FILTER_CHANGED", "timestamp": {"seconds": 1, "microseconds": 2}}


class Monitor:
    """Answers each order with the next of its answers; keeps what it was asked."""

    def __init__(self, path: Path, answers: list[list[dict[str, Any]]]) -> None:
        self.asked: list[dict[str, Any]] = []
        self._answers = answers
        self._server = socket.socket(socket.AF_UNIX)
        here = os.getcwd()
        os.chdir(path.parent)
        try:
            self._server.bind(path.name)
        finally:
            os.chdir(here)
        self._server.listen(1)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        line, _ = self._server.accept()
        with line, line.makefile("rwb") as talk:
            self._say(talk, GREETING)
            for answer in self._answers:
                self.asked.append(json.loads(talk.readline()))
                for one in answer:
                    self._say(talk, one)

    def _say(self, talk: Any, what: dict[str, Any]) -> None:
        talk.write(json.dumps(what).encode() + b"\r\n")
        talk.flush()

    def close(self) -> None:
        self._server.close()


@pytest.fixture
def socket_path(tmp_path: Path) -> Iterator[Path]:
    """A name longer than a socket's may be, as in a deep checkout."""
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    return folder / "vm1.qmp"


def test_an_order_is_sent_after_the_greeting_and_events_are_passed_over(socket_path: Path) -> None:
    monitor = Monitor(socket_path, [[{"return": {}}], [EVENT, {"return": {"up": False}}]])
    assert qmp.ask(socket_path, "set_link", name="data", up=False) == {"up": False}
    monitor.close()
    assert monitor.asked == [
        {"execute": "qmp_capabilities", "arguments": {}},
        {"execute": "set_link", "arguments": {"name": "data", "up": False}},
    ]


def test_what_qemu_refuses_is_told(socket_path: Path) -> None:
    refusal = {"error": {"class": "GenericError", "desc": "Device 'data' not found"}}
    monitor = Monitor(socket_path, [[{"return": {}}], [refusal]])
    with pytest.raises(SandboxError, match="Device 'data' not found"):
        qmp.ask(socket_path, "set_link", name="data", up=False)
    monitor.close()


def test_a_qemu_that_ends_or_is_not_there_is_told(socket_path: Path) -> None:
    with pytest.raises(SandboxError, match="does not answer"):
        qmp.ask(socket_path, "query-status")
    monitor = Monitor(socket_path, [])
    with pytest.raises(SandboxError, match=r"ended|does not answer"):
        qmp.ask(socket_path, "query-status")
    monitor.close()
