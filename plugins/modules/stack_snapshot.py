#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_snapshot
short_description: Remember a host before its stack moves, and bring it back to that
version_added: 0.1.0
description:
  - Knows to which plan the host was last brought (C(/var/lib/ibready/stack.json)), by the plan's
    digest. Before a host leaves it, O(state=taken) records every installed package with version and
    architecture, which of them were asked for and which came along, the holds, and content, mode
    and owner of every file that ibready manages or may write, those that are absent too.
  - Snapshots lie below C(/var/lib/ibready/snapshots), each written whole or not at all.
  - O(state=restored) brings the host back to a snapshot in one package transaction, with exact
    versions (docs/rollback.md); what was not there is purged, what is gone comes back.
  - A host that a loss of power stopped in the middle is brought to the end by running it again.
options:
  state:
    description:
      - V(taken) takes a snapshot where the host is about to leave the plan that it was brought to.
        A host that is on its way already, because an earlier run failed, keeps the snapshot that it
        set out with.
      - V(settled) remembers that the host is now at the plan O(digest).
      - V(found) looks whether the host can be brought back to O(digest), and changes nothing.
      - V(restored) brings it back. A host that is at O(digest) is left alone, whatever the operator
        has changed on it since.
    type: str
    choices: [taken, settled, found, restored]
    required: true
  digest:
    description:
      - C(ibready_plan.digest). With V(found) and V(restored) V(bare) means the host as it was
        before ibready first installed anything.
    type: str
    required: true
  keep:
    description:
      - Packages (globs of names) that O(state=restored) leaves as they are, whatever the snapshot
        says; C(stack_rollback_keep).
    type: list
    elements: str
    default: []
  snapshots:
    description:
      - How many snapshots a host keeps. That of the bare host is always kept.
    type: int
    default: 5
extends_documentation_fragment: [ibready.cluster.packages, ibready.cluster.inner]
notes:
  - No service is restarted here, nothing is rebooted, and no firmware is touched. What is loaded
    stays loaded; the role reboot_gate tells what has to boot.
  - Every package of the host goes back, not only those of ibready. What somebody installed after
    the snapshot is purged, unless O(keep) names it; check mode names all of it.
  - With dnf, holds are the file C(versionlock.list), and go back with it.
"""

EXAMPLES = r"""
- name: Remember the host before its stack moves
  ibready.cluster.stack_snapshot:
    state: taken
    digest: "{{ ibready_plan.digest }}"

- name: Bring the host back to before ibready
  ibready.cluster.stack_snapshot:
    state: restored
    digest: bare
"""

RETURN = r"""
snapshot:
  description: The name of the snapshot, NUMBER-DIGEST; empty where none was needed.
  type: str
  returned: success
at:
  description: The digest of the plan that the host was at; V(bare) or V(unknown) for none.
  type: str
  returned: success
moving:
  description: Whether the host is not at the plan O(digest), or was not until now.
  type: bool
  returned: success
packages:
  description: >-
    The packages that were put back, with C(name), C(before) and C(after); empty for what was not
    there.
  type: list
  elements: dict
  returned: when O(state=restored)
files:
  description: The paths of the files that were put back or removed.
  type: list
  elements: str
  returned: when O(state=restored)
repaired:
  description: What an interrupted run or a failed build had left, and what was run.
  type: list
  elements: str
  returned: when O(state=restored)
told:
  description: What was run to have changed files read again.
  type: list
  elements: str
  returned: when O(state=restored)
kind:
  description: Why it failed, as one word; as with M(ibready.cluster.stack_packages).
  type: str
  returned: failure
"""

import os
import socket
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.packages import dkms, run
from ..module_utils._act.packages.model import PackageError
from ..module_utils._act.snapshot import files, restore, store, tell
from ..module_utils._act.snapshot.apt import SnapshotApt
from ..module_utils._act.snapshot.dnf import SnapshotDnf
from ..module_utils._act.snapshot.model import Pool
from ..module_utils._ground import state as _state


def pool_here() -> Pool:
    """The package manager that this host has."""
    red_hat = os.path.exists("/etc/redhat-release")
    if red_hat and os.path.exists("/usr/bin/dnf"):
        return SnapshotDnf(run.run)
    if not red_hat and os.path.exists("/usr/bin/apt-get"):
        return SnapshotApt(run.run)
    raise PackageError("failed", "this host has neither apt nor dnf", "take it out of the plan")


def teller(whom: str) -> str:
    return tell.tell(whom, run.run, os.uname().release)


def report(outcome: restore.Outcome) -> dict[str, Any]:
    """The outcome as the module returns it."""
    return {
        "changed": outcome.changed,
        "moving": outcome.settled,
        "snapshot": outcome.snapshot,
        "packages": [
            {"name": change.name, "before": change.before, "after": change.after} for change in outcome.changes
        ],
        "files": [file.path for file in outcome.files],
        "repaired": outcome.repaired,
        "told": outcome.told,
        "diff": diff(outcome),
    }


def diff(outcome: restore.Outcome) -> list[dict[str, str]]:
    shown = [_state.diff(file.path, files.shown(file.now), files.shown(file.then)) for file in outcome.files]
    way, moved = outcome.way, sorted(outcome.changes, key=lambda change: change.name)
    sides = [
        (
            "packages",
            [f"{entry.name} {entry.before}" for entry in moved if entry.before],
            [f"{entry.name} {entry.after}" for entry in moved if entry.after],
        ),
        ("held packages", list(way.release), list(way.hold)),
        ("packages brought by others", list(way.manual), list(way.automatic)),
        ("rests of removed packages", list(way.residue), []),
    ]
    for what, before, after in sides:
        if before or after:
            shown.append(_state.diff(what, *("".join(f"{line}\n" for line in lines) for lines in (before, after))))
    return shown


def restored(module: AnsibleModule, pool: Pool) -> dict[str, Any]:
    """Bring the host back; a failure carries what was done."""
    given = module.params
    order = restore.Order(
        given["digest"],
        tuple(given["keep"]),
        given["lock_timeout"],
        given["min_free_mb"],
        given["snapshots"],
    )
    restorer = restore.Restorer(pool, order, dkms.builder(run.run), teller, check=module.check_mode)
    try:
        return report(restorer.restore())
    except PackageError as exc:
        done = report(restorer.outcome) if exc.changed else {}
        module.fail_json(msg=f"{name(module)}: {exc}", kind=exc.kind, **done)
        raise


def name(module: AnsibleModule) -> str:
    return module.params["host"] or socket.gethostname()


def act(module: AnsibleModule) -> dict[str, Any]:
    pool, given = pool_here(), module.params
    before = store.at(pool.root)
    state, digest = given["state"], given["digest"]
    reported: dict[str, Any] = {"changed": False, "snapshot": "", "at": before.digest}
    reported["moving"] = before.digest != digest or bool(before.towards)
    if state == "taken":
        departure, reported["snapshot"], reported["changed"] = store.take(
            pool, digest, keep=given["snapshots"], check=module.check_mode
        )
        reported["moving"] = departure.moving
    elif state == "settled":
        reported["changed"] = store.settle(digest, pool.root, check=module.check_mode)
    elif state == "found":
        if reported["moving"]:
            reported["snapshot"] = restore.found(digest, pool.root).name
    else:
        reported.update(restored(module, pool))
    return reported


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {
                "type": "str",
                "choices": ["taken", "settled", "found", "restored"],
                "required": True,
            },
            "digest": {"type": "str", "required": True},
            "keep": {"type": "list", "elements": "str", "default": []},
            "snapshots": {"type": "int", "default": 5},
            "lock_timeout": {"type": "int", "default": 120},
            "min_free_mb": {"type": "int", "default": 300},
            "host": {"type": "str"},
        },
        supports_check_mode=True,
    )
    try:
        result = act(module)
    except PackageError as exc:
        module.fail_json(msg=f"{name(module)}: {exc}", kind=exc.kind)
        raise
    module.exit_json(**result)


if __name__ == "__main__":
    main()
