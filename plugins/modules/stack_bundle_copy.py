#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_bundle_copy
short_description: Have a class's part of a bundle on the host
version_added: 0.1.0
description:
  - Carries what a host lacks of its class's repository from a bundle on the controller to
    C(/var/lib/ibready/bundle), from where M(ibready.cluster.stack_packages) installs. Small files
    go together in one archive.
  - Every file is compared by its SHA256 with the sums that the site's key signed. One that is there
    and right is not copied again, and one that came damaged is not put in place.
options:
  directory:
    description: The bundle on the controller.
    type: path
    required: true
  class_name:
    description: The class that the host belongs to.
    type: str
    required: true
  key:
    description: The fingerprint of the key that signed the bundle.
    type: str
    required: true
  sums:
    description: Used by the controller's half of this module; path to SHA256.
    type: dict
  placed:
    description: Used by the controller's half of this module; a folder with files that have come.
    type: path
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Tells what would be copied.
    support: full
"""

EXAMPLES = r"""
- name: Have the packages on the host
  ibready.cluster.stack_bundle_copy:
    directory: "{{ ibready_plan.install.bundle.directory }}"
    class_name: "{{ ibready_plan.class }}"
    key: "{{ stack_bundle_key }}"
"""

RETURN = r"""
missing:
  description: The files that were not there, or not right, before.
  type: list
  elements: str
  returned: success
free: {type: int, returned: success, description: The bytes that are free where they are to lie.}
"""

import os
import shutil
import socket
import tarfile

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.packages import stage
from ..module_utils._ground import whole

HOME = "/var/lib/ibready/bundle"
ARCHIVE = "small.tar"


def missing(home: str, sums: dict[str, str]) -> list[str]:
    """The paths that are not there as they should be."""
    return [name for name in sorted(sums) if stage.sha256(os.path.join(home, name)) != sums[name]]


def place(home: str, came: str, sums: dict[str, str]) -> list[str]:
    """Put files that have come in place, each whole; the paths of those that came damaged."""
    damaged = []
    for name in missing(home, sums):
        target = os.path.join(home, name)
        whole.make_folder(os.path.dirname(target))
        staged = os.path.join(os.path.dirname(target), ".ibready-part")
        source = os.path.join(came, name.replace("/", "!"))
        if not os.path.isfile(source):
            damaged.append(name)
            continue
        try:
            shutil.copyfile(source, staged)
            os.unlink(source)
            if stage.sha256(staged) != sums[name]:
                damaged.append(name)
                continue
            os.chmod(staged, 0o644)
            os.replace(staged, target)
        finally:
            whole.drop(staged)
    return damaged


def unpack(came: str) -> None:
    """Lay the archive's files beside it; names with a folder in them are none of ours."""
    archive = os.path.join(came, ARCHIVE)
    if not os.path.exists(archive):
        return
    with tarfile.open(archive) as stream:
        for member in stream:
            if not member.isfile() or "/" in member.name:
                continue
            source = stream.extractfile(member)
            if source is not None:
                with open(os.path.join(came, member.name), "wb") as target:
                    shutil.copyfileobj(source, target)
    os.unlink(archive)


def sweep(home: str, sums: dict[str, str]) -> bool:
    """Remove what is not of this bundle and class."""
    swept = False
    for here, _folders, names in os.walk(home):
        for name in names:
            path = os.path.join(here, name)
            if os.path.relpath(path, home) not in sums:
                os.unlink(path)
                swept = True
    return swept


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "directory": {"type": "path", "required": True},
            "class_name": {"type": "str", "required": True},
            "key": {"type": "str", "required": True, "no_log": False},
            "sums": {"type": "dict"},
            "placed": {"type": "path"},
        },
        supports_check_mode=True,
    )
    given = module.params
    sums = {str(name): str(digest) for name, digest in (given["sums"] or {}).items()}
    host = socket.gethostname()
    try:
        gone = missing(HOME, sums)
        changed = bool(gone)
        if given["placed"] and not module.check_mode:
            whole.make_folder(HOME)
            unpack(given["placed"])
            damaged = place(HOME, given["placed"], sums)
            if damaged:
                module.fail_json(
                    msg=f"{host}: {', '.join(damaged[:3])} of the bundle did not come whole. No"
                    " package was changed. Next: run this again; if it stays, look at the disk"
                )
            changed = sweep(HOME, sums) or changed
        place_of = HOME
        while not os.path.exists(place_of):
            place_of = os.path.dirname(place_of)
        free = shutil.disk_usage(place_of).free
    except (OSError, tarfile.TarError) as exc:
        module.fail_json(
            msg=f"{host}: the bundle could not be laid below {HOME}: {exc}. No package was changed."
            " Next: see that it can be written and has space"
        )
    module.exit_json(changed=changed, missing=gone, free=free)


if __name__ == "__main__":
    main()
