# SPDX-License-Identifier: GPL-3.0-or-later
"""Every action, callback and filter begins here: one that an old ansible-core runs says so, instead of failing to
import what that one lacks. Nothing else of ours may be imported here."""

from __future__ import annotations

from ansible.errors import AnsibleError
from ansible.release import __version__

from ._ground.releases import refusal

if _REFUSED := refusal(__version__):
    raise AnsibleError(_REFUSED)
