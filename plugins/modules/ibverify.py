#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: ibverify
short_description: Judge this host's InfiniBand ports
version_added: 0.1.0
description:
  - Reads C(ibstat), the kernel's sysfs files as a second source, and asks the subnet manager from
    every Active InfiniBand port with C(sminfo).
  - Every check says what was seen, what was expected and who expects it. What could not be looked
    at is C(unknown), and C(unknown) is never a pass.
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Never changes the host.
options:
  expect:
    description:
      - What the inventory expects of this host.
      - When left out, the inventory's variable C(ibready_expect) is taken, also in ad hoc use.
      - A value that nobody expects makes its check C(unknown).
    type: dict
    suboptions:
      hcas:
        description: How many HCAs of the expected link layer the host has.
        type: int
      link_layer:
        description: The link layer of the fabric's ports.
        type: str
        choices: [InfiniBand, Ethernet]
      rate_gbps:
        description: The rate of every port, in Gb/s.
        type: float
      firmware:
        description: The firmware version of every HCA.
        type: str
      ignore:
        description: Devices (V(mlx5_2)) or ports (V(mlx5_1/2)) that are not part of the fabric.
        type: list
        elements: str
        default: []
  report_only:
    description: Return the same result without failing on it.
    type: bool
    default: false
  bundle:
    description:
      - Judge the evidence bundle in this directory of the host instead of the live host.
    type: path
attributes:
  check_mode:
    description: Runs the same in check mode, because it never changes the host.
    support: full
  diff_mode:
    description: Has nothing to show.
    support: none
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Judge the ports against ibready_expect of the inventory
  ibready.cluster.ibverify:

- name: Expect eight NDR rails, and leave the storage HCA alone
  ibready.cluster.ibverify:
    expect:
      hcas: 8
      link_layer: InfiniBand
      rate_gbps: 400
      ignore: [mlx5_8]

- name: Look without failing
  ibready.cluster.ibverify:
    report_only: true
  register: judged
"""

RETURN = r"""
schema:
  description: The version of this result's shape.
  type: str
  returned: always
  sample: ibready/verdict/1
host:
  description: The host's own name.
  type: str
  returned: always
verdict:
  description:
    - V(ready), V(degraded) (only warnings), V(unknown) (could not look) or V(not_ready).
  type: str
  returned: always
  sample: ready
checks:
  description: Every check with its result; docs/checks.md explains each id.
  type: list
  elements: dict
  returned: always
  sample:
    - id: ib.port.rate
      subject: mlx5_3/1
      result: fail
      severity: error
      observed: 100 Gb/s
      expected: 400 Gb/s
      expected_from: inventory
      cause: "the link trained with fewer lanes or at a lower speed: cable, dirt or transceiver"
      remedy: compare both ends with `iblinkinfo`; reseat, clean or swap the cable
      evidence: {}
facts:
  description: What ibstat, sysfs and sminfo said, as parsed.
  type: dict
  returned: always
"""

import platform
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ibready.cluster.plugins.module_utils._checks import _model, ib
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Bundle,
    Evidence,
    Live,
    Unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    SPEC,
    ExpectationError,
    from_inventory,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._observe.ib import observe


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "expect": {"type": "dict", "options": SPEC},
            "report_only": {"type": "bool", "default": False},
            "bundle": {"type": "path"},
        },
        supports_check_mode=True,
    )
    given = module.params["expect"] or {}
    try:
        expect = from_inventory({key: one for key, one in given.items() if one is not None})
        source: Evidence = Bundle(module.params["bundle"]) if module.params["bundle"] else Live()
    except (ExpectationError, Unavailable) as exc:
        module.fail_json(msg=f"ibverify: {exc}")
    facts = observe(source, Machine())
    checks = ib.judge(facts, expect)
    if any(one.id == "ib.sources.agree" and one.result == _model.FAIL for one in checks):
        # A port may have changed between the two looks; what stays on a second look is real.
        facts = observe(source, Machine())
        checks = ib.judge(facts, expect)
    verdict = _model.verdict(checks)
    result: dict[str, Any] = {
        "changed": False,
        "schema": "ibready/verdict/1",
        "host": platform.node(),
        "verdict": verdict,
        "checks": [check.to_dict() for check in checks],
        "facts": facts.to_dict(),
    }
    if verdict in (_model.NOT_READY, _model.UNKNOWN_VERDICT) and not module.params["report_only"]:
        said = "; ".join(_model.sentence(check) for check in _model.trouble(checks))
        module.fail_json(msg=f"{platform.node()} is {verdict}: {said}", **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
