# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments are taken as Ansible takes them, or are left to Ansible."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._agent import pack as _closure
from ansible_collections.ibready.cluster.plugins.module_utils._engine.answer import Asked
from ansible_collections.ibready.cluster.plugins.module_utils._engine.arguments import Refused, take
from ansible_collections.ibready.cluster.plugins.module_utils._verify import module as verify_module
from ansible_collections.ibready.cluster.plugins.plugin_utils._engine import pack

PLUGINS = Path(__file__).resolve().parents[5] / "plugins"
KINDS = ("str", "bool", "int", "float", "list", "dict", "path", "raw")

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.sampled_from(["", "yes", "No", " true ", "1", "0", "-7", "1.5", "a,b", "1,2", "~/x", "$HOME", "x", "{}"]),
    st.text(max_size=4),
)
values = st.one_of(scalars, st.lists(scalars, max_size=3), st.dictionaries(st.text(max_size=2), scalars, max_size=2))
plain = st.sampled_from(KINDS)


@st.composite
def entries(draw: st.DrawFn, depth: int = 1) -> dict[str, Any]:
    kind = draw(plain)
    entry: dict[str, Any] = {"type": kind}
    if kind == "list" and draw(st.booleans()):
        entry["elements"] = draw(plain)
    if depth and (kind == "dict" or entry.get("elements") == "dict") and draw(st.booleans()):
        entry["options"] = draw(specs(depth=0))
    how = draw(st.sampled_from(["", "required", "default", "choices"]))
    if how == "required":
        entry["required"] = True
    elif how == "default":
        entry["default"] = {"str": "x", "bool": False, "int": 3, "float": 0.5, "list": ["a"], "dict": None}.get(kind)
    elif how == "choices" and kind in ("str", "int"):
        entry["choices"] = ["yes", "x", "1"] if kind == "str" else [1, 7]
    return entry


def specs(depth: int = 1) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from("abc"), entries(depth=depth), min_size=1, max_size=3)


def same(mine: Any, theirs: Any) -> bool:
    """Also of one type: True is no 1."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(same(mine[key], theirs[key]) for key in mine)
    if isinstance(mine, list) and isinstance(theirs, list):
        return len(mine) == len(theirs) and all(map(same, mine, theirs))
    return type(mine) is type(theirs) and mine == theirs


@given(specs(), st.dictionaries(st.sampled_from("abcd"), values, max_size=3))
def test_what_is_taken_is_what_ansible_takes(spec: dict[str, Any], words: dict[str, Any]) -> None:
    try:
        mine = take(spec, words)
    except Refused:
        return
    theirs = ArgumentSpecValidator(spec).validate(words)
    assert theirs.error_messages == []
    assert same(mine, theirs.validated_parameters)


SPEC = {
    "name": {"required": True},
    "count": {"type": "int", "default": 3},
    "areas": {"type": "list", "elements": "str", "choices": ["host", "ib"], "default": ["ib"]},
    "expect": {"type": "dict", "options": {"hcas": {"type": "int"}, "strict": {"type": "bool", "default": False}}},
}


def test_what_an_operator_types_is_taken() -> None:
    assert take(SPEC, {"name": "n1", "areas": "host,ib", "expect": {"hcas": "8"}}) == {
        "name": "n1",
        "count": 3,
        "areas": ["host", "ib"],
        "expect": {"hcas": 8, "strict": False},
    }


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({}, "name is required"),
        ({"name": None}, "name is null"),
        ({"name": "n1", "strange": 1}, "unknown option strange"),
        ({"name": "n1", "count": "many"}, "count is no int"),
        ({"name": "n1", "areas": ["gpu"]}, "areas is none of its choices"),
        ({"name": "n1", "expect": {"hca": 8}}, "unknown option hca"),
        ({"name": "n1", "expect": "hcas=8"}, "expect is no dict"),
    ],
)
def test_what_is_doubtful_is_left_to_ansible(words: dict[str, Any], why: str) -> None:
    with pytest.raises(Refused, match=why):
        take(SPEC, words)


@pytest.mark.parametrize("more", [{"no_log": True}, {"aliases": ["b"]}, {"fallback": None}, {"type": "jsonarg"}])
def test_a_specification_of_another_kind_is_left_to_ansible(more: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        take({"a": {"type": "str", **more}}, {"a": "x"})


class _Met(Exception):
    pass


@pytest.mark.parametrize("name", pack.MODULES)
def test_every_module_of_the_engine_is_one_that_it_can_ask(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its specification is taken, and it uses nothing of AnsibleModule but what Asked has."""
    module = importlib.import_module(f"ansible_collections.ibready.cluster.plugins.modules.{name}")
    met: list[dict[str, Any]] = []

    def meet(**given: Any) -> None:
        met.append(given)
        raise _Met

    monkeypatch.setattr(module, "AnsibleModule", meet, raising=False)
    monkeypatch.setattr(verify_module, "AnsibleModule", meet)
    with pytest.raises(_Met):
        module.main()
    (said,) = met
    assert said.keys() <= {"argument_spec", "supports_check_mode"}
    assert said["supports_check_mode"] is True
    kinds: dict[str, Any] = {"list": []}
    required = {
        key: kinds.get(entry.get("type", "str"), "taken")
        for key, entry in said["argument_spec"].items()
        if entry.get("required")
    }
    take(said["argument_spec"], required)

    files = _closure.closure(str(PLUGINS), [f"modules/{name}.py"], "")
    texts = [text.decode() for text in files.values() if b"import AnsibleModule" in text]
    used = {word for text in texts for word in re.findall(r"\bmodule\.(\w+)", text)} - {"__dict__"}
    assert used <= set(dir(Asked)) | {"params", "check_mode", "_diff"}
    strange = [text for text in files.values() if re.search(rb"from ansible\.(?!module_utils\.basic import A)", text)]
    assert strange == []
