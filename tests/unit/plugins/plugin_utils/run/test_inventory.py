# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run object keeps of the inventory."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._run import inventory


def test_the_sources_are_those_that_were_given() -> None:
    assert inventory.sources({"ansible_inventory_sources": ["a.yml", "b/"]}) == ["a.yml", "b/"]
    assert inventory.sources({}) == []


@pytest.mark.parametrize(
    ("sources", "name"),
    [
        (["/site/mars"], "mars"),
        (["/site/mars/hosts.yml"], "mars"),
        (["/site/mars/inventory", "/x"], "mars"),
        (["/site/venus.yml"], "venus"),
        (["n1,n2,"], ""),
        ([], ""),
    ],
)
def test_the_cluster_is_called_after_its_inventory(sources: list[str], name: str) -> None:
    assert inventory.cluster(sources) == name


def test_the_site_s_groups_are_kept_smallest_first_with_the_hosts_of_this_run() -> None:
    every = {
        **{"all": ["n1", "n2", "n3"], "ungrouped": [], "gpu": ["n1", "n2", "n3"], "ibready_reached": ["n1"]},
        **{"row1": ["n1", "n2", "n9"], "rack1": ["n2"], "rack9": ["n9"]},
    }
    found, left = inventory.groups(every, ["n1", "n2", "n3"])
    assert left == 0
    assert list(found.items()) == [("rack1", ["n2"]), ("row1", ["n1", "n2"])]


def test_of_very_many_groups_the_smallest_are_kept_and_the_others_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    every = {"row": ["n1", "n2"], "a": ["n1"], "b": ["n2"]}
    assert inventory.groups(every, ["n1", "n2", "n3"])[1] == 0
    monkeypatch.setattr(inventory, "MOST", 2)
    assert inventory.groups(every, ["n1", "n2", "n3"]) == ({"a": ["n1"], "b": ["n2"]}, 1)
