# SPDX-License-Identifier: GPL-3.0-or-later
"""Have DKMS build a module again."""

from __future__ import annotations

from typing import Callable

from ansible_collections.ibready.cluster.plugins.module_utils._packages.dkms import DkmsModule
from ansible_collections.ibready.cluster.plugins.module_utils._packages.run import Runner

# Builds a module for a kernel; whether it is there afterwards is for the caller to see.
Builder = Callable[[DkmsModule, str], None]


def builder(run: Runner) -> Builder:
    """`dkms install --force` alone would install what was built before, so it is built first."""

    def build(module: DkmsModule, kernel: str) -> None:
        words = ["-m", module.name, "-v", module.version, "-k", kernel, "--force"]
        run(["dkms", "build", *words])
        run(["dkms", "install", *words])

    return build
