# SPDX-License-Identifier: GPL-3.0-or-later
"""Which package manager a host's snapshots are of."""

from __future__ import annotations

import os

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import PackageError
from ansible_collections.ibready.cluster.plugins.modules import stack_snapshot

RED_HAT, DNF, APT = "/etc/redhat-release", "/usr/bin/dnf", "/usr/bin/apt-get"


@pytest.mark.parametrize(
    ("there", "kind"),
    [
        ({RED_HAT, DNF}, "SnapshotDnf"),
        ({RED_HAT, DNF, APT}, "SnapshotDnf"),
        ({APT}, "SnapshotApt"),
        ({APT, DNF}, "SnapshotApt"),
        ({RED_HAT, APT}, ""),
        ({RED_HAT}, ""),
        ({DNF}, ""),
        (set(), ""),
    ],
)
def test_the_distribution_s_own_package_manager_counts(
    there: set[str], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os.path, "exists", lambda path: path in there)
        try:
            found = type(stack_snapshot.pool_here()).__name__
        except PackageError:
            found = ""
    assert found == kind
