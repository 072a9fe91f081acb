# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that nodes name: what could be a command of sftp's batch is refused."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import remote

# All that shlex and sftp read otherwise than each other.
HOSTILE = st.text("/ax \\'\"\n\r\t\0!#;$`*?[]{}<>|&\u2028\x85-", min_size=1, max_size=30)


@given(HOSTILE.map(lambda text: f"/{text}") | st.text(max_size=30) | st.just("/tmp/a b"))
def test_what_is_taken_is_one_line_and_one_word_however_it_is_quoted(text: str) -> None:
    try:
        taken = remote.path(text)
    except remote.RemoteError:
        return
    assert taken == text
    assert not set(text) & set("\\'\"\n\r\0`$;&|<>*?[]{}!#")
    assert text.isprintable()
    assert shlex.quote(text).strip("'") == text


@pytest.mark.parametrize("path", ["/tmp/ibready-x7_a/n1.tar.gz", "/run/user/0/a b/n.tar.gz", "/ä/x"])
def test_plain_paths_are_taken(path: str) -> None:
    assert remote.path(path) == path


@pytest.mark.parametrize("said", [None, 5, ["/a"], {"a": 1}, "", "a", "/", "/" + "x" * 2000])
def test_all_else_is_refused(said: object) -> None:
    with pytest.raises(remote.RemoteError, match="no plain path"):
        remote.path(said)
