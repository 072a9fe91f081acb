# SPDX-License-Identifier: GPL-3.0-or-later
"""ibdev2netdev and show_gids, as the corpora's texts have them."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibdev2netdev, show_gids
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibdev2netdev import Link
from tests.unit.corpus import CORPUS

TEXTS = CORPUS.parent / "corpus-2"
needed = pytest.mark.skipif(not TEXTS.is_dir(), reason=f"no corpus at {TEXTS} (set IBREADY_CORPUS)")


@needed
def test_every_form_of_the_corpus() -> None:
    found = {path.stem: ibdev2netdev.parse(path.read_text()) for path in (TEXTS / "ibdev2netdev").glob("*.txt")}
    assert found["h01"].ports == (Link("mlx5_0", 1, "ibp26s0", False), Link("mlx5_1", 1, "enp27s0f0np0", True))
    assert found["h20"].ports == (Link("mlx4_0", 1, "ib0", False, "0002:00:02.0", "2.43.7008", "ACTIVE"),)
    assert found["r-ac74359a9f"].ports == (Link("mlx5_an0", 1, "enP45424s1", True),)
    assert {len(told.ports) for name, told in found.items() if name.startswith("r-") and "ac74" not in name} == {4}
    gids = show_gids.parse((TEXTS / "show_gids/h02.txt").read_text())
    assert [(gid.device, gid.index, gid.address, gid.version, gid.netdev) for gid in gids.gids] == [
        ("mlx5_0", 0, "", "v1", "ens3np0"),
        ("mlx5_0", 3, "11.0.0.72", "v2", "ens3np0"),
    ]
    assert (gids.count, gids.unread) == (None, 0)


def test_what_is_no_row_is_counted() -> None:
    told = ibdev2netdev.parse("# all nodes\nmlx5_0 port 1 ==> ib0 (Up)\nmlx5_1 port 1 ==> ib1 (U")
    assert (len(told.ports), told.unread) == (1, 2)
    for parse in (ibdev2netdev.parse, show_gids.parse):
        with pytest.raises(ParseError):
            parse("Dear all\n")
