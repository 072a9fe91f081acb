# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/variables.md: every variable that an inventory may hold, from where it is defined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ansible_collections.ibready.cluster.plugins.doc_fragments.verify import ModuleDocFragment
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import SPEC
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.variables import OURS, playbook_options
from tools import role_readme

ROOT = Path(__file__).resolve().parents[1]

# What the variables of the playbooks are about, by their prefixes; the first that fits.
_SUBJECTS = {
    "ibready_ping_": "Pings",
    "ibready_tcp": "TCP",
    "ibready_rdma": "Data over RDMA",
    "ibready_fabric_restart_ok": "Expectations, consent, batches",
    "ibready_fabric": "The fabric as a whole",
    "ibready_report_": "Reports",
    "report_": "Reports",
    "since": "Reports",
    "ibready_": "Expectations, consent, batches",
    "stack_": "The stack",
    "bench_": "bench.yml",
    "diagnose_": "diagnose.yml",
    "launch_": "launch.yml",
    "smoke_": "smoke.yml",
}
_ORDER = (
    *("ibready_", "ibready_report_", "stack_", "ibready_ping_", "ibready_tcp", "ibready_rdma"),
    "ibready_fabric",
)


def render(note: str) -> str:
    """The page, with `note` below its title."""
    text = ["# Variables: the inventory reference", "", note]
    prefixes = " or ".join(f"`{prefix}`" for prefix in OURS)
    text += [
        "Sources: `playbooks/meta/argument_specs.yml`,",
        "`plugins/module_utils/_expect/expectations.py` and",
        "`roles/*/meta/argument_specs.yml`. They go into the inventory, into `group_vars` and",
        "`host_vars` beside it, or behind `-e`. Two annotated inventories:",
        "[InfiniBand](../inventories/example-infiniband/hosts.yml) and",
        "[RoCE](../inventories/example-roce/hosts.yml).",
        "",
        f"A name that begins with {prefixes} and is not listed here is refused before anything runs. So is a",
        "value of another type. Any other name that is a letter or two away from a name here is told in a warning: it",
        "may be the site's own.",
    ]
    expected = yaml.safe_load(ModuleDocFragment.DOCUMENTATION)["options"]
    text += _keys("ibready_expect", "what the inventory expects of a host", _expected(expected))
    waiver = expected["waivers"]["suboptions"]
    text += _keys("ibready_waivers", "failures that are accepted until a day, a list of", waiver)
    text += ["", "## Playbooks"]
    for subject, names in _subjects().items():
        text += ["", f"### {subject}", "", "| variable | type | meaning |", "|---|---|---|"]
        text += [
            f"| `{name}` | {role_readme.kind(playbook_options()[name])} | {playbook_options()[name]['description']} |"
            for name in names
        ]
    for path in sorted(ROOT.glob("roles/*/meta/argument_specs.yml")):
        text += _role(path.parents[1])
    return "\n".join(text) + "\n"


def _expected(documented: dict[str, Any]) -> dict[str, Any]:
    """The keys of ibready_expect as modules document them; SPEC says which there are."""
    keys = documented["expect"]["suboptions"]
    return {name: {**keys[name], "required": False} for name in SPEC}


def _keys(name: str, what: str, options: dict[str, Any]) -> list[str]:
    rows = ["", f"## {name}", "", f"`{name}` holds {what}:", "", "| key | type | meaning |"]
    rows.append("|---|---|---|")
    for key, option in options.items():
        kind = role_readme.kind(option) + (", required" if option.get("required") else "")
        rows.append(f"| `{key}` | {kind} | {role_readme.prose(option['description'])} |")
    return rows


def _subjects() -> dict[str, list[str]]:
    """The names of the playbooks' variables by subject, what every site may need first."""
    found: dict[str, list[str]] = {_SUBJECTS[prefix]: [] for prefix in _ORDER}
    for name in playbook_options():
        if name in ("ibready_expect", "ibready_waivers"):
            continue
        prefix = next((subject for subject in _SUBJECTS if name.startswith(subject)), "")
        found.setdefault(_SUBJECTS.get(prefix, "Others"), []).append(name)
    return found


def _role(role: Path) -> list[str]:
    """One role's section: what it is for, and its table with links that hold from here."""
    spec = yaml.safe_load((role / "meta/argument_specs.yml").read_text(encoding="utf-8"))
    title = spec["argument_specs"]["main"]["short_description"]
    table = role_readme.table(spec).replace("](defaults/", f"](../roles/{role.name}/defaults/")
    above = f"{title}: [its README](../roles/{role.name}/README.md)."
    return ["", f"## Role {role.name}", "", above, "", table]
