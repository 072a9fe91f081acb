# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter bench_plan: who measures against whom in which round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ibready.cluster.plugins.module_utils._data.bench import TESTS
from ansible_collections.ibready.cluster.plugins.plugin_utils._bench import plan, told

DOCUMENTATION = r"""
name: bench_plan
short_description: Plan which host measures against which in which round
version_added: 0.2.0
description:
  - Every host measures against a few others, both ways and on every rail, in rounds in which no
    host takes part twice.
  - Rails come from what M(ibready.cluster.ibverify) found on the hosts.
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  hosts:
    description: The names of the hosts that take part.
    type: list
    elements: str
    required: true
  tests:
    description: What to measure, C(write_bw), C(write_bw_gpu), C(read_lat) and C(send_lat).
    type: list
    elements: str
    required: true
  partners:
    description: Against how many others each host measures.
    type: int
    default: 3
  seconds:
    description: How long a bandwidth is measured.
    type: int
    default: 5
  tcp_port:
    description: The first TCP port at which two hosts meet.
    type: int
    default: 18515
  forks:
    description: On how many hosts Ansible works at a time.
    type: int
    default: 5
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Plan the measurements
  ansible.builtin.set_fact:
    ibready_bench_plan: >-
      {{ hostvars | ibready.cluster.bench_plan(ansible_play_hosts, ['write_bw', 'read_lat']) }}
"""

RETURN = r"""
_value:
  description:
    - C(rounds), each with C(serve) and C(ask), which map hosts to what
      M(ibready.cluster.perftest) takes as O(ibready.cluster.perftest#module:ends) and
      O(ibready.cluster.perftest#module:questions).
    - C(lease) is how long a server may be needed, in seconds.
  type: dict
"""


def bench_plan(
    hostvars: Mapping[str, Any],
    hosts: Sequence[str],
    tests: Sequence[str],
    partners: int | str = 3,
    seconds: int | str = 5,
    tcp_port: int | str = plan.TCP_PORT,
    forks: int | str = 5,
) -> dict[str, Any]:
    """Plan over what the named hosts told; hosts of which nothing is known stay out."""
    strange = [one for one in tests if one not in TESTS]
    if strange:
        raise AnsibleFilterError(
            f"bench_tests: {strange[0]!r} is none of {', '.join(TESTS)}; next: leave it out"
        )
    seen = told.gather(hostvars, list(hosts))
    wish = plan.Wish(list(tests), int(partners), int(seconds), int(tcp_port), int(forks))
    return plan.plan({one.name: one.member for one in seen}, wish)


class FilterModule:
    """Offer the filter to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"bench_plan": bench_plan}
