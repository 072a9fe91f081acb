# SPDX-License-Identifier: GPL-3.0-or-later
"""What a part brought to this host: its packages and holds, so that nobody else's are touched.

It is written before packages change, so that a run after a loss of power knows what is ours.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

from ..._ground import strict
from . import files
from .model import PackageError

HOME = "/var/lib/ibready/packages"


@dataclass(frozen=True)
class Ledger:
    """Names of packages that the part brought, of those that it holds, and of what was asked.

    ``begun``, ``coming``: what was asked after that and not brought to its end, and what came or was to come of it.
    """

    packages: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    begun: tuple[str, ...] = ()
    coming: tuple[str, ...] = ()

    @property
    def brought(self) -> set[str]:
        """All that is ours, whatever became of it."""
        return {*self.packages, *self.coming}

    def of(self, asked: set[str]) -> set[str]:
        """What was brought for this, and not for another stack."""
        done = not self.wanted or set(self.wanted) == asked
        return {*(self.packages if done else ()), *(self.coming if set(self.begun) == asked else ())}


def path(root: str, part: str) -> str:
    return os.path.join(root, HOME.lstrip("/"), f"{part}.json")


def load(root: str, part: str) -> Ledger:
    """The part's ledger; an empty one where it brought nothing yet."""
    data = files.read(path(root, part))
    if data is None:
        return Ledger()
    try:
        raw = strict.loads(data.decode("utf-8"))
        # Earlier releases did not tell what they began from what they brought.
        lists = [*(raw[key] for key in ("packages", "holds", "wanted")), raw.get("begun", ()), raw.get("coming", ())]
        return Ledger(*(tuple(str(name) for name in each) for each in lists))
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise PackageError(
            "broken",
            f"{path(root, part)} is damaged ({exc}), so nobody knows which holds are ibready's",
            "look at `apt-mark showhold` or `dnf versionlock list`, release what ibready held,"
            " remove the file, and run this again",
        ) from exc


def text(ledger: Ledger) -> bytes:
    return (json.dumps(asdict(ledger), indent=1, sort_keys=True) + "\n").encode()


def names(root: str) -> list[str]:
    """The parts that have a ledger; PackageError where nobody can tell."""
    found = names_in(os.path.join(root, HOME.lstrip("/")))
    return sorted(name[: -len(".json")] for name in found if name.endswith(".json"))


def names_in(folder: str) -> list[str]:
    """What is in a folder of ibready's, [] where it is not there; PackageError otherwise."""
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as exc:
        raise PackageError(
            "disk",
            f"{folder} cannot be listed ({exc.strerror}), so nobody knows what ibready did here",
            "see what is there, and that root can read it",
        ) from exc
