# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes as they were: saved as images once they are converged, and back from them in seconds.

A saved sandbox lasts as long as its state directory: `up` and `down` take it away. What is in memory alone, like loaded
modules and running parameters, comes back as after a reboot; what container engines stored does not come back.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sandbox import keys, lifecycle, parcel, podman, purpose, record
from sandbox.config import NODES, Sandbox
from sandbox.errors import SandboxError
from sandbox.steps import Say, locked, step
from sandbox.vendor import sandboxed as vendor


def is_saved(box: Sandbox) -> bool:
    return box.saved.is_dir()


def save(box: Sandbox, say: Say) -> None:
    """Keep the nodes as they are, and the files of the state; in place of what was saved before."""
    with locked(box):
        missing = set(box.containers) - set(podman.present(box, "container"))
        if missing:
            raise SandboxError(f"{', '.join(sorted(missing))} is not there: `python -m sandbox up` first")
        if record.active(box):
            raise SandboxError("a broken sandbox is not saved: `python -m sandbox heal` first")
        shutil.rmtree(box.saved, ignore_errors=True)
        with step(say, f"{box.name} is saved"), ThreadPoolExecutor() as pool:
            list(pool.map(lambda node: _commit(box, node), NODES))
            fresh = box.saved.with_name("saved.new")
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir()
            for file in _files(box.state):
                # Who may log in is settled anew at each restore.
                if file.stem != box.private_key.name:
                    shutil.copy2(file, fresh)
            # In place only when it is whole.
            fresh.rename(box.saved)


def restore(box: Sandbox, say: Say) -> None:
    """Make the nodes anew from what was saved, whatever became of them."""
    begun = time.monotonic()
    purpose.asked()
    with locked(box):
        if not is_saved(box):
            raise SandboxError(f"{box.name} was not saved: `python -m sandbox save` while it is up and well")
        node_image, fabric = json.loads((box.saved / "sandbox.json").read_text())["images"]
        try:
            with step(say, "remove what was left"):
                podman.remove(box)
                spoilt = bool(record.active(box))
                # The key stays until it is made anew: by it a state directory is known to be one.
                for file in _files(box.state):
                    if file != box.private_key:
                        file.unlink()
                for file in _files(box.saved):
                    shutil.copy2(file, box.state)
                if spoilt:
                    vendor.refresh(box, node_image, say)
                lifecycle.make_network(box)
            login = parcel.for_saved_node(keys.for_operator(box))
            tags = {node: box.saved_image(node) for node in NODES}
            lifecycle.run_nodes(box, fabric, tags, dict.fromkeys(NODES, login), say)
        except BaseException:
            # What was saved stays; half a sandbox is of no use to anybody.
            with contextlib.suppress(SandboxError):
                podman.remove(box)
            raise
    say(f"{box.name} is back {time.monotonic() - begun:31.1f} s")


def _commit(box: Sandbox, node: str) -> None:
    podman.run(["exec", box.container(node), "sync"])
    podman.run(["commit", "--quiet", box.container(node), box.saved_image(node)], timeout=300)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file()]
