# SPDX-License-Identifier: GPL-3.0-or-later
"""The collector is out while the work is done, and back as it was, whatever comes of it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.calm import uncollected


@pytest.fixture(params=[True, False], ids=["on", "off"])
def before(request: pytest.FixtureRequest) -> Iterator[bool]:
    was = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if was else gc.disable)()


def test_the_collector_is_out_meanwhile_and_as_before_afterwards(before: bool) -> None:
    assert uncollected(gc.isenabled)() is False
    assert gc.isenabled() is before


def test_it_comes_back_after_a_failure(before: bool) -> None:
    with pytest.raises(ZeroDivisionError):
        uncollected(lambda: 1 // 0)()
    assert gc.isenabled() is before
