# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows become objects."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Cause
from ansible_collections.ibready.cluster.plugins.module_utils._ground.table import load, load_by_key


@dataclass(frozen=True)
class Part:
    name: str
    means: str
    ports: tuple[int, ...] = ()


def test_a_list_of_rows_is_an_object_each_with_what_its_class_has_for_what_it_leaves_out() -> None:
    rows = ({"name": "a", "means": "x"}, {"name": "b", "means": "y", "ports": (1, 2)})
    assert load(Part, rows) == (Part("a", "x"), Part("b", "y", (1, 2)))


def test_the_key_of_a_row_is_its_first_field() -> None:
    assert load(Part, {"b": {"means": "y"}, "a": {"means": "x"}}) == (Part("b", "y"), Part("a", "x"))


def test_a_key_that_is_no_field_stays_outside() -> None:
    assert load_by_key(Part, {7: {"name": "a", "means": "x"}}) == {7: Part("a", "x")}


def test_a_mapping_within_a_row_is_made_an_object_and_a_plain_word_is_left() -> None:
    rows = ({"name": "a", "means": {"says": "x", "remedy": "do y"}}, {"name": "b", "means": "plain"})
    bent, plain = load(Part, rows, means=Cause)
    assert isinstance(bent.means, Cause)
    assert (bent.means, bent.means.remedy) == ("x", "do y")
    assert type(plain.means) is str
    assert rows[0]["means"] == {"says": "x", "remedy": "do y"}


def test_a_row_with_a_key_that_no_field_has_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        load(Part, ({"name": "a", "means": "x", "colour": "red"},))
