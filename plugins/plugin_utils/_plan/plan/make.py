# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan for many hosts: class by class, what the lock says or what the resolver finds; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ....module_utils._ground.text import few
from ..matrix import checked
from ..matrix.model import Matrix
from ..matrix.packaged import NVIDIA
from ..resolve import archive, found
from ..resolve.answer import Answer, resolve
from ..resolve.candidates import PARTS
from ..resolve.platform import Platform, merged, platform
from ..resolve.policy import DISTRIBUTION, FOUND, PREFIX, Policy, PolicyError, from_variables
from ..resolve.refuse import Refusal
from . import beside, install as installer, lock as locks
from .table import Row

# What a class's name may hold of a version.
_SLUG = re.compile(r"[^A-Za-z0-9.+~]+")


class PlanError(ValueError):
    """No plan can be made; the message names the hosts, the cause and the next step."""


@dataclass(frozen=True)
class Host:
    """One host: what it is (node_facts) and the site's variables that begin with ``stack_``."""

    name: str
    node: Mapping[str, Any]
    variables: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Group:
    """The hosts of one class. ``stays``: what they have of the parts that are left as they are, "" for nothing."""

    name: str
    platform: Platform
    policy: Policy
    hosts: Sequence[Host]
    stays: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(host.name for host in self.hosts))


@dataclass(frozen=True)
class Made:
    """The new lock, a row of the table per class, what keeps hosts from a plan, and how old its facts are."""

    lock: locks.Lock
    rows: list[Row]
    changes: list[str]
    facts: str

    @property
    def refused(self) -> dict[str, Refusal]:
        """By host."""
        return {host: row.refused for row in self.rows if row.refused is not None for host in row.hosts}


def groups(hosts: Sequence[Host], matrix: Matrix) -> list[Group]:
    """The hosts by class; raises PlanError where a wish cannot be meant, or what is to stay is not there."""
    by_name: dict[str, list[tuple[Host, Platform, Policy]]] = {}
    lacks = []
    for host in hosts:
        try:
            policy = from_variables(host.variables)
        except PolicyError as exc:
            raise PlanError(f"{host.name}: {exc}") from None
        here = platform(host.node, matrix)
        lacks += [f"{host.name}: {why}" for why in found.lacks(here, policy)]
        by_name.setdefault(here.name, []).append((host, here, policy))
    if lacks:
        raise PlanError(f"{'; '.join(lacks)}. Nothing was changed on any host")
    made = []
    for name, members in sorted(by_name.items()):
        classes: dict[tuple[Policy, tuple[tuple[str, str], ...]], list[tuple[Host, Platform]]] = {}
        for host, here, policy in members:
            classes.setdefault((policy, tuple(found.there(here, policy).items())), []).append((host, here))
        # Equal hosts with different wishes, or of which different things stay, are different classes; their names say
        # which.
        common = set.intersection(*(set(kept) for _policy, kept in classes))
        for policy, kept in sorted(classes, key=repr):
            mine = classes[policy, kept]
            apart = [f"{part}-{_SLUG.sub('-', told)}" for part, told in kept if (part, told) not in common]
            label = name if len(classes) == 1 else f"{name}_{'+'.join([_wishes(policy), *apart])}"
            here = merged([platform for _host, platform in mine])
            made.append(Group(label, here, policy, [host for host, _here in mine], dict(kept)))
    return made


def _wishes(policy: Policy) -> str:
    accepted = [policy.accept.replace(" ", "+")] if policy.accept else []
    return "+".join([*(f"{name}-{value}" for name, value in policy.pins()), *accepted]) or "auto"


def make(
    hosts: Sequence[Host],
    matrix: Matrix,
    old: locks.Lock | None,
    *,
    relock: bool,
    sites: installer.Sites,
    now: str,
) -> Made:
    """The plan. ``now``: ISO 8601; end-of-life rules hold by its day. Raises PlanError."""
    rows, classes = [], {}
    for group in groups(hosts, matrix):
        locked = _locked(group, old) if old and not relock else None
        row = _kept(group, locked, matrix, now) if locked else _resolved(group, matrix, now)
        if row.planned is not None:
            classes[group.name] = row.planned
            missing = _missing(group, row.planned, matrix, sites)
            row = replace(row, missing=tuple(missing), modules=_modules(row.planned.stack, matrix))
        rows.append(replace(row, beside=_beside(group)))
    lock = locks.with_classes(old, classes, matrix.digest, now)
    used = {part for row in rows for part in (row.planned.stack if row.planned else PARTS)}
    return Made(lock, rows, locks.changes(old, lock), checked.oldest(matrix, used))


def _beside(group: Group) -> list[str]:
    """What others set on these hosts beside what ibready brings, each with the hosts."""
    found: dict[str, list[str]] = {}
    for host in group.hosts:
        for line in beside.said(host.node.get("beside"), host.variables):
            found.setdefault(line, []).append(host.name)
    return [f"{few(sorted(names), 3)}: {line}" for line, names in found.items()]


def _locked(group: Group, old: locks.Lock) -> locks.Class | None:
    """The class in the lock. What was found on a host goes by the host: as it changes, so does the class's name."""
    mine = old.classes.get(group.name)
    if mine is None and any(group.stays.values()):
        theirs = [entry[1] for host in group.names if (entry := old.of_host(host)) is not None]
        mine = next((kind for kind in theirs if any("found" in fields for fields in kind.stack.values())), None)
    return mine


def _missing(group: Group, planned: locks.Class, matrix: Matrix, sites: installer.Sites) -> list[str]:
    """Repositories without a location; of the host's own archive, parts that its lists do not have."""
    found = installer.missing_bases(planned.stack, planned.system, matrix, sites)
    driver = planned.stack.get("driver") or {}
    seen = any(
        each.seen and (each.release, each.modules) == (driver.get("version"), driver.get("modules"))
        for each in archive.drivers(group.platform, matrix)
    )
    # Where nobody looked (a host on paper), nobody says that they are off.
    off = driver.get("flavour") == DISTRIBUTION and group.platform.looked and not seen
    return [*found, *([installer.OWN] if off and not sites.get(installer.OWN, "base") else [])]


def _modules(stack: Mapping[str, Mapping[str, str]], matrix: Matrix) -> str:
    """What hosts call the kernel modules of the planned RDMA stack, where that is another number: 25.10-3.1.8.0 of
    doca 3.2.3."""
    rdma = stack.get("rdma") or {}
    release = matrix.get("rdma.releases", f"{rdma.get('flavour')}-{rdma.get('version')}")
    number = str(release.get("nic_driver", "")) if release is not None else ""
    return number if number != rdma.get("version") else ""


def _resolved(group: Group, matrix: Matrix, now: str) -> Row:
    answer = resolve(group.platform, group.policy, matrix, now[:10])
    if isinstance(answer, Refusal):
        return Row(group.name, group.names, _there(group), refused=answer)
    return Row(group.name, group.names, _there(group), planned=_class(group, answer))


def _kept(group: Group, locked: locks.Class, matrix: Matrix, now: str) -> Row:
    """The class as locked; PlanError where the site's wishes went another way since."""
    wanted = _as_wishes(locked.stack)
    against = [
        f"{PREFIX}{name} is {value}, the lock says {wanted.get(name, 'none')}"
        for name, value in group.policy.pins()
        if value != FOUND
        and not found.stays(found.FOLLOWS.get(name, ""), group.policy)
        and not _agrees(name, value, wanted)
    ]
    against += found.against(group.policy, group.stays, locked.stack)
    if against:
        raise PlanError(
            f"{', '.join(group.names)}: {'; '.join(against)}. Nothing was changed on any host. "
            "Next: run again with -e stack_relock=true to move the lock (it shows the difference), "
            "or take the variable back"
        )
    planned = locks.Class(**{**vars(locked), "hosts": group.names})
    return Row(group.name, group.names, _there(group), planned=planned, kept=True)


def _as_wishes(stack: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """A locked stack in the words of a policy."""
    found = {name: fields["version"] for name, fields in stack.items() if "version" in fields}
    rdma, driver = stack.get("rdma") or {}, stack.get("driver") or {}
    found.pop("rdma", None)
    found["rdma_flavour"] = rdma.get("flavour", "none")
    found["rdma_version"] = rdma.get("version", "")
    found["driver_modules"] = driver.get("modules", "")
    found["driver_flavour"] = driver.get("flavour", NVIDIA) if driver else ""
    found["peer_memory"] = (stack.get("peer_memory") or {}).get("method", "none")
    return found


def _agrees(name: str, value: str, wanted: Mapping[str, str]) -> bool:
    locked = wanted.get(name, "")
    if value == "none":
        return locked in ("", "none")
    if value == "newest":
        return bool(locked)
    version = value.partition("+cuda")[0] if name == "nccl" else value
    return locked == version or (locked.startswith(version) and not locked[len(version) : len(version) + 1].isalnum())


def _class(group: Group, answer: Answer) -> locks.Class:
    return locks.Class(
        hosts=group.names,
        system=group.platform.system,
        kernel=group.platform.series,
        arch=group.platform.arch,
        gpus=group.platform.gpus,
        hcas=group.platform.hcas,
        stack=answer.stack,
        verdict=answer.verdict,
        because=tuple(answer.because),
    )


def _there(group: Group) -> dict[str, dict[str, int]]:
    """What the hosts have now, by part."""
    found: dict[str, Counter[str]] = {}
    for host in group.hosts:
        for part, version in (host.node.get("installed") or {}).items():
            found.setdefault(str(part), Counter())[str(version) or "none"] += 1
    return {part: dict(count.most_common()) for part, count in found.items()}
