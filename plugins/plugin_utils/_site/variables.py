# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuse misspelt and wrongly typed variables of ours before any host is touched."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ...module_utils._expect import nccl_policy, waivers
from ...module_utils._expect.expectations import ExpectationError, from_inventory
from ...module_utils._verify.catalog import CATALOG
from .._ground import address, yaml as _yaml

_TOP = Path(__file__).resolve().parents[3]
# Of report_ only what is near to ours: a site may have variables of that name.
PREFIXES = (
    *("ibready_", "stack_", "diagnose_", "launch_", "smoke_", "bench_"),
    *("report_fail", "report_from"),
)


@functools.cache
def playbook_options() -> dict[str, dict[str, Any]]:
    """The options of the playbooks, as a role's argument spec has them."""
    return _options(_TOP / "playbooks/meta/argument_specs.yml")


@functools.cache
def registered() -> frozenset[str]:
    """What the playbooks register themselves, which is no misspelling."""
    return frozenset(_yaml.load((_TOP / "playbooks/meta/registered.yml").read_text(encoding="utf-8")))


@functools.cache
def role_options() -> dict[str, dict[str, Any]]:
    """The options of every role's main entry point, from its argument spec."""
    return {path.parents[1].name: _options(path) for path in sorted(_TOP.glob("roles/*/meta/argument_specs.yml"))}


def _options(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = _yaml.load(path.read_text(encoding="utf-8"))["argument_specs"]["main"]["options"]
    return found


def is_ours(name: str) -> bool:
    """Whether this is the name of a variable of ours: any of ``ibready_``, else a known name. (An
    interface rdma-0 is the fact ``rdma_0``, so prefixes of roles do not tell.)"""
    return (
        name.startswith("ibready_")
        or name in playbook_options()
        or any(name in options for options in role_options().values())
    )


def problems(variables: Mapping[str, Any], role_options: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What is wrong with the variables of one host, one sentence each.

    ``role_options`` maps a role's name to the options of its argument spec. Only names that start
    with one of PREFIXES or a role's name and an underscore are ours.
    """
    known: dict[str, Any] = dict(playbook_options())
    for options in role_options.values():
        known.update(options)
    prefixes = (*PREFIXES, *(f"{role}_" for role in role_options))
    names = sorted(name for name in variables if name.startswith(prefixes))
    found = [_misspelt(name, known) for name in names if name not in known and name not in registered()]
    ours: dict[str, Any] = {}
    for name in names:
        try:
            # Only ours: a site's other variables may need facts that nobody has gathered yet.
            ours[name] = variables[name]
        except AnsibleError as exc:
            found.append(f"{name} cannot be told: {exc}")
    found += _wrong(known, {name: value for name, value in ours.items() if name in known})
    if isinstance(ours.get("ibready_expect"), Mapping):
        try:
            from_inventory(ours["ibready_expect"])
        except ExpectationError as exc:
            found.append(str(exc).replace("expect.", "ibready_expect.", 1))
    try:
        nccl_policy.from_variables(ours)
    except nccl_policy.PolicyError as exc:
        found.append(str(exc))
    if isinstance(ours.get("ibready_waivers"), list):
        try:
            waivers.parse(ours["ibready_waivers"], CATALOG)
        except waivers.WaiverError as exc:
            found.append(f"ibready_waivers: {exc}")
    # Told where the first play begins: a converge asks for it once roles have changed hosts.
    nowhere = address.problem(ours)
    return [*found, nowhere] if nowhere else found


def _misspelt(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else "docs/variables.md lists what there is"
    return f"{name} is not a variable of ibready; {hint}"


def _wrong(known: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """Let Ansible's own validator judge the types, with nothing required here."""
    spec = {name: {**known[name], "required": False} for name in given}
    for options in spec.values():
        options.pop("default", None)
        options.pop("description", None)
    result = ArgumentSpecValidator(spec).validate(dict(given))
    return [str(message) for message in result.error_messages]
