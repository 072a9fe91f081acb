#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: hca_firmware
short_description: Compare the firmware of NVIDIA's cards with the images of a site, and write it where that is allowed
version_added: 0.1.0
description:
  - Asks C(mstflint) for the firmware of every card of NVIDIA on the bus, what its flash holds and
    what it runs. Virtual functions are none of them, and a card whose PSID no image is for is left alone.
  - With O(apply=true) writes an image to the cards that hold another version, newer or older. Before the
    first is written, every image that is needed has the sha256, the PSID and the version that the site
    says of it, or nothing is written.
  - A card runs what was written from the next boot on; nothing is reset here. M(ibready.cluster.reboot_state)
    counts it as a reason to boot.
options:
  images:
    description:
      - The images, each with C(psid), C(version), C(image) (where it lies on the controller) and C(sha256).
    type: list
    elements: dict
    required: true
  directory:
    description: Where the images lie on this host, each under its PSID. Needed with O(apply=true).
    type: path
  apply:
    description: Whether firmware may be written; C(ibready_firmware_ok).
    type: bool
    default: false
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.root, ibready.cluster.inner]
attributes:
  diff_mode:
    description: Shows the cards that change.
    support: full
"""

EXAMPLES = r"""
- name: See which cards hold another firmware
  ibready.cluster.hca_firmware:
    images:
      - psid: MT_0000000838
        version: 28.43.2026
        image: firmware/fw-ConnectX7-rel-28_43_2026-MCX75310AAS-NEA_Ax.bin
        sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  register: firmware
"""

RETURN = r"""
cards:
  description:
    - Each card with C(device) (its PCI address), C(psid), C(flash) (the version that the next boot
      starts), C(running), and C(wanted) (empty where no image is for it).
  type: list
  elements: dict
  returned: success
behind:
  description: The cards whose flash holds another version than is wanted, in words.
  type: list
  elements: str
  returned: success
pending:
  description: The cards that an image is for and that run another version until the next boot, in words.
  type: list
  elements: str
  returned: success
needed:
  description: The PSIDs of the images that have to be written.
  type: list
  elements: str
  returned: success
"""

import hashlib
import os
from dataclasses import asdict, replace

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.rdma import flint
from ..module_utils._act.rdma.firmware import Card, FirmwareError, Image, images, with_wanted
from ..module_utils._act.rdma.port_type import devices
from ..module_utils._ground import state
from ..module_utils._ground.command import Unavailable


def _see(asked: tuple[Image, ...], cards: list[Card], directory: str) -> None:
    """FirmwareError where an image that is to be written is not what the site says of it."""
    needed = {card.psid for card in cards if card.behind}
    for image in asked:
        if image.psid not in needed:
            continue
        digest, path = hashlib.sha256(), os.path.join(directory, image.psid)
        with open(path, "rb") as stream:
            for block in iter(lambda: stream.read(1 << 20), b""):
                digest.update(block)
        if digest.hexdigest() != image.sha256:
            raise FirmwareError(f"{image.path} has sha256 {digest.hexdigest()}, not {image.sha256}")
        told = flint.image(path)
        if (told.psid, told.flash) != (image.psid, image.version):
            raise FirmwareError(f"{image.path} is {told.flash} for {told.psid}, not {image.version} for {image.psid}")


def _write(card: Card, path: str, root: str) -> Card:
    """The card as it tells itself afterwards; remembered before, for a boot may come at any time."""
    known = state.load(flint.STATE, root)
    state.save(flint.STATE, {**known, card.device: card.wanted}, root)
    flint.burn(card.device, path)
    after = replace(flint.card(card.device), wanted=card.wanted)
    if after.behind:
        raise FirmwareError(f"{card.device}: mstflint ended well, and the flash holds {after.flash}")
    return after


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "images": {"type": "list", "elements": "dict", "required": True},
            "directory": {"type": "path"},
            "apply": {"type": "bool", "default": False},
            "root": {"type": "path", "default": "/"},
        },
        required_if=[("apply", True, ["directory"])],
        supports_check_mode=True,
    )
    root, directory = module.params["root"], module.params["directory"]
    written: list[str] = []
    try:
        asked = images(module.params["images"])
        before = with_wanted([flint.card(device) for device in devices(root)] if asked else [], asked)
        cards = list(before)
        if module.params["apply"]:
            if not module.check_mode:
                _see(asked, before, directory)
            for place, card in enumerate(before):
                if not card.behind:
                    continue
                # What it runs is the boot's affair, in check mode as well.
                cards[place] = (
                    replace(card, flash=card.wanted)
                    if module.check_mode
                    else _write(card, os.path.join(directory, card.psid), root)
                )
                written.append(card.device)
    except (FirmwareError, Unavailable, OSError, state.StateError) as exc:
        said = f"; {', '.join(written)} was written before" if written else "; no firmware was written"
        module.fail_json(
            msg=f"The firmware of the cards: {exc}{said}. Next: see `mstflint -d DEVICE query full` (package mstflint,"
            " as root), correct rdma_firmware, and run this again; a card that was being written keeps what it ran"
        )
    module.exit_json(
        changed=bool(written),
        cards=[asdict(card) for card in cards],
        behind=[card.behind for card in cards if card.behind],
        pending=[card.pending for card in cards if card.wanted and card.pending],
        needed=sorted({card.psid for card in cards if card.behind}),
        diff={
            "before": "".join(f"{card.device}: {card.flash}\n" for card in before if card.device in written),
            "after": "".join(f"{card.device}: {card.wanted}\n" for card in before if card.device in written),
        },
    )


if __name__ == "__main__":
    main()
