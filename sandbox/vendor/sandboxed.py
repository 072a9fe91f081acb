# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated vendor repositories of one sandbox: made, spoilt for a test, and put back."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from sandbox.config import Sandbox
from sandbox.vendor import build, publish
from sandbox.vendor.catalog import Kind

Say = Callable[[str], None]


def kind(box: Sandbox) -> Kind:
    """Return what the nodes' package manager reads."""
    return "rpm" if box.system == "el" else "deb"


def prepare(box: Sandbox, image: str, say: Say) -> str:
    """Make keys and repositories below the state directory; return the archive's public key."""
    box.vendor.mkdir(parents=True, exist_ok=True)
    known = publish.keys(box.vendor_keys)
    build.install(kind(box), image, box.vendor, say)
    publish.publish(kind(box), box.vendor, box.vendor_keys)
    publish.write_repositories(box.repositories, box.fabric_address, known)
    return known["os"].public


def refresh(box: Sandbox, image: str, say: Say) -> None:
    """Lay the repositories there again, whatever became of them; the keys stay."""
    fresh = box.state / "vendor.new"
    shutil.rmtree(fresh, ignore_errors=True)
    build.install(kind(box), image, fresh, say)
    publish.publish(kind(box), fresh, box.vendor_keys)
    # The folder itself is mounted in the fabric container: only what is in it is exchanged.
    for old in box.vendor.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    for new in fresh.iterdir():
        new.rename(box.vendor / new.name)
    fresh.rmdir()
