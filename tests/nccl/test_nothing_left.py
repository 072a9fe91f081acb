# SPDX-License-Identifier: GPL-3.0-or-later
"""A proof ends in time and leaves nothing on the host, whatever the library does."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.proof import prove
from tests.nccl.conftest import Nccl

# A library in libnccl's place, each with one bad habit.
SIMULATED = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int ncclGetVersion(int *version) {{ *version = 22604; return 0; }}
int ncclGetUniqueId(char *id) {{ memset(id, 0, 128); {habit} }}
"""
HABITS = {
    "never returns": ("for (;;) pause();", "within 2 s"),
    "burns time": ("for (;;);", "ended with signal|within 2 s"),
    "crashes": ("raise(SIGSEGV); return 0;", "ended with signal 11"),
    "aborts": ("abort();", "ended with signal 6"),
    "leaves a child": ("if (fork() == 0) for (;;) pause(); return 0;", "within 2 s|address family"),
    "exits": ("_exit(3);", "ended with status 3"),
    "prints without end": ('for (;;) puts("x");', "within 2 s|ended with"),
    "listens nowhere": ("return 0;", "address family 0"),
}


def simulated(folder: Path, habit: str) -> Path:
    source, library = folder / "simulated.c", folder / "libnccl.so.2"
    source.write_text(SIMULATED.format(habit=habit))
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True, timeout=60)
    return library


def state(library: str) -> dict[str, object]:
    """What a proof could leave: processes with the library, mounts, files, a core.

    Only what could be ours: other programs mount things meanwhile.
    """
    holders = []
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            if library in maps.read_text():
                holders.append(maps)
        except OSError:
            continue
    return {
        "holders": holders,
        "mounts": [
            line
            for line in Path("/proc/self/mountinfo").read_text().splitlines()
            if line.split()[4].startswith("/etc") or "ibready" in line
        ],
        "temporary": sorted(os.listdir(tempfile.gettempdir())),
        "here": sorted(os.listdir(".")),
        "conf": os.path.lexists("/etc/nccl.conf"),
        "host": os.path.lexists("/etc/.host"),
    }


@pytest.fixture
def quiet_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory and a folder for temporary files of the test's own."""
    for name in ("temporary", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def test_a_proof_leaves_nothing(nccl: Nccl, quiet_place: Path) -> None:
    before = state(nccl.path)
    proof = prove(nccl.path, names=["NCCL_A"], etc={"nccl.conf": b"NCCL_A=1\n"}).value
    assert proof is not None
    assert proof.listener is not None
    assert state(nccl.path) == before
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    ports = [line.split()[1].split(":")[1] for line in lines]
    assert f"{proof.listener.port:04X}" not in ports


@pytest.mark.parametrize("habit", HABITS)
def test_a_library_that_misbehaves_is_ended_and_named(habit: str, quiet_place: Path, roots_folder: Path) -> None:
    code, why = HABITS[habit]
    library = simulated(roots_folder, code)
    before = state(str(library))
    begun = time.monotonic()
    proof = prove(str(library), timeout=2, etc={"nccl.conf": b""})
    assert time.monotonic() - begun < 10
    assert proof.value is None
    assert any(part in proof.why for part in why.split("|")), proof.why
    deadline = time.monotonic() + 5
    while state(str(library)) != before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert state(str(library)) == before


ASK = """
import sys
sys.path[:0] = {path!r}
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.proof import prove
print("ready", flush=True)
prove({library!r}, timeout=60)
"""


def test_the_child_ends_with_the_process_that_asked(quiet_place: Path, roots_folder: Path) -> None:
    library = simulated(roots_folder, HABITS["never returns"][0])
    before = state(str(library))
    code = ASK.format(path=sys.path, library=str(library))
    asking = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert asking.stdout is not None
    with asking.stdout:
        assert asking.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 20
        while state(str(library)) == before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert state(str(library))["holders"] != []
        asking.kill()
        asking.wait(10)
    deadline = time.monotonic() + 5
    while state(str(library))["holders"] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert state(str(library))["holders"] == []


LOGGING = b"NCCL_DEBUG=INFO\nNCCL_DEBUG_LEVELS=INFO\nNCCL_DEBUG_FILE=%s\n"


def test_the_log_of_a_running_job_is_left_as_it_is(nccl: Nccl, quiet_place: Path) -> None:
    log = quiet_place / "job.log"
    log.write_text("a line of the job\n")
    conf = LOGGING % str(log).encode()
    proof = prove(nccl.path, names=["NCCL_DEBUG", "NCCL_DEBUG_FILE"], etc={"nccl.conf": conf}).value
    assert proof is not None
    assert proof.values == {"NCCL_DEBUG": b"INFO", "NCCL_DEBUG_FILE": str(log).encode()}
    assert proof.taken["NCCL_DEBUG_LEVELS"] == b"INFO"
    assert any("Bootstrap" in line for line in proof.log)
    assert log.read_text() == "a line of the job\n"
    # A job that starts with this file does write over it.
    env = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": str(log)}
    code = "import ctypes, sys\nlibrary = ctypes.CDLL(sys.argv[1])\n"
    code += "library.ncclGetUniqueId(ctypes.create_string_buffer(128))\n"
    subprocess.run([sys.executable, "-c", code, nccl.path], env=env, check=True, timeout=60)
    assert "a line of the job" not in log.read_text()


def test_the_home_of_nobody_counts(nccl: Nccl) -> None:
    etc = {
        "passwd": b"root:x:0:0::/etc/none:/bin/sh\nnobody:x:65534:65534::/etc/home:/bin/sh\n",
        "nccl.conf": None,
        "home/.nccl.conf": b"NCCL_A=nobody\n",
    }
    env = {"HOME": "/etc/home"}
    proof = prove(nccl.path, env=env, etc=etc).value
    assert proof is not None
    assert proof.taken == {"NCCL_A": b"nobody"}
    assert any("Bootstrap" in line for line in proof.log)


def test_a_file_elsewhere_is_shown_in_the_place_of_etc_nccl_conf(nccl: Nccl, tmp_path: Path) -> None:
    conf = tmp_path / "candidate"
    conf.write_bytes(b"NCCL_A=1\nNCCL_SOCKET_IFNAME==lo\n")
    proof = prove(nccl.path, str(conf), ["NCCL_A"]).value
    assert proof is not None
    assert proof.values == {"NCCL_A": b"1"}
    assert proof.taken["NCCL_SOCKET_IFNAME"] == b"=lo"
    assert proof.listener is not None
    assert proof.listener.address == "127.0.0.1"
    assert proof.interface == "lo"
