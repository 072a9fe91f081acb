# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import proc_limits
from ansible_collections.ibready.cluster.plugins.module_utils._parse.proc_limits import UNLIMITED, Limits

TEXT = """\
Limit                     Soft Limit           Hard Limit           Units
Max open files            1024                 524288               files
Max locked memory         8388608              unlimited            bytes
"""


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("  ", "\t"), TEXT.replace("\n", "\r\n")])
def test_both_limits_are_read(text: str) -> None:
    assert proc_limits.parse(text) == Limits(8388608, UNLIMITED, 1024, 524288)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line 'Max locked memory'"),
        (TEXT[:120], "no line 'Max locked memory'"),
        (TEXT.replace("Max open", "Max"), "no line 'Max open files'"),
        (TEXT.replace("8388608", "much"), "'much' is not a limit"),
        (TEXT.replace("8388608", "9" * 50), "no line 'Max locked memory'"),
    ],
)
def test_a_text_without_them_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        proc_limits.parse(text)


def test_systemd_calls_it_infinity() -> None:
    assert proc_limits.number("infinity") == proc_limits.number("unlimited") == UNLIMITED
    assert proc_limits.number("18446744073709551615") == UNLIMITED
