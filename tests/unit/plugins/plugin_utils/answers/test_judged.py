# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host packs is read as if it came whole, and whatever else it packs is refused."""

from __future__ import annotations

import base64
import copy
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground import packed
from ansible_collections.ibready.cluster.plugins.module_utils._verify import brief
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import judged, shown, typed
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers.judged import Known
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers.typed import AnswerError
from tests.unit import mutations


def answer() -> dict[str, Any]:
    found: dict[str, Any] = copy.deepcopy(mutations.fleet("h100-pcie-2")["n1"]["ibready_ibverify"])
    return found


def test_it_is_read_as_the_whole_answer() -> None:
    whole = answer()
    whole["checks"][3]["evidence"] = {"dmesg": "a line"}
    kept, found = Known().answer(brief.brief(whole))
    also, wanted = Known().answer(whole)
    assert found["checks"] == wanted["checks"]
    assert found["clock"] == wanted["clock"]
    assert found["facts"]["ib"] == wanted["facts"]["ib"]
    assert kept["machine"] == also["machine"]
    assert kept["ib"] == also["ib"]
    assert "container" not in kept


def test_what_hosts_have_alike_is_kept_once() -> None:
    known = Known()
    first, second = (known.answer(brief.brief(answer())) for _ in range(2))
    assert all(one is other for one, other in zip(first[1]["checks"], second[1]["checks"], strict=True))
    assert first[0]["host"] is second[0]["host"]
    assert first[0]["ib"] is not second[0]["ib"]


def compressed(text: bytes) -> str:
    return base64.b64encode(zlib.compress(text)).decode()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (7, "packed: no text"),
        ("%%%", "packed: not what a verify module packed"),
        ("aGVsbG8=", "packed: not what a verify module packed"),
        (packed.pack({})[:-8], "packed: not what a verify module packed"),
        (compressed(b" " * (judged._MOST + 1)), "packed: not what .* too large"),
        (compressed(b"[" * 100_000), "packed: "),
        (compressed(b'"\xff"'), "packed: "),
        (packed.pack([1]), "packed: no object"),
        (packed.pack({"checks": [], "facts": []}), "packed: no checks and facts"),
        (packed.pack({"checks": [], "facts": {}}), "facts.ib: missing"),
        (packed.pack({"checks": [], "facts": {"ib": {}}}), "facts.ib: no text"),
        (packed.pack({"checks": [], "facts": {"ib": "{"}}), "facts.ib: "),
        (packed.pack({"checks": [], "facts": {"ib": "{}"}}), "facts.ib.?cas: missing"),
        (packed.pack({"checks": ["x"], "facts": {"ib": "{}"}}), r"checks\[0\]: no check of ours"),
        (packed.pack({"checks": [["x"] * 12], "facts": {"ib": "{}"}}), r"checks\[0\]: no check of ours"),
        (packed.pack({"checks": [["ib.port.state"]], "facts": {"ib": "{}"}}), r"checks\[0\]: no check of ours"),
        (packed.pack({"checks": [["x", "x", "pass", "error"]], "facts": {"ib": "{}"}}), r"checks\[0\]: no check"),
        (packed.pack({"checks": [["x", {}, "pass"]], "facts": {"ib": "{}"}}), r"checks\[0\].subject: an object"),
        (packed.pack({"checks": [["x", "y", 1, [], None]], "facts": {"ib": "{}"}}), r"checks\[0\].result: a number"),
    ],
)
def test_what_nobody_packed_costs_its_host(text: Any, says: str) -> None:
    with pytest.raises(AnswerError, match=says):
        Known().answer({"packed": text})


@pytest.mark.parametrize("pack", [brief.brief, dict])
@pytest.mark.parametrize(
    ("name", "says"),
    [("_CHECKS", r"^checks: [0-9]+ of them, and 3 are taken"), ("_SUBJECT", r"checks\[.*\].subject: a text of")],
)
def test_checks_are_bounded_in_number_and_subject(
    monkeypatch: pytest.MonkeyPatch, pack: Callable[[dict[str, Any]], dict[str, Any]], name: str, says: str
) -> None:
    whole = pack(answer())
    Known().answer(whole)
    monkeypatch.setattr(judged, name, 3)
    with pytest.raises(AnswerError, match=says):
        Known().answer(whole)


def test_a_full_node_is_far_below_the_bounds() -> None:
    checks = mutations.fleet("hgx-h100-8")["n1"]["ibready_ibverify"]["checks"]
    assert len(checks) * 10 < judged._CHECKS
    assert max(len(check["subject"]) for check in checks) * 5 < judged._SUBJECT


def test_a_check_that_is_refused_is_refused_again() -> None:
    known = Known()
    for _ in range(2):
        with pytest.raises(AnswerError):
            known.answer({"packed": packed.pack({"checks": [["x", "x", "pass", "error"]], "facts": {"ib": "{}"}})})


def test_facts_of_no_area_of_ours_are_bounded() -> None:
    deep = json.loads("[" * (typed._DEEPEST + 1) + "]" * (typed._DEEPEST + 1))
    with pytest.raises(AnswerError, match="nested more than"):
        Known().answer({"packed": packed.pack({"checks": [], "facts": {"x": json.dumps(deep), "ib": "{}"}})})


def test_of_each_area_what_is_named_is_kept() -> None:
    details = {"mlx5_0/1": {"counters": {"a": 1}, "optics": {"value": {"raw_ber": 1, "power": 2}}, "cable": 3}}
    facts = {"stack": {"packages": [1], "more": 2}, "container": {"a": 1}, "ib": {"details": details}, "gpu": {"b": 1}}
    kept = {"mlx5_0/1": {"counters": {"a": 1}, "optics": {"value": {"raw_ber": 1}}}}
    assert shown.of_host(facts) == {"stack": {"packages": [1]}, "ib": {"details": kept}, "gpu": {"b": 1}}
