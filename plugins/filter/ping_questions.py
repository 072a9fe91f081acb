# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter ping_questions: what one host asks in one visit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._ping import walk

DOCUMENTATION = r"""
name: ping_questions
short_description: What one host asks, by a plan of P(ibready.cluster.ping_plan#filter)
version_added: 0.2.0
description:
  - A plan names hosts; this turns the part of one of them into questions, round after round.
options:
  _input:
    description: The plan.
    type: dict
    required: true
  host:
    description: The name of the host.
    type: str
    required: true
  visit:
    description: Which of the plan's visits, from 0 on.
    type: int
    required: true
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Ask the other hosts
  ibready.cluster.ibping:
    state: asked
    questions: "{{ ibready_ping_plan | ibready.cluster.ping_questions(inventory_hostname, 0) }}"
"""

RETURN = r"""
_value:
  description: Questions as M(ibready.cluster.ibping) takes them.
  type: list
  elements: dict
"""


def ping_questions(made: Mapping[str, Any], host: str, visit: int) -> list[dict[str, Any]]:
    """The questions of one host in one visit."""
    return walk.of_visit(made, host, visit)


class FilterModule:
    """Offer the filter to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"ping_questions": ping_questions}
