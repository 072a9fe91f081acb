# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the matrix: the project's files, then a site's own, which add entries or override fields."""

from __future__ import annotations

import difflib
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ....module_utils._ground.text import few
from ..._ground import yaml as _yaml
from . import checked, versions
from .model import CONFIDENCES, Fact, Matrix, MatrixError

OWN = Path(__file__).resolve().parents[4] / "matrix"
SCHEMA = OWN / "meta/schema.yml"
# As the files say it, each entry with the file that spoke of it last.
_Sections = dict[str, dict[str, tuple[dict[str, Any], Path]]]
_KINDS = {"list": "a list", "dict": "a mapping", "bool": "true or false"}
_SHOWN = 3


@functools.cache
def schema() -> dict[str, Any]:
    """What entries may hold: ``fact`` of each, ``sections``, and which fields are ``specifiers``."""
    found: dict[str, Any] = _yaml.load(SCHEMA.read_text(encoding="utf-8"))
    return found


@functools.cache
def own() -> Matrix:
    """The project's matrix, without any site's additions."""
    return load(())


def load(folders: Sequence[Path]) -> Matrix:
    """The project's matrix with what the files of a site's folders add; raises MatrixError.

    A site's entry holds only the fields that differ, and its own source and confidence; an entry
    of null takes the project's away.
    """
    found: _Sections = {name: {} for name in schema()["sections"]}
    for folder in (OWN, *folders):
        files = sorted(folder.glob("*.yml")) if folder.is_dir() else []
        if not files:
            raise MatrixError(f"{folder}: no matrix file (*.yml) in it")
        for path in files:
            _merge(found, path)
    said = {section: {name: raw for name, (raw, _path) in entries.items()} for section, entries in found.items()}
    sections = {
        section: {name: _fact(section, name, said[section], path) for name, (_raw, path) in entries.items()}
        for section, entries in found.items()
    }
    # No lock is older for it that somebody looked again.
    del said[checked.SECTION]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()
    matrix = Matrix(sections, digest)
    checked.refuse(matrix, {name: path for name, (_raw, path) in found[checked.SECTION].items()})
    return matrix


def _merge(found: _Sections, path: Path) -> None:
    try:
        content = _yaml.load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as exc:
        raise MatrixError(f"{path}: cannot be read as YAML: {exc}") from None
    for name, entries in _mapping(content, str(path)).items():
        section = f"{path.stem}.{name}"
        if section not in found:
            known = ", ".join(item for item in found if item.startswith(f"{path.stem}."))
            raise MatrixError(f"{path}: unknown section {name}; known are {known or 'no such file'}")
        for key, raw in _mapping(entries, f"{path}: {name}").items():
            if raw is None:
                found[section].pop(str(key), None)
                continue
            given = _mapping(raw, f"{path}: {name}.{key}")
            if not (given.get("source") or given.get("sources")):
                raise MatrixError(f"{path}: {name}.{key} has no source: every fact needs one")
            if not given.get("confidence"):
                raise MatrixError(f"{path}: {name}.{key} has no confidence: one of {', '.join(CONFIDENCES)}")
            before, _path = found[section].get(str(key), ({}, path))
            found[section][str(key)] = ({**_left(before, given), **given}, path)


def _left(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What is left of an entry that another one overrides: nothing of who said what it says anew."""
    kept = {key: value for key, value in before.items() if key not in ("source", "sources")}
    by_field = {key: value for key, value in (kept.pop("field_confidence", None) or {}).items() if key not in given}
    return {**kept, "field_confidence": by_field} if by_field else kept


def _mapping(value: Any, where: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise MatrixError(f"{where}: must be a dictionary, not {type(value).__name__}")
    return value


@functools.cache
def _validator(section: str) -> ArgumentSpecValidator:
    return ArgumentSpecValidator(_spec(section))


def _spec(section: str) -> dict[str, Any]:
    """The options of an entry of this section."""
    return {**schema()["fact"], **schema()["sections"][section]}


def lacking(section: str, name: str, entries: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What an entry has to say and does not: each field, what is wanted, and what the nearest name has there."""
    for field, spec in _spec(section).items():
        if not spec.get("required") or entries[name].get(field) is not None:
            continue
        wanted = _KINDS.get(spec["type"], "a text")
        if "choices" in spec:
            wanted = f"{'a list' if spec['type'] == 'list' else 'one'} of {', '.join(spec['choices'])}"
        having = [other for other, raw in entries.items() if raw.get(field)]
        for like in difflib.get_close_matches(name, having, 1, 0.0):
            value = entries[like][field]
            example = few(list(map(str, value)), _SHOWN) if isinstance(value, (list, dict)) else value
            wanted += f", such as {example} ({like})"
        yield f"{field} is missing, wanted is {wanted}"


def _fact(section: str, name: str, entries: Mapping[str, Mapping[str, Any]], path: Path) -> Fact:
    where = f"{path}: {section.partition('.')[2]}.{name}"
    missing = "; ".join(lacking(section, name, entries))
    if missing:
        raise MatrixError(f"{where}: {missing}")
    raw = entries[name]
    result = _validator(section).validate(dict(raw))
    if result.error_messages:
        raise MatrixError(f"{where}: {'; '.join(map(str, result.error_messages))}")
    fields: dict[str, Any] = result.validated_parameters
    for field, confidence in (fields.get("field_confidence") or {}).items():
        if field not in _spec(section) or confidence not in CONFIDENCES:
            raise MatrixError(f"{where}: field_confidence of {field} is {confidence!r}")
    _apart(where, section, fields)
    for field in schema()["specifiers"].get(section, ()):
        try:
            versions.specifier(fields.get(field) or versions.ANY)
        except ValueError as exc:
            raise MatrixError(f"{where}.{field}: {exc}") from None
    return Fact(section, name, fields)


def _apart(where: str, section: str, fields: Mapping[str, Any]) -> None:
    """Raises MatrixError where two sources are the same document, or speak of no field."""
    seen = set()
    for entry in fields.get("sources") or ():
        document = (entry["by"].casefold(), entry["document"].casefold())
        if document in seen:
            raise MatrixError(f"{where}.sources: {entry['document']} is named twice, and confirms nothing by that")
        seen.add(document)
        strange = [field for field in entry.get("of") or () if field not in _spec(section)]
        if strange:
            raise MatrixError(f"{where}.sources: {entry['document']} speaks of {', '.join(strange)}, no field of it")
