#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_look
short_description: Ask a whole InfiniBand fabric through a port of this host
version_added: 0.1.0
description:
  - Runs C(ibnetdiscover), C(iblinkinfo), C(ibqueryerrors) (twice, some seconds apart), C(sminfo)
    and C(saquery) on each named port, each bounded in time and size.
  - Judges nothing; M(ibready.cluster.fabricverify) and M(ibready.cluster.report) do, on the
    controller. A fabric is asked by two hosts that are drawn by lot, never by all of them.
  - Needs root, or access to C(/dev/infiniband/umad*).
options:
  ports:
    description:
      - The ports to ask. By default one for each fabric that the host's InfiniBand ports see, told
        apart by their subnet managers.
    type: list
    elements: dict
    suboptions:
      device: {type: str, required: true, description: "The HCA, like C(mlx5_0)."}
      port: {type: int, default: 1, description: Its port.}
  pause:
    description: Seconds between the two looks at the error counters, at least.
    type: float
    default: 5
  routes:
    description: Ask for the forwarding tables of all switches, too (C(dump_fts)).
    type: bool
    default: false
  bundle:
    description:
      - Read the outputs from this evidence bundle and ask nothing.
      - The directory is named after the host that the bundle says it is of.
    type: path
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Ask the fabric of the first rail
  ibready.cluster.fabric_look:
    ports:
      - device: mlx5_0
        port: 1
"""

RETURN = r"""
looks:
  description: One for each port that was asked.
  type: list
  elements: dict
  returned: always
  contains:
    device: {type: str, description: The HCA.}
    port: {type: int, description: Its port.}
    seconds: {type: float, description: Between the two looks at the error counters.}
    packed: {type: str, description: "The answers by tool, as JSON, compressed, in base64."}
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._areas.fabric import observe_look, observe_ports
from ..module_utils._between.ibping import endpoint
from ..module_utils._data.ib_counters import MOST_PAUSE_S, PAUSE_S
from ..module_utils._evidence.sources import Unavailable
from ..module_utils._verify.verdict import source_of


def main() -> None:
    port = {
        "device": {"type": "str", "required": True},
        "port": {"type": "int", "default": 1},
    }
    module = AnsibleModule(
        argument_spec={
            "ports": {"type": "list", "elements": "dict", "options": port},
            "pause": {"type": "float", "default": PAUSE_S},
            "routes": {"type": "bool", "default": False},
            "bundle": {"type": "path"},
        },
        supports_check_mode=True,
    )
    wanted = module.params
    if not 0 <= wanted["pause"] <= MOST_PAUSE_S:
        module.fail_json(msg=f"pause must be from 0 to {MOST_PAUSE_S:g} seconds, not {wanted['pause']:g}")
    try:
        for entry in wanted["ports"] or ():
            endpoint(entry)
        source, host = source_of(wanted["bundle"], {})
        if wanted["ports"] is not None:
            ports = [(port["device"], port["port"]) for port in wanted["ports"]]
        elif wanted["bundle"]:
            ports = observe_ports.recorded(source, wanted["bundle"])
        else:
            ports = observe_ports.live(source)
    except (Unavailable, ValueError) as exc:
        module.fail_json(msg=f"the fabric was not asked: {exc}")
    looks: list[dict[str, Any]] = []
    for device, number in ports:
        look = observe_look.look(source, device, number, wanted["pause"], wanted["routes"])
        answers = look.pop("answers")
        looks.append({**look, "packed": observe_look.pack(answers)})
    module.exit_json(changed=False, host=host, looks=looks)


if __name__ == "__main__":
    main()
