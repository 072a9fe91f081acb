#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kernel_args
short_description: Keep arguments on the kernel command line, beside the operator's own
version_added: 0.1.0
description:
  - Where GRUB reads C(/etc/default/grub.d) (Debian family), writes a drop-in that adds to what
    other files say, and runs C(update-grub). Elsewhere (EL) lets C(grubby) edit every boot entry.
  - An argument that the operator has set already is not added again. Where the operator has the
    same argument with another value, theirs stays, and RV(kept) says so.
  - What this module added and is no longer in O(args) is removed again, and nothing else.
  - The running kernel keeps its command line until the next boot; RV(pending) says what it lacks.
  - In a container, and where no boot loader is known, nothing is done and RV(why_not) tells why.
options:
  args:
    description:
      - The arguments, each as one word (C(name) or C(name=value)).
      - V(auto) stands for what this machine's hardware wants, V(sriov) for what handing virtual
        functions to virtual machines needs; both are listed in docs/kernel-args.md. In a virtual
        machine, and on a host with neither GPU nor HCA, they stand for
        nothing.
    type: list
    elements: str
    required: true
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.root, ibready.cluster.inner]
attributes:
  diff_mode:
    description: Shows the drop-in, or the arguments that boot entries get and lose.
    support: full
notes:
  - What was added is remembered in C(/var/lib/ibready/kernel_args.json).
  - An interrupted run is completed by the next one, which looks at every boot entry.
"""

EXAMPLES = r"""
- name: Let GPUs and HCAs reach memory untranslated
  ibready.cluster.kernel_args:
    args: [auto]

- name: Take away again what was added
  ibready.cluster.kernel_args:
    args: []
"""

RETURN = r"""
args:
  description: The arguments that this module keeps on the command line.
  type: list
  elements: str
  returned: success
  sample: ["iommu=pt"]
there: {type: list, elements: str, returned: success, description: Wanted arguments that the operator has set.}
kept:
  description: Wanted argument to the operator's own of the same name, which stays.
  type: dict
  returned: success
  sample: {"iommu=pt": "iommu=soft"}
dropped:
  description: What this module had added and has taken away, or would in check mode.
  type: list
  elements: str
  returned: success
pending:
  description: What the running kernel's command line lacks (C(+)) or still has (C(-)).
  type: list
  elements: str
  returned: success
  sample: ["+iommu=pt"]
why_not:
  description: Why the command line cannot be set on this host, empty where it can.
  type: str
  returned: success
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.tuning import bootloader, kernel_args as logic
from ..module_utils._act.tuning.kernel_args import KernelArgsError
from ..module_utils._areas.machine import kind, observe as machine
from ..module_utils._evidence.sources import Live, Unavailable
from ..module_utils._ground import state

_SUBJECT = "kernel_args"


def _keep(module: AnsibleModule) -> dict[str, Any]:
    root: str = module.params["root"]
    evidence = Live(root)
    host = machine.observe(evidence)
    wanted = logic.chosen(module.params["args"], host, _cpu(evidence))
    try:
        loader = bootloader.find(root, host.container)
    except bootloader.NoBootLoader as exc:
        return _result(logic.Plan(), [], str(exc) if wanted else "")
    known = state.load(_SUBJECT, root)
    own = loader.ours()
    before = list(dict.fromkeys([*own, *known.get("added", [])]))
    operators = loader.operators(before)
    plan = logic.plan(wanted, operators, before)
    entries = loader.entries()
    gaps = logic.lacking(entries, plan.ours)
    text = logic.render(plan.ours) if loader.path else ""
    left = [entry for entry in plan.dropped for line in entries.values() if entry in line]
    changed = bool(gaps or left or loader.text() != text)
    diff = [_diff(loader, entries, plan, text)] if changed else []
    late = dict.fromkeys([*known.get("dropped", []), *plan.dropped])
    dropped = [entry for entry in late if entry not in plan.ours]
    if changed and not module.check_mode:
        # Before anything else: after a power cut nobody else knows what was ours.
        early = {"added": [*before, *plan.ours], "dropped": dropped}
        state.save(_SUBJECT, early, root)
        loader.apply(plan)
        _see(loader, plan)
    cmdline = _text(evidence, "/proc/cmdline")
    asked = [*plan.ours, *plan.there]
    pending = logic.pending(cmdline, asked, dropped, operators)
    if not module.check_mode:
        # Dropped ones are of interest as long as the running kernel has them.
        running = [entry for entry in dropped if f"-{entry}" in pending]
        new = {"added": list(plan.ours), "wanted": asked, "dropped": running}
        state.save(_SUBJECT, new if asked or running else {}, root)
    result = _result(plan, pending, "")
    result["changed"] = changed
    result["diff"] = diff
    return result


def _see(loader: bootloader.Grub | bootloader.Grubby, plan: logic.Plan) -> None:
    """A later file may overwrite what ours added; then the next boot would not have it."""
    gaps = logic.lacking(loader.entries(), plan.ours)
    if gaps:
        entry, lost = next(iter(gaps.items()))
        raise KernelArgsError(
            f"{loader.name} ran, and the boot entry {entry} still lacks {' '.join(lost)}: a file "
            f"that is read after {loader.path or 'the defaults'} sets the command line anew. Next: "
            "have that file add to $GRUB_CMDLINE_LINUX"
        )


def _diff(
    loader: bootloader.Grub | bootloader.Grubby,
    entries: dict[str, tuple[str, ...]],
    plan: logic.Plan,
    text: str,
) -> dict[str, str]:
    if loader.path and loader.text() != text:
        return state.diff(loader.path, loader.text(), text)
    before = {name: " ".join(line) for name, line in entries.items()}
    after = {
        name: " ".join(entry for entry in line if entry not in plan.dropped)
        + "".join(f" {entry}" for entry in plan.ours if entry not in line)
        for name, line in entries.items()
    }
    return {
        "before": "".join(f"{name}: {line}\n" for name, line in before.items()),
        "after": "".join(f"{name}: {line}\n" for name, line in after.items()),
    }


def _result(plan: logic.Plan, pending: list[str], why_not: str) -> dict[str, Any]:
    return {
        "changed": False,
        "args": list(plan.ours),
        "there": list(plan.there),
        "kept": plan.kept,
        "dropped": list(plan.dropped),
        "pending": pending,
        "why_not": why_not,
    }


def _cpu(evidence: Live) -> str:
    try:
        return kind.first_processor(evidence.read("/proc/cpuinfo")).get("vendor_id", "")
    except (Unavailable, ValueError):
        return ""


def _text(evidence: Live, path: str) -> str:
    try:
        return evidence.read(path)
    except Unavailable as exc:
        raise KernelArgsError(f"cannot tell what the running kernel was given: {exc}") from exc


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "args": {"type": "list", "elements": "str", "required": True},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    try:
        result = _keep(module)
    except (KernelArgsError, state.StateError, OSError) as exc:
        module.fail_json(msg=f"Kernel command line: {exc}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
