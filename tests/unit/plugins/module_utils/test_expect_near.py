# SPDX-License-Identifier: GPL-3.0-or-later
"""Of a word of ibready_expect that nobody knows it is told which was meant."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import (
    SPEC,
    ExpectationError,
    from_inventory,
)


@pytest.mark.parametrize("key", [key for key in SPEC if len(key) > 3])
def test_a_key_with_a_letter_left_out_is_told(key: str) -> None:
    for at in range(len(key)):
        misspelt = key[:at] + key[at + 1 :]
        if misspelt in SPEC:
            continue
        with pytest.raises(ExpectationError, match=rf"expect\.{misspelt} is not known; did you mean .*\b{key}\b"):
            from_inventory({misspelt: 1})


def test_of_a_key_like_none_all_are_told() -> None:
    with pytest.raises(ExpectationError, match=f"known are {', '.join(SPEC)}"):
        from_inventory({"zzzzzz": 1})


def test_a_profile_like_one_that_there_is_is_told() -> None:
    with pytest.raises(ExpectationError, match=r"did you mean .*hgx-h100-8"):
        from_inventory({"profile": "hgx-h100-9"})
    with pytest.raises(ExpectationError, match=r"see docs/profiles\.md"):
        from_inventory({"profile": "zzzzzz"})
