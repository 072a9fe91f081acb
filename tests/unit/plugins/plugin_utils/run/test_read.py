# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import folded, shape, valid
from ansible_collections.ibready.cluster.plugins.plugin_utils._run.read import RunError, read, standing, thin
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_json
from tests.unit import fleets, runs

ROOT = Path(__file__).parents[5]
WHOLE = runs.run(runs.MIXED, fabric=runs.fabric(runs.check()))
FILE = folded.fold(WHOLE)
TEXT = render_json.render(FILE)


def test_the_schema_in_docs_is_that_of_the_code() -> None:
    assert json.loads((ROOT / "docs/run.schema.json").read_text()) == shape.RUN
    assert shape.SCHEMA == cluster.SCHEMA


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(shape.RUN)


@pytest.mark.parametrize("packed", [False, True], ids=["json", "gzip"])
def test_what_was_written_is_read_back(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("run.json.gz" if packed else "run.json")
    path.write_bytes(gzip.compress(TEXT.encode()) if packed else TEXT.encode())
    assert read(path) == WHOLE


def test_a_run_over_simulated_boards_fits_the_schema() -> None:
    hosts = list(fleets.equals(fleets.BOARD))
    report = fleets.report(hosts)
    whole = json.loads(json.dumps(folded.fold(runs.run(**report))))
    assert list(valid.wrong(whole, shape.RUN)) == []
    assert jsonschema.Draft202012Validator(shape.RUN).is_valid(whole)


def bent(change: Callable[[Any], Any]) -> str:
    run = copy.deepcopy(FILE)
    return json.dumps(change(run) or run)


def drop(run: Any) -> None:
    del run["hosts"]["n1"]["verdict"]


def older(run: Any) -> None:
    run["schema"] = "ibready/report/1"
    del run["revision"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "is empty", id="empty"),
        pytest.param(TEXT[: len(TEXT) // 2], "was cut short", id="half"),
        pytest.param(TEXT[:-3], "was cut short", id="without the end"),
        pytest.param(TEXT.replace(":", ";", 1), "is damaged", id="one character"),
        pytest.param(TEXT.replace("[]", "NaN", 1), "NaN is no number", id="not a number"),
        pytest.param("[" * 100_000, "is damaged|was cut short", id="deep"),
        pytest.param("[1]", "is no run object of ibready: its schema is None", id="a list"),
        pytest.param('{"schema": "x"}', "its schema is 'x'", id="another file"),
        pytest.param(bent(drop), "hosts.n1.verdict is missing", id="a key is gone"),
        pytest.param(
            bent(lambda run: run["hosts"]["n1"].update(verdict="good")),
            "hosts.n1.verdict: 'good' is none of ready, degraded, unknown, not_ready",
            id="no such verdict",
        ),
        pytest.param(
            bent(lambda run: run["hosts"]["n2"]["checks"][0].update(result=1)),
            r"hosts.n2.checks\[0\].result: 1 is no string",
            id="a check is damaged",
        ),
        pytest.param(
            bent(lambda run: run["hosts"]["n2"].update(verdict="ready")),
            "hosts.n2.verdict: 'ready', and its checks say 'not_ready'",
            id="a verdict that is not that of the checks",
        ),
        pytest.param(
            bent(lambda run: run["hosts"]["n1"].update(checks=[], settled=[])),
            "hosts.n1.verdict: 'ready', and its checks say 'unknown'",
            id="no check, and ready",
        ),
        pytest.param(
            bent(lambda run: run["fabric"]["fabrics"][0].update(verdict="degraded")),
            r"fabric.fabrics\[0\].verdict: 'degraded', and its checks say 'ready'",
            id="a verdict of a fabric",
        ),
        pytest.param(
            bent(lambda run: run["hosts"]["n2"]["checks"][1].update(waived="x")),
            r"hosts.n2.checks\[1\]: unknown and waived, as only failures are",
            id="an unknown that is waived",
        ),
        pytest.param(
            bent(lambda run: run["hosts"]["n1"].update(settled=[99])),
            "hosts.n1.settled names a check that is not there",
            id="a number that leads nowhere",
        ),
        pytest.param(
            bent(lambda run: run["hosts"]["n1"].update(settled=[-1])),
            "hosts.n1.settled names a check that is not there",
            id="a check too few",
        ),
        pytest.param(
            bent(lambda run: run["hosts"]["n2"].update(settled=[])),
            "hosts.n2.settled leaves out a check",
            id="a check too many",
        ),
        pytest.param(bent(lambda run: run.update(hosts={})), "hosts: there is none", id="no host"),
        pytest.param(bent(lambda run: run.update(pings=[{}])), r"pings\[0\].client is missing", id="a ping"),
        pytest.param(bent(lambda run: run.update(revision="2")), "revision '2'", id="no revision"),
        pytest.param(
            bent(lambda run: run.update(revision=2, ibready="9.0.0")),
            r"is newer than .* revision 1, .*revision 2, written by ibready '9.0.0'; next: use",
            id="newer",
        ),
        pytest.param(
            bent(lambda run: run.update(schema="ibready/report/3", revision=1)),
            "is newer than",
            id="newer layout",
        ),
        pytest.param(bent(older), "is older than .*next: run verify.yml again, or render it with", id="older"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    for way in (read, standing):
        with pytest.raises(RunError, match=says) as caught:
            way(path)
        assert str(caught.value).startswith(f"{path} ")
        assert "; next: " in str(caught.value)


@pytest.mark.parametrize(
    ("name", "raw", "says"),
    [
        ("run.json.gz", gzip.compress(TEXT.encode())[:-9], "was cut short"),
        ("run.json.gz", TEXT.encode(), "is damaged or was cut short"),
        ("run.json.gz", gzip.compress(TEXT.encode())[:40] + b"\x99" * 40, "is damaged"),
        ("run.json", b"\xff\xfe{}", "no UTF-8"),
    ],
    ids=["gzip cut", "no gzip", "gzip damaged", "no utf-8"],
)
def test_bytes_that_cannot_be_used(tmp_path: Path, name: str, raw: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(RunError, match=says):
        read(tmp_path / name)


def test_a_file_that_is_not_there_says_what_writes_it(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"is not there; next: run playbooks/verify\.yml"):
        read(tmp_path / "run.json")
    with pytest.raises(RunError, match="cannot be read"):
        read(tmp_path)


def without_facts(run: dict[str, Any]) -> dict[str, Any]:
    kept = ("verdict", "checks", "settled")
    hosts = {name: {key: one[key] for key in kept if key in one} for name, one in run["hosts"].items()}
    return {**run, "hosts": hosts}


@settings(deadline=None)
@given(runs.hostile(), st.sampled_from([None, 1]))
def test_without_facts_the_rest_is_as_it_was(run: dict[str, Any], indent: int | None) -> None:
    for text in (render_json.render(folded.fold(run)), json.dumps(run, indent=indent)):
        assert thin(text) == without_facts(json.loads(text))


@given(st.integers(0, len(TEXT) - 3))
def test_wherever_it_was_cut_it_is_refused(at: int) -> None:
    for parse in (json.loads, thin):
        with pytest.raises(json.JSONDecodeError):
            parse(TEXT[:at])


@given(st.integers(0, len(TEXT) - 1), st.sampled_from('{}[]",: x1'))
def test_what_json_refuses_is_refused_without_facts_too(at: int, odd: str) -> None:
    text = TEXT[:at] + odd + TEXT[at + 1 :]
    try:
        whole = json.loads(text)
    except json.JSONDecodeError:
        with pytest.raises(json.JSONDecodeError):
            thin(text)
    else:
        assert {**thin(text), "hosts": 0} == {**whole, "hosts": 0}


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)),
    lambda one: st.one_of(st.lists(one, max_size=2), st.dictionaries(st.text(max_size=2), one)),
    max_leaves=5,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = [at] if at else []
    if isinstance(value, dict | list):
        for key, one in inner:
            found += places(one, (*at, key)) if isinstance(one, dict | list) else [(*at, key)]
    return found


@settings(deadline=None)
@given(st.sampled_from(places(FILE)), VALUES)
def test_our_validator_agrees_with_jsonschema(place: tuple[Any, ...], value: Any) -> None:
    run = copy.deepcopy(FILE)
    inner: Any = run
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    theirs = jsonschema.Draft202012Validator(shape.RUN).is_valid(run)
    assert (next(valid.wrong(run, shape.RUN), None) is None) == theirs


@settings(deadline=None, max_examples=40)
@given(runs.hostile())
def test_a_file_holds_all_of_a_run(run: dict[str, Any]) -> None:
    found = folded.fold(run)
    assert folded.unfold(found) == run
    assert len({json.dumps(check) for check in found["settled"]}) == len(found["settled"])
    own = [check["result"] for host in found["hosts"].values() for check in host["checks"]]
    assert not {"pass", "skip"} & set(own)
