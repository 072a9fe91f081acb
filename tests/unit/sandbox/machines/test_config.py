# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and addresses of a pair: nothing of one pair can be taken for another's."""

from __future__ import annotations

import pytest

from sandbox.errors import SandboxError
from sandbox.machines.config import MACHINES, known_as, machine, pair

BOX = pair("ibready-test", "198.18.90")


def test_every_machine_has_addresses_of_its_own() -> None:
    assert [BOX.address(name) for name in MACHINES] == ["198.18.90.11", "198.18.90.12"]
    assert [BOX.door(name) for name in MACHINES] == ["127.18.90.11", "127.18.90.12"]


def test_pairs_on_two_subnets_share_no_door() -> None:
    other = pair("ibready-other", "198.18.91")
    assert not {BOX.door(m) for m in MACHINES} & {other.door(m) for m in MACHINES}


def test_known_hosts_names_the_port() -> None:
    assert known_as(BOX, "vm2") == "[127.18.90.12]:2222"


@pytest.mark.parametrize(("name", "subnet"), [("A b", "198.18.90"), ("ok", "198.18"), ("ok", "x")])
def test_what_cannot_be_a_name_or_a_network_is_refused(name: str, subnet: str) -> None:
    with pytest.raises(SandboxError):
        pair(name, subnet)


def test_an_unknown_machine_is_refused() -> None:
    with pytest.raises(SandboxError, match="vm1 or vm2"):
        machine("vm3")
