# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in of nvidia-smi, read back by the parsers that read the real one's output."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import sources
from ansible_collections.ibready.cluster.plugins.module_utils._parse import (
    nvlink_caps,
    nvlink_errors,
    nvlink_status,
    nvsmi_error,
    nvsmi_q,
    nvsmi_xml,
    topo,
)
from sandbox.hardware import driver, smi
from sandbox.hardware.settings import node_kernel
from tests.unit.sandbox import hardware
from tests.unit.sandbox.hardware import DRIVER, put, run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A node with the driver loaded and no daemon running."""
    hardware.node(tmp_path)
    put(tmp_path, "/etc/modprobe.d/nvidia.conf", "blacklist nouveau\n")
    hardware.driver(tmp_path)
    run(tmp_path, "simulated-kmod autoload")
    return tmp_path


def say(root: Path, *args: str) -> tuple[str, int]:
    kernel = node_kernel(root)
    kernel.read()
    return smi.answer(kernel, DRIVER, list(args))


def asked(name: str) -> tuple[str, ...]:
    """The arguments with which our checks ask."""
    return sources.COMMANDS[name].argv[1:]


def test_text_and_xml_tell_the_same(root: Path) -> None:
    xml, q = say(root, *asked("nvsmi_xml")), say(root, *asked("nvsmi_q"))
    assert (xml[1], q[1]) == (0, 0)
    from_xml, from_text = nvsmi_xml.parse(xml[0]), nvsmi_q.parse(q[0])
    assert from_xml.driver == from_text.driver == DRIVER
    assert len(from_xml.gpus) == len(from_text.gpus) == 8
    for one, other in zip(from_xml.gpus, from_text.gpus, strict=True):
        assert one == replace(other, fabric_labels=one.fabric_labels)
    addresses = [one.address for one in node_kernel(root).board.gpus]
    assert [one.address for one in from_xml.gpus] == addresses


def test_daemons_show(root: Path) -> None:
    before = nvsmi_xml.parse(say(root, "-q", "-x")[0]).gpus[0]
    assert (before.persistence, (before.fabric or {})["state"]) == ("Disabled", "In Progress")
    for daemon in (driver.PERSISTENCED, driver.FABRICMANAGER):
        put(root, f"{driver.DAEMONS}/{daemon}", f"{os.getpid()}\n")
    after = nvsmi_xml.parse(say(root, "-q", "-x")[0]).gpus[0]
    assert after.persistence == "Enabled"
    assert ((after.fabric or {})["state"], (after.fabric or {})["status"]) == ("Completed", "Success")


def test_nvlinks_and_topology(root: Path) -> None:
    status = nvlink_status.parse(say(root, *asked("nvlink_status"))[0])
    assert [len(one.active) for one in status.gpus] == [18] * 8
    assert len(nvlink_errors.parse(say(root, *asked("nvlink_errors"))[0]).gpus) == 8
    assert len(nvlink_caps.parse(say(root, *asked("nvlink_caps"))[0]).gpus) == 8
    matrix = say(root, *asked("topo"))[0]
    assert not topo.parse(matrix).error
    assert matrix.count("NV18") == 8 * 7
    assert "NIC1: ibsim1" in matrix


@pytest.mark.parametrize(
    ("bend", "error", "status"),
    [
        pytest.param(
            lambda root: run(root, "modprobe -r nvidia_modeset nvidia_uvm nvidia"),
            nvsmi_error.NO_DRIVER,
            9,
            id="no module",
        ),
        pytest.param(
            lambda root: hardware.driver(root, "580.178.04"),
            nvsmi_error.MISMATCH,
            18,
            id="the library was upgraded under the module",
        ),
        pytest.param(
            lambda root: os.unlink(root / "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"),
            nvsmi_error.NO_LIBRARY,
            12,
            id="no library",
        ),
    ],
)
def test_it_fails_in_the_real_one_s_words(root: Path, bend: object, error: str, status: int) -> None:
    assert callable(bend)
    bend(root)
    text, rc = say(root, "-q", "-x")
    assert (nvsmi_error.parse(text).error, rc) == (error, status)


def test_the_mismatch_names_the_library(root: Path) -> None:
    hardware.driver(root, "580.178.04")
    assert nvsmi_error.parse(say(root)[0]).nvml == "580.178"


def test_plain_nvidia_smi_says_that_it_is_simulated(root: Path) -> None:
    text, rc = say(root)
    assert rc == 0
    assert "SIMULATED" in text
    assert DRIVER in text


def test_what_it_does_not_know_it_refuses(root: Path) -> None:
    assert say(root, "--gpu-reset")[1] == smi.BAD_ARGUMENT
    assert say(root, "--query-gpu=driver_version", "--format=csv,noheader")[0] == f"{DRIVER}\n" * 8
