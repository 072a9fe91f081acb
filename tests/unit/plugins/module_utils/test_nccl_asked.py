# SPDX-License-Identifier: GPL-3.0-or-later
"""The library's word as a text: it comes back whole, or is refused."""

from __future__ import annotations

import contextlib
import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils import _evidence
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import asked
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.asked import Asked
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.conf import as_bytes
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.library import Library
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.listener import Listener
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.proof import Proof
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import ParseError

LIBRARY = Library(
    "/lib/libnccl.so.2", "/lib/libnccl.so.2.1", "2.29.7", "13.0", "x86_64", frozenset("A")
)
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
    told = Asked(library, proof)
    assert asked.parse(asked.to_text(told)) == told


WHOLE = asked.to_text(Asked(Reading(LIBRARY), Reading(None, "why")))


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "7", '"a"', "nan", "[" * 100_000])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="nccl_proof"):
        asked.parse(text)


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
        assert isinstance(asked.parse(json.dumps(bent)), Asked)


@pytest.mark.parametrize("length", range(0, len(WHOLE) - 1, 7))
def test_half_of_it_is_refused(length: int) -> None:
    with pytest.raises(ParseError):
        asked.parse(WHOLE[:length])


def test_only_the_host_itself_answers(tmp_path: object) -> None:
    with pytest.raises(_evidence.Unavailable, match="only the host itself"):
        _evidence.Live(str(tmp_path)).run("nccl_proof")


def test_a_host_without_the_library_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Reading[object] = Reading(None, "libnccl.so.2: in no folder", True)
    monkeypatch.setattr(asked.library, "find", lambda *_, **__: nothing)
    told = asked.parse(asked.ask().stdout)
    assert told.library.missing
    assert told.proof.missing


def test_a_file_that_is_no_library_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = asked.library.Found(sys.executable, "cache")
    monkeypatch.setattr(asked.library, "find", lambda *_, **__: Reading((found,)))
    told = asked.parse(asked.ask().stdout)
    assert not told.library.known
    assert not told.library.missing
    assert not told.proof.known
    assert not told.proof.missing
