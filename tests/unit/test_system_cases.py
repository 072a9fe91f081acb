# SPDX-License-Identifier: GPL-3.0-or-later
"""Of parametrised stories the first cases run daily, the others where all are asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests import cases


def thorough(case: Any) -> bool:
    return any(mark.name == "thorough" for mark in getattr(case, "marks", ()))


def test_the_first_stay_as_they_are_and_the_others_are_thorough() -> None:
    known = ["a", ("b", 1), pytest.param("c", id="named", marks=pytest.mark.skip), ["d"]]
    found = cases.daily(known, 2)
    assert found[:2] == known[:2]
    assert [thorough(case) for case in found] == [False, False, True, True]
    assert [case.values for case in found[2:]] == [("c",), (["d"],)]
    assert found[2].id == "named"
    assert {mark.name for mark in found[2].marks} == {"skip", "thorough"}
    assert all(thorough(case) for case in cases.daily(known, 0))
    assert cases.daily([("b", 1)], 0)[0].values == ("b", 1)
