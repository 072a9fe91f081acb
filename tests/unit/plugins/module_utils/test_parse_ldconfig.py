# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ldconfig
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ldconfig import Cached

TEXT = """\
2 libs found in cache `/etc/ld.so.cache'
\tlibnccl.so.2 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libnccl.so.2
\tlibc.so.6 (libc6,x86-64, OS ABI: Linux 3.2.0) => /lib/x86_64-linux-gnu/libc.so.6
"""


def test_the_order_of_the_cache_is_kept() -> None:
    assert ldconfig.parse(TEXT) == (
        Cached("libnccl.so.2", ("libc6", "x86-64"), "/usr/lib/x86_64-linux-gnu/libnccl.so.2"),
        Cached("libc.so.6", ("libc6", "x86-64", "OS ABI: Linux 3.2.0"), "/lib/x86_64-linux-gnu/libc.so.6"),
    )


def test_an_empty_cache_has_no_library() -> None:
    assert ldconfig.parse("0 libs found in cache `/etc/ld.so.cache'\n") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not 'N libs found in ...'"),
        ("ldconfig: Can't open cache file /etc/ld.so.cache\n", "line 1 .*not 'N libs found"),
        (TEXT[:-3], "cut off"),
        (TEXT.replace("2 libs", "3 libs"), "2 libraries in it, and it says 3"),
        (TEXT + "libnccl.so.2: something else\n", "line 4 .*not 'NAME"),
    ],
)
def test_a_text_that_is_not_the_whole_cache_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        ldconfig.parse(text)
