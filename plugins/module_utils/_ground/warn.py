# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings that say whose they are: Ansible shows one text once, and no host beside it."""

from __future__ import annotations

import os

from ansible.module_utils.basic import AnsibleModule


def of_host(module: AnsibleModule, text: str) -> None:
    """Warn of something on this host."""
    module.warn(f"{os.uname().nodename}: {text}")
