# SPDX-License-Identifier: GPL-3.0-or-later
"""Every recorded output of the corpus, judged alone, against what its sidecar says of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Bundle
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._parse import names
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from tests.unit.corpus import CORPUS, ERRATA, sidecars, text_of, tools

pytestmark = pytest.mark.thorough

# Recordings under another name than that of their evidence.
EVIDENCE = {
    "nvsmi_q_fabric": "nvsmi_q",  # an excerpt of the same command
    "nvsmi_error": "nvsmi_xml",  # what the command prints instead
}
FILES = {"fabricmanager_log": "/var/log/fabricmanager.log"}
# Their sidecars have facts and no verdict: test_checks_nccl_log holds the checks against those.
WITHOUT_A_HINT = {"nccl_log"}
# A judgement about one output alone does without what the site expects.
SITE = "nobody expects a value"
HINTED = [tool for tool in tools() if tool not in WITHOUT_A_HINT]
# How an unknown says that other evidence is missing.
NOT_HERE = "not in the bundle"


@pytest.fixture(scope="session")
def counted(request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """How many samples of each tool were judged right; printed at the end, past the capture."""
    seen: Counter[str] = Counter()
    yield seen
    reported = ", ".join(f"{tool} {count}" for tool, count in sorted(seen.items()))
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\ncorpus: {seen.total()} samples judged as their sidecars say: {reported}")


def judge(place: Path) -> list[Check]:
    place.mkdir(parents=True, exist_ok=True)
    return _verify.verify(Bundle(place), from_inventory({})).checks


def write(place: Path, tool: str, text: str, rc: int) -> None:
    if tool in FILES:
        path = place / "files" / FILES[tool].lstrip("/")
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return
    home = place / "commands" / EVIDENCE.get(tool, tool)
    home.mkdir(parents=True)
    (home / "stdout").write_bytes(text.encode())
    (home / "stderr").write_text("")
    (home / "rc").write_text(f"{rc}\n")


def own(checks: list[Check], evidence: str) -> list[Check]:
    """What this one output brought, without what the lack of other evidence leaves open."""
    return [one for one in checks if one.result != UNKNOWN or is_about(one, evidence)]


def hint(mine: list[Check], parses: bool) -> set[str]:
    """The corpus's words that these findings may have."""
    if any(one.result == FAIL and one.severity == "error" for one in mine):
        return {"failed"}
    if any(one.result == FAIL for one in mine):
        return {"degraded"}
    if any(one.result == UNKNOWN and one.severity == "error" for one in mine):
        return {"unparseable"}
    if any(one.result == UNKNOWN for one in mine):
        return {"unparseable", "degraded"}
    # What no check reads is as good as what its parser makes of it.
    return {"healthy"} if parses else {"unparseable"}


def is_about(check: Check, evidence: str) -> bool:
    """Whether this evidence, and not another that the bundle lacks, keeps the check unknown."""
    if SITE in check.cause or (NOT_HERE in check.cause and f"{evidence}: " not in check.cause):
        return False
    needed = CATALOG[check.id].looks_at
    mine = any(evidence in item.split("|") for item in needed)
    return mine and (len(needed) == 1 or evidence in check.cause)


def told(sidecar: Path) -> list[str]:
    case: dict[str, Any] = json.loads(sidecar.read_text(encoding="utf-8"))
    erratum = ERRATA.get(f"{sidecar.parent.name}/{sidecar.stem}", {})
    if "verdict_hint" in erratum:
        return [erratum["verdict_hint"]]
    return [case["verdict_hint"], *case.get("acceptable", [])]


@pytest.mark.parametrize(("tool", "sidecar"), [p for tool in HINTED for p in sidecars(tool)])
def test_the_verdict_on_one_output_is_what_its_sidecar_says(
    tool: str, sidecar: Path, tmp_path: Path, counted: Counter[str]
) -> None:
    case = json.loads(sidecar.read_text(encoding="utf-8"))
    write(tmp_path / "node", tool, text_of(sidecar), case["expected"].get("rc", 0))
    evidence = FILES.get(tool, EVIDENCE.get(tool, tool))
    mine = own(judge(tmp_path / "node"), evidence)
    facts, error = names.facts(tool, text_of(sidecar))
    assert hint(mine, error is None and not facts.get("error")) & set(told(sidecar)), [
        f"{one.id} {one.subject} {one.result} ({one.severity}): {one.cause}"
        for one in mine
        if one.result in (FAIL, UNKNOWN)
    ]
    counted[tool] += 1


@pytest.mark.skipif(not CORPUS.exists(), reason=f"no corpus at {CORPUS} (set IBREADY_CORPUS)")
def test_every_sample_of_the_corpus_is_judged() -> None:
    found = {path.parent.name for path in CORPUS.glob("*/*.json")}
    assert found <= set(tools())
    hinted = {tool for tool in found if any(map(has_a_hint, (CORPUS / tool).glob("*.json")))}
    assert found - hinted <= WITHOUT_A_HINT


def has_a_hint(sidecar: Path) -> bool:
    return "verdict_hint" in json.loads(sidecar.read_text(encoding="utf-8"))
