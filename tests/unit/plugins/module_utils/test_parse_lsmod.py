# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import lsmod
from ansible_collections.ibready.cluster.plugins.module_utils._parse.lsmod import Lsmod, Module

LSMOD = """\
Module                  Size  Used by
mlx5_ib               335872  0
mlx5_core            1331200  1 mlx5_ib
ib_uverbs             151552  2 rdma_ucm,mlx5_ib
"""
FACTS = Lsmod(
    (
        Module("mlx5_ib", 335872, 0, ()),
        Module("mlx5_core", 1331200, 1, ("mlx5_ib",)),
        Module("ib_uverbs", 151552, 2, ("rdma_ucm", "mlx5_ib")),
    )
)
PROC = """\
mlx5_ib 335872 0 - Live 0x0000000000000000
mlx5_core 1331200 1 mlx5_ib, Live 0x0000000000000000
ib_uverbs 151552 2 rdma_ucm,mlx5_ib, Live 0x0000000000000000 (OE)
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LSMOD, id="as printed"),
        pytest.param(LSMOD.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(LSMOD.replace("\n", "\n\n"), id="blank line between"),
        pytest.param(LSMOD.replace("  ", "\t"), id="TABs"),
        pytest.param(LSMOD.split("\n", 1)[1], id="no header, as with grep"),
        pytest.param(LSMOD.replace("rdma_ucm,mlx5_ib", "rdma_ucm,\nmlx5_ib"), id="wrapped"),
        pytest.param(LSMOD + LSMOD, id="twice the same"),
        pytest.param(PROC, id="/proc/modules"),
    ],
)
def test_every_layout_gives_the_same_facts(text: str) -> None:
    assert lsmod.parse(text) == FACTS


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        pytest.param(LSMOD, True, id="with its header"),
        pytest.param(PROC, True, id="/proc/modules"),
        pytest.param(LSMOD.split("\n", 1)[1], False, id="picked lines"),
        pytest.param("ib_core 400 2 ib_uverbs,mlx5_ib\n", True, id="picked, with ib_core's users"),
    ],
)
def test_a_list_without_its_header_was_picked_from(text: str, whole: bool) -> None:
    assert lsmod.parse(text).whole is whole


def test_a_header_alone_is_a_kernel_without_modules() -> None:
    parsed = lsmod.parse("Module                  Size  Used by\n")
    assert lsmod.facts(parsed) == {"n_modules": 0, "rdma_relevant": {}, "unread": 0}


def test_a_user_of_a_module_is_loaded_even_if_its_own_line_is_missing() -> None:
    assert "rdma_ucm" in FACTS.names


def test_permanent_and_unloading_modules_are_read() -> None:
    parsed = lsmod.parse("nvidia 5 -1\nsunrpc 9 1 [permanent]\nnvidia-drm 5 0\n")
    assert [one.name for one in parsed.modules] == ["nvidia", "sunrpc", "nvidia_drm"]
    assert parsed.modules[1].by == ()


def test_only_what_matters_for_rdma_and_gpus_is_told_of() -> None:
    facts = lsmod.facts(lsmod.parse(LSMOD + "nvme 1 0\n"))
    assert facts["n_modules"] == 4
    assert list(facts["rdma_relevant"]) == ["mlx5_core", "mlx5_ib", "ib_uverbs"]
    assert facts["rdma_relevant"]["mlx5_core"] == {"size": 1331200, "used": 1, "by": ("mlx5_ib",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not even the header"),
        ("bash: lsmod: command not found", "lsmod complains"),
        ("libkmod: ERROR could not open /proc/modules", "lsmod complains"),
        ("ib_umad   36", "line 1 'ib_umad   36': not 'MODULE SIZE USED"),
        (LSMOD + "mlx5_ib 1 0\n", "contradicts an earlier line"),
        ("Modul  Größe  Benutzt von", "not 'MODULE SIZE USED"),
        ("mlx5_ib " + "9" * 5000 + " 0", "not 'MODULE SIZE USED"),
    ],
)
def test_text_that_cannot_be_trusted_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message.replace("[", r"\[")):
        lsmod.parse(text)


@pytest.mark.parametrize(
    "line", ["ib_umad   36\n", "ib_umad   36864  x\n", "ib_umad   36864  1", "Fehler in Zeile 7\n"]
)
def test_a_line_that_cannot_be_read_leaves_the_others(line: str) -> None:
    parsed = lsmod.parse(LSMOD + line)
    assert (parsed.modules, parsed.unread, parsed.whole) == (FACTS.modules, 1, False)
    assert "1 of its lines" in parsed.cut
    assert (FACTS.whole, FACTS.cut) == (True, "")
