# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated nodes hold no secret: what checks judge of them is in no bundle masked away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.redact import masked, masked_bytes
from tests import cases
from tests.gauntlet import fault, render
from tests.gauntlet.tree import Tree
from tests.unit import corpus

pytestmark = pytest.mark.thorough


def trees() -> Iterator[Tree]:
    for board in render.boards():
        yield render.render(render.node(board))
    for one in cases.some(fault.load(), cases.area):
        yield fault.broken(one)[1]


def test_no_output_and_no_file_of_any_node_changes() -> None:
    texts: set[str] = set()
    files: set[bytes] = set()
    for tree in trees():
        texts.update(text for one in tree.commands.values() for text in (one.stdout, one.stderr))
        files.update(tree.files.values())
    assert len(texts) > 100
    assert len(files) > 100
    assert [text for text in texts if masked(text) != text] == []
    assert [data for data in files if masked_bytes(data) != data] == []


def test_no_real_output_changes() -> None:
    recordings = Path(__file__).parents[1] / "recordings"
    for folder in (recordings, corpus.CORPUS):
        for path in folder.rglob("*"):
            if path.suffix in (".txt", ".log") and path.is_file():
                data = path.read_bytes()
                assert masked_bytes(data) == data, path
