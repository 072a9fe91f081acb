# SPDX-License-Identifier: GPL-3.0-or-later
"""The site's bundle (``stack_bundle``) as a source of packages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import check, layout
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle.layout import BundleError
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.install import Bundled

# Where a bundle of the controller lies on a node.
NODE_HOME = "/var/lib/ibready/bundle"


def bundled(given: str, key: object) -> Bundled:
    """The bundle that a site named, a folder of the controller or an address; BundleError."""
    pinned = layout.fingerprint(key)
    if layout.is_directory(given):
        home = Path(given).expanduser().absolute()
        address = f"file://{NODE_HOME}"
        return Bundled(address, f"{address}/{layout.KEY}", pinned, str(home))
    address = given.rstrip("/")
    return Bundled(address, f"{address}/{layout.KEY}", pinned)


def see(bundle: Bundled, wanted: Mapping[str, str]) -> None:
    """Verify a bundle of the controller (`check`); BundleError says that nothing was changed."""
    try:
        check.check(Path(bundle.directory), bundle.fingerprint, wanted)
    except BundleError as exc:
        raise BundleError(f"{exc}. Nothing was changed on any host.") from None
    except OSError as exc:
        raise BundleError(
            f"bundle {bundle.directory} cannot be read: {exc}. Nothing was changed on any host. "
            "Next: see that the user who runs Ansible may read it"
        ) from None
