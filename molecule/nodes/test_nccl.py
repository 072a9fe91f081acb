# SPDX-License-Identifier: GPL-3.0-or-later
"""The NCCL of a converged node is a real library, of the locked release; so is a wheel's."""

from __future__ import annotations

import os
import re
import shlex
from typing import Any

import pytest
from testinfra.host import Host

from sandbox import config
from sandbox.vendor import build
from sandbox.vendor.nccl import copy, wheel

BOX = config.sandbox(os.environ["IBREADY_SANDBOX_NAME"], os.environ["IBREADY_SANDBOX_SUBNET"])
PLACE = "/opt/ibready-test-environment"
# What a program of a job does first; result 0 is success.
ASK = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
version = ctypes.c_int()
library.ncclGetVersion(ctypes.byref(version))
print(version.value, library.ncclGetUniqueId(ctypes.create_string_buffer(128)))
"""

# What it finds in its environment afterwards; nothing but /etc/nccl.conf put it there.
TAKEN = """
import ctypes, sys
library, libc = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(None)
library.ncclGetUniqueId(ctypes.create_string_buffer(128))
libc.getenv.restype = ctypes.c_char_p
for name in (b"NCCL_IB_HCA", b"NCCL_SOCKET_IFNAME"):
    print((libc.getenv(name) or b"not set").decode())
"""


def ask(node: Host, library: str) -> tuple[int, ...]:
    """The release that the library says it is, and what its bootstrap answers."""
    code, result = map(int, node.check_output(f"python3 -c {shlex.quote(ASK)} {library}").split())
    return code // 10000, code // 100 % 100, code % 100, result


def test_a_job_finds_the_locked_release_and_it_answers(node: Host, stack: dict[str, Any]) -> None:
    cached = re.findall(r"libnccl\.so\.2 .* => (\S+)", node.check_output("ldconfig -p"))
    assert len(cached) == 1
    with node.sudo("ops"):
        assert ask(node, "libnccl.so.2") == (*wheel.number(stack["nccl"]["version"]), 0)


def test_a_job_gets_the_rails_and_the_interface_to_the_others(node: Host) -> None:
    rails = node.check_output("ls /sys/class/infiniband").split()
    others = (BOX.address(name) for name in config.NODES)
    routes = [node.check_output(f"ip -o route get {one}") for one in others]
    ways = {words[words.index("dev") + 1] for words in map(str.split, routes)} - {"lo"}
    with node.sudo("ops"):
        reported = node.check_output(f"python3 -c {shlex.quote(TAKEN)} libnccl.so.2").splitlines()
    assert reported == [f"={','.join(rails)}", *(f"={way}" for way in ways)]


def test_it_says_what_was_taken_out_of_it(node: Host) -> None:
    (file,) = node.check_output("ls /usr/share/doc/libnccl*/SIMULATED | grep -v -- -dev").split()
    assert "not byte for byte" in node.file(file).content_string


@pytest.fixture
def other(node: Host, stack: dict[str, Any]) -> Any:
    """The library of an environment with another release than the host's, and that release."""
    published = set(build.libraries("deb"))
    version = min(published - {stack["nccl"]["version"]}, key=wheel.number)
    name = node.check_output("hostname")
    yield copy.put(BOX, name, version, PLACE), version
    copy.remove(BOX, name, PLACE)


def test_an_environment_may_have_a_release_of_its_own(node: Host, other: tuple[str, str]) -> None:
    library, version = other
    assert ask(node, library) == (*wheel.number(version), 0)
