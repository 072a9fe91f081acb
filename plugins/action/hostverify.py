# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of the module hostverify."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._site.verify_action import VerifyAction


class ActionModule(VerifyAction):
    """All of it is shared."""
