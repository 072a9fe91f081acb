# SPDX-License-Identifier: GPL-3.0-or-later
"""Every recorded output of the corpus, field by field against what its sidecar expects."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibping, ibstat, sminfo
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import ParseError

REPOSITORY = Path(__file__).parents[4]
CORPUS = Path(os.environ.get("IBREADY_CORPUS", REPOSITORY.parent / "shared" / "corpus"))
PARSERS: dict[str, Callable[[str], Any]] = {
    "ibstat": ibstat.parse,
    "ibping": ibping.parse,
    "sminfo": sminfo.parse,
}
# Facts about the recording, not about the text.
NOT_IN_THE_TEXT = {"rc", "n", "n_cas"}
# Where a text gives none of these, it gives no facts: the parser must refuse it.
MAIN_FACT = {"ibstat": "cas", "ibping": "sent", "sminfo": "lid"}


def sidecars(tool: str) -> list[Any]:
    found = sorted((CORPUS / tool).glob("*.json"))
    if not found:
        skip = pytest.mark.skip(reason=f"no corpus at {CORPUS / tool} (set IBREADY_CORPUS)")
        return [pytest.param(tool, None, marks=skip, id=f"{tool} corpus")]
    return [pytest.param(tool, path, id=f"{tool} {path.stem}") for path in found]


def differences(expected: Any, got: Any, where: str = "") -> list[str]:
    """List what `expected` says otherwise than `got`; what it does not mention is free."""
    if isinstance(expected, dict) and isinstance(got, dict):
        return [
            found
            for key, value in expected.items()
            for found in differences(value, got.get(key, "no such field"), f"{where}.{key}")
        ]
    if isinstance(expected, list) and isinstance(got, (list, tuple)) and len(expected) == len(got):
        return [
            found
            for index, value in enumerate(expected)
            for found in differences(value, got[index], f"{where}[{index}]")
        ]
    return [] if expected == got else [f"{where}: expected {expected!r}, got {got!r}"]


@pytest.mark.parametrize(("tool", "sidecar"), [p for tool in PARSERS for p in sidecars(tool)])
def test_the_parser_finds_what_the_sidecar_expects(tool: str, sidecar: Path) -> None:
    case = json.loads(sidecar.read_text(encoding="utf-8"))
    expected = {k: v for k, v in case["expected"].items() if k not in NOT_IN_THE_TEXT}
    text = sidecar.with_suffix(".txt").read_bytes().decode("utf-8", errors="replace")

    if MAIN_FACT[tool] not in expected:
        with pytest.raises(ParseError) as refused:
            PARSERS[tool](text)
        assert {"unparseable", "failed"} & {case["verdict_hint"], *case.get("acceptable", [])}
        assert refused.value.error_lines == tuple(expected.get("error_lines", []))
        if tool == "ibping":
            assert f"{expected['pong_lines']} pongs seen" in refused.value.reason
        return

    facts = asdict(PARSERS[tool](text))
    assert differences(expected, facts) == []
    assert facts.get("error_lines", ()) == tuple(expected.get("error_lines", []))


def test_a_difference_is_seen() -> None:
    got = {"cas": ({"lid": 1, "fw": ""},)}
    assert differences({"cas": [{"lid": 1}]}, got) == []
    assert differences({"cas": [{"lid": 2}]}, got) == [".cas[0].lid: expected 2, got 1"]
    assert len(differences({"cas": []}, got)) == 1
