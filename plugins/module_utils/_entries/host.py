# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for the host itself: access, kernel, limits, services (host.*)."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._entries._entry import Entry

ENTRIES = (
    Entry(
        "host.access.reachable",
        "error",
        "The host can be reached and administered",
        "Ansible logged in, became root and ran a module there. Without that nothing is known.",
        ("the host is down, or its ssh service does not answer",),
        "log in by hand with `ssh -v` as the same user, then run `ansible HOST -m ping`",
    ),
    Entry(
        "host.converge.complete",
        "error",
        "The host took every change of this run",
        "A role stopped on this host, so it is not what the inventory describes.",
        ("a task failed; its own message is in `observed`",),
        "mend what the message names and run the playbook again: finished steps are not redone",
    ),
)
