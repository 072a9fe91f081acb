# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in of nvidia-ctk: what it gives containers, and when it refuses."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from sandbox.hardware import ctk
from tests.unit.sandbox import hardware
from tests.unit.sandbox.hardware import DRIVER, put, run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A node with the driver loaded."""
    hardware.node(tmp_path)
    put(tmp_path, "/etc/modprobe.d/nvidia.conf", "blacklist nouveau\n")
    hardware.driver(tmp_path)
    run(tmp_path, "simulated-kmod autoload")
    return tmp_path


def test_a_specification_holds_every_gpu_by_number_by_uuid_and_all_together(root: Path) -> None:
    assert ctk.main("1.20.0", ["cdi", "generate", "--output=/etc/cdi/nvidia.yaml"], root) == 0
    spec = json.loads((root / "etc/cdi/nvidia.yaml").read_text())
    names = [one["name"] for one in spec["devices"]]
    assert names[0] == "0"
    assert names[1].startswith("GPU-")
    assert (len(names), names[-1]) == (17, "all")
    assert len(spec["devices"][-1]["containerEdits"]["deviceNodes"]) == 8
    mounts = [one["hostPath"] for one in spec["containerEdits"]["mounts"]]
    assert any(one.endswith(f"libnvidia-ml.so.{DRIVER}") for one in mounts)


def test_without_the_driver_it_refuses_and_writes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(root, "rmmod nvidia_uvm nvidia")
    assert ctk.main("1.20.0", ["cdi", "generate", "--output=/etc/cdi/nvidia.yaml"], root) == 1
    assert "Driver Not Loaded" in capsys.readouterr().err
    assert not (root / "etc/cdi").exists()


def test_a_container_sees_the_gpus_that_it_was_given(root: Path) -> None:
    ctk.main("1.20.0", ["cdi", "generate"], root)
    script = (root / ctk.LISTING.lstrip("/")).read_text()
    assert "SIMULATED" in script
    put(root, "/given/nvidia2", "")
    inside = script.replace("/dev/nvidia", f"{root}/given/nvidia")
    done = subprocess.run(["sh", "-s", "--", "-L"], input=inside, capture_output=True, text=True, check=True)
    assert [line[:6] for line in done.stdout.splitlines()] == ["GPU 2:"]


def test_the_version_is_told_in_the_real_words(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ctk.main("1.20.0", ["--version"], root) == 0
    assert capsys.readouterr().out.startswith("NVIDIA Container Toolkit CLI version 1.20.0\n")
