#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: port_type
short_description: Check the link type of VPI cards, and set it where that is allowed
version_added: 0.1.0
description:
  - Asks C(mstconfig) for the link type (InfiniBand or Ethernet) of every port of NVIDIA's cards.
  - Sets it with O(apply=true). The type counts from the next boot on; nothing is reset here.
  - A card of one type only is left alone.
options:
  type:
    description: The type that every port is to have.
    type: str
    choices: [infiniband, ethernet]
    required: true
  apply:
    description: Whether a card's configuration may be written; C(ibready_firmware_ok).
    type: bool
    default: false
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.root, ibready.cluster.inner]
attributes:
  diff_mode:
    description: Shows the ports that change.
    support: full
"""

EXAMPLES = r"""
- name: See that all ports are InfiniBand
  ibready.cluster.port_type:
    type: infiniband
  register: ports
"""

RETURN = r"""
ports:
  description:
    - Each port with C(device), C(port), C(now) (empty where it is not told) and C(after), the type
      from the next boot on.
  type: list
  elements: dict
  returned: success
wrong:
  description: The ports that will not have the type after the next boot, in words.
  type: list
  elements: str
  returned: success
pending:
  description: The ports that have another type until the next boot, in words.
  type: list
  elements: str
  returned: success
"""

from dataclasses import asdict, replace

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.rdma.port_type import TYPES, PortType, PortTypeError, devices, parse
from ..module_utils._ground.command import Output, Unavailable, find_first, run_program

# mstflint's program, and the same one of NVIDIA's MFT.
_PROGRAMS = ("mstconfig", "mlxconfig")


def ask(tool: str, device: str) -> tuple[PortType, ...]:
    """Both ports at once, or the first alone where the card has no second one."""
    done = _run(tool, "-d", device, "-e", "query", "LINK_TYPE_P1", "LINK_TYPE_P2")
    if done.rc != 0:
        done = _run(tool, "-d", device, "-e", "query", "LINK_TYPE_P1")
    return parse(device, f"{done.stdout}\n{done.stderr}")


def _run(tool: str, *words: str) -> Output:
    return run_program(tool, [tool, *words], 60)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "type": {"type": "str", "choices": sorted(TYPES), "required": True},
            "apply": {"type": "bool", "default": False},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    name, number = TYPES[module.params["type"]]
    ports: list[PortType] = []
    changed: list[PortType] = []
    try:
        found = devices(module.params["root"])
        tool = find_first(_PROGRAMS) if found else ""
        for device in found:
            for item in ask(tool, device):
                if item.after == name or not module.params["apply"]:
                    ports.append(item)
                    continue
                if not module.check_mode:
                    word = f"LINK_TYPE_P{item.port}={number}"
                    done = _run(tool, "-d", device, "--yes", "set", word)
                    if done.rc != 0:
                        said = (done.stderr or done.stdout).strip()[-300:]
                        module.fail_json(
                            msg=f"{device} port {item.port} cannot be set to {name}: {said}. Next:"
                            " see whether the card is one of NVIDIA's own or locked by its vendor"
                        )
                changed.append(item)
                ports.append(replace(item, after=name))
    except (Unavailable, PortTypeError) as exc:
        module.fail_json(
            msg=f"The link type of the cards cannot be told: {exc}. Next: install mstflint (or"
            " MFT), or set rdma_port_type to keep"
        )
    words = [f"{port.device} port {port.port} is {port.after} instead of {name}" for port in ports]
    module.exit_json(
        changed=bool(changed),
        ports=[asdict(port) for port in ports],
        wrong=[text for text, entry in zip(words, ports) if entry.after != name],
        pending=[
            f"{port.device} port {port.port} is {port.now} until the next boot"
            for port in ports
            if port.after == name and port.now not in ("", name)
        ],
        diff={
            "before": "".join(f"{entry.device} port {entry.port}: {entry.after}\n" for entry in changed),
            "after": "".join(f"{entry.device} port {entry.port}: {name}\n" for entry in changed),
        },
    )


if __name__ == "__main__":
    main()
