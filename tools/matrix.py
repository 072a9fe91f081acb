# SPDX-License-Identifier: GPL-3.0-or-later
"""`./run matrix update FILES`: what NVIDIA has published by now, held against the matrix (docs/stack.md)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "collections"))

from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import yaml as _yaml
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import checked, load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.model import Matrix, MatrixError
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.versions import version
from tools.published import Problem, Published, read

_NUMBER = "0123456789."
_HEAD = "---\n# Written by `./run matrix update --write`, which writes it again.\n"


@dataclass(frozen=True)
class Difference:
    """``row``: what is to be written, empty where somebody has to look; ``open``: until then."""

    section: str
    name: str
    what: str
    row: Mapping[str, Any] = field(default_factory=dict)
    open: bool = False

    def __str__(self) -> str:
        return f"{self.section}.{self.name}: {self.what}"


def compare(found: list[Published], matrix: Matrix) -> Iterator[Difference]:
    """What the files have that the matrix has not, what they contradict, and what they do not have."""
    together = Published("")
    for each in found:
        for (section, name), fields in each.said.items():
            together.add(section, name, fields)
    for section in dict.fromkeys(section for section, _name in together.said):
        names = {name: fields for (of, name), fields in together.said.items() if of == section}
        facts = {name: fact.fields for name, fact in matrix.all(section).items()}
        # doca-3.5.0 is of the series of doca-2.5.0, not of inbox.
        series = {name.rstrip(_NUMBER) for name in names}
        like = {name for name in facts if name.rstrip(_NUMBER) in series}
        for name in sorted(names, key=version):
            if name in facts:
                yield from _changed(section, name, names[name], facts[name])
            elif like and version(name) > min(map(version, like)):
                row = {**names[name], "confidence": "confirmed"}
                lacks = "; ".join(load.lacking(section, name, {**facts, name: row}))
                said = "".join(f", {key} {_shown(value)}" for key, value in names[name].items())
                by_hand = f" (not to be written: {lacks})" if lacks else ""
                yield Difference(section, name, f"new{said}{by_hand}", {} if lacks else row, bool(lacks))
        if like - set(names):
            yield Difference(section, _shown(sorted(like - set(names), key=version)), "in none of the files")


def _changed(section: str, name: str, said: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[Difference]:
    for key, value in said.items():
        known = row.get(key) or []
        if not isinstance(value, list):
            if known != value:
                yield Difference(section, name, f"{key} is {value}, the matrix says {known}", open=True)
        elif set(value) - set(known):
            new = _shown([one for one in value if one not in known])
            whole = sorted({*known, *value}, key=version)
            yield Difference(section, name, f"new {key} {new}", {key: whole, "confidence": "confirmed"})


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def write(folder: Path, found: list[Published], differences: list[Difference], matrix: Matrix) -> list[Path]:
    """The rows into files of their own, and the day of each section of which nothing is open."""
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for each in differences:
        if each.row:
            by = [one for one in found if (each.section, each.name) in one.said]
            sources = [{"by": "NVIDIA", "document": one.document, "day": one.day} for one in by]
            row = rows.setdefault(each.section, {}).setdefault(each.name, {})
            row.update({**each.row, "sources": sources})
    for section in {section for each in found for section, _name in each.said}:
        if not any(each.open for each in differences if each.section == section):
            by = [each for each in found if any(of == section for of, _name in each.said)]
            against = "; ".join(dict.fromkeys(each.document for each in by))
            parts = checked.of(section, matrix).get("parts")
            said = {"day": min(each.day for each in by), "source": against, "confidence": "confirmed"}
            rows.setdefault(checked.SECTION, {})[section] = said | ({} if parts is None else {"parts": parts})
    files: dict[Path, dict[str, Any]] = {}
    for section, entries in rows.items():
        name, inside = section.split(".")
        path = folder / f"{name}.yml"
        if path.exists() and not path.read_text().startswith(_HEAD):
            raise Problem(f"{path}: written by somebody else; next: another folder, which stack_matrix names as well")
        whole = files.setdefault(path, (_yaml.load(path.read_text()) or {}) if path.exists() else {})
        whole[inside] = {**whole.get(inside, {}), **entries}
    folder.mkdir(parents=True, exist_ok=True)
    for path, whole in files.items():
        path.write_text(_HEAD + yaml.safe_dump(whole, sort_keys=False, width=112, allow_unicode=True))
    return list(files)


def update(paths: list[Path], day: str, folder: Path | None) -> Iterator[str]:
    """Lines for the operator; raises Problem and MatrixError. ``folder``: where to write."""
    folders = [folder] if folder and any(folder.glob("*.yml")) else []
    matrix = load.load(folders)
    found = read(paths, matrix, day)
    differences = list(compare(found, matrix))
    yield from map(str, differences or ["nothing is new"])
    if folder is None:
        yield "Nothing was written: --write FOLDER does."
        return
    undated = [each.document for each in found if not each.day]
    if undated:
        raise Problem(f"{undated[0]}: nothing tells its day; next: --day, when it was downloaded")
    written = write(folder, found, differences, matrix)
    load.load([folder])
    yield from (f"Written: {path}" for path in written)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run matrix", description=__doc__)
    parser.add_argument("command", choices=["update"])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--write", metavar="FOLDER", type=Path, help="write what is new, as matrix files of a site")
    parser.add_argument("--day", type=date.fromisoformat, help="YYYY-MM-DD of the download, where no Release tells one")
    given = parser.parse_args()
    try:
        for line in update(given.files, str(given.day or ""), given.write):
            print(line)
    except (Problem, MatrixError, OSError) as exc:
        print(f"matrix: {exc}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
