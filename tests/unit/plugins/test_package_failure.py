# SPDX-License-Identifier: GPL-3.0-or-later
"""What apt and dnf said on real systems, and what the filter package_failure makes of it."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import package_failure


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        # apt 3.0 by ansible.builtin.apt, Debian 13.
        pytest.param(
            "'/usr/bin/apt-get -y install rdma-core' failed: E: Unable to acquire the dpkg"
            " frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?",
            "lock",
            id="dpkg's lock is held",
        ),
        pytest.param(
            "Failed to lock apt for exclusive operation: Failed to lock directory"
            " /var/lib/apt/lists/: E:Could not get lock /var/lib/apt/lists/lock.",
            "lock",
            id="the lists' lock is held",
        ),
        pytest.param(
            "Failed to update apt cache after 2 retries: W: Failed to fetch"
            " http://127.0.0.1:9/debian/dists/trixie/InRelease  Could not connect to 127.0.0.1:9",
            "unreachable",
            id="a repository does not answer",
        ),
        pytest.param("No package matching 'rdma-core' is available", "version", id="no such package"),
        pytest.param(
            "E:Write error - write (28: No space left on device), E:IO Error saving source cache",
            "disk",
            id="no space for apt's cache",
        ),
        pytest.param(
            "failed: E: You don't have enough free space in /var/cache/apt/archives/.",
            "disk",
            id="no space for the packages",
        ),
        pytest.param(
            "Failed to update apt cache after 2 retries: W:Failed to fetch http://x/InRelease"
            " Error writing to file - write (28: No space left on device)",
            "disk",
            id="a full disk comes before the index that failed by it",
        ),
        pytest.param(
            "failed: E: Packages need to be removed but remove is disabled.",
            "conflict",
            id="another stack is in the way",
        ),
        pytest.param("E: Sub-process /usr/bin/dpkg returned an error code (1)", "", id="unknown"),
    ],
)
def test_a_package_managers_words_lead_to_the_cause(said: str, kind: str) -> None:
    known = package_failure(said)
    assert known.get("kind", "") == kind
    assert bool(known.get("cause")) is bool(known.get("next")) is bool(kind)
