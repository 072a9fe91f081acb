# SPDX-License-Identifier: GPL-3.0-or-later
"""The containers that tests run in: which engine, which image, and that none is left."""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict
from typing import Any, Mapping

from ansible_collections.ibready.cluster.plugins.module_utils._command import Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._data.rdma_tests import (
    PROGRAMS,
    ROOT,
    USER,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import last_word
from ansible_collections.ibready.cluster.plugins.module_utils._probe import engine, image
from ansible_collections.ibready.cluster.plugins.module_utils._probe.engine import Engine
from ansible_collections.ibready.cluster.plugins.module_utils._probe.wish import Wish
from ansible_collections.ibready.cluster.plugins.module_utils._rdma.place import (
    ASK,
    SERVE,
    Place,
)

# In the name of an image that is made here, so that nobody else's is taken for it.
_TAG = "rdma"
_TOOLS = ("ibv_devinfo", "timeout")
# rping ends its threads (pthread_exit), for which glibc loads this one; it aborts without.
_LOADED = ("libgcc_s.so.1",)


class NoContainers(Exception):
    """No container can be started; ``kind``: "no engine" where none is installed."""

    def __init__(self, why: str, kind: str = "") -> None:
        super().__init__(why)
        self.kind = kind


def ready(wish: Wish, made: Mapping[str, Any]) -> tuple[Engine, str, dict[str, Any]]:
    """The engine, an image that it has, and what is to be remembered so that it can go again.

    ``made``: what was remembered. Raises NoContainers.
    """
    try:
        found = engine.find(wish.engine)
        if wish.image:
            found = engine.elsewhere(found, wish.image)
            if not found.has(wish.image):
                _pull(found, wish)
            return found, wish.image, {"engine": asdict(found), "image": ""}
        name = str(made.get("image") or "")
        if not name or not found.has(name):
            name = _make(found)
        return found, name, {"engine": asdict(found), "image": name}
    except engine.NoEngine as exc:
        raise NoContainers(f"no container engine on this host: {exc}", "no engine") from exc
    except Unavailable as exc:
        raise NoContainers(f"no container can be started: {exc}") from exc


def places(side: str, found: Engine, name: str, wish: Wish) -> dict[str, Place]:
    """A container as root and one as another user, by where."""
    return {where: Place(where, side, found, name, wish) for where in (ROOT, USER)}


def remove(made: Mapping[str, Any], *, image_too: bool) -> None:
    """Remove our containers, running or not, and the image that was made here."""
    if not made.get("engine"):
        return
    found = Engine(**made["engine"])
    for side in (SERVE, ASK):
        for where in (ROOT, USER):
            found.remove(Place(where, side).name)
    if image_too and made.get("image"):
        found.forget(str(made["image"]))


def _pull(found: Engine, wish: Wish) -> None:
    if not wish.pull:
        raise Unavailable(wish.image, "not on this host, and nobody allowed it to be pulled")
    done = found.pull(wish.image)
    if done.rc:
        raise Unavailable(wish.image, f"not pulled: {last_word(done.stdout, done.stderr)}")


def _make(found: Engine) -> str:
    """The tiny image of containerverify, with the programs that move data."""
    tree = image.gather((*_TOOLS, *(one.name for one in PROGRAMS.values())), _LOADED)
    with tempfile.TemporaryDirectory(prefix="ibready-") as folder:
        archive = os.path.join(folder, "image.tar")
        name = image.write(tree, archive, _TAG, os.uname().machine)
        if found.has(name):
            return name
        done = found.load(archive)
    if done.rc or not found.has(name):
        found.forget(name)
        raise Unavailable(name, f"not loaded: {last_word(done.stdout, done.stderr)}")
    return name
