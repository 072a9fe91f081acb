# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold one fact of equal hosts against what most of them have; no I/O."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Mapping, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.fleet_class import (
    MIN_FLEET,
    Group,
)

# How the reason begins where hosts differ and nobody can tell which of them is right.
NO_MAJORITY = "no majority: "
# Of a host that is the only one to tell.
NO_OTHER = "no other host told, so there is nothing to compare with"
ASK_OTHERS = "verify without --limit, and mend what kept the others from telling"
# Of hosts that all have none of it nothing is compared.
NOT_INSTALLED = "not installed"
NONE = "none"
_SILENT = "the host did not tell"
_ASK_FIRST = "mend what kept the host from telling it, then verify again"
_SHOWN = 4


def agreed(values: Sequence[str]) -> tuple[str, int] | None:
    """The value that more than half of at least three have, and how many have it."""
    if len(values) < MIN_FLEET:
        return None
    value, times = Counter(values).most_common(1)[0]
    return (value, times) if 2 * times > len(values) else None


def same(
    check_id: str,
    subject: str,
    values: Mapping[str, str],
    checks: dict[str, list[Check]],
    group: Group,
    ask_first: str = _ASK_FIRST,
) -> None:
    """Add to ``checks`` of every host in ``values`` whether it has what most of them have.

    ``values``: of hosts of ``group``. "" is the value of a host that did not tell; ``ask_first`` is
    what to do about that. A host without a value has nothing of the kind. A value of several lines
    is many settings: told by its digest, and by the lines that differ.
    """
    known = {host: value for host, value in values.items() if value}
    counted = Counter(known.values())
    if len(known) == len(values) and not counted.keys() - {NOT_INSTALLED, NONE}:
        return
    majority = agreed(list(known.values()))
    if majority is None and len(counted) == 1 and len(known) > 1:
        # Two that are equal agree.
        majority = (next(iter(counted)), len(known))
    for host, value in values.items():
        if not value:
            checks[host].append(unknown(check_id, subject, _SILENT, remedy=ask_first))
        elif len(known) == 1:
            checks[host].append(_single(check_id, subject, value, values, group))
        elif majority is None:
            checks[host].append(
                unknown(check_id, subject, _split(counted), observed=shown(value, _usual(counted)))
            )
        else:
            usual, times = majority
            source = f"fleet {times}/{len(known)}"
            if value == usual:
                checks[host].append(passed(check_id, subject, shown(value), shown(usual), source))
            else:
                checks[host].append(
                    failed(check_id, subject, shown(value, usual), shown(usual, value), source)
                )


def _single(
    check_id: str, subject: str, value: str, values: Mapping[str, str], group: Group
) -> Check:
    """The only host that told of it."""
    if group.alone:
        return skipped(check_id, subject, group.alone)
    if len(values) == 1 and len(group.hosts) > 1:
        return skipped(check_id, subject, "none of its equals has it")
    return unknown(check_id, subject, NO_OTHER, observed=shown(value), remedy=ASK_OTHERS)


def shown(value: str, other: str = "") -> str:
    """One line as it is; of several their number and digest, and those that ``other`` has not."""
    if "\n" not in value and "\n" not in other:
        return value
    lines = value.split("\n")
    digest = hashlib.sha256(value.encode()).hexdigest()[:12]
    own = [one for one in lines if one not in other.split("\n")] if other else []
    more = f" and {len(own) - _SHOWN} more" if len(own) > _SHOWN else ""
    differing = f": {'; '.join(own[:_SHOWN])}{more}" if own else ""
    return f"{len(lines)} lines, digest {digest}{differing}"


def _usual(counted: Counter[str]) -> str:
    """What a value is told against where there is no majority: the two most frequent ones differ
    somewhere, and that is what people want to see."""
    return counted.most_common(1)[0][0]


def _split(counted: Counter[str]) -> str:
    seen = counted.most_common()
    more = f" and {len(seen) - _SHOWN} more" if len(seen) > _SHOWN else ""
    told = (f"{shown(text)} on {times}" for text, times in seen[:_SHOWN])
    return f"{NO_MAJORITY}{', '.join(told)}{more}"
