# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs only by a host's name and address is the same."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.nameless import nameless, own

SAID = "no route from {0} to {1}: try `ssh {1}`, as {0} did; gpu012 and x.gpu01 are others"


def test_names_and_addresses_are_taken_out_and_longer_words_are_left() -> None:
    first = nameless(own("gpu01", [{"address": "10.0.0.1"}]), SAID.format("gpu01", "10.0.0.1"))
    second = nameless(own("gpu02", [{}, {"address": "10.0.0.22"}]), SAID.format("gpu02", "10.0.0.22"))
    assert first == second
    assert first.endswith("gpu012 and x.gpu01 are others")


@pytest.mark.parametrize("name", ["n1", "1234"])
def test_a_word_that_may_be_no_name_is_left(name: str) -> None:
    assert own(name, [{}]) == frozenset()
    assert nameless(own(name, [{}]), f"{name} it is") == f"{name} it is"
