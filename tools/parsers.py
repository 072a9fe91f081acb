# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/parsers.md: what every parser reads, and the fields of what it gives."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._parse import names

_SAMPLES = Path(__file__).resolve().parents[1] / "tests/unit/parse_samples"
_HEAD = """\
Sources: `plugins/module_utils/_parse/`, with the texts of `tests/unit/parse_samples/` as examples.
`ibready parse NAME [FILE]` prints these facts as JSON ([bundles.md](bundles.md)), and `ibready parse
FILE` tells whose text it is. What pdsh, clush, mpirun, srun, kubectl, docker, syslog, Ray, mail and
Markdown put before every line is taken off first; of several hosts each has facts of its own, below
`hosts`. `[]` is every
entry of a list, `.*` every key of an object whose keys come from the text. A field that its
example does not have is in the parser's own file.
"""
_LONGEST = 60


def render(note: str) -> str:
    """The page, with `note` below its title."""
    text = ["# Parsers", "", note, _HEAD]
    for name in names.NAMES:
        module = importlib.import_module(f"{names.__package__}.{name}")
        what = " ".join((module.__doc__ or "").split("\n\n")[0].split()).replace("``", "`")
        text += [f"## {name}", "", what, "", "| field | type | for example |", "|---|---|---|"]
        sample = (_SAMPLES / f"{name}.txt").read_text(encoding="utf-8")
        found, _error = names.facts(name, sample)
        seen: dict[str, Any] = {}
        open_ended = [key for key, value in module.NOTHING.items() if value == {}]
        for key, value in json.loads(json.dumps({**module.NOTHING, **found})).items():
            _fields(key, value, seen, keyed=key in open_ended)
        text += [f"| `{path}` | {_kind(value)} | {_shown(value)} |" for path, value in seen.items()]
        text.append("")
    return "\n".join(text).rstrip("\n") + "\n"


def _fields(path: str, value: Any, seen: dict[str, Any], *, keyed: bool = False) -> None:
    """Every path below a value with the first value that is not null, in the order of the text."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            _fields(f"{path}.{'*' if keyed else key}", inner, seen)
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        for inner in value:
            _fields(f"{path}[]", inner, seen)
    elif seen.get(path) is None:
        seen[path] = value


def _kind(value: Any) -> str:
    kinds = {bool: "bool", int: "int", float: "float", str: "str", list: "list", dict: "dict"}
    return "null here" if value is None else kinds[type(value)]


def _shown(value: Any) -> str:
    """The example as JSON, cut, so that no table breaks."""
    if value is None or value in ("", [], {}):
        return ""
    text = json.dumps(value, ensure_ascii=False)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"`{text}`".replace("|", "\\|") if "`" not in text else ""
