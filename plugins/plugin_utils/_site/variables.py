# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuse what cannot be meant by variables of ours before any host is touched, and name what looks misspelt."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ...module_utils._expect import nccl_policy, waivers
from ...module_utils._expect.expectations import ExpectationError, from_inventory
from ...module_utils._verify.catalog import CATALOG
from .._ground import address, yaml as _yaml
from .defined import TOP, registered

# How long one host may take for an answer.
BOUNDS = ("ibready_visit_timeout", "ibready_packages_timeout")
# Nobody else has variables that begin like this; all other beginnings a site may share with us.
OURS = ("ibready_", "diagnose_")
# How alike two names are of which one may be the other misspelt: with one slip, names of seven letters and more are.
_NEAR = 0.85
# What a batch of a play may be (serial), as Ansible counts it.
# Ansible takes 0 for all hosts.
_BATCH = re.compile(r"0|[1-9][0-9]{0,6}|([1-9][0-9]?|100)%")
# What Ansible's validator says twice.
_TWICE = re.compile(r": <class '[\w.]*'> cannot be converted to an? \w+")


@functools.cache
def playbook_options() -> dict[str, dict[str, Any]]:
    """The options of the playbooks, as a role's argument spec has them."""
    return _options(TOP / "playbooks/meta/argument_specs.yml")


@functools.cache
def role_options() -> dict[str, dict[str, Any]]:
    """The options of every role's main entry point, from its argument spec."""
    return {path.parents[1].name: _options(path) for path in sorted(TOP.glob("roles/*/meta/argument_specs.yml"))}


def _options(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = _yaml.load(path.read_text(encoding="utf-8"))["argument_specs"]["main"]["options"]
    return found


def is_ours(name: str) -> bool:
    """Whether this is the name of a variable of ours: any that begins with OURS, else a known name. (An
    interface rdma-0 is the fact ``rdma_0``, so prefixes of roles do not tell.)"""
    return (
        name.startswith(OURS)
        or name in playbook_options()
        or any(name in options for options in role_options().values())
    )


def problems(variables: Mapping[str, Any], role_options: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What is wrong with the variables of one host, one sentence each.

    ``role_options`` maps a role's name to the options of its argument spec. Of names that are none of
    these only those that begin with OURS are ours.
    """
    known = _known(role_options)
    unknown = sorted(
        name for name in variables if name.startswith(OURS) and name not in known and name not in registered()
    )
    found = [f"{name} is not a variable of ibready; {_hint(name, known)}" for name in unknown]
    ours: dict[str, Any] = {}
    for name in sorted(name for name in variables if name in known):
        try:
            # Only ours: a site's other variables may need facts that nobody has gathered yet.
            ours[name] = _plain(variables[name])
        except AnsibleError as exc:
            found.append(f"{name} cannot be told: {exc}")
    found += _wrong(known, ours)
    found += _batches(ours)
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
    found += [
        f"{name} has to be 1 at least: without a bound one host holds all" for name in BOUNDS if _none(ours, name)
    ]
    # Told where the first play begins: a converge asks for it once roles have changed hosts.
    nowhere = address.problem(ours)
    return [*found, nowhere] if nowhere else found


def near_misses(variables: Iterable[str], role_options: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Names that may be the site's own, and look like a variable of ours misspelt: name -> ours.

    >>> near_misses(["rdma_port_typ", "mpi_version"], role_options())
    {'rdma_port_typ': 'rdma_port_type'}
    """
    known = _known(role_options)
    found: dict[str, str] = {}
    for name in sorted(variables):
        if name in known or name.startswith(OURS):
            continue
        near = difflib.get_close_matches(name, known, n=1, cutoff=_NEAR)
        if near and name not in registered():
            found[name] = near[0]
    return found


def _known(role_options: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    known: dict[str, Any] = dict(playbook_options())
    for options in role_options.values():
        known.update(options)
    return known


def _none(given: Mapping[str, Any], name: str) -> bool:
    """Whether a number is none that counts; what is no number the validator tells."""
    try:
        return name in given and int(given[name]) < 1
    except (TypeError, ValueError):
        return False


def _hint(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else "docs/variables.md lists what there is"


def _wrong(known: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """Let Ansible's own validator judge the types, with nothing required here."""
    spec = {name: {**known[name], "required": False} for name in given}
    for options in spec.values():
        options.pop("default", None)
        options.pop("description", None)
    result = ArgumentSpecValidator(spec).validate(dict(given))
    return [_TWICE.sub("", str(message)) for message in result.error_messages]


def _plain(value: Any) -> Any:
    """Of Python's own types: a message names no type that only Ansible knows."""
    if isinstance(value, Mapping):
        return {_plain(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    kind = next((kind for kind in (bool, int, float, str) if isinstance(value, kind)), None)
    return value if kind in (None, bool) else kind(value)


def _batches(given: Mapping[str, Any]) -> list[str]:
    """What Ansible reads before the first task of a play, and ends with a traceback over."""
    found = []
    serial = given.get("ibready_serial", [])
    for size in serial if isinstance(serial, list) else [serial]:
        if isinstance(size, bool) or not _BATCH.fullmatch(str(size)):
            found.append(
                f"ibready_serial holds {size!r}, and a batch is a number of hosts (8), a share of them (25%), or a list"
                " of these. Next: correct it"
            )
    most = str(given.get("ibready_max_fail_percentage", 0))
    if most.lstrip("-").isdecimal() and not 0 <= int(most) <= 100:
        found.append(f"ibready_max_fail_percentage is {most}, and a share of a batch is 0 to 100. Next: correct it")
    return found
