# SPDX-License-Identifier: GPL-3.0-or-later
"""How a host with real packages becomes a machine: qemu's words, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.machines import qemu
from sandbox.real import disk, machine
from sandbox.real.host import HOSTS, Hosts, hosts


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hosts:
    firmware = tmp_path / "OVMF"
    firmware.mkdir()
    (firmware / "OVMF_CODE_4M.ms.fd").touch()
    monkeypatch.setattr(disk, "_OVMF", firmware)
    return hosts("ibready-test", "198.18.90", str(tmp_path / "state"))


def test_a_door_of_its_own_leads_into_each(box: Hosts) -> None:
    assert [box.door(node) for node in HOSTS] == ["127.18.90.11", "127.18.90.12"]
    words = " ".join(machine.command(box, "real1", [], with_gpu=False))
    assert "hostfwd=tcp:127.18.90.11:2222-:22" in words


def test_the_gpu_is_on_the_bus_only_where_it_is_asked_for(box: Hosts) -> None:
    without = machine.command(box, "real1", [], with_gpu=False)
    with_gpu = machine.command(box, "real1", [], with_gpu=True)
    assert without[0] == qemu.PROGRAM
    assert "x-pci-proxy-dev,id=gpu,fd=GPU" in with_gpu
    assert with_gpu[2:-2] == without


def test_the_firmware_alone_may_write_its_variables(box: Hosts) -> None:
    words = machine.command(box, "real1", [], with_gpu=False)
    assert "driver=cfi.pflash01,property=secure,value=on" in words
    assert any(word.startswith("q35,smm=on") for word in words)


def test_a_host_that_was_not_booted_is_no_machine(box: Hosts) -> None:
    with pytest.raises(SandboxError, match="real1 is no machine yet: `boot` makes it one"):
        machine.start(box, "real1", print, with_gpu=False, minutes=1)


def test_without_ovmf_nothing_is_begun(box: Hosts) -> None:
    os.unlink(disk.firmware())
    with pytest.raises(SandboxError, match="apt install ovmf"):
        machine.boot(box, "real1", print, with_gpu=False, minutes=1)
    assert not box.state.exists()
