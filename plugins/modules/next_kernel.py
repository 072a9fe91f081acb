#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: next_kernel
short_description: See that the kernel that boots next has the modules that this host runs with
version_added: 0.2.0
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
  root:
    description: The directory that is the host's C(/) for files. Tests point it elsewhere.
    type: path
    default: /
attributes:
  check_mode:
    description: Tells what would be built, and what would stop the host, and builds nothing.
    support: full
  diff_mode:
    description: Has nothing to show.
    support: none
seealso:
  - module: ibready.cluster.reboot_state
author:
  - ibready contributors (@ibready)
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
running:
  description: The kernel that runs.
  type: str
  returned: always
kernels:
  description: The kernels that the next boot may start, but for the running one; empty where it is
    that one. Several where somebody chose one in a way that cannot be told.
  type: list
  elements: str
  returned: always
  sample: ["6.12.48+deb13-amd64"]
because:
  description: What chose the kernel, empty where it is the newest.
  type: str
  returned: always
built:
  description: What DKMS built, or would build in check mode, in its order.
  type: list
  elements: str
  returned: always
  sample: ["nvidia/580.95.05 for 6.8.0-50-generic"]
initramfs:
  description: The kernels whose initramfs was made again.
  type: list
  elements: str
  returned: always
missing:
  description: What the next kernel lacks, after building; in check mode, before it.
  type: list
  elements: dict
  returned: always
  contains:
    kind:
      description: V(unbuilt), V(headers), V(broken) or V(lost).
      type: str
    subject:
      description: The module, by its name and version where DKMS has it.
      type: str
    kernel:
      description: The kernel.
      type: str
    cause:
      description: Why it is missing.
      type: str
    following:
      description: What to do.
      type: str
    required:
      description: Whether the host runs with it, or it belongs to the stack.
      type: bool
refused:
  description: Why a reboot would lose something that the host needs, a sentence each; empty where
    it would not. In check mode, what building would not cure.
  type: list
  elements: str
  returned: always
unknown:
  description: What could not be told.
  type: list
  elements: str
  returned: always
"""

import platform
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ibready.cluster.plugins.module_utils import _compiled

_compiled.use()

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Cached, Live
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.kmods import KmodFacts
from ansible_collections.ibready.cluster.plugins.module_utils._kmods import build, gaps
from ansible_collections.ibready.cluster.plugins.module_utils._kmods.gaps import Gap
from ansible_collections.ibready.cluster.plugins.module_utils._observe import kind, kmods
from ansible_collections.ibready.cluster.plugins.module_utils._packages import run
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import PackageError

SUBJECT = "next-kernel"


def look(root: str) -> KmodFacts:
    """The host as it is now; a container boots no kernel."""
    evidence = Cached(Live(root))
    if kind.container(evidence):
        return KmodFacts(kernels=Reading(()))
    return kmods.observe(evidence)


def prepare(root: str, without: list[str], *, wanted: bool, act: bool) -> dict[str, Any]:
    """Look, build if that is ``wanted`` and no check mode keeps from it, and tell."""
    facts = look(root)
    found = gaps.find(facts, without)
    todo = build.buildable(found) if wanted else []
    made: list[str] = []
    # Built by a run that did not come to the initramfs: DKMS will not say so again.
    late = _late(root, facts) if wanted else set()
    if act and (todo or late):
        late.update(one.kernel for one in todo)
        _state.save(SUBJECT, {"initramfs": sorted(late)}, root)
        found = build.close(found, lambda: look(root), run.run, root, without)
        made = _initramfs(root, look(root), late)
        _state.save(SUBJECT, {}, root)
    built = _closed(todo, found) if act else todo
    refused = [one for one in found.gaps if one.required and (act or one not in todo)]
    return {
        "changed": bool(built or made or (late and not act)),
        "running": facts.running,
        "kernels": list(facts.kernels.value or ()),
        "because": facts.because,
        "built": [f"{one.subject} for {one.kernel}" for one in built],
        "initramfs": made,
        "missing": [_shown(one) for one in found.gaps],
        "refused": [f"{one.cause}. Next: {one.following}." for one in refused],
        "unknown": list(found.unknown),
    }


def _closed(todo: list[Gap], found: gaps.Found) -> list[Gap]:
    """Those that are no gaps any more."""
    left = {(one.subject, one.kernel) for one in found.gaps}
    return [one for one in todo if (one.subject, one.kernel) not in left]


def _late(root: str, facts: KmodFacts) -> set[str]:
    """The kernels that may still have an initramfs from before modules were built for them."""
    known = _state.load(SUBJECT, root).get("initramfs", [])
    return set(known).intersection(facts.kernels.value or ())


def _initramfs(root: str, facts: KmodFacts, kernels: set[str]) -> list[str]:
    """Make those again that carry the kernel's own module in place of a built one."""
    made = []
    for kernel in sorted(kernels):
        names = [
            name
            for one in facts.objects
            if one.kernel == kernel
            for name in one.modules.value or ()
        ]
        argv = build.initramfs(root, names, kernel)
        if not argv:
            continue
        done = run.run(argv)
        if done.rc != 0:
            said = (done.stderr or done.stdout).strip().split("\n")[-1]
            raise PackageError(
                "failed",
                f"`{' '.join(argv)}` ended with status {done.rc}: {said or 'no word'}",
                "mend that (often /boot is full), and make the initramfs by hand: it carries the"
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
    except _state.StateError as exc:
        module.fail_json(msg=f"{host}: modules of the next kernel: {exc}")
    if act and (result["refused"] or result["unknown"]):
        told = [*result["refused"], *(f"It cannot be told: {one}." for one in result["unknown"])]
        module.fail_json(
            msg=f"{host}: the next boot would lose modules, so it was not rebooted. "
            f"{' '.join(told)} What was installed and built stays.",
            **result,
        )
    module.exit_json(**result)


if __name__ == "__main__":
    main()
