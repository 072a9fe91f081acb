# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._nccl import conf
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derived import Setting
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.manage import RenderError, comment, render
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import Release, release

RELEASES = tuple(release(one) for one in ("2.7.8", "2.18.3", "2.25.1", "2.29.7", "2.32.3"))
NAMES = st.from_regex(r"\A[A-Z_][A-Z0-9_]{0,30}\Z")
VALUES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=200) | st.binary(max_size=100).map(
    lambda data: conf.as_text(data.translate(None, bytes(range(32)) + b"\x7f"))
)
REASONS = st.text(max_size=300)
SETTINGS = st.lists(st.builds(Setting, NAMES, VALUES, REASONS), max_size=8, unique_by=lambda one: one.name)


def test_the_one_safe_form() -> None:
    wanted = (
        Setting("NCCL_IB_HCA", "=mlx5_0,mlx5_1", "The compute rails.\nStorage is left out."),
        Setting("NCCL_DEBUG", "WARN"),
    )
    assert render(wanted, "Written by a program.") == (
        "# Written by a program.\n"
        "\n"
        "# The compute rails.\n"
        "# Storage is left out.\n"
        "NCCL_IB_HCA==mlx5_0,mlx5_1\n"
        "\n"
        "NCCL_DEBUG=WARN\n"
    )
    assert render((), "") == ""


def test_a_comment_has_no_equals_sign_and_short_lines() -> None:
    assert comment("NCCL_IB_TC=106 is what the switches trust") == ("# NCCL_IB_TC:106 is what the switches trust\n")
    assert all(len(line) <= 98 for line in comment("word " * 100).split("\n"))
    assert comment("a\n\nb") == "# a\n#\n# b\n"
    assert comment("a\r\x1b[2Jb") == "# a [2Jb\n"


@settings(max_examples=200, deadline=None, database=None)
@given(wanted=SETTINGS, header=REASONS, version=st.sampled_from(RELEASES))
def test_every_release_reads_exactly_the_settings_back(wanted: list[Setting], header: str, version: Release) -> None:
    text = render(wanted, header)
    assert list(conf.settings(text, version).items()) == [(one.name, one.value) for one in wanted]
    assert all(len(conf.as_bytes(line)) < 1000 for line in text.split("\n"))
    assert not any("=" in line for line in text.split("\n") if line.startswith("#"))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ((Setting("NCCL_A", "1"), Setting("NCCL_A", "2")), "NCCL would take the first"),
        ((Setting("NCCL_A ", "1"),), "would set one that nothing reads"),
        ((Setting("", "1"),), "no name of a variable"),
        ((Setting("#A", "1"),), "no name of a variable"),
        ((Setting("A=B", "1"),), "no name of a variable"),
        ((Setting("NCCL_A", "1\nNCCL_B=2"),), "begin a line of its own"),
        ((Setting("NCCL_A", "1\r"),), "end or spoil the value there"),
        ((Setting("NCCL_A", "1\0"),), "end or spoil the value there"),
        ((Setting("NCCL_A", "a" * 993),), "the line has 1000 bytes, 999 are safe"),
        ((Setting("NCCL_A", "ä" * 500),), "NCCL cuts a value after 1023"),
    ],
)
def test_what_has_no_safe_form_is_refused(wanted: tuple[Setting, ...], message: str) -> None:
    with pytest.raises(RenderError, match=message) as caught:
        render(wanted, "")
    assert "Next: " in str(caught.value)


def test_a_line_of_999_bytes_is_written() -> None:
    assert len(render((Setting("NCCL_A", "a" * 992),), "")) == 1000
