# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys that the host's own dnf knows: it keeps those of each index beside the index.

They are asked for where they are missing: `dnf upgrade` stops at a question, and `dnf check-update`
in a script fails.
"""

from __future__ import annotations

import glob
import os
from typing import Callable, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._command import Output
from ansible_collections.ibready.cluster.plugins.module_utils._packages import files
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import Repository

# dnf names the folder by the repository and a digest of its address.
_DIGEST = "[0-9a-f]" * 16


def acquaint(
    dnf: Callable[[Sequence[str]], Output],
    root: str,
    repositories: Sequence[Repository],
    *,
    anew: bool,
) -> list[str]:
    """Have dnf read the indexes once, and so take the keys; a warning where it could not."""
    strange = [
        one.name for one in repositories if one.repo_gpgcheck and (anew or not _knows(root, one))
    ]
    if not strange:
        return []
    only = [f"--repo=ibready-{name}" for name in strange]
    if root != "/":
        # dnf looks for a key outside of its root.
        keys = {name: os.path.join(root, files.dnf_key(name).lstrip("/")) for name in strange}
        only += [f"--setopt=ibready-{name}.gpgkey=file://{key}" for name, key in keys.items()]
    if dnf(["--assumeyes", *only, "makecache"]).rc == 0:
        return []
    return [
        f"dnf could not read {', '.join(strange)} once more to remember their keys, and will ask"
        " for them; `dnf --assumeyes makecache` on the host tells why"
    ]


def _knows(root: str, repository: Repository) -> bool:
    place = f"var/cache/dnf/ibready-{repository.name}-{_DIGEST}/pubring"
    return bool(glob.glob(os.path.join(root, place)))
