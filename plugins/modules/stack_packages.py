#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_packages
short_description: Bring the packages of a plan's parts to exactly what the plan says
version_added: 0.1.0
description:
  - Installs, upgrades or downgrades the packages of one or several parts of C(ibready_plan.install)
    with apt or dnf, in one visit to the host, and keeps them there.
  - First it finds what would happen, with package lists of its own that know the new repositories
    already. So check mode on a bare host names every package with its versions and every file, and
    whatever speaks against it is refused before anything changes.
  - Nothing but a pinned key (C(fingerprints)) may sign a repository, and a key file with anything
    else in it is refused. RSA, Ed25519 and DSA keys are understood.
  - Pins (apt preferences) have dependencies be of exactly the plan's version, and holds (apt-mark,
    dnf versionlock) keep library and kernel module together through unattended upgrades.
  - A package database that was left in the middle, as by a loss of power, is repaired first.
  - Kernel modules that DKMS did not build for the running kernel are a failure, whatever the
    package manager's exit status was.
  - A host that is as asked already is told so without asking any repository.
options:
  repositories:
    description:
      - All package repositories of the plan. Files of ours for other repositories are removed.
      - >-
        Each has V(name), V(kind) (V(apt) or V(dnf); those of the other kind are left out), V(url),
        V(suite) (apt; V(./) for a flat repository), V(components) (apt), V(key) (the address of the
        public key, http, https or file) or V(public_key) (the armored key itself, which then is
        asked for nowhere), V(fingerprints) (40 hex digits each), V(exclude) (dnf; names it must not
        offer), V(gpgcheck) and V(repo_gpgcheck) (dnf; both true by default, at
        least one of them must be), V(alone) (false by default; where it is true no repository but
        the plan's is asked, as for a bundle on a host without network).
    type: list
    elements: dict
    required: true
  owner:
    description:
      - Whose repositories these are. Neither the V(plan) nor the V(site) touches the files of the
        other's.
    type: str
    choices: [plan, site]
    default: plan
  parts:
    description:
      - The parts to bring, name to what the plan says of it, in the plan's order.
      - >-
        Each has V(packages) (V(name), and V(version) as a beginning of it or empty; or only the
        name, as a text; V({kernel}) in a name is the running kernel's release), V(pins) (V(names)
        as globs, and V(version)), V(conflicts) (globs of installed packages that must go first),
        V(modules) (V(stream) of the dnf module C(nvidia-driver)) and V(hold) (true by default;
        where it is false upgrades may move the packages).
    type: dict
    default: {}
  absent:
    description:
      - Names of parts to take away, with the packages, pins and holds that they brought.
    type: list
    elements: str
    default: []
  replace_ok:
    description: Whether packages of another stack may be removed; C(ibready_replace_stack_ok).
    type: bool
    default: false
  hold_kernel:
    description:
      - Whether the packages of the kernel are held, too, while a part that is held has modules for
        it, so that no unattended upgrade leaves the modules behind. Left out, they stay as they are.
    type: bool
  forbid:
    description:
      - Packages (globs) that a transaction must not bring, as those that write firmware; it is
        refused where it would.
    type: list
    elements: str
    default: []
  stay:
    description:
      - Packages (globs) of parts that stay as they were found (C(ibready_plan.install.stay)). They are neither moved
        nor held, and a transaction that would bring, move or remove one is refused; what O(parts) names itself is not
        meant.
    type: list
    elements: str
    default: []
  simulate:
    description:
      - Whether check mode asks the repositories what would happen. Where it is false, it tells what
        is not as asked, and that is a matter of a moment.
    type: bool
    default: true
extends_documentation_fragment: [ibready.cluster.packages, ibready.cluster.inner]
notes:
  - No service is restarted here, nothing is rebooted, and no firmware is touched.
  - Configuration files of packages that somebody changed are kept.
  - dnf imports the checked key into rpm's own database when it first installs from the repository,
    and nobody takes it out of there again.
  - With dnf, holds need the plugin C(versionlock). Where it is missing it is installed with the
    packages, from the distribution's repositories.
"""

EXAMPLES = r"""
- name: Install the driver of the plan
  ibready.cluster.stack_packages:
    repositories: "{{ ibready_plan.install.repositories }}"
    parts:
      nvidia_driver: "{{ ibready_plan.install.parts.nvidia_driver }}"
    replace_ok: "{{ ibready_replace_stack_ok | default(false) }}"
"""

RETURN = r"""
installed:
  description: The packages that are new, with C(name), C(arch), C(before) (empty) and C(after).
  type: list
  elements: dict
  returned: always
  sample: [{"name": "libnccl2", "arch": "amd64", "before": "", "after": "2.28.3-1+cuda13.0"}]
upgraded:
  description: As RV(installed), for those that went to a newer version.
  type: list
  elements: dict
  returned: always
downgraded:
  description: As RV(installed), for those that went to an older version.
  type: list
  elements: dict
  returned: always
removed: {type: list, elements: dict, returned: always, description: "As RV(installed), for those that are gone."}
files: {type: list, elements: str, returned: always, description: The paths of the files that were written or removed.}
holds:
  description: The packages that are held from now on (C(held)), or no longer (C(released)).
  type: dict
  returned: always
repaired:
  description: What an interrupted transaction or a failed build had left, and what was run.
  type: list
  elements: str
  returned: always
kind:
  description: >-
    Why it failed, as one word - input, key, checksum, unreachable, version, conflict, held,
    forbidden, busy, disk, lock, headers, dkms, broken, mixture or failed.
  type: str
  returned: failure
"""

import os
import socket
from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.packages import dkms, fetching, files, read, run
from ..module_utils._act.packages.apt import Apt
from ..module_utils._act.packages.bring import Bringer
from ..module_utils._act.packages.dnf import Dnf
from ..module_utils._act.packages.manager import Manager
from ..module_utils._act.packages.model import DNF, Change, Outcome, PackageError
from ..module_utils._act.packages.survey import Order
from ..module_utils._ground import state

_ACTS = ("installed", "upgraded", "downgraded", "removed")


def manager_here() -> tuple[str, Manager]:
    """The package manager that this host has."""
    kind = fetching.kind_here()
    return kind, Dnf(run.run) if kind == DNF else Apt(run.run)


def _named(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The repositories, by names that tell whose they are."""
    if given["owner"] == "plan":
        return list(given["repositories"])
    return [
        {**repository, "name": f"{files.SITE}{repository['name']}"} if repository.get("name") else repository
        for repository in given["repositories"]
    ]


def report(outcome: Outcome) -> dict[str, Any]:
    """The outcome as the module returns it."""
    result: dict[str, Any] = {act: [] for act in _ACTS}
    for change in outcome.changes:
        if change.act in result:
            result[change.act].append(
                {"name": change.name, "arch": change.arch, "before": change.before, "after": change.after}
            )
    result["files"] = [file["path"] for file in outcome.files]
    result["holds"] = {"held": outcome.held, "released": outcome.released}
    result["repaired"] = outcome.repaired
    result["changed"] = outcome.changed
    result["diff"] = diff(outcome)
    return result


def diff(outcome: Outcome) -> list[dict[str, str]]:
    found = [state.diff(file["path"], file["before"], file["after"]) for file in outcome.files]
    if outcome.changes:
        before, after = _versions(outcome.changes, "before"), _versions(outcome.changes, "after")
        found.append(state.diff("packages", before, after))
    if outcome.held or outcome.released:
        header = f"held packages ({outcome.holds_in})" if outcome.holds_in else "held packages"
        released = "".join(f"{name}\n" for name in outcome.released)
        found.append(state.diff(header, released, "".join(f"{name}\n" for name in outcome.held)))
    return found


def _versions(changes: list[Change], side: str) -> str:
    lines = [(entry.name, getattr(entry, side)) for entry in sorted(changes, key=lambda change: change.name)]
    return "".join(f"{name} {version}\n" for name, version in lines if version)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "repositories": {"type": "list", "elements": "dict", "required": True},
            "owner": {"type": "str", "choices": ["plan", "site"], "default": "plan"},
            "parts": {"type": "dict", "default": {}},
            "absent": {"type": "list", "elements": "str", "default": []},
            "replace_ok": {"type": "bool", "default": False},
            "hold_kernel": {"type": "bool"},
            "forbid": {"type": "list", "elements": "str", "default": []},
            "stay": {"type": "list", "elements": "str", "default": []},
            "simulate": {"type": "bool", "default": True},
            "lock_timeout": {"type": "int", "default": 120},
            "min_free_mb": {"type": "int", "default": 300},
            "host": {"type": "str"},
        },
        supports_check_mode=True,
    )
    given = module.params
    host = given["host"] or socket.gethostname()
    bringer = None
    try:
        kind, manager = manager_here()
        manager.site = given["owner"] == "site"
        order = Order(
            repositories=read.repositories(_named(given), kind),
            parts=read.parts(given["parts"], [os.uname().release]),
            absent=tuple(read.label(name, "absent part") for name in given["absent"]),
            replace_ok=given["replace_ok"],
            hold_kernel=given["hold_kernel"],
            forbid=tuple(given["forbid"]),
            stay=tuple(given["stay"]),
            lock_timeout=given["lock_timeout"],
            min_free_mb=given["min_free_mb"],
        )
        bringer = Bringer(
            manager, order, fetching.fetch, dkms.builder(run.run), check=module.check_mode, simulate=given["simulate"]
        )
        outcome = bringer.bring()
    except PackageError as exc:
        if exc.kind == "input" and given["owner"] == "site":
            exc.following = "correct the repositories or packages in the inventory"
        done = bringer.outcome if bringer is not None and exc.changed else Outcome()
        if bringer is not None and not exc.changed:
            done.repaired = bringer.outcome.repaired
        module.fail_json(msg=f"{host}: {exc}", kind=exc.kind, **report(done))
    for warning in outcome.warnings:
        module.warn(f"{host}: {warning}")
    if outcome.repaired:
        module.warn(f"{host}: an interrupted run was made good: {'; '.join(outcome.repaired)}")
    module.exit_json(**report(outcome))


if __name__ == "__main__":
    main()
