# SPDX-License-Identifier: GPL-3.0-or-later
"""The library's word as a text: it comes back whole, or is refused."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl import query
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.library import Library
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.proof import Listener, Proof
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.query import Query
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import sources
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import UNKNOWN
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.conf import as_bytes
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from tests.gauntlet import render
from tests.unit.plugins.module_utils.test_nccl_library import TEXTS as CONSTANTS, elf
from tests.unit.roots_place import OTHER, as_root

LIBRARY = Library("/lib/libnccl.so.2", "/lib/libnccl.so.2.1", "2.29.7", "13.0", "x86_64", frozenset("A"))
TEXTS = st.text(max_size=20)
BYTES = st.binary(max_size=20).map(lambda data: as_bytes(data.decode("utf-8", "surrogateescape")))
PROOFS = st.builds(
    Proof,
    version=TEXTS,
    result=st.integers(0, 9),
    meaning=TEXTS,
    values=st.just({}),
    taken=st.dictionaries(TEXTS, BYTES, max_size=4),
    listener=st.none() | st.builds(Listener, TEXTS, st.integers(0, 65535), st.integers(0, 9)),
    interface=TEXTS,
    network=TEXTS,
    log=st.lists(TEXTS, max_size=5).map(tuple),
)


def readings(values: st.SearchStrategy[object]) -> st.SearchStrategy[Reading[object]]:
    return values.map(Reading) | st.builds(Reading, st.none(), TEXTS, st.booleans())


@given(
    library=readings(st.builds(Library, *[TEXTS] * 5, st.lists(TEXTS, max_size=4).map(frozenset))),
    proof=readings(PROOFS),
)
def test_it_comes_back_whole(library: Reading[Library], proof: Reading[Proof]) -> None:
    reported = Query(library, proof)
    assert query.parse(query.to_text(reported)) == reported


WHOLE = query.to_text(Query(Reading(LIBRARY), Reading(None, "why")))


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "7", '"a"', "nan", "[" * 100_000])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="nccl_proof"):
        query.parse(text)


@settings(max_examples=200)
@given(st.data())
def test_what_was_bent_is_read_or_refused(data: st.DataObject) -> None:
    bent = json.loads(WHOLE)
    where = data.draw(st.sampled_from(["library", "proof"]))
    other = st.none() | st.integers() | TEXTS | st.lists(TEXTS, max_size=2)
    place = bent[where] if data.draw(st.booleans()) else bent
    key = data.draw(st.sampled_from(sorted(place)))
    place[key] = data.draw(other)
    with contextlib.suppress(ParseError):
        assert isinstance(query.parse(json.dumps(bent)), Query)


@pytest.mark.parametrize("length", range(0, len(WHOLE) - 1, 7))
def test_half_of_it_is_refused(length: int) -> None:
    with pytest.raises(ParseError):
        query.parse(WHOLE[:length])


def test_only_the_host_itself_answers(tmp_path: object) -> None:
    with pytest.raises(sources.Unavailable, match="only the host itself"):
        sources.Live(str(tmp_path)).run("nccl_proof")


def test_a_host_without_the_library_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Reading[object] = Reading(None, "libnccl.so.2: in no folder", True)
    monkeypatch.setattr(query.library, "find", lambda *_, **__: nothing)
    reported = query.parse(query.ask().stdout)
    assert reported.library.missing
    assert reported.proof.missing


def test_a_file_that_is_no_library_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = query.library.Found(sys.executable, "cache")
    monkeypatch.setattr(query.library, "find", lambda *_, **__: Reading((found,)))
    reported = query.parse(query.ask().stdout)
    assert not reported.library.known
    assert not reported.library.missing
    assert not reported.proof.known
    assert not reported.proof.missing


@as_root
def test_a_library_that_others_may_write_is_read_and_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What only the library itself can tell is unknown then, with the reason."""
    path = tmp_path / "libnccl.so.2"
    path.write_bytes(elf(CONSTANTS))
    os.chown(path, OTHER, OTHER)
    found = query.library.Found(str(path), "cache")
    monkeypatch.setattr(query.library, "find", lambda *_, **__: Reading((found,)))
    output = query.ask()
    assert query.parse(output.stdout).library.known
    tree = render.render(render.node("hgx-h100-8"))
    tree.command("nccl_proof", output.stdout)
    judged = _verify.verify(tree, from_inventory({"link_layer": "InfiniBand"}), ["nccl"])
    for name in ("nccl.conf.taken", "nccl.bootstrap.address"):
        (check,) = [one for one in judged.checks if one.id == name]
        assert check.result == UNKNOWN
        assert "is not root's alone: others may write to it" in str(vars(check))
