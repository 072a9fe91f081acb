# SPDX-License-Identifier: GPL-3.0-or-later
"""What the site may say of containers."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import (
    ExpectationError,
    from_inventory,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._container_desired import (
    NOBODY,
    Desired,
    DesiredError,
    from_text,
    read,
)

FULL: dict[str, Any] = {
    "engine": "podman",
    "image": "registry.example.com:5000/team/train@sha256:00ff",
    "pull": True,
    "network": "rdma-net",
    "devices": ["/dev/infiniband/uverbs0", "ibready.io/rdma=all", "nvidia.com/gpu=0:1"],
    "options": ["--ulimit=memlock=-1", "--env=A=b c"],
    "user": 2001,
}


def test_nothing_said_is_the_found_engine_and_an_image_of_our_own() -> None:
    assert read({}) == Desired(engine="", image="", network="host", user=NOBODY)


def test_a_wish_survives_its_way_to_who_asks() -> None:
    assert from_text(read(FULL).to_text()) == read(FULL)
    assert from_text("{}") == Desired()


def test_the_inventorys_word_is_a_wish() -> None:
    said = from_inventory({"container": FULL}).get("container")
    assert said is not None
    assert (said.value, said.source) == (read(FULL), "inventory")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("engine", "lxc"),
        ("image", "-v"),
        ("image", "a b"),
        ("image", "Train"),
        ("image", ["a"]),
        ("pull", "yes"),
        ("network", "--privileged"),
        ("network", ""),
        ("devices", "/dev/infiniband"),
        ("devices", ["--privileged"]),
        ("devices", ["/etc/passwd"]),
        ("options", "--rm"),
        ("options", ["--a\n--b"]),
        ("options", [""]),
        ("user", 0),
        ("user", True),
        ("user", "nobody"),
        ("images", "x"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_key(key: str, value: Any) -> None:
    with pytest.raises(DesiredError, match=key):
        read({key: value})
    with pytest.raises(ExpectationError, match=rf"expect\.container\.{key}"):
        from_inventory({"container": {key: value}})
