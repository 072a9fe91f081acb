# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of NCCL on one host: gathered by _observe/nccl, judged by _checks/nccl."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nccl_facts import (
    NcclLog,
    summary,
)

NOT_GIVEN = "nobody gave a log of NCCL"


def not_given() -> Reading[NcclLog]:
    """The reading of a log that nobody gave, as is usual: a host keeps none by itself."""
    return Reading(None, NOT_GIVEN, missing=True)


@dataclass(frozen=True)
class NcclFacts:
    """``log``: of a job, all of its ranks or some."""

    log: Reading[NcclLog] = field(default_factory=not_given)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; of a log what all of it says, for it may have thousands of ranks."""
        return {} if self.log.missing else {"log": _told(self.log)}


def _told(log: Reading[NcclLog]) -> dict[str, Any]:
    if log.value is None:
        return {"unknown": log.why}
    first = log.value.first_cause
    return {
        **summary(log.value.said),
        "errors": list(log.value.errors),
        "first_cause": asdict(first) if first else None,
        "ranks": len(log.value.ranks),
    }
