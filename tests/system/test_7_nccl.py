# SPDX-License-Identifier: GPL-3.0-or-later
"""Mistakes in /etc/nccl.conf: named with what NCCL makes of them, mended by a converge.

The library on the nodes is NCCL's own, without its GPU code.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

import pytest

from tests import cases
from tests.system.conftest import Box, said

NODES = ("node1", "node2", "node3")
CONF = "/etc/nccl.conf"


@dataclass(frozen=True)
class Mistake:
    """``lines``, put ahead of what ibready wrote. ``check`` has to fail and to say ``told``."""

    lines: str
    told: str
    check: str = "nccl.conf.lines"

    @property
    def variable(self) -> str:
        return self.lines.partition("=")[0].strip().removeprefix("export ")


LONG = "v" * 1100
NEVER = "no release reads it; next: leave it out; use"
MISTAKES = (
    Mistake("NCCL_IB_TIMEOUT = 22", "NCCL sets a variable called 'NCCL_IB_TIMEOUT '"),
    Mistake('NCCL_IB_TIMEOUT="22"', "quotes are part of the value: NCCL reads"),
    Mistake("export NCCL_IB_TIMEOUT=22", "called 'export NCCL_IB_TIMEOUT', which nothing reads"),
    Mistake("NCCL_ALGO=Ring # for now", "all of it is the value"),
    Mistake("NCCL_ALGO=Ring\nNCCL_ALGO=Tree", "the first line holds, 'Ring'"),
    Mistake(f"NCCL_TOPO_DUMP_FILE=/{LONG}", "NCCL cuts it there without a word"),
    Mistake("NCCL_IB_GID_INDEX=0,3,5,7", "NCCL reads 0"),
    Mistake("NCCL_IB_QPS_PER_CONNECTION=true", "NCCL reads 0"),
    Mistake("NCCL_IB_SPLIT_DATA_ON_QPS=yes", "NCCL reads 0"),
    Mistake("NCCL_IB_HCA==ibsim0,=ibsim1", "a sign holds for the whole list"),
    Mistake("NCCL_SOCKET_IFNAME=^docker,^lo", "a sign holds for the whole list"),
    Mistake("NCCL_IB_HCA=ibsim0, ibsim1", "no device is called so"),
    Mistake("NCCL_SOCKET_IFNAME=^ib", "lo comes first: other hosts cannot be reached"),
    Mistake("NCCL_SOCKET_IFNAME=^ib", "lo, 127.0.0.1, expected eth0", "nccl.bootstrap.address"),
    Mistake("NCCL_NCHANNELS=8", f"{NEVER} NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS"),
    Mistake("NCCL_CHUNKSIZE=4194304", f"{NEVER} NCCL_BUFFSIZE"),
    Mistake("NCCL_MIN_NCHANNELS_BEFORE_SWITCH=4", f"{NEVER} NCCL_MIN_NCHANNELS, if"),
    Mistake(
        "NCCL_IB_CUDA_SUPPORT=1",
        "no release after 2.3.7 reads it; next: use NCCL_NET_GDR_LEVEL instead",
    ),
    Mistake("NCCL_IB_DISABLE=1", "all traffic goes over TCP", "nccl.conf.harm"),
    Mistake("NCCL_IB_HCA==ibsim0", "expected =ibsim0,ibsim1", "nccl.conf.derived"),
    Mistake("NCCL_NET=Socket", "NCCL uses TCP and no HCA", "nccl.conf.harm"),
)
FILES = 6  # two rounds over three nodes


def _files() -> list[list[Mistake]]:
    """Several mistakes to a file, none of two in one variable: a converge takes its time."""
    found: list[list[Mistake]] = [[] for _ in range(FILES)]
    for one in MISTAKES:
        free = [some for some in found if one.variable not in {other.variable for other in some}]
        min(free, key=len).append(one)
    return found


ROUNDS = [_files()[at : at + len(NODES)] for at in range(0, FILES, len(NODES))]
CONVERGE = ("playbooks/converge.yml", "--tags", "nccl_conf,nccl_proof")


def plant(box: Box, node: str, lines: str) -> None:
    text = shlex.quote(f"{lines}\n")
    box.root(node, f"printf %s {text} > /root/new; cat {CONF} >> /root/new; mv /root/new {CONF}")


def by_node(text: str) -> dict[str, str]:
    """What an ad hoc call printed of each node."""
    parts = re.split(r"^(\w+) \| (?:SUCCESS|FAILED)", text, flags=re.MULTILINE)
    return {name: said(part) for name, part in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.mark.parametrize("files", cases.daily(ROUNDS), ids=lambda some: f"round {ROUNDS.index(some) + 1}")
def test_mistakes_are_named_and_a_converge_mends_them(ready: Box, files: list[list[Mistake]]) -> None:
    for node, mistakes in zip(NODES, files, strict=True):
        plant(ready, node, "\n".join(one.lines for one in mistakes))
    reported = by_node(ready.adhoc("all", "-m", "ncclverify").stdout)
    for node, mistakes in zip(NODES, files, strict=True):
        assert '"verdict": "not_ready"' in reported[node]
        for one in mistakes:
            assert f"{one.check} " in reported[node]
            assert one.told in reported[node], (one, reported[node])
    done = ready.playbook(*CONVERGE)
    assert done.returncode == 0, done.stdout
    for node, mistakes in zip(NODES, files, strict=True):
        # Of two lines the first was right; it is taken out by hand.
        left = ready.root(node, f"cat {CONF}; sed -i '/^NCCL_ALGO=Ring$/d' {CONF}").splitlines()
        assert [one.lines for one in mistakes if one.lines.split("\n")[-1] in left] == []
    done = ready.adhoc("all", "-m", "ncclverify")
    assert done.returncode == 0, done.stdout


@pytest.mark.thorough
def test_the_next_converge_changes_nothing(ready: Box) -> None:
    before = [ready.root(node, f"cat {CONF}; ls /etc") for node in NODES]
    done = ready.playbook(*CONVERGE)
    assert done.returncode == 0, done.stdout
    assert "changed=1" not in done.stdout
    assert [ready.root(node, f"cat {CONF}; ls /etc") for node in NODES] == before


@pytest.mark.thorough
def test_a_line_that_somebody_wrote_well_stays(ready: Box) -> None:
    plant(ready, "node1", "# mine\nNCCL_ALGO=Ring")
    try:
        done = ready.playbook(*CONVERGE)
        assert done.returncode == 0, done.stdout
        assert ready.root("node1", f"head -n 2 {CONF}") == "# mine\nNCCL_ALGO=Ring\n"
    finally:
        ready.root("node1", f"sed -i '/^# mine$/d; /^NCCL_ALGO=Ring$/d' {CONF}")


@pytest.mark.thorough
def test_what_goes_before_the_file_is_shown(ready: Box) -> None:
    """A user's own file, a variable of every job, and the copy of NCCL in a Python environment."""
    library = "/usr/lib/x86_64-linux-gnu/libnccl.so.2"
    wheel = "/home/ada/venv/lib/python3.12/site-packages/nvidia/nccl/lib"
    ready.root(
        "node1",
        "mkdir -p /home/ada; echo NCCL_IB_DISABLE=1 > /home/ada/.nccl.conf; "
        "echo NCCL_DEBUG=INFO >> /etc/environment; "
        f"mkdir -p {wheel}; cp -L {library} {wheel}/libnccl.so.2",
    )
    try:
        done = ready.adhoc("node1", "-m", "ncclverify", "-a", "answer=all")
        text = said(done.stdout)
        assert '"verdict": "degraded"' in text
        assert "/home/ada/.nccl.conf (ada)" in text
        assert "NCCL_DEBUG=INFO in /etc/environment" in text
        assert f"in {wheel}" in text
    finally:
        ready.root("node1", "rm -r /home/ada; sed -i '/NCCL_DEBUG/d' /etc/environment")


@pytest.mark.thorough
def test_no_users_home_is_part_of_the_proof(ready: Box) -> None:
    """The library is asked as nobody; ~/.nccl.conf of root is named like that of any user."""
    ready.root("node1", "echo NCCL_SOCKET_IFNAME=lo > /root/.nccl.conf")
    try:
        text = said(ready.adhoc("node1", "-m", "ncclverify", "-a", "answer=all").stdout)
        assert "NCCL took NCCL_SOCKET_IFNAME=lo" not in text
        assert "/root/.nccl.conf (root)" in text
    finally:
        ready.root("node1", "rm /root/.nccl.conf")
