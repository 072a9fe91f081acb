#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_bundle_files
short_description: Find and fetch the package files that a bare host needs for a plan
version_added: 0.1.0
description:
  - The node's part of M(ibready.cluster.stack_bundle), for hosts that reach the repositories. The
    packages of the host, its repositories and its package manager's state stay as they are.
  - It asks apt or dnf, with package lists of its own, for everything that the plan's parts need and
    a bare host lacks, the distribution's packages included.
options:
  act:
    description:
      - V(had) tells which packages the host has, and which of them ibready brought.
      - V(fetch) downloads the files to C(/var/lib/ibready/bundle-files), each checked against the
        sum that the signed index states; what lies there already with the right sum is not fetched
        again.
      - V(clean) removes that folder.
    type: str
    choices: [had, fetch, clean]
    required: true
  repositories:
    description: The plan's repositories, as in M(ibready.cluster.stack_packages).
    type: list
    elements: dict
    default: []
  parts:
    description: The plan's parts, as in M(ibready.cluster.stack_packages).
    type: dict
    default: {}
  without:
    description: Packages that the host has and a bare host of its class may lack.
    type: list
    elements: str
    default: []
  kernels:
    description: The running kernels that modules are to be built for.
    type: list
    elements: str
    default: []
  held:
    description: SHA256 sums of files that need not be fetched.
    type: list
    elements: str
    default: []
  host:
    description: The host's name in messages.
    type: str
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Tells what would be fetched, and fetches nothing.
    support: full
notes:
  - With apt, the host's own package lists are used as they are after an update into a folder of the
    module's own; with dnf, a copy of rpm's database in C(/var/tmp).
"""

EXAMPLES = r"""
- name: See which packages this host has
  ibready.cluster.stack_bundle_files:
    act: had
  register: had
"""

RETURN = r"""
packages:
  description: The installed packages with their versions, for O(act=had).
  type: dict
  returned: for O(act=had)
brought: {type: list, elements: str, returned: for O(act=had), description: Those that ibready brought.}
kernel: {type: str, returned: for O(act=had), description: The running kernel.}
files:
  description: >-
    Every file that a bare host needs, with C(name), C(version), C(file), C(address), C(size) in
    bytes, C(sha256) and C(index) (its paragraph for an apt index).
  type: list
  elements: dict
  returned: for O(act=fetch)
kind_of_packages: {type: str, returned: for O(act=fetch), description: C(apt) or C(dnf).}
folder: {type: str, returned: for O(act=fetch), description: Where the files lie that are not O(held).}
kind: {type: str, returned: failure, description: "Why it failed, as one word; see M(ibready.cluster.stack_packages)."}
"""

import os
import socket
from typing import Any, Mapping

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.packages import fetching, read, run, stage, wanted_files
from ..module_utils._act.packages.apt import Apt
from ..module_utils._act.packages.apt_files import AptFiles
from ..module_utils._act.packages.dnf import Dnf
from ..module_utils._act.packages.dnf_files import DnfFiles
from ..module_utils._act.packages.model import APT, PackageError


def fetch(given: Mapping[str, Any], kind: str, *, check: bool) -> dict[str, Any]:
    """Find the files, and unless ``check`` download those that are not held."""
    seeker: AptFiles | DnfFiles
    kernels = tuple(given["kernels"]) or (os.uname().release,)
    search = wanted_files.Search(
        repositories=read.repositories(given["repositories"], kind),
        parts=read.parts(given["parts"], kernels),
        kernels=kernels,
    )
    seeker = (AptFiles if kind == APT else DnfFiles)(run.run, given["without"])
    try:
        asked = wanted_files.request(seeker, search, fetching.fetch)
        found = seeker.listed(asked)
        missing = [file for file in found if file.sha256 not in given["held"]]
        changed = False
        if missing and not check:
            changed = bring(seeker, missing)
    finally:
        seeker.end()
    return {
        "changed": changed or (check and bool(missing)),
        "files": [file.to_dict() for file in found],
        "kind_of_packages": kind,
        "folder": stage.HOME,
    }


def bring(seeker: wanted_files.Seeker, missing: list[wanted_files.PackageFile], home: str = stage.HOME) -> bool:
    """Download what is not there yet; PackageError for a file with another sum."""
    stage.make(home)
    left = [file for file in missing if stage.sha256(os.path.join(home, file.file)) != file.sha256]
    if not left:
        return False
    stage.room(home, sum(rest.size for rest in left))
    seeker.bring(left, home)
    for rest in left:
        path = os.path.join(home, rest.file)
        if stage.sha256(path) != rest.sha256:
            if os.path.exists(path):
                os.unlink(path)
            raise PackageError(
                "checksum",
                f"{rest.address} is not the file that its index promises ({rest.sha256})",
                "let the mirror be synchronised again, then run this again",
            )
        os.chmod(path, 0o644)
    return True


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "act": {"type": "str", "choices": ["had", "fetch", "clean"], "required": True},
            "repositories": {"type": "list", "elements": "dict", "default": []},
            "parts": {"type": "dict", "default": {}},
            "without": {"type": "list", "elements": "str", "default": []},
            "kernels": {"type": "list", "elements": "str", "default": []},
            "held": {"type": "list", "elements": "str", "default": []},
            "host": {"type": "str"},
        },
        supports_check_mode=True,
    )
    given = module.params
    host = given["host"] or socket.gethostname()
    try:
        if given["act"] == "clean":
            result: dict[str, Any] = {"changed": not module.check_mode and stage.clean()}
        else:
            kind = fetching.kind_here()
            if given["act"] == "fetch":
                result = fetch(given, kind, check=module.check_mode)
            else:
                manager = Apt(run.run) if kind == APT else Dnf(run.run)
                result = {**wanted_files.had(manager), "kernel": os.uname().release}
    except (PackageError, OSError) as exc:
        module.fail_json(msg=f"{host}: {exc}", kind=getattr(exc, "kind", "failed"))
    module.exit_json(**{"changed": False, **result})


if __name__ == "__main__":
    main()
