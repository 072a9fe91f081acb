# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter ping_plan: who serves and who asks whom in which round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ibready.cluster.plugins.module_utils._ibping import DEADLINE
from ansible_collections.ibready.cluster.plugins.plugin_utils import _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import report as fabrics
from ansible_collections.ibready.cluster.plugins.plugin_utils._ping import plan, schedule
from ansible_collections.ibready.cluster.plugins.plugin_utils._ping.leaves import leaves

DOCUMENTATION = r"""
name: ping_plan
short_description: Plan which host pings which in which round
version_added: 0.1.0
description:
  - Every host asks every other on every rail, in rounds in which no host takes part twice.
  - Beyond O(full_mesh) hosts, or where O(budget) is too small for that, there are random rounds in
    which every rail of every host takes part.
  - LIDs come from what M(ibready.cluster.ibverify) found on the hosts.
  - Where an option is empty, its default holds.
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
  deadline:
    description:
      - Seconds that one question may take, from which the servers' lease follows. When it is empty,
        the default of M(ibready.cluster.ibping).
    type: int
  full_mesh:
    description: Up to so many hosts all pairs are asked.
    type: int
    default: 32
  rounds:
    description: How many random rounds there are beyond that.
    type: int
    default: 8
  seed:
    description:
      - What the random rounds follow from. When it is empty, the day as YYYYMMDD (UTC), so that the
        runs of one day ask alike and those of other days ask others.
    type: int
  budget:
    description:
      - Seconds that all pings may take, reckoned as if every question used up O(deadline). There
        are only as many rounds as that holds. V(0) is no limit.
    type: int
    default: 0
  forks:
    description: How many hosts Ansible works on at a time.
    type: int
    default: 1
  at_once:
    description: How many rails of a host ask at a time.
    type: int
    default: 8
  fabric:
    description:
      - The report's C(fabric), from which the leaf switch of every port follows. When it is not
        given, what M(ibready.cluster.fabric_look) found in this run.
    type: dict
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Plan the pings
  ansible.builtin.set_fact:
    ibready_ping_plan: "{{ hostvars | ibready.cluster.ping_plan(ansible_play_hosts) }}"
"""

RETURN = r"""
_value:
  description:
    - C(visits) is how many Ansible tasks the rounds take, C(lease) how long servers may live.
      C(sampled) and C(why) tell whether and why not all pairs are asked.
    - P(ibready.cluster.ping_questions#filter) makes each host's questions of it.
  type: dict
"""


def ping_plan(
    hostvars: Mapping[str, Any],
    hosts: Sequence[str],
    deadline: int | str = "",
    full_mesh: int | str = "",
    rounds: int | str = "",
    seed: int | str = "",
    budget: int | str = "",
    forks: int | str = 1,
    at_once: int | str = "",
    fabric: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Plan over what the named hosts told; hosts of which nothing is known stay out."""
    seen = _hosts.gather(hostvars, list(hosts))
    taking_part = {host.name: _hosts.participant(host) for host in seen}
    options = plan.Options(
        deadline=_number("ibready_ping_deadline", deadline, DEADLINE, 1),
        full=_number("ibready_ping_full_mesh", full_mesh, schedule.FULL, 0),
        rounds=_number("ibready_ping_rounds", rounds, schedule.ROUNDS, 1),
        seed=_number("ibready_ping_seed", seed, int(f"{datetime.now(UTC):%Y%m%d}"), 0),
        budget=_number("ibready_ping_budget", budget, 0, 0),
        forks=_number("forks", forks, 1, 1),
        at_once=_number("ibready_ping_at_once", at_once, plan.AT_ONCE, 1),
        leaves=leaves(
            _found(seen, hostvars, hosts) if fabric is None else fabric,
            {name: list(who.rails) for name, who in taking_part.items()},
        ),
    )
    return plan.plan(taking_part, options)


def _found(
    seen: Sequence[_hosts.Host], hostvars: Mapping[str, Any], hosts: Sequence[str]
) -> Mapping[str, Any]:
    """The fabrics as this run saw them; {} where it did not ask."""
    told = fabrics.asked(hostvars, hosts)
    return fabrics.judged(seen, told, datetime.now(UTC).date())[0] if told is not None else {}


def _number(name: str, value: int | str, default: int, least: int) -> int:
    if value == "":
        return default
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if number < least:
        raise AnsibleFilterError(f"{name} must be a whole number from {least} on, not {value!r}")
    return number


class FilterModule:
    """Offer the filter to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"ping_plan": ping_plan}
