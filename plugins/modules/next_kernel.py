#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: next_kernel
short_description: See that the kernel that boots next has the modules that this host runs with
version_added: 0.1.0
description:
  - Where the next boot starts another kernel than the one that runs, every module that did not come
    with the kernel has to be there for it as well - what DKMS builds (NVIDIA's driver, the HCA's
    driver of MLNX_OFED and DOCA, any other), and what packages bring for one kernel each.
  - With O(build=true) DKMS builds what it has not built yet, if the kernel's headers are there.
    Where a built module takes the place of one of the kernel's own, the initramfs is made again,
    which carries a copy of that.
  - Fails where a module is still missing then, with the cause and the next step. It installs no
    packages, and reboots nothing.
  - What could not be looked at is in RV(unknown), and a failure with O(build=true).
options:
  build:
    description:
      - Whether to build what is missing, and to fail where that was not enough. Otherwise the
        module only tells.
    type: bool
    default: true
  without:
    description:
      - Modules that the next kernel may lack, by the names that DKMS or the kernel has for them.
    type: list
    elements: str
    default: []
  host:
    description: The host's name in messages.
    type: str
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.root]
attributes:
  check_mode:
    description: Tells what would be built, and what would stop the host, and builds nothing.
    support: full
seealso:
  - module: ibready.cluster.reboot_state
"""

EXAMPLES = r"""
- name: Build what the next kernel lacks, before anybody reboots
  ibready.cluster.next_kernel:

- name: See what a reboot would lose
  ibready.cluster.next_kernel:
    build: false
  register: following

- name: Show it
  ansible.builtin.debug:
    var: following.missing
"""

RETURN = r"""
running: {type: str, returned: always, description: The kernel that runs.}
kernels:
  description: The kernels that the next boot may start, but for the running one; empty where it is
    that one. Several where somebody chose one in a way that cannot be told.
  type: list
  elements: str
  returned: always
  sample: ["6.12.48+deb13-amd64"]
because: {type: str, returned: always, description: "What chose the kernel, empty where it is the newest."}
built:
  description: What DKMS built, or would build in check mode, in its order.
  type: list
  elements: str
  returned: always
  sample: ["nvidia/580.95.05 for 6.8.0-50-generic"]
initramfs: {type: list, elements: str, returned: always, description: The kernels whose initramfs was made again.}
missing:
  description: What the next kernel lacks, after building; in check mode, before it.
  type: list
  elements: dict
  returned: always
  contains:
    kind: {type: str, description: "V(unbuilt), V(headers), V(broken) or V(lost)."}
    subject: {type: str, description: "The module, by its name and version where DKMS has it."}
    kernel: {type: str, description: The kernel.}
    cause: {type: str, description: Why it is missing.}
    following: {type: str, description: What to do.}
    required: {type: bool, description: "Whether the host runs with it, or it belongs to the stack."}
refused:
  description: Why a reboot would lose something that the host needs, a sentence each; empty where
    it would not. In check mode, what building would not cure.
  type: list
  elements: str
  returned: always
unknown: {type: list, elements: str, returned: always, description: What could not be told.}
"""

import platform
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.packages import kmods_build, run
from ..module_utils._act.packages.model import PackageError
from ..module_utils._areas.machine import kind
from ..module_utils._areas.stack import kmods_gaps, observe_kmods
from ..module_utils._areas.stack.kmods_facts import KmodFacts
from ..module_utils._areas.stack.kmods_gaps import Gap
from ..module_utils._evidence.sources import Cached, Live
from ..module_utils._ground import state
from ..module_utils._ground.reading import Reading

SUBJECT = "next-kernel"


def look(root: str) -> KmodFacts:
    """The host as it is now; a container boots no kernel."""
    evidence = Cached(Live(root))
    if kind.container(evidence):
        return KmodFacts(kernels=Reading(()))
    return observe_kmods.observe(evidence)


def prepare(root: str, without: list[str], *, wanted: bool, act: bool) -> dict[str, Any]:
    """Look, build if that is ``wanted`` and no check mode keeps from it, and tell."""
    facts = look(root)
    found = kmods_gaps.find(facts, without)
    todo = kmods_build.buildable(found) if wanted else []
    made: list[str] = []
    # Built by a run that did not come to the initramfs: DKMS will not say so again.
    late = _late(root, facts) if wanted else set()
    if act and (todo or late):
        late.update(entry.kernel for entry in todo)
        state.save(SUBJECT, {"initramfs": sorted(late)}, root)
        found = kmods_build.close(found, lambda: look(root), run.run, root, without)
        made = _initramfs(root, look(root), late)
        state.save(SUBJECT, {}, root)
    built = _closed(todo, found) if act else todo
    refused = [gap for gap in found.gaps if gap.required and (act or gap not in todo)]
    return {
        "changed": bool(built or made or (late and not act)),
        "running": facts.running,
        "kernels": list(facts.kernels.value or ()),
        "because": facts.because,
        "built": [f"{entry.subject} for {entry.kernel}" for entry in built],
        "initramfs": made,
        "missing": [_shown(gap) for gap in found.gaps],
        "refused": [f"{entry.cause}. Next: {entry.following}." for entry in refused],
        "unknown": list(found.unknown),
    }


def _closed(todo: list[Gap], found: kmods_gaps.Found) -> list[Gap]:
    """Those that are no gaps any more."""
    left = {(gap.subject, gap.kernel) for gap in found.gaps}
    return [entry for entry in todo if (entry.subject, entry.kernel) not in left]


def _late(root: str, facts: KmodFacts) -> set[str]:
    """The kernels that may still have an initramfs from before modules were built for them."""
    known = state.load(SUBJECT, root).get("initramfs", [])
    return set(known).intersection(facts.kernels.value or ())


def _initramfs(root: str, facts: KmodFacts, kernels: set[str]) -> list[str]:
    """Make those again that carry the kernel's own module in place of a built one."""
    made = []
    for kernel in sorted(kernels):
        names = [name for objects in facts.objects if objects.kernel == kernel for name in objects.modules.value or ()]
        argv = kmods_build.initramfs(root, names, kernel)
        if not argv:
            continue
        done = run.run(argv)
        if done.rc != 0:
            said = (done.stderr or done.stdout).strip().split("\n")[-1]
            raise PackageError(
                "failed",
                f"`{' '.join(argv)}` ended with status {done.rc}: {said or 'no word'}",
                "fix that (often /boot is full), and make the initramfs by hand: it carries the"
                " kernel's own modules in place of those that were built",
                changed=True,
            )
        made.append(kernel)
    return made


def _shown(gap: Gap) -> dict[str, Any]:
    return {
        "kind": gap.kind,
        "subject": gap.subject,
        "kernel": gap.kernel,
        "cause": gap.cause,
        "following": gap.following,
        "required": gap.required,
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "build": {"type": "bool", "default": True},
            "without": {"type": "list", "elements": "str", "default": []},
            "host": {"type": "str"},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    given = module.params
    act = given["build"] and not module.check_mode
    host = given["host"] or platform.node()
    try:
        result = prepare(given["root"], given["without"], wanted=given["build"], act=act)
    except PackageError as exc:
        module.fail_json(msg=f"{host}: modules of the next kernel: {exc}", changed=exc.changed)
    except state.StateError as exc:
        module.fail_json(msg=f"{host}: modules of the next kernel: {exc}")
    if act and (result["refused"] or result["unknown"]):
        reported = [*result["refused"], *(f"It cannot be told: {entry}." for entry in result["unknown"])]
        module.fail_json(
            msg=f"{host}: the next boot would lose modules, so it was not rebooted. "
            f"{' '.join(reported)} What was installed and built stays.",
            **result,
        )
    module.exit_json(**result)


if __name__ == "__main__":
    main()
