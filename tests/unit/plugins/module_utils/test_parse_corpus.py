# SPDX-License-Identifier: GPL-3.0-or-later
"""Every recorded output of the corpus, field by field against what its sidecar expects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._parse import names
from tests.unit.corpus import ERRATA, sidecars, text_of, tools

# The exit status is a fact about the recording, not about the text.
NOT_IN_THE_TEXT = {"rc"}


def expected_of(sidecar: Path) -> dict[str, Any]:
    """The sidecar's facts, with the errata's word where the label is surely wrong."""
    case = json.loads(sidecar.read_text(encoding="utf-8"))
    known = ERRATA.get(f"{sidecar.parent.name}/{sidecar.stem}", {}).get("expected", {})
    return {k: v for k, v in {**case["expected"], **known}.items() if k not in NOT_IN_THE_TEXT}


def differences(expected: Any, got: Any, where: str = "") -> list[str]:
    """List what `expected` says otherwise than `got`: exact in depth, free at the top level."""
    if not where and isinstance(expected, dict) and isinstance(got, dict):
        return [
            found
            for key, value in expected.items()
            for found in differences(value, got.get(key, "no such field"), f".{key}")
        ]
    if isinstance(expected, dict) and isinstance(got, dict):
        keys = list(expected) + [key for key in got if key not in expected]
        return [
            found
            for key in keys
            for found in differences(
                expected.get(key, "no such field"), got.get(key, "no such field"), f"{where}.{key}"
            )
        ]
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        return [
            found
            for index, value in enumerate(expected)
            for found in differences(value, got[index], f"{where}[{index}]")
        ]
    return [] if expected == got else [f"{where}: expected {expected!r}, got {got!r}"]


@pytest.mark.parametrize(("tool", "sidecar"), [p for tool in tools() for p in sidecars(tool)])
def test_the_parser_finds_what_the_sidecar_expects(tool: str, sidecar: Path) -> None:
    facts, _error = names.facts(tool, text_of(sidecar))
    assert differences(expected_of(sidecar), json.loads(json.dumps(facts))) == []


def test_every_erratum_says_why() -> None:
    assert len(ERRATA) <= 8
    assert all(one.get("why") for one in ERRATA.values())


def test_a_difference_is_seen() -> None:
    got = {"cas": [{"lid": 1, "fw": ""}]}
    assert differences({"cas": [{"lid": 1, "fw": ""}]}, got) == []
    assert differences({"cas": [{"lid": 2, "fw": ""}]}, got) == [".cas[0].lid: expected 2, got 1"]
    assert differences({"cas": [{"lid": 1}]}, got) == [".cas[0].fw: expected 'no such field', got ''"]
    assert len(differences({"cas": []}, got)) == 1
