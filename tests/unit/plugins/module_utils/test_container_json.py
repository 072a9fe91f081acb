# SPDX-License-Identifier: GPL-3.0-or-later
"""What a site has in daemon.json stays, whatever it is and however it is written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._act.container import docker, jsonedit
from ansible_collections.ibready.cluster.plugins.module_utils._act.container.jsonedit import JsonError, parse
from ansible_collections.ibready.cluster.plugins.module_utils._act.container.model import Desired

PATH = "/etc/docker/daemon.json"
ALL = Desired(memlock=-1, nofile=4096, shm_size="8g", cdi=True, nvidia=True)
NOTHING = Desired(memlock=None, nofile=None, shm_size="", cdi=False)
OURS = ("default-ulimits", "default-shm-size", "features", "runtimes")

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(min_value=-(10**30), max_value=10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
SITES = st.fixed_dictionaries(
    {},
    optional={
        "default-ulimits": st.dictionaries(st.sampled_from(["memlock", "nproc", "ü"]), VALUES),
        "features": st.dictionaries(st.sampled_from(["cdi", "buildkit"]), VALUES),
        "default-shm-size": TEXTS,
        "log-opts": VALUES,
        'odd "key"': VALUES,
        "log-driver": VALUES,
    },
)


def written(value: Any, draw: st.DataObject) -> str:
    """JSON with blanks wherever they may be, and escapes where they need not be."""
    blank = draw.draw(st.sampled_from(["", " ", "\n", "\t \r\n"]))
    if isinstance(value, dict):
        inner = f",{blank}".join(f"{json.dumps(key)}{blank}:{blank}{written(one, draw)}" for key, one in value.items())
        return f"{{{blank}{inner}{blank}}}"
    if isinstance(value, list):
        return f"[{blank}{f',{blank}'.join(written(one, draw) for one in value)}{blank}]"
    return json.dumps(value, ensure_ascii=draw.draw(st.booleans()))


def shown(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@given(SITES, st.data())
def test_only_our_keys_change(site: dict[str, Any], data: st.DataObject) -> None:
    text = written(site, data)
    made = docker.plan(PATH, text, ALL, "26.1.5", {})
    assert made.after is not None
    after = json.loads(made.after)
    assert after["default-ulimits"]["memlock"] == {"Name": "memlock", "Hard": -1, "Soft": -1}
    assert (after["default-shm-size"], after["features"]["cdi"]) == ("8g", True)
    for ours, mine in (("default-ulimits", {"memlock", "nofile"}), ("features", {"cdi"})):
        rest = {key: one for key, one in after[ours].items() if key not in mine}
        assert shown(rest) == shown({key: one for key, one in site.get(ours, {}).items() if key not in mine})
    # To the byte, and in their order.
    before, new = parse(text), parse(made.after)
    kept = [text[one.start : one.end] for one in before.members if one.key not in OURS]
    assert kept == [made.after[one.start : one.end] for one in new.members if one.key not in OURS]
    assert list(after)[: len(site)] == list(site)


@given(SITES, st.data())
def test_what_was_set_can_be_taken_back(site: dict[str, Any], data: st.DataObject) -> None:
    text = written(site, data)
    first = docker.plan(PATH, text, ALL, "26.1.5", {})
    again = docker.plan(PATH, first.after, ALL, "26.1.5", first.record)
    assert not again.changed
    assert again.record == first.record
    back = docker.plan(PATH, first.after, NOTHING, "26.1.5", first.record)
    assert back.after is not None
    emptied = {key for key in ("default-ulimits", "features") if site.get(key) == {}}
    assert shown(json.loads(back.after)) == shown({key: one for key, one in site.items() if key not in emptied})
    assert back.record == {}


@given(SITES, st.data())
def test_a_part_more_and_a_part_less(site: dict[str, Any], data: st.DataObject) -> None:
    text = written(site, data)
    some = Desired(memlock=-1, nofile=None, shm_size="", cdi=True)
    first = docker.plan(PATH, text, some, "26.1.5", {})
    second = docker.plan(PATH, first.after, ALL, "26.1.5", first.record)
    third = docker.plan(PATH, second.after, some, "26.1.5", second.record)
    assert shown(json.loads(third.after or "")) == shown(json.loads(first.after or ""))


def test_what_somebody_changed_since_is_theirs() -> None:
    first = docker.plan(PATH, '{"default-shm-size": "1g"}', ALL, "26.1.5", {})
    edited = (first.after or "").replace('"8g"', '"32g"')
    back = docker.plan(PATH, edited, NOTHING, "26.1.5", first.record)
    assert json.loads(back.after or "") == {"default-shm-size": "32g"}
    over = docker.plan(PATH, edited, ALL, "26.1.5", first.record)
    assert [(one.key, one.before) for one in over.overridden] == [("default-shm-size", "32g")]


@given(st.text(alphabet='{}[]",:\\ntruefalsu0123456789.eE+- \n\tü/#', max_size=40))
def test_what_is_taken_for_json_is_json(text: str) -> None:
    try:
        parse(text)
    except JsonError as exc:
        said = str(exc)
    else:
        json.loads(text)
        said = "line "
    assert said.startswith("line ")


@given(VALUES, st.data())
def test_what_is_json_is_taken(value: Any, data: st.DataObject) -> None:
    parse(written(value, data))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("{'a': 1}", 'line 1 column 2: "\'" instead of a key in quotes'),
        ('{"a": NaN}', "line 1 column 7: 'N' instead of a value"),
        ('{"a": 01}', "line 1 column 7: '0' instead of a value"),
        ('{"a": "x\n"}', "line 1 column 7: a string that does not end, or holds what it must not"),
        ('{"a": "\\x"}', "line 1 column 7: a string that does not end, or holds what it must not"),
        ('{"a": 1} {}', "line 1 column 10: '{' behind the end of the value"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3 column 3: '\"' instead of a comma or }"),
        ('{"a": 1 /* one */}', "line 1 column 9: a comment, which JSON does not have, instead"),
        ('{"\\u0061": 1, "a": 2}', "line 1 column 15: the key 'a' is there twice"),
        ("[" * 200, "more than 100 values within each other"),
        ("{", "line 1 column 2: the end of the file instead of a key in quotes"),
    ],
)
def test_where_it_is_wrong(text: str, where: str) -> None:
    with pytest.raises(JsonError) as caught:
        parse(text)
    assert where in str(caught.value)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        pytest.param("{}", '{\n    "a": {\n        "b": 1\n    }\n}', id="an empty object"),
        pytest.param('{"x": 1}', '{"x": 1, "a": {"b": 1}}', id="in one line"),
        pytest.param(
            '{\n  "x": 1\n}\n',
            '{\n  "x": 1,\n  "a": {\n    "b": 1\n  }\n}\n',
            id="with the file's own indent",
        ),
        pytest.param('{"a": {"c": 2}}', '{"a": {"c": 2, "b": 1}}', id="into what is there"),
        pytest.param('{"a": {"b": [3]}}', '{"a": {"b": 1}}', id="instead of what is there"),
    ],
)
def test_how_a_key_is_written(text: str, after: str) -> None:
    assert jsonedit.put(text, ("a", "b"), 1) == after


@pytest.mark.parametrize("text", ['{"x": 1, "a": 2}', '{"a": 2, "x": 1}', '{\n  "a": 2\n}', "{}"])
def test_how_a_key_goes(text: str) -> None:
    left = {key: one for key, one in json.loads(text).items() if key != "a"}
    assert json.loads(jsonedit.drop(text, ("a",))) == left
