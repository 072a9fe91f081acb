# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from hypothesis import assume, given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.keyvalue import ConfError
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import conf
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derived import Setting
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.manage import (
    BEGIN,
    END,
    HEADER,
    Managed,
    RenderError,
    Wanted,
    manage,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import Release, release

RELEASES = tuple(release(one) for one in ("2.7.8", "2.18.3", "2.25.1", "2.29.7", "2.32.3"))
HCA = Setting("NCCL_IB_HCA", "=mlx5_0", "The rail.")
DEBUG = Setting("NCCL_DEBUG", "WARN")
BLOCK = f"{BEGIN}\n# The rail.\nNCCL_IB_HCA==mlx5_0\n{END}\n"


def kept(present: str, *wanted: Setting) -> Managed:
    return manage(present, Wanted(wanted), version=release("2.32.3"))


def test_the_whole_file_is_ours() -> None:
    found = manage("# by hand\nNCCL_DEBUG=INFO\n", Wanted((HCA,), exclusive=True))
    assert found == Managed(f"# {HEADER}\n\n# The rail.\nNCCL_IB_HCA==mlx5_0\n", lost=True)
    assert manage(found.text, Wanted((HCA,), exclusive=True)) == Managed(found.text)
    assert manage(found.text, Wanted(exclusive=True)) == Managed("")


def test_in_an_empty_file_there_is_the_block_alone() -> None:
    assert kept("", HCA) == Managed(BLOCK)
    assert kept(BLOCK, HCA) == Managed(BLOCK)
    assert kept(BLOCK) == Managed("")


@pytest.mark.parametrize(
    "present",
    [
        "# by hand\nNCCL_ALGO=Ring\n",
        "NCCL_ALGO=Ring",
        "\n\n\n",
        "# \udcff\x85\x0b\x0c\r\nOTHER=\udcff\r\n",
        " \r",
    ],
)
def test_lines_of_others_are_kept_byte_for_byte(present: str) -> None:
    found = kept(present, HCA)
    assert (found.text, found.replaced, found.lost) == (BLOCK + present, (), False)
    assert kept(found.text, HCA).text == found.text
    assert kept(found.text).text == present


def test_a_line_of_others_that_sets_ours_goes() -> None:
    found = kept("# by hand\r\nNCCL_IB_HCA=mlx5\r\nNCCL_ALGO=Ring\r\nNCCL_IB_HCA=x", HCA)
    assert found.text == f"{BLOCK}# by hand\r\nNCCL_ALGO=Ring\r\n"
    assert found.replaced == ("NCCL_IB_HCA=mlx5", "NCCL_IB_HCA=x")
    assert found.lost


def test_what_is_ours_no_longer_goes_with_the_block() -> None:
    before = kept("NCCL_ALGO=Ring\n", HCA, DEBUG).text
    assert kept(before, DEBUG).text == f"{BEGIN}\nNCCL_DEBUG=WARN\n{END}\nNCCL_ALGO=Ring\n"


def test_a_block_that_was_moved_stays_where_it_is() -> None:
    moved = f"# Licence\n{BLOCK}NCCL_ALGO=Ring\n"
    assert kept(moved, HCA).text == moved
    assert kept(f"NCCL_IB_HCA=x\n{BLOCK}", HCA) == Managed(BLOCK, ("NCCL_IB_HCA=x",), True)


def test_of_two_blocks_one_stays() -> None:
    assert kept(f"{BLOCK}# mine\n{BLOCK}", HCA).text == f"{BLOCK}# mine\n"


def test_changes_by_hand_inside_the_block_are_undone() -> None:
    changed = BLOCK.replace("mlx5_0", "mlx5_7").replace(END, f"NCCL_ALGO=Ring\n{END}")
    assert kept(changed, HCA) == Managed(BLOCK)


def test_a_file_that_was_ours_as_a_whole_becomes_a_block() -> None:
    whole = manage("", Wanted((DEBUG,), exclusive=True)).text
    assert kept(whole, HCA) == Managed(BLOCK)
    assert manage(f"{BLOCK}# mine\n", Wanted(exclusive=True)) == Managed("", lost=True)


def test_a_block_without_its_end_is_refused() -> None:
    with pytest.raises(ConfError, match="line 2 begins the block") as caught:
        kept(f"# mine\n{BEGIN}\nNCCL_DEBUG=INFO\n", HCA)
    assert "Next: " in str(caught.value)


def test_a_setting_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(RenderError):
        kept("", Setting("NCCL_DEBUG", "a\nb"))


def test_what_is_wrong_with_lines_of_others_is_told_by_its_new_number() -> None:
    found = kept('export NCCL_ALGO=Ring\nNCCL_IB_TIMEOUT="22"\n', HCA)
    assert [(one.line, one.kind) for one in found.foreign] == [(5, "export"), (6, "quotes")]
    assert kept("NCCL_IB_TIMEOUT=22\n", Setting("NCCL_FROBNICATE", "1")).foreign == ()


def test_a_line_that_sets_ours_for_new_releases_alone_goes() -> None:
    # From 2.30 the file's line is read in two pieces.
    found = kept(f"#{'x' * 4094}NCCL_IB_HCA=x\nNCCL_ALGO=Ring\n", HCA)
    assert found.text == f"{BLOCK}NCCL_ALGO=Ring\n"


def test_a_file_of_thousands_of_lines_costs_little() -> None:
    present = "".join(f"NCCL_IB_HCA=mlx5_{number}\n" for number in range(9000))
    assert kept(present, HCA).text == BLOCK


WANTED = st.lists(
    st.builds(
        Setting,
        st.sampled_from(("NCCL_A", "NCCL_B", "NCCL_IB_HCA")),
        st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=20),
        st.text(max_size=20),
    ),
    max_size=3,
    unique_by=lambda one: one.name,
)
PIECES = ("NCCL_A", "NCCL_B", "NCCL_C", "=", "=", "#", "\n", "\n", "\r\n", " ", "\0", "x" * 4095)
MARKS = (f"{BEGIN}\n", f"{END}\n", f"\n# {HEADER}\n")
FOREIGN = st.one_of(
    st.lists(st.sampled_from((*PIECES, *MARKS)), max_size=20).map("".join),
    st.binary(max_size=100).map(conf.as_text),
)


@settings(max_examples=300, deadline=None, database=None)
@given(
    present=FOREIGN,
    wanted=WANTED,
    exclusive=st.booleans(),
    version=st.sampled_from(RELEASES),
)
def test_whatever_is_there_the_settings_hold_and_the_second_run_changes_nothing(
    present: str, wanted: list[Setting], exclusive: bool, version: Release
) -> None:
    try:
        found = manage(present, Wanted(tuple(wanted), exclusive=exclusive), version)
    except ConfError:
        assume(False)
    read = conf.settings(found.text, version)
    values = {one.name: one.value for one in wanted}
    assert {name: read.get(name) for name in values} == values
    if exclusive:
        assert read == values
    again = manage(found.text, Wanted(tuple(wanted), exclusive=exclusive), version)
    assert (again.text, again.replaced, again.lost) == (found.text, (), False)


@settings(max_examples=200, deadline=None, database=None)
@given(present=FOREIGN, wanted=WANTED)
def test_what_we_take_away_leaves_the_rest_as_it_was(present: str, wanted: list[Setting]) -> None:
    assume(BEGIN not in present and not present.startswith(f"# {HEADER}"))
    found = manage(present, Wanted(tuple(wanted)))
    back = manage(found.text, Wanted())
    if not found.replaced:
        assert back.text == present
    lines = [line for line in present.split("\n") if line.rstrip("\r") not in found.replaced]
    assert [line for line in back.text.split("\n") if line] == [line for line in lines if line]


def test_a_line_of_ours_that_cannot_be_told_any_more_stays_with_its_reason() -> None:
    present = kept("NCCL_ALGO=Ring\n", HCA, DEBUG).text
    found = manage(present, Wanted((DEBUG,), keep=frozenset({"NCCL_IB_HCA", "NCCL_IB_TC"})))
    assert conf.settings(found.text, release("2.32.3")) == {
        "NCCL_DEBUG": "WARN",
        "NCCL_IB_HCA": "=mlx5_0",
        "NCCL_ALGO": "Ring",
    }
    assert "# The rail.\nNCCL_IB_HCA" in found.text
    whole = manage("", Wanted((HCA,), exclusive=True)).text
    again = manage(whole, Wanted(keep=frozenset({"NCCL_IB_HCA"}), exclusive=True))
    assert again == Managed(whole)


def test_lines_that_do_harm_go_whoever_wrote_them() -> None:
    present = "NCCL_IB_DISABLE=1\nNCCL_ALGO=Ring\n"
    found = manage(present, Wanted((HCA,), drop=frozenset({"NCCL_IB_DISABLE"})))
    assert found.text == f"{BLOCK}NCCL_ALGO=Ring\n"
    assert found.replaced == ("NCCL_IB_DISABLE=1",)
    assert found.lost


@pytest.mark.parametrize(
    "line",
    [
        "export NCCL_DEBUG=INFO",
        "NCCL_DEBUG = INFO",
        'NCCL_IB_TIMEOUT="22"',
        "NCCL_NCHANNELS=4",
        "NCCL_ALGO=Tree",
        "NCCL_IB_QPS_PER_CONNECTION=yes",
    ],
)
def test_what_nccl_reads_otherwise_goes_only_where_that_is_asked_for(line: str) -> None:
    present = f"NCCL_ALGO=Ring\n{line}\n# mine\n"
    version = release("2.32.3")
    assert line in manage(present, Wanted((HCA,)), version).text
    found = manage(present, Wanted((HCA,), repair=True), version)
    assert found.text == f"{BLOCK}NCCL_ALGO=Ring\n# mine\n"
    assert (found.replaced, found.foreign) == ((line,), ())
    assert manage(found.text, Wanted((HCA,), repair=True), version) == Managed(found.text)


def test_a_right_line_behind_a_wrong_one_stays() -> None:
    present = 'NCCL_IB_TIMEOUT="22"\nNCCL_IB_TIMEOUT=22\n'
    found = manage(present, Wanted((HCA,), repair=True), release("2.32.3"))
    assert found.text == f"{BLOCK}NCCL_IB_TIMEOUT=22\n"


def test_a_line_of_ours_that_does_harm_goes_too() -> None:
    present = kept("", HCA, DEBUG).text
    both = frozenset({"NCCL_IB_HCA"})
    assert "IB_HCA" not in manage(present, Wanted((DEBUG,), keep=both, drop=both)).text


def test_of_a_line_that_is_kept_there_is_one() -> None:
    twice = f"{BEGIN}\nNCCL_IB_HCA==mlx5_0\nNCCL_IB_HCA==mlx5_1\n{END}\nNCCL_IB_HCA==mlx5_2\n"
    found = manage(twice, Wanted(keep=frozenset({"NCCL_IB_HCA"})))
    assert found.text == f"{BEGIN}\nNCCL_IB_HCA==mlx5_0\n{END}\n"
