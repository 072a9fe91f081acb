# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import RunAction


class ActionModule(RunAction):
    """Has the module know which run it works for."""
