# SPDX-License-Identifier: GPL-3.0-or-later
"""Outputs that somebody gave as files, beside what a host tells by itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import given
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.given import Given
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Cached, Live
from ansible_collections.ibready.cluster.plugins.module_utils._ground import paths
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Missing, Unavailable


def test_a_given_output_is_its_files_text_and_the_rest_is_the_hosts(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text("said\n")
    (tmp_path / "etc").mkdir()
    os.symlink("job.log", tmp_path / "link")
    source = Given(Live(tmp_path), {"nccl_log": str(tmp_path / "job.log")})
    assert (source.given, source.recorded) == (("nccl_log",), False)
    assert Cached(source).given == ("nccl_log",)
    assert source.run("nccl_log").stdout == "said\n"
    assert source.read("/job.log") == "said\n"
    assert source.read_bytes("/job.log") == b"said\n"
    assert source.list("/etc") == []
    assert source.link("/link") == "job.log"
    assert source.mode("/job.log") & 0o400
    with pytest.raises(Unavailable, match="no command is known"):
        source.run("nccl_log", "argument")
    later, _after = source.again(0)
    assert later.run("nccl_log").stdout == "said\n"


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in ("fifo", "none", "."):
        source = Given(Live(), {"nccl_log": str(tmp_path / path)})
        with pytest.raises(Unavailable):
            source.run("nccl_log")
    with pytest.raises(Missing):
        Given(Live(), {"nccl_log": str(tmp_path / "none")}).run("nccl_log")


def test_a_log_may_be_longer_than_other_files_and_not_endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "job.log"
    path.write_bytes(b"x" * (paths.LIMIT + 1))
    assert len(Given(Live(), {"nccl_log": str(path)}).run("nccl_log").stdout) == paths.LIMIT + 1
    with pytest.raises(Unavailable, match="holds more than 8 MiB"):
        paths.read_regular(str(path), "log")
    monkeypatch.setattr(given, "LIMIT", 1024 * 1024)
    with pytest.raises(Unavailable, match="holds more than 1 MiB"):
        Given(Live(), {"nccl_log": str(path)}).run("nccl_log")
