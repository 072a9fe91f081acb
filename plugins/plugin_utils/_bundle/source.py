# SPDX-License-Identifier: GPL-3.0-or-later
"""The site's bundle (``stack_bundle``) as a source of packages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ...module_utils._act.packages import openpgp
from .._plan.plan.install import Bundled
from . import check, gpg, layout
from .layout import BundleError

# Where a bundle of the controller lies on a node.
NODE_HOME = "/var/lib/ibready/bundle"


def bundled(given: str, key: object) -> Bundled:
    """The bundle that a site named, a folder of the controller or an address; BundleError."""
    pinned = layout.fingerprint(key)
    if layout.is_directory(given):
        home = Path(given).expanduser().absolute()
        return Bundled(f"file://{NODE_HOME}", pinned, str(home))
    return Bundled(given.rstrip("/"), pinned)


def see(bundle: Bundled, wanted: Mapping[str, str]) -> Bundled:
    """The bundle with its key; BundleError says that nothing was changed.

    Of a folder, `check` verifies all that is used, the key with it; of an address, which the nodes
    read, gpg of the controller has the key.
    """
    try:
        if bundle.directory:
            check.check(Path(bundle.directory), bundle.fingerprint, wanted)
            key = Path(bundle.directory, layout.KEY).read_bytes()
        else:
            key = gpg.public(bundle.fingerprint)
    except BundleError as exc:
        raise BundleError(f"{exc}. Nothing was changed on any host.") from None
    except OSError as exc:
        raise BundleError(
            f"bundle {bundle.directory} cannot be read: {exc}. Nothing was changed on any host. "
            "Next: see that the user who runs Ansible may read it"
        ) from None
    return replace(bundle, public_key=openpgp.armored(openpgp.binary(key)))
