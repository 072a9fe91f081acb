# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold the lines of each room against tests/budget.yml: what is added is paid for.

python -m tools.budget            # say which room has more lines than its number
python -m tools.budget --write    # write the numbers of today, where rooms have become smaller
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
BUDGET = "tests/budget.yml"
# What is counted, and how many folders of a path are a room.
_COUNTED = {
    "plugins/module_utils/**/*.py": 3,
    "plugins/plugin_utils/**/*.py": 3,
    "plugins/*/*.py": 2,
    "tools/**/*.py": 1,
    "tests/**/*.py": 1,
    "molecule/**/*.py": 1,
    "plugins/**/*.yml": 1,
    "matrix/**/*.yml": 1,
    "causes/**/*.yml": 1,
}
_STEP = 50
# Generated, or not ours.
_NOT_COUNTED = ("_rows", "__pycache__")


def files(root: Path) -> Iterator[tuple[str, Path]]:
    """Every file that counts, with its room: "plugins/modules", or "plugins (yml)" for rows of knowledge."""
    for pattern, depth in _COUNTED.items():
        for path in sorted(root.glob(pattern)):
            parts = path.relative_to(root).parts
            if not set(parts).intersection(_NOT_COUNTED):
                room = "/".join(parts[: min(depth, len(parts) - 1)])
                yield (room if path.suffix == ".py" else f"{room} ({path.suffix[1:]})"), path


def lines(root: Path) -> dict[str, int]:
    """Lines by room."""
    found: Counter[str] = Counter()
    for room, path in files(root):
        found[room] += path.read_text(encoding="utf-8").count("\n")
    return dict(sorted(found.items()))


def over(found: Mapping[str, int], budget: Mapping[str, int]) -> list[str]:
    """What is wrong, a line for each room."""
    wrong: list[str] = []
    for room in sorted({*found, *budget}):
        count, most = found.get(room), budget.get(room)
        if count is None:
            wrong.append(f"{room}: {BUDGET} has a number, and there is no such room")
        elif most is None:
            wrong.append(f"{room}: {count:,} lines, and {BUDGET} has no such room: take its number from another's")
        elif count > most:
            wrong.append(
                f"{room}: {count:,} lines, and {BUDGET} has {most:,}: take something away, or raise it, and say "
                "in the commit's body what the lines are for"
            )
    return wrong


def lowered(text: str, found: Mapping[str, int]) -> str:
    """The budget with the numbers of rooms that have become smaller."""
    budget: dict[str, int] = yaml.safe_load(text)
    for room, most in budget.items():
        # Rounded up, so that not every line has to be argued for.
        now = -(-found.get(room, most) // _STEP) * _STEP
        if now < most:
            text = text.replace(f"\n{room}: {most}\n", f"\n{room}: {now}\n")
    return text


def main(words: list[str]) -> int:
    """Return the exit status."""
    path = ROOT / BUDGET
    found = lines(ROOT)
    if words == ["--write"]:
        path.write_text(lowered(path.read_text(encoding="utf-8"), found), encoding="utf-8")
    wrong = over(found, yaml.safe_load(path.read_text(encoding="utf-8")))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
