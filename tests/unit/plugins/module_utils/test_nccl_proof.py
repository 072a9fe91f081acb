# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking and understanding the child, without the library; tests/nccl asks the real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils import _source
from ansible_collections.ibready.cluster.plugins.module_utils._command import Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import proof
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.listener import Listener
from tools import build

ROOT = Path(__file__).resolve().parents[4]
ANSWER: dict[str, Any] = {
    "version": 22602,
    "result": 0,
    "id": "9cf671240acda01402008125c0000202" + "00" * 112,
    "values": {b"NCCL_A".hex(): b"1".hex(), b"NCCL_B".hex(): None},
    "taken": [[b"NCCL_A".hex(), b"1".hex()], [b" NCCL_C\xff".hex(), b"\xfe".hex()]],
    "log": "h:1:1 [0] NCCL INFO Bootstrap: Using eth0:192.0.2.2<0>\n",
}


def answered(monkeypatch: pytest.MonkeyPatch, *answers: dict[str, Any]) -> None:
    """Let the child say this, one run after the other."""
    told = [proof.parse_answer(json.dumps(one)) for one in answers]
    monkeypatch.setattr(proof, "_child", lambda *_given: told.pop(0))


def test_three_runs_become_one_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    level = {
        **ANSWER,
        "values": {b"NCCL_DEBUG".hex(): b"INFO".hex()},
        "taken": [[b"NCCL_DEBUG".hex(), b"INFO".hex()], [b"NCCL_OTHER".hex(), b"x".hex()]],
    }
    quiet = {**ANSWER, "values": {**ANSWER["values"], b"NCCL_DEBUG".hex(): b"VERSION".hex()}}
    answered(monkeypatch, quiet, level, ANSWER)
    told = proof.prove("/lib/libnccl.so.2", names=["NCCL_A", "NCCL_B", "NCCL_DEBUG"]).value
    assert told is not None
    assert told.version == "2.26.2"
    assert (told.result, told.meaning) == (0, "success")
    assert told.values == {"NCCL_A": b"1", "NCCL_B": None, "NCCL_DEBUG": b"INFO"}
    assert told.taken == {"NCCL_A": b"1", " NCCL_C\udcff": b"\xfe", "NCCL_DEBUG": b"INFO"}
    assert told.listener == Listener("192.0.2.2", 33061)
    assert told.interface == "eth0"


@pytest.mark.parametrize(
    ("result", "meaning"),
    [(2, "unhandled system error"), (5, "invalid usage"), (42, "result 42")],
)
def test_a_call_that_failed_has_a_meaning_and_no_listener(
    monkeypatch: pytest.MonkeyPatch, result: int, meaning: str
) -> None:
    answered(monkeypatch, *[{**ANSWER, "result": result}] * 3)
    told = proof.prove("/lib/libnccl.so.2").value
    assert told is not None
    assert (told.result, told.meaning, told.listener, told.interface) == (result, meaning, None, "")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("NCCL INFO Bootstrap : Using eth0:192.0.2.2<0>", "eth0"),
        ("NCCL INFO Bootstrap: Using eth0:1:192.0.2.2<0>", "eth0:1"),
        # With NCCL_COMM_ID, another host's address is in the id.
        ("NCCL INFO Bootstrap: Using ib0:198.51.100.7<0>", "ib0"),
        ("NCCL INFO NET/Socket : Using eth0", ""),
    ],
)
def test_the_log_names_the_interface(monkeypatch: pytest.MonkeyPatch, line: str, name: str) -> None:
    answered(monkeypatch, *[{**ANSWER, "log": f"h:1:1 [0] {line}\n"}] * 3)
    told = proof.prove("/lib/libnccl.so.2").value
    assert told is not None
    assert told.interface == name


@pytest.mark.parametrize(
    ("code", "version"), [(21803, "2.18.3"), (23203, "2.32.3"), (2708, "2.7.8"), (20906, "2.9.6")]
)
def test_the_number_of_a_version_is_read(code: int, version: str) -> None:
    assert proof.version_text(code) == version


def test_the_childs_own_reason_is_kept() -> None:
    with pytest.raises(Unavailable, match="wrong ELF class"):
        proof.parse_answer(json.dumps({"error": "x.so: wrong ELF class: ELFCLASS32"}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        json.dumps({**ANSWER, "id": "zz"}),
        json.dumps({**ANSWER, "taken": 1}),
        json.dumps({**ANSWER, "values": []}),
        json.dumps({key: value for key, value in ANSWER.items() if key != "result"}),
        "[" * 100_000,
    ],
)
def test_an_answer_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        proof.parse_answer(text)


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None, database=None)
@given(data=st.fixed_dictionaries({}, optional={key: json_like for key in (*ANSWER, "error")}))
def test_any_answer_is_read_or_refused(data: dict[str, Any]) -> None:
    try:
        proof.parse_answer(json.dumps({**ANSWER, **data}))
    except (ValueError, Unavailable):
        return


def test_a_file_that_is_no_library_is_named(tmp_path: Path) -> None:
    path = tmp_path / "libnccl.so.2"
    path.write_text("GROUP ( libnccl.so.2 )\n" * 100)
    told = proof.prove(str(path))
    assert told.value is None
    assert "invalid ELF header" in told.why


def test_a_library_that_is_not_nccl_is_named() -> None:
    # The interpreter's own modules are libraries, too.
    path = next(path for path in sys.path if list(Path(path).glob("lib-dynload/*.so")))
    other = next(Path(path).glob("lib-dynload/*.so"))
    told = proof.prove(str(other))
    assert told.value is None
    assert "undefined symbol" in told.why


def test_a_library_that_does_not_come_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "libnccl.so.2"
    os.mkfifo(path)
    begun = time.monotonic()
    told = proof.prove(str(path), timeout=1)
    assert time.monotonic() - begun < 8
    assert "no complete answer within" in told.why


@pytest.mark.parametrize(
    ("given_", "why"),
    [
        ({"library": "libnccl.so.2"}, "not an absolute path"),
        ({"names": [""]}, "not a name"),
        ({"names": ["A=B"]}, "not a name"),
        ({"env": {"A\0": "b"}}, "not a name"),
        ({"env": {"A": "b\0"}}, "not a name"),
        ({"etc": {"../nccl.conf": b""}}, "not a name|only root"),
        ({"etc": {"/nccl.conf": b""}}, "not a name|only root"),
        ({"user": "no such user"}, "no user"),
        ({"conf_path": "/no/such/file"}, "no such file"),
        ({"timeout": 0}, "in time"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(given_: dict[str, Any], why: str) -> None:
    told = proof.prove(**{"library": "/lib/libnccl.so.2", **given_})
    assert told.value is None
    assert any(part in told.why for part in why.split("|")), told.why


def test_only_root_is_shown_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    told = proof.prove("/lib/libnccl.so.2", etc={"nccl.conf": b""})
    assert "only root can show it another nccl.conf" in told.why


ASK = """
import sys
sys.path.insert(0, {archive!r})
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import copies, proof
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Live
assert {archive!r} in proof.__file__
print(proof.prove({library!r}).why)
print(copies.observe(Live()).copies.known)
"""


def test_the_children_start_from_an_archive_as_well(tmp_path: Path) -> None:
    archive = tmp_path / "ibready.pyz"
    build.build(ROOT, archive)
    code = ASK.format(archive=str(archive), library=str(tmp_path / "libnccl.so.2"))
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], stdout=subprocess.PIPE, text=True, check=True, cwd="/"
    )
    why, known = done.stdout.splitlines()
    assert "cannot open shared object file" in why
    assert known == "True"


def test_a_python_that_does_not_know_itself_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(Unavailable, match="does not know its own program"):
        _source.argv_of(proof)
