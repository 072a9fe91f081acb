# SPDX-License-Identifier: GPL-3.0-or-later
"""Who waits for a host that is gone is warned, by what ssh itself says of its settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible import context

from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.keepalive import lacking

ALIVE = "-o ServerAliveInterval=15"
NEVER = "-o ServerAliveInterval=0"


@pytest.fixture(autouse=True)
def no_settings_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    # -F none: whatever stands in this machine's own files.
    monkeypatch.setenv("ANSIBLE_SSH_ARGS", "-F none")


@pytest.mark.parametrize(
    ("said", "warned"),
    [
        ({}, True),
        ({"ansible_connection": "ssh"}, True),
        ({"ansible_ssh_common_args": ALIVE}, False),
        ({"ansible_ssh_extra_args": ALIVE}, False),
        ({"ansible_ssh_args": ALIVE}, False),
        ({"ansible_ssh_args": f"-F none {NEVER}"}, True),
        ({"ansible_connection": "local"}, False),
    ],
)
def test_a_host_that_is_not_asked_is_named(said: dict[str, Any], warned: bool) -> None:
    told = lacking({"n1": said, "n2": {"ansible_ssh_common_args": ALIVE}}, ["n1", "n2"])
    assert told.startswith("n1: ssh does not ask whether the host is still there") is warned
    assert bool(told) is warned


def test_ssh_that_cannot_be_asked_is_no_reason_to_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSIBLE_SSH_EXECUTABLE", "/no/such/ssh")
    assert lacking({"n1": {}}, ["n1"]) == ""


def test_hosts_that_are_alike_are_told_together_and_asked_for_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counted, program = tmp_path / "counted", tmp_path / "ssh"
    program.write_text(f"#!/bin/sh\necho x >>{counted}\necho serveraliveinterval 0\n")
    program.chmod(0o755)
    monkeypatch.setenv("ANSIBLE_SSH_EXECUTABLE", str(program))
    names = [f"n{number}" for number in range(6)]
    assert lacking({name: {} for name in names}, names).startswith("n0, n1, n2, n3 and 2 more: ")
    assert counted.read_text() == "x\n"


def test_the_checkouts_own_settings_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANSIBLE_SSH_ARGS")
    assert lacking({"n1": {}}, ["n1"]) == ""


def test_a_run_by_another_connection_is_not_asked_of_ssh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "CLIARGS", {"connection": "local"})
    assert lacking({"n1": {}}, ["n1"]) == ""


def test_hosts_that_are_not_asked_about_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    said: dict[str, Any] = {f"n{at}": {"ansible_ssh_extra_args": f"{ALIVE} -p {at + 1}"} for at in range(10)}
    assert lacking(said, list(said)[:8]) == ""
    assert "2 more hosts were not asked about" in lacking(said, list(said))
    silent: dict[str, Any] = {**{"n0": {}}, **{name: said[name] for name in list(said)[1:]}}
    told = lacking(silent, list(silent))
    assert told.startswith("n0: ssh does not ask")
    assert "2 more hosts were not asked about" in told
