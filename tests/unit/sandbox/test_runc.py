# SPDX-License-Identifier: GPL-3.0-or-later
"""What a container inside a simulated node is given in place of what the node cannot give."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.node.simulated_runc import bundle, fit

CEILING = {"RLIMIT_MEMLOCK": 8388608}


def described(**changes: Any) -> dict[str, Any]:
    return {"process": {}, "mounts": [], "linux": {}, **changes}


@pytest.mark.parametrize(
    ("line", "directory"),
    [
        pytest.param("--root /r create --bundle /b id", "/b", id="as containerd says it"),
        pytest.param("create --bundle=/b id", "/b", id="in one word"),
        pytest.param("run -b /b id", "/b", id="short"),
        pytest.param("run id", ".", id="the working directory"),
        pytest.param("--root /r delete --force id", None, id="no container is made"),
        pytest.param("--version", None, id="no command at all"),
    ],
)
def test_the_container_is_found_in_the_command_line(line: str, directory: str | None) -> None:
    assert bundle(line.split()) == directory


def test_a_limit_above_the_machines_is_lowered_and_one_below_stays() -> None:
    limits = [
        {"type": "RLIMIT_MEMLOCK", "hard": 2**64 - 1, "soft": 2**64 - 1},
        {"type": "RLIMIT_NOFILE", "hard": 1048576, "soft": 1024},
    ]
    fitted = fit(described(process={"rlimits": limits}), CEILING)["process"]["rlimits"]
    assert fitted[0] == {"type": "RLIMIT_MEMLOCK", "hard": 8388608, "soft": 8388608}
    assert fitted[1] == limits[1]
    low = [{"type": "RLIMIT_MEMLOCK", "hard": 65536, "soft": 65536}]
    assert fit(described(process={"rlimits": low}), CEILING)["process"]["rlimits"] == low


def test_sys_is_the_nodes_and_other_mounts_stay() -> None:
    mounts = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro"]},
        {"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup"},
    ]
    fitted = fit(described(mounts=mounts), {})["mounts"]
    assert (fitted[1]["type"], fitted[1]["source"]) == ("bind", "/sys")
    assert "ro" in fitted[1]["options"]
    assert [fitted[0], fitted[2]] == [mounts[0], mounts[2]]


def test_a_simulated_device_becomes_the_null_device_and_asks_for_no_right() -> None:
    devices = [
        {"path": "/dev/nvidia0", "type": "c", "major": 195, "minor": 0, "fileMode": 438},
        {"path": "/dev/fuse", "type": "c", "major": 10, "minor": 229},
    ]
    rules = [
        {"allow": False, "access": "rwm"},
        {"allow": True, "type": "c", "major": 195, "minor": 0, "access": "rwm"},
        {"allow": True, "type": "c", "major": 10, "minor": 229, "access": "rwm"},
    ]
    linux = {"devices": devices, "resources": {"devices": rules}}
    fitted = fit(described(linux=linux), {})["linux"]
    assert fitted["devices"][0] == {"path": "/dev/nvidia0", "type": "c", "major": 1, "minor": 3, "fileMode": 438}
    assert fitted["devices"][1] == devices[1]
    assert fitted["resources"]["devices"] == [rules[0], rules[2]]
