# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import names, ofed_info
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ofed_info import OfedInfo


@pytest.mark.parametrize(
    ("text", "name", "release"),
    [
        ("MLNX_OFED_LINUX-24.10-1.1.4.0:\n", "MLNX_OFED_LINUX", "24.10-1.1.4.0"),
        ("OFED-internal-25.10-1.2.8.0:\n", "OFED-internal", "25.10-1.2.8.0"),
        ("OFED-1.5.4.1:\n\nofa_kernel:\n/usr/src\n", "OFED", "1.5.4.1"),
        ("\x1b[1mOFED-4.17-1\x1b[0m\r\n", "OFED", "4.17-1"),
        (
            "MLNX_OFED_LINUX-5.8-3.0.7.0 (OFED-5.8-3.0.7):\nclusterkit:\n",
            "MLNX_OFED_LINUX",
            "5.8-3.0.7.0",
        ),
    ],
)
def test_name_and_release_are_told_apart(text: str, name: str, release: str) -> None:
    assert ofed_info.parse(text) == OfedInfo(name, release)
    assert ofed_info.facts(ofed_info.parse(text)) == {"version": f"{name}-{release}"}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("-bash: ofed_info: command not found\n", "command not found"),
        ("sh: 1: ofed_info: not found", "not found"),
        ("zsh: command not found: ofed_info", "command not found"),
        ("bash: /usr/bin/ofed_info: No such file or directory", "No such file or directory"),
    ],
)
def test_a_shell_that_finds_no_tool_is_understood(text: str, error: str) -> None:
    assert ofed_info.parse(text) == OfedInfo(error=error)
    assert names.facts("ofed_info", text) == ({"version": None, "error": error}, None)


@pytest.mark.parametrize("text", ["", "\n", "OFED-internal-", "MLNX_OFED_LINUX", "Segmentation fault"])
def test_a_text_without_a_version_is_no_stack(text: str) -> None:
    with pytest.raises(ParseError):
        ofed_info.parse(text)
    facts, error = names.facts("ofed_info", text)
    assert facts["version"] is None
    assert error is not None
