# SPDX-License-Identifier: GPL-3.0-or-later
"""What ncclverify says of a host whose library did this: the library's word as its evidence.

Everything around NCCL is a simulated node of the gauntlet; nothing of it bears on these answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl import library
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.library import Library
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.proof import Proof
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.query import Query, to_text
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from tests.gauntlet import render

CONF = "/etc/nccl.conf"
# The rows use names that no release knows; what is asked here is what becomes of their values.
_MADE_UP = ("NCCL_A", "NCCL_B", "NCCL_C")


@cache
def _library(path: str) -> Library:
    found = library.inspect(path)
    return replace(found, names=found.names | set(_MADE_UP))


def of(
    path: str,
    proof: Proof,
    conf: bytes | None,
    interfaces: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[list[Check], dict[str, Any]]:
    """The checks of the area nccl, and its facts. ``interfaces``: the host's, with addresses."""
    tree = render.render(render.node("hgx-h100-8"))
    tree.remove(CONF)
    if conf is not None:
        tree.file(CONF, conf)
    if interfaces is not None:
        tree.command("ip_addr", json.dumps([_interface(*one) for one in interfaces.items()]))
    tree.command("nccl_proof", to_text(Query(Reading(_library(path)), Reading(proof))))
    judged = _verify.verify(tree, from_inventory({"link_layer": "InfiniBand"}), ["nccl"])
    return judged.checks, judged.facts["nccl"]


def results(checks: list[Check], check_id: str) -> set[str]:
    """How this check ended."""
    return {one.result for one in checks if one.id == check_id}


def as_meant(text: bytes) -> dict[str, bytes]:
    """What a person means by a file's text: names and values without what stands around them, of
    one name twice the last."""
    found: dict[str, bytes] = {}
    for line in text.decode("utf-8", "surrogateescape").split("\n"):
        plain = line.strip().removeprefix("\ufeff")
        name, equals, value = plain.partition("=")
        if plain.startswith("#") or not equals or not name.split():
            continue
        value = value.partition(" #")[0].strip().strip("\"'")
        found[name.split()[-1]] = value.encode("utf-8", "surrogateescape")
    return found


def _interface(name: str, addresses: tuple[str, ...]) -> dict[str, Any]:
    reported = [one.partition("/") for one in addresses]
    return {
        "ifname": name,
        "flags": ["UP", "LOWER_UP", *(["LOOPBACK"] if name == "lo" else [])],
        "mtu": 1500,
        "link_type": "loopback" if name == "lo" else "ether",
        "addr_info": [
            {
                "family": "inet6" if ":" in address else "inet",
                "local": address,
                "prefixlen": int(length),
                "scope": "host" if name == "lo" else "global",
            }
            for address, _slash, length in reported
        ],
    }
