# SPDX-License-Identifier: GPL-3.0-or-later
"""Which versions of packages a host could have now, by the package lists that it has; nothing is fetched."""

from __future__ import annotations

from typing import Callable, Sequence

from ..._ground.command import Missing, Output, Unavailable, run_by_name
from . import apt_text

_SECONDS = 60.0
Run = Callable[[Sequence[str], float], Output]


def offered(names: Sequence[str], run: Run = run_by_name) -> tuple[dict[str, list[str]], str]:
    """Names to versions, the best first, [] for what no list has; {} with the reason where nobody could look.

    No reason is given where there is no apt to ask, or nothing is asked.
    """
    if not names:
        return {}, ""
    try:
        done = run(["apt-cache", "madison", *sorted(names)], _SECONDS)
    except Missing:
        return {}, ""
    except Unavailable as exc:
        return {}, str(exc)
    if done.rc != 0:
        return {}, f"apt-cache madison ended with status {done.rc}: {(done.stderr or done.stdout).strip()[:200]}"
    found = apt_text.versions(done.stdout)
    return {name: list(found.get(name, ())) for name in names}, ""
