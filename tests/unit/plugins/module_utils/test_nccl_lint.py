# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._nccl import conf, lint
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.problem import ERROR, WARNING, Problem, short
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import Release, release

OLD, NEW = "2.18.3", "2.32.3"


def problems(text: str, version: str | None = NEW, known: set[str] | None = None) -> list[Problem]:
    return lint.problems(text, release(version) if version else None, known)


def kinds(text: str, version: str | None = NEW) -> list[tuple[str, str]]:
    return [(one.kind, one.severity) for one in problems(text, version)]


def only(text: str, version: str | None = NEW) -> Problem:
    (found,) = problems(text, version)
    return found


@pytest.mark.parametrize("version", [OLD, "2.26.2", NEW, None])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "# a comment\n#\n",
        "NCCL_IB_HCA==mlx5_0,mlx5_1\n",
        "NCCL_IB_HCA=^mlx5_bond\n",
        "NCCL_IB_HCA==mlx5_0:1",
        "NCCL_SOCKET_IFNAME==ens1f0\n",
        "NCCL_SOCKET_IFNAME=^ib,docker,lo,virbr,veth\n",
        "NCCL_IB_GID_INDEX=3\nNCCL_IB_TC=0x6a\n",
        "NCCL_NET_GDR_LEVEL=PHB\nNCCL_P2P_LEVEL=NVL\n",
        "NCCL_DEBUG=info\nNCCL_DEBUG_FILE=/tmp/nccl.%h.%p\n",
        "NCCL_ALGO=^Tree\n",
    ],
)
def test_a_right_file_has_no_problem(text: str, version: str | None) -> None:
    assert problems(text, version) == []


@pytest.mark.parametrize("version", [OLD, NEW, None])
@pytest.mark.parametrize(
    ("line", "kind", "severity", "makes"),
    [
        (" NCCL_DEBUG=INFO", "blank-around-equals", ERROR, "called ' NCCL_DEBUG', which nothing"),
        ("NCCL_DEBUG =INFO", "blank-around-equals", ERROR, "called 'NCCL_DEBUG ', which nothing"),
        ("NCCL_DEBUG= INFO", "blank-around-equals", ERROR, "part of the value"),
        ("NCCL_IB_TC= 106", "blank-around-equals", WARNING, "skips it before a number"),
        ("NCCL_DEBUG=INFO ", "trailing-blank", ERROR, "part of the value"),
        ("NCCL_IB_TC=106 ", "trailing-blank", WARNING, "ignores it behind a number"),
        ("export NCCL_DEBUG=INFO", "export", ERROR, "called 'export NCCL_DEBUG', which nothing"),
        ("the NCCL_DEBUG=INFO", "blank-in-name", ERROR, "which nothing reads"),
        ('"NCCL_DEBUG"=INFO', "quotes", ERROR, "which nothing reads"),
        ('NCCL_IB_TIMEOUT="22"', "quotes", ERROR, "NCCL reads 0 (no timeout at all)"),
        ("NCCL_IB_DISABLE='1'", "quotes", ERROR, "NCCL reads 0 (InfiniBand and RoCE stay on)"),
        ('NCCL_IB_HCA="mlx5_0"', "quotes", ERROR, "no device is called so"),
        ('NCCL_NET_GDR_LEVEL="PHB"', "quotes", ERROR, "NCCL ignores it"),
        ('NCCL_TOPO_FILE="/x"', "quotes", ERROR, "part of the value"),
        ("NCCL_IB_TC=106 # video", "trailing-comment", WARNING, "ignores what follows a number"),
        ("NCCL_DEBUG=INFO # all", "trailing-comment", ERROR, "all of it is the value"),
        ("NCCL_IB_TC= # none", "trailing-comment", ERROR, "NCCL reads 0"),
        ("NCCL_IB_SL=", "empty-value", WARNING, "the default holds"),
        ("NCCL_IB_HCA=", "empty-value", WARNING, "hides it in later files"),
        ("NCCL_IB_GID_INDEX=0,3,5,7", "list-for-integer", ERROR, "NCCL reads 0 (the first entry"),
        ("NCCL_IB_DISABLE=true", "word-for-integer", ERROR, "NCCL reads 0 (InfiniBand"),
        ("NCCL_SHM_DISABLE=yes", "word-for-integer", ERROR, "NCCL reads 0 (shared memory"),
        ("NCCL_BUFFSIZE=4M", "integer-tail", ERROR, "NCCL reads 4 and ignores 'M'"),
        ("NCCL_BUFFSIZE=99999999999999999999", "out-of-range", ERROR, "the default holds, -2"),
        ("NCCL_IB_TC=0106", "octal", ERROR, "NCCL reads 70"),
        ("NCCL_CROSS_NIC=5", "unusual-value", WARNING, "the guide knows 0 to 2"),
        ("NCCL_NET_GDR_LEVEL=phb", "level", ERROR, "ignores it without a word"),
        ("NCCL_NET_GDR_LEVEL=9", "level", WARNING, "takes it for SYS"),
        ("NCCL_SOCKET_FAMILY=IPv6", "word", ERROR, "NCCL ignores it"),
        ("NCCL_IB_HCA==mlx5_0,=mlx5_1", "repeated-sign", ERROR, "as '=mlx5_1'"),
        ("NCCL_IB_HCA=^=mlx5_0,^=mlx5_1", "repeated-sign", ERROR, "as '^=mlx5_1'"),
        ("NCCL_SOCKET_IFNAME=^ib,^docker,^lo", "repeated-sign", ERROR, "as '^docker'"),
        ("NCCL_IB_HCA==^mlx5_1", "sign-order", ERROR, "part of the name '^mlx5_1'"),
        ("NCCL_IB_HCA=mlx5_0, mlx5_2", "blank-in-list", ERROR, "part of the name ' mlx5_2'"),
        ("NCCL_IB_HCA=mlx5_0 mlx5_2", "blank-in-list", ERROR, "the name 'mlx5_0 mlx5_2'"),
        ("NCCL_IB_HCA=^", "empty-list", ERROR, "nothing is taken"),
        ("NCCL_IB_HCA==", "empty-list", ERROR, "everything is taken"),
        ("NCCL_IB_HCA=mlx5_0:0", "port", ERROR, "they count from 1"),
        ("NCCL_IB_HCA=mlx5_1", "beginning", WARNING, "as mlx5_10 would be"),
        ("NCCL_SOCKET_IFNAME=^ib", "exclusion", ERROR, "lo comes first"),
        ("NCCL_SOCKET_IFNAME=^lo", "exclusion", WARNING, "docker"),
        ("NCCL_SOCKET_IFNAME=e", "one-character", ERROR, "ignores a value of one character"),
        ("NCCL_SOCKET_IFNAME=eth0:1", "port", WARNING, "is ignored"),
        ("NCCL_TOPO_FILE=$HOME/topo.xml", "expansion", ERROR, "expands nothing"),
        ("NCCL_TOPO_FILE=~/topo.xml", "expansion", ERROR, "not expanded"),
        ("NCCL_ALGO=Ring,\\", "continuation", ERROR, "does not continue the line"),
        ("NCCL_COMM_ID=10.0.0.1:5000", "of-one-job", WARNING, "all jobs"),
        ("NCCL_NCHANNELS=4", "never-read", ERROR, "no release reads it"),
        ("NCCL_CHUNKSIZE=4096", "never-read", ERROR, "no release reads it"),
        ("NCCL_MIN_NCHANNELS_BEFORE_SWITCH=4", "never-read", ERROR, "no release reads it"),
        ("NCCL_IB_GID_INDX=3", "unknown-name", ERROR, "none of the variables"),
        ("NCCL_FROBNICATE=3", "unknown-name", WARNING, "none of the variables"),
        ("nccl_debug=INFO", "not-nccl", ERROR, "does not read it"),
        ("LD_LIBRARY_PATH=/opt", "not-nccl", WARNING, "does not read it"),
        ("NCCL_IBEXT_DISABLE=1", "elsewhere", WARNING, "HPC-X"),
        ("NCCL_DEBUG: INFO", "no-equals", ERROR, "ignores the line"),
        ("[nccl]", "no-equals", ERROR, "ignores the line"),
        ("=INFO", "no-name", ERROR, "ignores the line"),
        ("NCCL_DEBUG\0=INFO", "zero-byte", ERROR, "reads the line up to there"),
        ("\ufeffNCCL_DEBUG=INFO", "byte-order-mark", ERROR, "nothing is set"),
        ("\ufeff# comment", "byte-order-mark", WARNING, "ignores the line"),
        ("  # NCCL_DEBUG=INFO", "comment", WARNING, "which does no harm"),
        (f"NCCL_ALGO={'a' * 1024}", "too-long-value", ERROR, "cuts it there"),
    ],
)
def test_what_is_wrong_with_a_line(line: str, kind: str, severity: str, makes: str, version: str | None) -> None:
    found = only(f"{line}\n", version)
    assert (found.kind, found.severity, found.line) == (kind, severity, 1)
    assert makes in found.nccl_makes
    assert found.next_step
    assert found.told("/etc/nccl.conf").startswith("/etc/nccl.conf:1: ")


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("export NCCL_DEBUG=INFO", "write NCCL_DEBUG=INFO"),
        ('NCCL_DEBUG = "INFO"', "write NCCL_DEBUG=INFO"),
        ('NCCL_IB_TIMEOUT="22"', "write NCCL_IB_TIMEOUT=22"),
        ("NCCL_IB_TC=106 # video", "write NCCL_IB_TC=106"),
        ("NCCL_NET_GDR_LEVEL=phb", "write NCCL_NET_GDR_LEVEL=PHB"),
        ("NCCL_SHM_DISABLE=yes", "write NCCL_SHM_DISABLE=1"),
        ("NCCL_IB_HCA==mlx5_0,=mlx5_1", "write NCCL_IB_HCA==mlx5_0,mlx5_1"),
        ("NCCL_IB_HCA=^=mlx5_0, ^=mlx5_1", "write NCCL_IB_HCA=^=mlx5_0,mlx5_1"),
        ("NCCL_IB_HCA=mlx5_0, mlx5_2", "write NCCL_IB_HCA=mlx5_0,mlx5_2"),
        ("NCCL_IB_HCA==^mlx5_1", "write NCCL_IB_HCA=^=mlx5_1"),
        ("NCCL_SOCKET_IFNAME=^ib", "write NCCL_SOCKET_IFNAME=^ib,docker,lo,virbr,veth"),
        ("NCCL_IB_GID_INDX=3", "write NCCL_IB_GID_INDEX, if that is meant"),
    ],
)
def test_the_right_line_is_told(line: str, step: str) -> None:
    assert only(line).next_step == step


def test_a_carriage_return_is_a_problem_up_to_2_29() -> None:
    text = "NCCL_DEBUG=INFO\r\nNCCL_IB_TC=106\r\n\r\n# a\r\n"
    assert kinds(text, "2.29.7") == [("crlf", ERROR), ("crlf", WARNING)]
    assert kinds(text, "2.30.3") == []
    assert kinds(text, None) == [("crlf", WARNING), ("crlf", WARNING)]
    assert "before 2.30" in problems(text, None)[0].nccl_makes
    # The rest of the line is judged without it.
    assert kinds("NCCL_IB_TC=yes\r\n", "2.29.7") == [
        ("crlf", WARNING),
        ("word-for-integer", ERROR),
    ]


def test_a_comment_with_an_equals_sign_is_one_from_2_26_on() -> None:
    assert kinds("#NCCL_DEBUG=INFO\n", "2.25.1") == [("comment", WARNING)]
    assert kinds("#NCCL_DEBUG=INFO\n", "2.26.2") == []
    assert "before 2.26" in only("#NCCL_DEBUG=INFO\n", None).nccl_makes
    assert kinds("# NCCL_DEBUG\n", "2.25.1") == []


def test_of_two_lines_the_first_holds() -> None:
    (found,) = problems("NCCL_DEBUG=INFO\n\nNCCL_DEBUG=WARN\n")
    assert (found.line, found.kind, found.severity) == (3, "duplicate", ERROR)
    assert (found.found, found.nccl_makes) == (
        "line 1 sets it already",
        "the first line holds, 'INFO'",
    )
    assert kinds("NCCL_DEBUG=INFO\nNCCL_DEBUG=INFO\n") == [("duplicate", WARNING)]


@pytest.mark.parametrize("first", ["NCCL_DEBUG=INFO\0", f"#{'x' * 4094}NCCL_DEBUG=INFO"])
def test_a_line_that_is_wrong_itself_may_hide_another(first: str) -> None:
    found = problems(f"{first}\nNCCL_DEBUG=WARN\n")[-1]
    assert (found.line, found.kind, found.found) == (2, "duplicate", "line 1 sets it already")


def test_a_name_and_its_time() -> None:
    assert kinds("NCCL_IB_CUDA_SUPPORT=1", "2.18.3") == [("gone", ERROR)]
    assert kinds("NCCL_IB_CUDA_SUPPORT=1", None) == [("gone", WARNING)]
    assert kinds("NCCL_CONF_FILE=/x", "2.22.3") == [("new", ERROR), ("conf-file-in-file", ERROR)]
    assert kinds("NCCL_CONF_FILE=/x", "2.23.4") == [("conf-file-in-file", ERROR)]
    assert "it is new in 2.24.3: 2.18.3 ignores it" in only("NCCL_RAS_ENABLE=0", "2.18.3").nccl_makes


def test_the_installed_library_decides_which_names_it_knows() -> None:
    held = {"NCCL_DEBUG", "NCCL_NEXT_YEARS"}
    assert problems("NCCL_NEXT_YEARS=1", NEW, held) == []
    (found,) = problems("NCCL_IB_TC=1", NEW, held)
    assert (found.kind, found.severity) == ("not-in-library", ERROR)
    (found,) = problems("NCCL_DEBUGS=1", NEW, held)
    assert found.nccl_makes == "the installed library does not hold the name"
    assert "no library was read" in only("NCCL_DEBUGS=1").nccl_makes


def test_an_old_release_takes_no_rail_and_no_empty_port() -> None:
    assert kinds("NCCL_IB_HCA==mlx5_0:1:2:3", OLD) == [("rail-and-plane", WARNING)]
    assert kinds("NCCL_IB_HCA==mlx5_0:1:2:3", NEW) == []
    assert kinds("NCCL_IB_HCA==mlx5_0:", "2.30.4") == [("port", ERROR)]
    assert kinds("NCCL_IB_HCA==mlx5_0:", "2.30.7") == []
    assert kinds("NCCL_IB_HCA==mlx5_0:", None) == [("port", WARNING)]


def test_a_list_may_be_too_long() -> None:
    many = ",".join(f"mlx5_{number}" for number in range(20))
    assert kinds(f"NCCL_IB_HCA=={many}", "2.18.6") == [("too-many-entries", ERROR)]
    assert kinds(f"NCCL_IB_HCA=={many}", "2.19.3") == []
    assert kinds(f"NCCL_SOCKET_IFNAME=={many}", NEW) == [("too-many-entries", ERROR)]
    assert kinds(f"NCCL_IB_HCA=={'m' * 64}", NEW) == [("too-long-entry", ERROR)]


def test_virbr_is_left_out_from_2_28_on() -> None:
    text = "NCCL_SOCKET_IFNAME=^lo,docker"
    assert kinds(text, "2.27.7") == []
    assert kinds(text, "2.28.3") == [("exclusion", WARNING)]


def test_lines_that_spoil_the_librarys_memory() -> None:
    assert kinds(f"{'N' * 1024}=1", "2.22.3") == [("spoilt-memory", ERROR)]
    assert ("too-long-name", ERROR) in kinds(f"{'N' * 1024}=1", "2.23.4")
    assert kinds(f"NCCL_ALGO={'a' * 1024}", "2.7.8") == [("spoilt-memory", ERROR)]


def test_a_long_line_is_cut_in_two_from_2_30_on() -> None:
    text = f"#{'x' * 4094}NCCL_DEBUG=INFO{'y' * 9000}\n"
    assert kinds(text, "2.29.7") == []
    found = only(text, "2.30.3")
    assert (found.kind, found.severity, found.line) == ("too-long-line", ERROR, 1)
    assert "'NCCL_DEBUG=INFOyyy" in found.nccl_makes


def test_a_flag_that_became_typed_takes_words() -> None:
    assert kinds("NCCL_SET_THREAD_NAME=true", "2.29.7") == [("word-for-integer", ERROR)]
    assert kinds("NCCL_SET_THREAD_NAME=true", "2.30.7") == []
    assert kinds("NCCL_SET_THREAD_NAME=yes", "2.30.7") == [("word-for-flag", ERROR)]


def test_a_format_may_end_with_a_blank() -> None:
    assert kinds("NCCL_DEBUG_TIMESTAMP_FORMAT=[%F %T] ") == []


def test_a_message_holds_nothing_that_a_terminal_obeys() -> None:
    reported = only("\x1b[2J" * 200).told()
    assert "\x1b" not in reported
    assert len(reported) < 300
    assert short("a\n" * 100).endswith("...")


def test_many_wrong_names_cost_little() -> None:
    text = "".join(f"NCCL_IB_GID_INDX{number}=1\n" for number in range(3000))
    found = problems(text)
    assert len(found) == 3000
    assert sum("NCCL_IB_GID_INDEX" in one.next_step for one in found) == 50


WORDS = 'NCCL_IB_HCA NCCL_SOCKET_IFNAME NCCL_IB_TIMEOUT NCCL_DEBUG NCCL_X = = ^ , : # " 1 mlx5_1 lo'
CHARACTERS = ("\n", "\r\n", " ", "\0", "\ufeff", "\u2003", "\\", "$A", "export ")
LONG = ("a" * 1030, "b" * 4100)
LINES = st.lists(st.sampled_from((*WORDS.split(), *CHARACTERS, *LONG)), max_size=40).map("".join)
RELEASES = st.sampled_from(
    (None, *(release(one) for one in ("2.4.8", "2.18.3", "2.23.4", "2.26.2", "2.30.7", "2.40.1")))
)


@settings(max_examples=300, deadline=None, database=None)
@given(
    text=st.one_of(LINES, st.text(), st.binary().map(conf.as_text)),
    version=RELEASES,
    known=st.sampled_from((None, {"NCCL_IB_HCA", "NCCL_X"})),
)
def test_any_text_is_judged(text: str, version: Release | None, known: set[str] | None) -> None:
    found = lint.problems(text, version, known)
    assert [one.line for one in found] == sorted(one.line for one in found)
    assert all(1 <= one.line <= text.count("\n") + 1 for one in found)
    assert all(one.found and one.nccl_makes and one.next_step for one in found)
    assert all("\n" not in one.told() for one in found)
    # A line that sets something strange is not passed over.
    for line in conf.parse(text, version or release(NEW)):
        strange = line.name is not None and not line.name.startswith(("NCCL_", "#", "\0"))
        if strange and not line.raw.lstrip().startswith("#"):
            assert any(one.line == line.number for one in found), line
