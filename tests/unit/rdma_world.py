# SPDX-License-Identifier: GPL-3.0-or-later
"""A host on which data seems to be moved over RDMA: stand-ins for systemd, docker and the programs.

The programs' stand-ins really meet by TCP and print what real ones print; nothing here has to do
with RDMA. What they do besides is in the file ``faults``: ``PROGRAM SIDE WORDS...`` a line.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.rdma import containers, node

_SYSTEMD_RUN = """
import os, subprocess, sys
words = sys.argv[1:]
cut = next(at for at, one in enumerate(words) if not one.startswith("--"))
options, argv = words[:cut], words[cut:]
unit = next(one for one in options if one.startswith("--unit=")).partition("=")[2]
open(STATE + "/started", "a").write(" ".join(words) + chr(10))
if "--wait" in options:
    done = subprocess.run(argv)
    result = "exit-code" if done.returncode else "success"
    sys.stderr.write("Running as unit: x" + chr(10) + "Finished with result: " + result + chr(10))
    sys.exit(done.returncode)
child = subprocess.Popen(argv, start_new_session=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
open(STATE + "/units/" + unit, "w").write(str(child.pid))
"""
_SYSTEMCTL = """
import os, signal, sys
folder = STATE + "/units/"
def pid(unit):
    try:
        return int(open(folder + unit).read())
    except OSError:
        return 0
def alive(unit):
    number = pid(unit)
    if not number:
        return False
    try:
        return open(f"/proc/{number}/stat").read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
what, units = sys.argv[1], [one for one in sys.argv[2:] if not one.startswith("--")]
if what == "list-units":
    print("".join(f"{one} loaded active running x" + chr(10) for one in sorted(os.listdir(folder))
                  if alive(one)))
elif what == "is-active":
    print("active" if alive(units[0]) else "inactive")
    sys.exit(0 if alive(units[0]) else 3)
elif what == "stop":
    for one in units:
        # All of its session, as systemd ends all of a control group: timeout(1) leaves its group.
        for name in filter(str.isdigit, os.listdir("/proc")) if alive(one) else ():
            try:
                if os.getsid(int(name)) == pid(one):
                    os.kill(int(name), signal.SIGKILL)
            except OSError:
                continue
"""
_DOCKER = """
import json, os, subprocess, sys, tarfile
images = STATE + "/images"
words = sys.argv[1:]
open(STATE + "/docker", "a").write(" ".join(words[:3]) + chr(10))
have = open(images).read().split() if os.path.exists(images) else []
if words[0] == "version":
    print("27.0.3")
elif words[:2] == ["image", "inspect"]:
    sys.exit(0 if words[2] in have else 1)
elif words[0] == "load":
    with tarfile.open(words[2]) as archive:
        name = json.load(archive.extractfile("manifest.json"))[0]["RepoTags"][0]
    open(images, "a").write(name + " ")
elif words[0] == "rmi":
    open(images, "w").write(" ".join(one for one in have if one != words[2]))
elif words[0] == "run":
    entry = next(one for one in words if one.startswith("--entrypoint=")).partition("=")[2]
    user = next(one for one in words if one.startswith("--user=")).partition("=")[2]
    inside = words[words.index("-c"):]
    os.environ["SIDE"] = "root" if user == "0:0" else "user"
    sys.exit(subprocess.run([entry, *inside]).returncode)
"""
_PROGRAM = """
import os, socket, sys, time
NAME = os.path.basename(sys.argv[0])
words = sys.argv[1:]
port = int(words[words.index("-p") + 1])
if NAME == "rping":
    serves, to = "-s" in words, words[words.index("-a") + 1]
else:
    serves, to = "." not in words[-1], words[-1]
side = "server" if serves else "client"
where = os.environ.get("SIDE", "host")
for line in open(STATE + "/faults"):
    program, at, *rest = line.split()
    if program == NAME and at in (side, f"{where}-{side}"):
        text = " ".join(rest)
        if text == "hang":
            time.sleep(60)
        print(text, file=sys.stderr)
        sys.exit(1)
if serves:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(1)
    other = listener.accept()[0]
    other.recv(10)
else:
    for _ in range(100):
        try:
            other = socket.create_connection(("127.0.0.1", port), 5)
            break
        except OSError:
            if NAME != "rping":
                print(f"Couldn't connect to {to}:{port}", file=sys.stderr)
                sys.exit(1)
            time.sleep(0.05)
    other.sendall(b"x")
if NAME == "ibv_rc_pingpong":
    print("131072 bytes in 0.10 seconds = 10.49 Mbit/sec")
    print("20 iters in 0.10 seconds = 5000.00 usec/iter")
elif NAME == "rping":
    for at in range(int(words[words.index("-C") + 1])):
        print(f"{'server ' if serves else ''}ping data: rdma-ping-{at}: ABC")
elif not serves and NAME == "ib_write_bw":
    print(" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]")
    print(" 65536      40             0.02               0.02                 0.000047")
elif not serves:
    print(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]")
    print(" 2       100          219.24         1190.92      619.80           756.73")
"""
PROGRAMS = ("ibv_rc_pingpong", "ib_send_lat", "ib_write_bw", "rping")


class World:
    """The folder of the stand-ins' state, and what to plant."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"

    def fault(self, program: str, side: str, words: str) -> None:
        """From now on this program's ``side`` (client, server, root-client ...) says these words
        and fails, or hangs."""
        with (self.folder / "faults").open("a") as stream:
            stream.write(f"{program} {side} {words}\n")

    def told(self, name: str) -> str:
        """What a stand-in wrote down."""
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def without(self, program: str) -> None:
        (self.bin / program).unlink()

    def program(self, name: str, source: str) -> None:
        path = self.bin / name
        path.write_text(f"#!{sys.executable} -IS\nSTATE = {str(self.folder)!r}\n{source}")
        path.chmod(0o755)


def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A host with all of it, on PATH before anything else."""
    world = World(tmp_path)
    world.bin.mkdir()
    (tmp_path / "units").mkdir()
    (tmp_path / "faults").touch()
    for name, source in (
        ("systemd-run", _SYSTEMD_RUN),
        ("systemctl", _SYSTEMCTL),
        ("docker", _DOCKER),
        *((one, _PROGRAM) for one in PROGRAMS),
    ):
        world.program(name, source)
    monkeypatch.setenv("PATH", f"{world.bin}:{os.environ['PATH']}")
    monkeypatch.setattr(containers, "FOLDER", str(tmp_path / "run"))
    monkeypatch.setattr(node, "FOLDER", str(tmp_path / "run"))
    monkeypatch.setattr(node, "_STATE", str(tmp_path / "run/state.json"))
    monkeypatch.setattr(node, "FIRST_S", 0.3)
    monkeypatch.setattr(node, "_READY_S", 8.0)
    return world
