# SPDX-License-Identifier: GPL-3.0-or-later
"""The public threads of threads.yml, and what `ibready why` says first of the lines that were posted there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._verify import why

HERE = Path(__file__).parent
THREADS: list[dict[str, Any]] = yaml.safe_load((HERE / "threads.yml").read_text())
FRESH: list[dict[str, Any]] = yaml.safe_load((HERE / "fresh.yml").read_text())
CANNOT_TELL = "cannot_tell"


def told(thread: dict[str, Any]) -> str:
    """A failure's code where the log told a failure, else the check; "" where nothing is wrong."""
    heard = why.Heard()
    heard.take(thread["text"], (HERE / thread["text"]).read_text())
    for host in why.judged(heard, from_inventory({})):
        if host.bad:
            check = host.bad[0].check
            code = str(check.observed).split()[0].rstrip(",")
            return code if check.id == "nccl.log.errors" else check.id
    return ""


def right(thread: dict[str, Any], first: str) -> bool:
    """Whether that brings an operator to the thread's outcome."""
    if thread["cause"] == CANNOT_TELL:
        return first in ("", "unread_warning") or first.startswith("result_")
    return first in thread["cause"]
