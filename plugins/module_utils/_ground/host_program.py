# SPDX-License-Identifier: GPL-3.0-or-later
"""What the programs share that ibready puts on a host, where a boot runs them without this collection.

Such a program is one file (Python 3.8): `whole`, then this, then its own part (`source.joined`), so no
name stands in two of them, and what one imports of another it imports by name.
"""

# Of a program, not of a module: it prints and exits.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List

from .whole import make_folder, put, remove

_LIMIT = 30.0
_MORE_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"

# By knob and subject, what was before and what was set.
Values = Dict[str, Dict[str, List[str]]]
# Whether what was set of a knob and a subject is to go.
Going = Callable[[str, str], bool]


def everything(_knob: str, _subject: str) -> bool:
    """All of them are."""
    return True


class HostError(Exception):
    """What the host does not take, with the reason and the next step."""


@dataclass(frozen=True)
class Setting:
    """One value to set of a knob, which a subject has; ``before`` is "" where it cannot be read."""

    knob: str
    subject: str
    before: str
    after: str


class Node:
    """The host whose / is ``root``: its files, and its programs."""

    # What to do next where a program is not there, and where it fails.
    missing = failing = "Next: run it by hand"

    def __init__(self, root: str = "/") -> None:
        self._root = root

    def place(self, path: str) -> str:
        return os.path.join(self._root, path.lstrip("/"))

    def names(self, path: str) -> list[str]:
        """What a directory holds, nothing where it is not there."""
        try:
            return sorted(os.listdir(self.place(path)))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def text(self, path: str) -> str:
        """A file's text without the blanks around it, "" where it cannot be read."""
        try:
            with open(self.place(path), encoding="utf-8", errors="replace") as stream:
                return stream.read().strip()
        except OSError:
            return ""

    def load(self, path: str) -> Any:
        """The JSON in a file; OSError or ValueError where there is none."""
        place = self.place(path)
        if os.path.exists(place) and not os.path.isfile(place):
            raise OSError(f"{place} is no regular file")
        with open(place, encoding="utf-8") as stream:
            try:
                return json.load(stream)
            except RecursionError:
                raise ValueError("nested too deep") from None

    def run(self, *argv: str) -> str:
        """What a program prints; HostError where it is missing, fails or does not end."""
        path = os.environ.get("PATH", os.defpath) + ":" + _MORE_PATH
        shown = " ".join(argv)
        try:
            done = subprocess.run(
                argv,
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_LIMIT,
                env=dict(os.environ, PATH=path, LC_ALL="C"),
            )
        except FileNotFoundError:
            raise HostError(f"`{shown}` cannot be run: no program {argv[0]}. {self.missing}") from None
        except (OSError, subprocess.TimeoutExpired) as exc:
            raise HostError(f"`{shown}` cannot be run: {exc}. Next: run it by hand") from exc
        if done.returncode:
            said = " ".join((done.stderr.strip() or done.stdout.strip()).split())[-300:]
            raise HostError(f"`{shown}` ended with status {done.returncode}: {said}. {self.failing}")
        return done.stdout


class TunedNode(Node):
    """One of which values are set, and what was before is kept in /run: a boot empties it just as it
    resets the values themselves."""

    kept_in = ""

    def value(self, knob: str, subject: str) -> str:
        """What the host has now; "" where that cannot be read."""
        raise NotImplementedError

    def set(self, knob: str, subject: str, value: str) -> None:
        """Set one value and see that it was kept; HostError otherwise."""
        raise NotImplementedError

    def remember(self, settings: Iterable[Setting]) -> None:
        """Keep what each was before the first of ours, and ours."""
        record = self.record()
        for setting in settings:
            known = record.setdefault(setting.knob, {}).get(setting.subject)
            record[setting.knob][setting.subject] = [known[0] if known else setting.before, setting.after]
        self.keep(record)

    def to_restore(self, going: Going) -> list[Setting]:
        """What is going and nobody has changed since it was set, and what it was before."""
        return [
            Setting(knob, subject, before=after, after=before)
            for knob, subjects in self.record().items()
            for subject, (before, after) in subjects.items()
            if going(knob, subject) and before not in ("", after) and self.value(knob, subject) == after
        ]

    def restore(self, going: Going) -> None:
        """Put those back, and forget all that is going."""
        for setting in self.to_restore(going):
            self.set(setting.knob, setting.subject, setting.after)
        self.keep(
            {
                knob: {subject: pair for subject, pair in subjects.items() if not going(knob, subject)}
                for knob, subjects in self.record().items()
            }
        )

    def record(self) -> Values:
        try:
            found: Values = self.load(self.kept_in)
            return found
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as exc:
            raise HostError(
                f"{self.place(self.kept_in)} cannot be read ({exc}), and with it what was before. Next: remove it;"
                " the next boot brings back what was before"
            ) from exc

    def keep(self, record: Values) -> None:
        """Remember this and nothing else."""
        path = self.place(self.kept_in)
        record = {knob: subjects for knob, subjects in record.items() if subjects}
        if not record:
            remove(path)
            return
        make_folder(os.path.dirname(path))
        put(path, json.dumps(record, indent=2, sort_keys=True).encode())


def command(name: str, argv: list[str], act: Callable[[str], int]) -> int:
    """The program ``NAME apply | show | restore``: 0 done, 1 something could not be set, 64 usage."""
    if len(argv) != 1 or argv[0] not in ("apply", "show", "restore"):
        print(f"usage: {name} apply | show | restore", file=sys.stderr)
        return 64
    try:
        return act(argv[0])
    except (AttributeError, KeyError, OSError, TypeError, ValueError, HostError) as exc:
        print(f"{name}: {exc}", file=sys.stderr)
        return 1
