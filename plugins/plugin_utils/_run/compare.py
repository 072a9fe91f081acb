# SPDX-License-Identifier: GPL-3.0-or-later
"""What got better and worse on each host and fabric between two run objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN
from . import ends

# Where one of the two runs had no such host, or no such check.
ABSENT = "absent"
WAIVED = "waived"
# The worse a result, the more. What was not there says nothing, as what does not apply.
_WEIGHT = {PASS: 0, SKIP: 0, ABSENT: 0, WAIVED: 1, UNKNOWN: 2, FAIL: 3}

WAYS = ("better", "worse", "gone")

Said = Mapping[str, Any]


def compare(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """``since`` of the run object: hosts (and ``fabric NAME``) whose verdict or a check differs.

    Hosts that only a --limit left out of one of the two have not come or gone. ``ends``: the far
    ends of cables that this run does not see.
    """
    then, today = judged(before), judged(now)
    found: dict[str, Any] = {}
    for name in dict.fromkeys((*today, *then)):
        if (name not in then and is_limited(before)) or (name not in today and is_limited(now)):
            continue
        said = _host(then.get(name), today.get(name))
        if said["before"] != said["now"] or any(said[way] for way in WAYS):
            found[name] = said
    return {"created": before["created"], "error": "", "hosts": found, "ends": ends.missed(before, now)}


def is_limited(run: Mapping[str, Any]) -> bool:
    """Whether --limit left hosts out."""
    return bool(run["run"]["limit"])


def judged(run: Mapping[str, Any]) -> dict[str, Said]:
    """Hosts, and fabrics as ``fabric NAME``."""
    fabrics = (run.get("fabric") or {}).get("fabrics") or ()
    # A host cannot be called so: Ansible's names have no blanks.
    return {**run["hosts"], **{f"fabric {fabric['name']}": fabric for fabric in fabrics}}


def _host(then: Said | None, now: Said | None) -> dict[str, Any]:
    said: dict[str, Any] = {
        "before": then["verdict"] if then else ABSENT,
        "now": now["verdict"] if now else ABSENT,
        **{way: [] for way in WAYS},
    }
    # Of a host that only one run had, no check got better or worse.
    if then is None or now is None:
        return said
    old, new = worst(then["checks"]), worst(now["checks"])
    for key in dict.fromkeys((*new, *old)):
        was, is_now = old.get(key, ABSENT), new.get(key, ABSENT)
        if _WEIGHT[was] != _WEIGHT[is_now]:
            way = "better" if _WEIGHT[was] > _WEIGHT[is_now] else "worse"
            # A failure that nobody looked for again, or could look for, is not mended.
            unseen = is_now == ABSENT or (was == FAIL and is_now == UNKNOWN)
            way = "gone" if unseen else way
            said[way].append({"id": key[0], "subject": key[1], "before": was, "now": is_now})
    return said


def worst(checks: Iterable[Said]) -> dict[tuple[str, str], str]:
    """The worst result of each check and subject."""
    found: dict[tuple[str, str], str] = {}
    for check in checks:
        key = (check["id"], check["subject"])
        result = WAIVED if check["waived"] else check["result"]
        found[key] = max(found.get(key, result), result, key=_WEIGHT.__getitem__)
    return found
