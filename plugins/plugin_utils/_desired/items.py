# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wanted of a host, as data: an item for each task that states something.

A document is the items of all roles, in the roles' order. The host compares it with what it is
(module_utils/_desired); nothing in it is a template any more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

SCHEMA = "ibready/desired/1"


@dataclass(frozen=True)
class Item:
    """What one task of a role states.

    ``kind``: the module's full name; ``want``: its options; ``rest``: what its answer says, beside
    that nothing changes, where the role has nothing to do.
    """

    role: str
    task: str
    kind: str
    want: Mapping[str, Any]
    rest: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Wanted:
    """What a role wants of a host. ``always``: why the role itself has to look, where it has to."""

    role: str
    items: list[Item] = field(default_factory=list)
    always: list[str] = field(default_factory=list)


def document(wanted: list[Wanted]) -> dict[str, Any]:
    """The document of a host, with its digest."""
    body = {
        "schema": SCHEMA,
        "items": [asdict(item) for entry in wanted for item in entry.items],
        "always": {entry.role: entry.always for entry in wanted if entry.always},
    }
    text = json.dumps(body, sort_keys=True, ensure_ascii=False)
    return {**body, "digest": hashlib.sha256(text.encode()).hexdigest()}
