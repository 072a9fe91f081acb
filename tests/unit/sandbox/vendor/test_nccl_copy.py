# SPDX-License-Identifier: GPL-3.0-or-later
"""An environment with a release of its own, where ibready's search for copies looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl._copies_child import Search
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl._host_files import Host
from sandbox.vendor.nccl import copy, wheel
from tests.unit.sandbox.vendor import nccl_library


def test_the_search_finds_it_as_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = nccl_library.written(tmp_path, nccl_library.made())
    monkeypatch.setattr(wheel, "library", lambda _version: whole)
    found = copy.files("2.28.9", "/opt/train")
    for path, (content, _mode) in found.items():
        place = tmp_path / "root" / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    mounts = tmp_path / "root/proc/self/mountinfo"
    mounts.parent.mkdir(parents=True)
    mounts.write_text("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n")
    (library, _installer, metadata) = found
    assert library == "/opt/train/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2"
    lines = Search(Host(str(tmp_path / "root"), 20, 1000)).run()
    assert ("copy", library, library, "2.0.1", "13.0", "pip wheel") in lines
    assert metadata.endswith("/nvidia_nccl_cu13-2.28.9.dist-info/METADATA")
    assert "\nName: nvidia-nccl-cu13\nVersion: 2.28.9\n" in str(found[metadata][0])
