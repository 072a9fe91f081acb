# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking and understanding the child, without the library; tests/nccl asks the real one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl import _child, proof, query
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.proof import Listener
from ansible_collections.ibready.cluster.plugins.module_utils._ground import source
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Unavailable
from tests.unit import roots_place
from tests.unit.roots_place import OTHER, as_root
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
    reported = [proof.parse_answer(json.dumps(one)) for one in answers]
    monkeypatch.setattr(proof, "_child", lambda *_given: reported.pop(0))


def test_three_runs_become_one_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    level = {
        **ANSWER,
        "values": {b"NCCL_DEBUG".hex(): b"INFO".hex()},
        "taken": [[b"NCCL_DEBUG".hex(), b"INFO".hex()], [b"NCCL_OTHER".hex(), b"x".hex()]],
    }
    quiet = {**ANSWER, "values": {**ANSWER["values"], b"NCCL_DEBUG".hex(): b"VERSION".hex()}}
    answered(monkeypatch, quiet, level, ANSWER)
    reported = proof.prove("/lib/libnccl.so.2", names=["NCCL_A", "NCCL_B", "NCCL_DEBUG"]).value
    assert reported is not None
    assert reported.version == "2.26.2"
    assert (reported.result, reported.meaning) == (0, "success")
    assert reported.values == {"NCCL_A": b"1", "NCCL_B": None, "NCCL_DEBUG": b"INFO"}
    assert reported.taken == {"NCCL_A": b"1", " NCCL_C\udcff": b"\xfe", "NCCL_DEBUG": b"INFO"}
    assert reported.listener == Listener("192.0.2.2", 33061)
    assert reported.interface == "eth0"


@pytest.mark.parametrize(
    ("result", "meaning"),
    [(2, "unhandled system error"), (5, "invalid usage"), (42, "result 42")],
)
def test_a_call_that_failed_has_a_meaning_and_no_listener(
    monkeypatch: pytest.MonkeyPatch, result: int, meaning: str
) -> None:
    answered(monkeypatch, *[{**ANSWER, "result": result}] * 3)
    reported = proof.prove("/lib/libnccl.so.2").value
    assert reported is not None
    assert (reported.result, reported.meaning, reported.listener, reported.interface) == (result, meaning, None, "")


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
    reported = proof.prove("/lib/libnccl.so.2").value
    assert reported is not None
    assert reported.interface == name


@pytest.mark.parametrize(("code", "version"), [(21803, "2.18.3"), (23203, "2.32.3"), (2708, "2.7.8"), (20906, "2.9.6")])
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


@pytest.fixture
def place() -> Iterator[Path]:
    with roots_place.folder() as found:
        yield found


def test_a_file_that_is_no_library_is_named(place: Path) -> None:
    path = place / "libnccl.so.2"
    path.write_text("GROUP ( libnccl.so.2 )\n" * 100)
    reported = proof.prove(str(path))
    assert reported.value is None
    assert reported.why == f"libnccl: {path}: invalid ELF header"


def test_a_library_that_is_not_nccl_is_named() -> None:
    # The interpreter's own modules are libraries, too.
    path = next(path for path in sys.path if list(Path(path).glob("lib-dynload/*.so")))
    other = next(Path(path).glob("lib-dynload/*.so"))
    reported = proof.prove(str(other))
    assert reported.value is None
    assert "undefined symbol" in reported.why


@pytest.mark.parametrize("kind", ["FIFO", "folder"])
def test_what_is_no_file_is_not_opened(place: Path, kind: str) -> None:
    path = place / "libnccl.so.2"
    os.mkfifo(path) if kind == "FIFO" else path.mkdir()
    assert proof.prove(str(path)).why == f"libnccl: {path}: not a regular file"


def a_library(place: Path) -> Path:
    """Not NCCL, but one that can be loaded: an own module of the interpreter."""
    path = next(path for path in sys.path if list(Path(path).glob("lib-dynload/*.so")))
    (place / "lib").mkdir()
    found = place / "lib/libnccl.so.2.26.2"
    shutil.copy(next(Path(path).glob("lib-dynload/*.so")), found)
    (place / "lib/libnccl.so.2").symlink_to(found.name)
    return place / "lib/libnccl.so.2"


# Where somebody else than root may put another library.
LOOSE = {
    "their file": ("lib/libnccl.so.2.26.2", OTHER, 0o755),
    "a file that all may write": ("lib/libnccl.so.2.26.2", 0, 0o666),
    "their folder": ("lib", OTHER, 0o755),
    "their group's folder": ("lib", 0, 0o775),
    "a folder like /tmp": ("lib", 0, 0o1777),
    "a folder above": (".", 0, 0o757),
}


@as_root
@pytest.mark.parametrize("loose", LOOSE)
def test_root_has_nothing_loaded_that_others_may_write(place: Path, loose: str) -> None:
    path = a_library(place)
    assert "undefined symbol" in proof.prove(str(path)).why
    name, owner, mode = LOOSE[loose]
    os.chown(place / name, owner, owner)
    os.chmod(place / name, mode)
    reported = proof.prove(str(path))
    assert not reported.known
    assert not reported.missing
    assert f"{path}: {(place / name).resolve()} is not root's alone: " in reported.why
    assert "next: have root own it, and nobody else write there" in reported.why


@as_root
def test_what_others_may_not_read_is_not_loaded_and_named(place: Path) -> None:
    path = a_library(place)
    path.chmod(0o640)
    reported = proof.prove(str(path))
    assert f"{path}: cannot open shared object file: Permission denied" in reported.why


PROVE = """
import sys
sys.path[:0] = {path!r}
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl import proof
print(proof.prove({library!r}).why)
"""
UNIT = ROOT / "roles/health_agent/templates/ibready-health.service.j2"


@as_root
@pytest.mark.parametrize("without", ["", "CAP_SETUID", "CAP_SETGID"])
def test_the_health_agents_service_may_give_up_its_rights(place: Path, without: str) -> None:
    (line,) = [one for one in UNIT.read_text().splitlines() if one.startswith("CapabilityBounding")]
    names = [one for one in line.partition("=")[2].split() if one != without]
    bounds = ",".join(["-all", *(f"+{one.removeprefix('CAP_').lower()}" for one in names)])
    library = str(a_library(place))
    code = PROVE.format(path=sys.path, library=library)
    argv = ["setpriv", "--no-new-privs", f"--bounding-set={bounds}", sys.executable, "-c", code]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True, cwd="/")
    said = "giving up the rights of root: operation not permitted"
    assert (said if without else "undefined symbol") in done.stdout


# What the process may do when the library comes, whose code runs at once.
AT_LOADING = """
import ctypes, os, sys
sys.path[:0] = {path!r}
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl import _child
real = ctypes.CDLL
def load(name, *args, **more):
    if name is None:
        return real(name, *args, **more)
    with open("/proc/self/status") as stream:
        sys.stderr.write(stream.read())
    with open(name, "rb") as stream:
        sys.stderr.write(f"begins:{{stream.read(4).hex()}}")
    sys.stderr.flush()
    os._exit(0)
ctypes.CDLL = load
_child.main()
"""


@as_root
@pytest.mark.parametrize("etc", [{}, {"nccl.conf": b"NCCL_A=1".hex()}], ids=["", "another /etc"])
def test_root_s_rights_are_gone_when_the_library_is_loaded(place: Path, etc: dict[str, str]) -> None:
    """It is read all the same where only root gets to."""
    request = {
        **{"library": str(a_library(place)), "names": [], "env": [], "etc": etc},
        **{"parent": os.getpid(), "seconds": 60},
    }
    (place / "lib").chmod(0o700)
    code = AT_LOADING.format(path=sys.path)
    done = subprocess.run([sys.executable, "-c", code], input=json.dumps(request).encode(), capture_output=True)
    said = dict(line.split(":", 1) for line in done.stderr.decode().splitlines() if ":" in line)
    assert said["begins"] == b"\x7fELF".hex(), done.stderr
    for name in ("Uid", "Gid"):
        assert said[name].split() == ["65534"] * 4
    assert said["Groups"].split() == []
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(said[name], 16) == 0
    assert int(said["NoNewPrivs"]) == 1


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
        ({"conf_path": "/no/such/file"}, "no such file"),
        ({"timeout": 0}, "in time"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(given_: dict[str, Any], why: str) -> None:
    reported = proof.prove(**{"library": "/lib/libnccl.so.2", **given_})
    assert reported.value is None
    assert any(part in reported.why for part in why.split("|")), reported.why


def test_only_root_is_shown_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    reported = proof.prove("/lib/libnccl.so.2", etc={"nccl.conf": b""})
    assert "only root can show it another nccl.conf" in reported.why


ASK = """
import sys
sys.path.insert(0, {archive!r})
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl import copies, proof
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
assert {archive!r} in proof.__file__
print(proof.prove({library!r}).why)
print(copies.observe(Live(questions={{'nccl_copies': copies.search}})).copies.known)
"""


def test_the_children_start_from_an_archive_as_well(tmp_path: Path) -> None:
    archive = tmp_path / "ibready.pyz"
    build.build(ROOT, archive)
    code = ASK.format(archive=str(archive), library="/nowhere/libnccl.so.2")
    done = subprocess.run([sys.executable, "-I", "-c", code], stdout=subprocess.PIPE, text=True, check=True, cwd="/")
    why, known = done.stdout.splitlines()
    assert "No such file or directory" in why
    assert known == "True"


def test_a_python_that_does_not_know_itself_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(Unavailable, match="does not know its own program"):
        source.argv_of(proof)


def test_what_the_library_logs_without_end_is_read_up_to_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_child, "_LOG_MOST", 4)
    for data, said in (
        (b"abcd", "abcd"),
        (b"abcde", "abcd\nthe library wrote more than 4 bytes, and the rest is not read\n"),
    ):
        (tmp_path / "log").write_bytes(data)
        with (tmp_path / "log").open("rb") as log:
            assert _child._said(log.fileno()) == said


def test_of_a_long_log_the_last_lines_are_kept_and_the_others_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "_MOST_LINES", 2)
    assert query._last(["a", "b"]) == ["a", "b"]
    assert query._last(["a", "b", "c", "d"]) == ["... 2 lines before", "c", "d"]
