# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of knowledge: read from YAML, checked by their types, written as Python for nodes, which have no YAML.

A file _data/NAME.yml holds the tables of _data/NAME.py by their names there, whose annotations say what a row may hold.
The checks of an area are rows of its checks.yml, by id (CheckRow).
"""

from __future__ import annotations

import builtins
import inspect
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._ground.catalog import CONSEQUENCES, Entry
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import yaml

ROOT = Path(__file__).resolve().parents[1]
# Below the root: where rows stand, and the Chinese of the checks, which the page needs and no node.
DATA = "plugins/module_utils/_data"
CHECKS = ("plugins/module_utils/_areas/*/checks.yml", "plugins/module_utils/_fleet/checks.yml")
CHINESE = "plugins/plugin_utils/_tell/speech/_rows/checks.py"
# Of the whole file: where its rows are from and how sure that is, unless a row says otherwise. `shared` holds anchors.
ABOUT = ("source", "confidence")
SHARED = "shared"
_WIDTH = 150
# As the page asks for them.
_CHINESE = ("title", "remedy", "cause")


class RowsError(ValueError):
    """What is wrong with a file of rows: a line for each fault, with file, entry and key."""


@dataclass(frozen=True)
class Chinese:
    """What the page says of a check in Chinese; ``cause``: the likeliest."""

    title: str
    remedy: str
    cause: str


@dataclass(frozen=True, kw_only=True)
class CheckRow(Entry):
    """A row of checks.yml: the entry of the catalog, and its Chinese."""

    zh: Chinese


def files() -> list[Path]:
    """All files of rows."""
    return [path for pattern in (f"{DATA}/*.yml", *CHECKS) for path in sorted(ROOT.glob(pattern))]


def written(path: Path) -> Path:
    """What nodes have of such a file."""
    return path.parent / "_rows" / f"{path.stem}.py"


def _holds_checks(path: Path) -> bool:
    return path.name == "checks.yml"


def read(path: Path) -> dict[str, Any]:
    """The tables of a file, checked; raises RowsError."""
    try:
        found = yaml.load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.yaml.YAMLError) as exc:
        raise RowsError(f"{_place(path)}: cannot be read as YAML: {exc}") from None
    if not isinstance(found, dict):
        raise RowsError(f"{_place(path)}: no mapping of tables")
    wrong = [f"{key}: missing" for key in ABOUT if not isinstance(found.get(key), str)]
    tables = {name: _joined(rows) for name, rows in found.items() if name not in (*ABOUT, SHARED)}
    hints = _kinds(path, tables)
    for name, rows in tables.items():
        if name in hints:
            wrong += _faults(name, rows, hints[name])
        else:
            wrong.append(f"{name}: no table of {path.stem}.py; annotated there are: {', '.join(sorted(hints))}")
    if wrong:
        raise RowsError("\n".join(f"{_place(path)}: {fault}" for fault in wrong))
    if _holds_checks(path):
        unknown = [
            f"{_place(path)}: {name}: {check}: consequence: {row['consequence']!r} is none of {', '.join(CONSEQUENCES)}"
            for name, rows in tables.items()
            for check, row in rows.items()
            if row["consequence"] not in CONSEQUENCES
        ]
        if unknown:
            raise RowsError("\n".join(unknown))
    return tables


def _place(path: Path) -> str:
    """As a person calls the file: of checks.yml there is one in each area."""
    return f"{path.parent.name}/{path.name}" if _holds_checks(path) else path.name


def _kinds(path: Path, tables: Mapping[str, Any]) -> dict[str, Any]:
    """The type of each table that the file may have."""
    if _holds_checks(path):
        return dict.fromkeys(tables, tuple[CheckRow, ...])
    return typing.get_type_hints(_without_rows(path.with_suffix(".py")))


class _Empty:
    """Stands for a module of rows, as if every table were empty."""

    def __getattr__(self, name: str) -> Any:
        return {}


def _without_rows(path: Path) -> types.ModuleType:
    """The module of the tables as it is without a row, so that what is wrong in one ends no import."""

    def lend(name: str, inside: Any = None, local: Any = None, names: Any = (), level: int = 0) -> Any:
        if level != 1:
            return __import__(name, inside, local, names, level)
        if name == "_rows":
            return types.SimpleNamespace(**dict.fromkeys(names, _Empty()))
        near = {one: _without_rows(path.with_name(f"{one}.py")) for one in ([name] if name else names)}
        return near[name] if name else types.SimpleNamespace(**near)

    package = "ansible_collections.ibready.cluster.plugins.module_utils._data"
    made = types.ModuleType(f"{package}.{path.stem} without rows")
    made.__dict__.update(__package__=package, __builtins__={**vars(builtins), "__import__": lend})
    sys.modules[made.__name__] = made
    exec(compile(path.read_text(encoding="utf-8"), path, "exec", dont_inherit=True), made.__dict__)
    return made


def _joined(value: Any) -> Any:
    """A ``pattern`` may be a list of the words of which one has to match."""
    if isinstance(value, list):
        return [_joined(one) for one in value]
    if not isinstance(value, dict):
        return value
    several = {key for key, one in value.items() if key == "pattern" and isinstance(one, list)}
    return {key: "|".join(map(str, one)) if key in several else _joined(one) for key, one in value.items()}


@cache
def _fields(kind: Any) -> tuple[dict[str, Any], list[str]]:
    """The types of what a row of this kind may hold, and what it must."""
    hints = {**typing.get_type_hints(kind), **typing.get_type_hints(kind.__new__)}
    made = inspect.signature(kind).parameters
    return {name: hints[name] for name in made}, [name for name, one in made.items() if one.default is one.empty]


def _faults(where: str, value: Any, kind: Any, key: Any = None) -> Iterator[str]:
    """What does not fit; ``key``: by which this row stands in its table, as its first field."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return
    if origin in (typing.Union, types.UnionType):
        tried = [list(_faults(where, value, one, key)) for one in inside]
        # Of the kind that it was meant to be.
        yield from min(tried, key=lambda faults: (faults[:1] == [f"{where}: {value!r} is no str"], len(faults)))
    elif origin in (tuple, frozenset) and isinstance(value, list):
        several = inside * len(value) if origin is frozenset else (inside[0],) * len(value)
        if origin is tuple and inside[-1] is not Ellipsis:
            several = inside
            if len(inside) != len(value):
                yield f"{where}: {len(value)} values where {len(inside)} belong"
        for number, (one, of) in enumerate(zip(value, several, strict=False), 1):
            yield from _faults(f"{where}: {_called(one, number)}", one, of)
    elif origin is tuple and isinstance(value, dict):
        for name, one in value.items():
            yield from _faults(f"{where}: {name}", one, inside[0], name)
    elif origin in (dict, Mapping) and isinstance(value, dict):
        for name, one in value.items():
            yield from _faults(f"{where}: {name}", name, inside[0])
            yield from _faults(f"{where}: {name}", one, inside[1])
    elif origin is None and isinstance(kind, type) and hasattr(kind, "__annotations__"):
        if not isinstance(value, dict):
            yield f"{where}: {value!r} is no {kind.__name__}"
            return
        known, needed = _fields(kind)
        given = value if key is None else {next(iter(known)): key, **value}
        for name, one in given.items():
            if name in known:
                yield from _faults(f"{where}: {name}", one, known[name])
            else:
                yield f"{where}: {name}: no such key; a {kind.__name__} has {', '.join(known)}"
        yield from (f"{where}: {name}: missing" for name in needed if name not in given)
    elif not (type(value) is kind or (kind is float and type(value) is int) or (kind is type(None) and value is None)):
        yield f"{where}: {value!r} is no {getattr(kind, '__name__', kind)}"


def _called(row: Any, number: int) -> str:
    """A row of a list, by its number and first word."""
    first = next(iter(row.values()), "") if isinstance(row, dict) else row
    return f"{number} ({first})" if isinstance(first, str) else str(number)


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(one) for one in value)
    return {key: _frozen(one) for key, one in value.items()} if isinstance(value, dict) else value


def _lines(value: Any, indent: int, before: str, after: str = ",") -> Iterator[str]:
    """The value as Python, in lines that are not too long."""
    line = f"{' ' * indent}{before}{value!r}{after}"
    if len(line) <= _WIDTH or not value or not isinstance(value, (str, tuple, dict)):
        yield line
        return
    opening, closing = ("{", "}") if isinstance(value, dict) else ("(", ")")
    yield f"{' ' * indent}{before}{opening}"
    inner = indent + 4
    if isinstance(value, str):
        yield from (f"{' ' * inner}{value[at : at + 100]!r}" for at in range(0, len(value), 100))
    else:
        keyed = isinstance(value, dict)
        short = ""
        for key, one in value.items() if keyed else enumerate(value):
            lines = list(_lines(one, inner, f"{key!r}: " if keyed else ""))
            # A table has a row a line; the fields of a long row share lines.
            if len(lines) == 1 and indent and len(short) + len(lines[0]) - inner < _WIDTH:
                short = f"{short} {lines[0][inner:]}" if short else lines[0]
                continue
            if short:
                yield short
            short = lines.pop(0) if len(lines) == 1 and indent else ""
            yield from lines
        if short:
            yield short
    yield f"{' ' * indent}{closing}{after}"


def literal(source: str, tables: Mapping[str, Any]) -> str:
    """The Python that holds what the file does."""
    # REUSE-IgnoreStart: it is the file's, not of this one.
    text = [
        "# SPDX-License-Identifier: GPL-3.0-or-later",
        # REUSE-IgnoreEnd
        f"# Generated by `./run docs` from {source}; change that.",
        "",
        "from __future__ import annotations",
        "",
        "from typing import Any",
        "",
    ]
    for table, rows in tables.items():
        text += _lines(_frozen(rows), 0, f"{table}: Any = ", "")
    return "\n".join(text) + "\n"


def literals() -> dict[Path, str]:
    """All that is generated of rows, by its place; raises RowsError."""
    found: dict[Path, str] = {}
    chinese: dict[str, list[str]] = {}
    for path in files():
        tables = read(path)
        if _holds_checks(path):
            for rows in tables.values():
                if twice := sorted(chinese.keys() & rows.keys()):
                    raise RowsError(f"{_place(path)}: {twice[0]}: another area has a check of this id")
                chinese.update({check: [row["zh"][key] for key in _CHINESE] for check, row in rows.items()})
            tables = {name: {check: _for_nodes(row) for check, row in rows.items()} for name, rows in tables.items()}
        found[written(path)] = literal(str(path.relative_to(ROOT)), tables)
    if chinese:
        found[ROOT / CHINESE] = literal("checks.yml of each area", {"CHINESE": chinese})
    return found


def _for_nodes(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "zh"}


def bring(*, check: bool = False) -> int:
    """Write what nodes have of rows anew, or with ``check`` say what of it is stale; returns the exit status."""
    try:
        wanted = literals()
    except RowsError as exc:
        print(exc, file=sys.stderr)
        return 1
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    stale += sorted(set((ROOT / "plugins").rglob("_rows/*.py")) - set(wanted))
    for path in stale:
        if check:
            print(f"{path.relative_to(ROOT)} is stale; run ./run docs", file=sys.stderr)
        elif path in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
        else:
            path.unlink()
            print(f"removed {path.relative_to(ROOT)}")
    return 1 if check and stale else 0
