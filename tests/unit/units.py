# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemctl says of a unit."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output


def is_active(up: bool) -> Output:
    """The answer to `systemctl is-active UNIT`."""
    return Output(0, "active\n", "") if up else Output(3, "inactive\n", "")
