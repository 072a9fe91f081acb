# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps of PyTorch's flight recorder: what they tell, and that nothing of a pickle is ever run."""

from __future__ import annotations

import base64
import json
import os
import pickle
import struct
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import _plain_pickle, flight_recorder
from ansible_collections.ibready.cluster.plugins.module_utils._parse._times import Collective, Waiting
from tests.unit.parsers import SAMPLES

PICKLE = bytes.fromhex((SAMPLES / "flight_recorder.parse_bytes.hex").read_text())
# The example of pytorch/tutorials, prototype_source/flight_recorder_tutorial.rst, without its frames.
TUTORIAL = {
    "version": "2.5",
    "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
    "pg_status": {"0": {"last_enqueued_collective": 2, "last_started_collective": -1, "last_completed_collective": 2}},
    "entries": [
        {
            "frames": [
                {"name": "test_short_pickle", "filename": "pytorch/test/distributed/test_c10d_nccl.py", "line": 3647}
            ],
            "record_id": 0,
            "pg_id": 0,
            "process_group": ("0", "default_pg"),
            "collective_seq_id": 1,
            "p2p_seq_id": 0,
            "op_id": 1,
            "profiling_name": "nccl:all_reduce",
            "time_created_ns": 1724779239936775119,
            "input_sizes": [[3, 4]],
            "input_dtypes": ["Float"],
            "output_sizes": [[3, 4]],
            "output_dtypes": ["Float"],
            "state": "completed",
            "time_discovered_started_ns": None,
            "time_discovered_completed_ns": 1724779239975811724,
            "retired": True,
            "timeout_ms": 600000,
            "is_p2p": False,
        }
    ],
}

# Written by PyTorch 2.13 itself: two processes with gloo, of which the second left out the last all_reduce.
GLOO = (
    """
gAJ9KFgHAAAAdmVyc2lvbnEAWAQAAAAyLjEwcQFYCQAAAHBnX2NvbmZpZ3ECfShYAAAAAHEDfShYBAAAAG5hbWVxBGgDWAQAAABkZXNjcQVoA1gFAAAA
cmFua3NxBlgCAAAAW11xB3V1WBAAAABjb21tX2xpYl92ZXJzaW9ucQhoA1gJAAAAcGdfc3RhdHVzcQl9KFgBAAAAMHEKfShYGAAAAGxhc3RfZW5xdWV1
ZWRfY29sbGVjdGl2ZXELSwNYFwAAAGxhc3Rfc3RhcnRlZF9jb2xsZWN0aXZlcQxK/////1gZAAAAbGFzdF9jb21wbGV0ZWRfY29sbGVjdGl2ZXENSwJ1
WAEAAAAxcQ59KGgLSwFoDEr/////aA1LAXV1WAcAAABlbnRyaWVzcQ9dKH0oWAkAAAByZWNvcmRfaWRxEEsAWAUAAABwZ19pZHERSwBYDQAAAHByb2Nl
c3NfZ3JvdXBxEmgKWAoAAABkZWZhdWx0X3BncROGWAsAAAB0aHJlYWRfbmFtZXEUWAYAAABweXRob25xFVgJAAAAdGhyZWFkX2lkcRZYDwAAADE0MDYz
MTc3MzA2ODE2MHEXWBEAAABjb2xsZWN0aXZlX3NlcV9pZHEYSwFYCgAAAHAycF9zZXFfaWRxGUsAWAUAAABvcF9pZHEaSwFYDgAAAHByb2ZpbGluZ19u
YW1lcRtYDwAAAGdsb286YWxsX3JlZHVjZXEcWA8AAAB0aW1lX2NyZWF0ZWRfbnNxHYoIq7vV6AqC6xhYCwAAAGlucHV0X3NpemVzcR5dKF0oTegDZWVY
DAAAAGlucHV0X2R0eXBlc3EfXShYBQAAAEZsb2F0cSBlWAwAAABvdXRwdXRfc2l6ZXNxIV0oXShN6ANlZVgNAAAAb3V0cHV0X2R0eXBlc3EiXShoIGVY
BQAAAHN0YXRlcSNYCQAAAHNjaGVkdWxlZHEkWBoAAAB0aW1lX2Rpc2NvdmVyZWRfc3RhcnRlZF9uc3ElTlgcAAAAdGltZV9kaXNjb3ZlcmVkX2NvbXBs
ZXRlZF9uc3EmTlgHAAAAcmV0aXJlZHEniFgKAAAAdGltZW91dF9tc3EoSkB3GwBYBgAAAGlzX3AycHEpiXV9KGgQSwFoEUsAaBJoCmgThmgUaBVoFmgX
aBhLAmgZSwBoGksCaBtoHGgdigg3annpCoLrGGgeXShdKE3oA2VlaB9dKGggZWghXShdKE3oA2VlaCJdKGggZWgjaCRoJU5oJk5oJ4hoKEpAdxsAaCmJ
dX0oaBBLAmgRSwFoEmgOWAkAAAB1bmRlZmluZWRxKoZoFGgVaBZoF2gYSwFoGUsAaBpLAWgbWA8AAABnbG9vOmFsbF9nYXRoZXJxK2gdigj4QZ/pCoLr
GGgeXShdKEsIZWVoH10oaCBlaCFdKF0oSwJLCGVlaCJdKGggZWgjaCRoJU5oJk5oJ4hoKEpAdxsAaCmJdX0oaBBLA2gRSwBoEmgKaBOGaBRoFWgWaBdo
GEsDaBlLAGgaSwNoG2gcaB2KCPgarukKgusYaB5dKF0oTegDZWVoH10oaCBlaCFdKF0oTegDZWVoIl0oaCBlaCNoJGglTmgmTmgniWgoSkB3GwBoKYl1
ZXVxLC4=
""",
    """
gAJ9KFgHAAAAdmVyc2lvbnEAWAQAAAAyLjEwcQFYCQAAAHBnX2NvbmZpZ3ECfShYAAAAAHEDfShYBAAAAG5hbWVxBGgDWAQAAABkZXNjcQVoA1gFAAAA
cmFua3NxBlgCAAAAW11xB3V1WBAAAABjb21tX2xpYl92ZXJzaW9ucQhoA1gJAAAAcGdfc3RhdHVzcQl9KFgBAAAAMHEKfShYGAAAAGxhc3RfZW5xdWV1
ZWRfY29sbGVjdGl2ZXELSwJYFwAAAGxhc3Rfc3RhcnRlZF9jb2xsZWN0aXZlcQxK/////1gZAAAAbGFzdF9jb21wbGV0ZWRfY29sbGVjdGl2ZXENSwJ1
WAEAAAAxcQ59KGgLSwFoDEr/////aA1LAXV1WAcAAABlbnRyaWVzcQ9dKH0oWAkAAAByZWNvcmRfaWRxEEsAWAUAAABwZ19pZHERSwBYDQAAAHByb2Nl
c3NfZ3JvdXBxEmgKWAoAAABkZWZhdWx0X3BncROGWAsAAAB0aHJlYWRfbmFtZXEUWAYAAABweXRob25xFVgJAAAAdGhyZWFkX2lkcRZYDwAAADEzOTY5
Njk1NDk2NDg2NHEXWBEAAABjb2xsZWN0aXZlX3NlcV9pZHEYSwFYCgAAAHAycF9zZXFfaWRxGUsAWAUAAABvcF9pZHEaSwFYDgAAAHByb2ZpbGluZ19u
YW1lcRtYDwAAAGdsb286YWxsX3JlZHVjZXEcWA8AAAB0aW1lX2NyZWF0ZWRfbnNxHYoIrpsN6QqC6xhYCwAAAGlucHV0X3NpemVzcR5dKF0oTegDZWVY
DAAAAGlucHV0X2R0eXBlc3EfXShYBQAAAEZsb2F0cSBlWAwAAABvdXRwdXRfc2l6ZXNxIV0oXShN6ANlZVgNAAAAb3V0cHV0X2R0eXBlc3EiXShoIGVY
BQAAAHN0YXRlcSNYCQAAAHNjaGVkdWxlZHEkWBoAAAB0aW1lX2Rpc2NvdmVyZWRfc3RhcnRlZF9uc3ElTlgcAAAAdGltZV9kaXNjb3ZlcmVkX2NvbXBs
ZXRlZF9uc3EmTlgHAAAAcmV0aXJlZHEniFgKAAAAdGltZW91dF9tc3EoSkB3GwBYBgAAAGlzX3AycHEpiXV9KGgQSwFoEUsAaBJoCmgThmgUaBVoFmgX
aBhLAmgZSwBoGksCaBtoHGgdiggv93npCoLrGGgeXShdKE3oA2VlaB9dKGggZWghXShdKE3oA2VlaCJdKGggZWgjaCRoJU5oJk5oJ4hoKEpAdxsAaCmJ
dX0oaBBLAmgRSwFoEmgOWAkAAAB1bmRlZmluZWRxKoZoFGgVaBZoF2gYSwFoGUsAaBpLAWgbWA8AAABnbG9vOmFsbF9nYXRoZXJxK2gdigj9GpzpCoLr
GGgeXShdKEsIZWVoH10oaCBlaCFdKF0oSwJLCGVlaCJdKGggZWgjaCRoJU5oJk5oJ4hoKEpAdxsAaCmJdWV1cSwu
""",
)


def test_a_rank_that_never_came() -> None:
    told = [flight_recorder.parse_bytes(base64.b64decode(text)) for text in GLOO]
    assert [len(one.entries) for one in told] == [4, 3]
    assert [group.name for group in told[0].groups] == ["0", "1"]
    first, second = (flight_recorder.times(one, str(rank)).waiting for rank, one in enumerate(told))
    assert first[0] == Waiting("0", "", "0", 3, "all_reduce", 4000, "scheduled")
    assert second[0] == Waiting("1", "", "0", 2, "all_reduce", 4000, "completed")
    assert [(one.sequence, one.operation, one.state) for one in (first[1], second[1])] == [
        (1, "all_gather", "completed"),
        (1, "all_gather", "completed"),
    ]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_the_example_of_the_tutorial(protocol: int) -> None:
    told = flight_recorder.parse_bytes(pickle.dumps(TUTORIAL, protocol))
    assert (told.version, told.unread, told.groups[0].ranks) == ("2.5", 0, (0, 1))
    entry = told.entries[0]
    assert (entry.group, entry.about, entry.sequence, entry.size, entry.timeout_ms) == (
        "0",
        "default_pg",
        1,
        48,
        600000,
    )
    times = flight_recorder.times(told, "3", "n1")
    assert times.waiting == (Waiting("3", "n1", "0", 1, "all_reduce", 48, "completed", members=("0", "1")),)


def test_where_a_rank_waits() -> None:
    told = flight_recorder.parse_bytes(PICKLE)
    assert (told.nccl, [group.enqueued for group in told.groups]) == ("2.26.2", [3, 1])
    times = flight_recorder.times(told, "0")
    assert times.waiting == (
        Waiting("0", "", "0", 2, "all_reduce", 1048576, "started", members=("0", "1", "2", "3")),
        Waiting("0", "", "1", 1, "all_gather", 2048, "completed", members=("0", "1")),
    )
    assert times.collectives == (Collective("all_reduce", 48, (0.00425,), (), "0", "", 4, "0"),)


def test_json_tells_the_same() -> None:
    text = (SAMPLES / "flight_recorder.txt").read_text()
    told = flight_recorder.parse(text)
    assert told == flight_recorder.parse_bytes(PICKLE)
    assert flight_recorder.parse_bytes(text.encode()) == told


def test_old_forms() -> None:
    # PyTorch 2.2 had a list alone and no name of a group, 2.3 numbers by seq_id.
    entry = {"pg_id": 1, "seq_id": 7, "profiling_name": "nccl:all_reduce", "state": "scheduled", "input_sizes": [[2]]}
    told = flight_recorder.parse_bytes(pickle.dumps([entry, {"pg_id": 1}, 3], 2))
    assert ([(one.group, one.sequence, one.size) for one in told.entries], told.unread) == ([("1", 7, 0)], 2)


def test_sends_and_receives_are_never_marked_as_ended() -> None:
    # pytorch/pytorch#137969.
    send = {"p2p_seq_id": 1, "is_p2p": True, "profiling_name": "nccl:send 0->1", "state": "scheduled"}
    group = {"process_group": ("2", "pp"), "pg_id": 2}
    told = flight_recorder.parse_bytes(
        pickle.dumps({"pg_config": {}, "entries": [{**group, **send}], "pg_status": {"2": TUTORIAL["pg_status"]["0"]}})  # type: ignore[index]
    )
    assert [(one.group, one.sequence, one.state) for one in flight_recorder.times(told).waiting] == [
        ("2", 2, "completed")
    ]


def test_groups_without_entries_tell_by_their_last_numbers() -> None:
    status = {"last_enqueued_collective": 9, "last_started_collective": -1, "last_completed_collective": 7}
    told = flight_recorder.parse(json.dumps({"pg_config": {"5": {"name": "5"}}, "pg_status": {"5": status}}))
    assert flight_recorder.times(told).waiting == (Waiting("", "", "5", 8, state="scheduled"),)


class Evil:
    """What a pickle would run: make a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def evil(path: Path) -> list[bytes]:
    """Pickles that name or call something, by every operation that can."""
    text = str(path).encode()
    return [
        *(pickle.dumps({"entries": [Evil(path)]}, protocol) for protocol in range(6)),
        b"cos\nmkdir\n(S'" + text + b"'\ntR.",
        b"(S'" + text + b"'\nios\nmkdir\n.",
        b"(cos\nmkdir\nS'" + text + b"'\no.",
        b"\x80\x04\x8c\x02os\x8c\x05mkdir\x93\x8c" + bytes([len(text)]) + text + b"\x85R.",
        b"\x80\x02}b.",
        b"\x80\x02)\x81.",
        b"\x80\x02)}\x92.",
        b"Pos\n.",
        b"\x80\x02K\x01Q.",
        b"\x82\x01.",
        b"\x83\x01\x00.",
        b"\x84\x01\x00\x00\x00.",
        b"\x80\x05\x97.",
        b"\x80\x05\x98.",
    ]


def test_nothing_of_a_pickle_is_run(tmp_path: Path) -> None:
    target = tmp_path / "made"
    for data in evil(target):
        with pytest.raises(ParseError, match="plain things"):
            flight_recorder.parse_bytes(data)
    assert not target.exists()
    # The same does run where it is loaded as usual, so that the test is one.
    pickle.loads(evil(target)[2])
    assert target.exists()


def test_what_would_take_all_memory_or_all_time_is_refused() -> None:
    doubled = b"\x80\x02K\x01" + b"q\x00h\x00\x86" * 200
    for data in (
        b"\x80\x02X\xff\xff\xff\x7f.",
        b"\x80\x04\x8d" + struct.pack("<Q", 2**62) + b".",
        b"\x80\x02\x8b" + struct.pack("<i", 100) + b"\x7f" * 100 + b".",
        b"\x80\x02}" + doubled[2:] + b"K\x01s.",
        b"\x80\x02" + b"(" * 1000 + b".",
        b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".",
        b"\x80\x02h\x00.",
        b"\x80\x02}(K\x01u.",
        b"",
        b".",
    ):
        with pytest.raises(ParseError):
            flight_recorder.parse_bytes(data)
    # A number to remember by may be as great as it likes.
    whole = b"\x80\x02r\xff\xff\xff\xff"
    assert flight_recorder.parse_bytes(PICKLE[:-1].replace(PICKLE[:3], PICKLE[:3] + whole[2:], 1) + b".").entries


def shared(entries: int, each: int) -> bytes:
    """A dump in which every entry tells of the same list of sizes: a byte or two stand for all of it."""
    sizes, kinds = [[2, 2]] * each, ["Float"] * each
    more = {"input_sizes": sizes, "input_dtypes": kinds, "output_sizes": sizes, "output_dtypes": kinds}
    told = [{**TUTORIAL["entries"][0], **more, "collective_seq_id": at} for at in range(entries)]  # type: ignore[dict-item, index]
    return pickle.dumps({**TUTORIAL, "entries": told}, 2)


def test_what_is_shared_is_counted_each_time_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flight_recorder, "_MOST_VISITED", 50_000)
    assert len(flight_recorder.parse_bytes(shared(20, 100)).entries) == 20
    with pytest.raises(ParseError, match="more than 50,000 elements, more than are read"):
        flight_recorder.parse_bytes(shared(200, 100))


def test_an_entry_that_is_named_again_and_again_is_read_once() -> None:
    entry = TUTORIAL["entries"][0]
    whole = pickle.dumps({**TUTORIAL, "entries": [entry] * 200_000}, 2)
    read = flight_recorder.parse_bytes(whole).entries
    assert len(read) == 200_000
    assert len(set(map(id, read))) == 1


def test_a_list_of_ranks_is_read_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = "[0, 1, 2, 3]"
    config = {"0": {"name": "0", "desc": "", "ranks": ranks}}
    monkeypatch.setattr(flight_recorder, "_MOST_RANKS", len(ranks))
    whole = pickle.dumps({**TUTORIAL, "pg_config": config}, 2)
    assert flight_recorder.parse_bytes(whole).groups[0].ranks == (0, 1, 2, 3)
    monkeypatch.setattr(flight_recorder, "_MOST_RANKS", len(ranks) - 1)
    with pytest.raises(ParseError, match="a list of ranks of 12 letters"):
        flight_recorder.parse_bytes(whole)


def test_a_group_s_number_that_is_none_is_not_written_out() -> None:
    # 2 to the power of 200 letters, in 400 bytes.
    doubled = b"K\x01" + b"q\x00h\x00\x86" * 200
    entry = pickle.dumps({**TUTORIAL["entries"][0], "pg_id": 77}, 2)[2:-1]  # type: ignore[dict-item]
    told = flight_recorder.parse_bytes(b"\x80\x02]" + entry.replace(b"KM", doubled) + b"a.")
    assert len(told.entries) == 1


@pytest.mark.parametrize(("name", "most", "why"), [("_MOST_BYTES", 100, "holds .* bytes"), ("_MOST_LONG", 7, "digits")])
def test_a_pickle_is_bounded_by_its_bytes(monkeypatch: pytest.MonkeyPatch, name: str, most: int, why: str) -> None:
    monkeypatch.setattr(_plain_pickle, name, most)
    with pytest.raises(ParseError, match=why):
        flight_recorder.parse_bytes(pickle.dumps(TUTORIAL, 2))


def test_entries_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flight_recorder, "_MOST_ENTRIES", 3)
    assert len(flight_recorder.parse_bytes(shared(3, 1)).entries) == 3
    with pytest.raises(ParseError, match="no list of entries, or too long"):
        flight_recorder.parse_bytes(shared(4, 1))


def test_every_cut_is_refused() -> None:
    for end in range(len(PICKLE) - 1):
        with pytest.raises(ParseError):
            flight_recorder.parse_bytes(PICKLE[:end])


@pytest.mark.parametrize("text", ["", "{}", "[]", "[1]", '{"entries": 3}', '{"traceEvents": []}', "[" * 100_000, "{"])
def test_json_of_others(text: str) -> None:
    with pytest.raises(ParseError):
        flight_recorder.parse(text)


def test_names_are_printable() -> None:
    """A terminal obeys what a name holds."""
    entry = {**TUTORIAL["entries"][0], "profiling_name": "odd\x1b[31m", "process_group": ("0\x1b[2J", "about\x07")}
    config = {"0": {"name": "0\x1b[2J", "desc": "\x1b]0;x\x07", "ranks": "[0, 1]"}}
    told = flight_recorder.parse_bytes(pickle.dumps({**TUTORIAL, "entries": [entry], "pg_config": config}, 2))
    assert flight_recorder.times(told, "0").waiting[0].operation == r"odd\x1b[31m"
    assert flight_recorder.times(told, "0").waiting[0].members == ("0", "1")
    assert (told.entries[0].group, told.entries[0].about) == (r"0\x1b[2J", r"about\x07")
    assert "\x1b" not in "".join(group.name + group.about for group in told.groups)
