# SPDX-License-Identifier: GPL-3.0-or-later
"""Which versions of packages a host could have now, by the package lists that it has; nothing is fetched."""

from __future__ import annotations

import os
from typing import Sequence

from . import apt_text
from .run import Runner

_APT = "usr/bin/apt-cache"


def offered(run: Runner, names: Sequence[str], root: str = "/") -> dict[str, list[str]]:
    """Names to versions, the best first, [] for what no list has; {} where there is no apt to ask."""
    if not names or not os.path.exists(os.path.join(root, _APT)):
        return {}
    done = run(["apt-cache", "madison", *sorted(names)])
    if done.rc != 0:
        return {}
    found = apt_text.versions(done.stdout)
    return {name: list(found.get(name, ())) for name in names}
