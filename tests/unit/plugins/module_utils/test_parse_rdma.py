# SPDX-License-Identifier: GPL-3.0-or-later
"""What ibv_rc_pingpong and rping print, and what becomes of it in `_rdma/answers`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._between.rdma import answers, containers, script
from ansible_collections.ibready.cluster.plugins.module_utils._between.rdma.ends import End
from ansible_collections.ibready.cluster.plugins.module_utils._between.rdma.script import Ran
from ansible_collections.ibready.cluster.plugins.module_utils._data import rdma_tests as data
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import rc_pingpong, rping
from tests.unit.parsers import SAMPLES

PINGPONG = (SAMPLES / "rc_pingpong.txt").read_text()
RPING = (SAMPLES / "rping.txt").read_text()
PERFTEST = (SAMPLES / "perftest.txt").read_text()
# As many as `end` asks for.
PINGS = "".join(f"ping data: rdma-ping-{at}: ABC\n" for at in range(10))
# Recorded between two virtual machines over soft RoCE (rdma_rxe of Linux 6.12, emulated), with
# rdma-core 56 and perftest 25.01 of Debian 13 and faults that were planted by hand; the letters of
# rping are cut. What was waiting when its time was up has said nothing.
RECORDED = SAMPLES.parent / "rdma_logs/words.txt"
LOST = "Failed status transport retry counter exceeded (12) for wr_id 2\n"
NO_MR = "Couldn't register MR\n"
few = settings(max_examples=60, deadline=None, database=None)


def end(test: str, where: str = "host") -> End:
    return End(where, test, "rxe0", 1, 18700, gid_index=1, address="198.18.92.12", soft=True)


def client(test: str, text: str, rc: int | None = 0) -> dict[str, Any]:
    return answers.of_client(end(test), Ran(text, rc), "")


def test_a_pingpong_tells_what_moved_and_with_which_gids() -> None:
    found = rc_pingpong.parse(PINGPONG)
    assert (found.moved, found.iterations, found.bad_pages) == (2621440, 20, ())
    assert (found.seconds, found.usec) == (1.57, 78362.3)
    assert found.gids == ("::ffff:198.18.92.11", "::ffff:198.18.92.12")


def test_damaged_pages_are_told_though_the_program_ends_well() -> None:
    text = f"{PINGPONG}invalid data in page 3\ninvalid data in page 4\n"
    assert rc_pingpong.parse(text).bad_pages == (3, 4)
    assert answers.of_server(end(data.VERBS), Ran(text, 0)) == {
        "kind": data.DAMAGED,
        "said": "invalid data in page 3",
        "rc": 0,
    }
    assert client(data.VERBS, text)["state"] == data.FAILED


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LOST, "retry counter exceeded"),
        (NO_MR, "Couldn't register MR"),
        ("", "ended without a result"),
        (PINGPONG.splitlines()[0], "ended without a result"),
        (PINGPONG + PINGPONG, "a second result"),
        (PINGPONG.replace("2621440 bytes", "0 bytes"), "moved nothing"),
    ],
)
def test_a_pingpong_without_a_result_says_why(text: str, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        rc_pingpong.parse(text)


def test_pings_are_counted_as_they_follow_each_other() -> None:
    assert rping.parse(RPING).pings == 4
    served = rping.parse(RPING.replace("ping data", "server ping data"))
    assert (served.pings, served.server) == (4, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no ping came back"),
        ("cma event RDMA_CM_EVENT_REJECTED, error 8\n", "REJECTED"),
        (RPING.replace("rdma-ping-2", "rdma-ping-7"), "not ping 2"),
        (RPING.replace("ping data: rdma-ping-2", "server ping data: rdma-ping-2"), "of client and"),
    ],
)
def test_pings_that_are_none_are_refused(text: str, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        rping.parse(text)


def test_other_data_than_was_sent_is_damage() -> None:
    assert rping.parse("data mismatch!\n").damaged
    assert client(data.CM, RPING + "data mismatch!\n", 1)["kind"] == data.DAMAGED


@given(st.text(max_size=300), st.sampled_from(data.TESTS), st.sampled_from([None, 0, 1, 124, 143]))
@few
def test_whatever_a_program_says_no_data_arrived_unless_it_says_so(text: str, test: str, rc: int | None) -> None:
    answer = answers.of_client(end(test), Ran(text, rc), "it was cut")
    if answer["state"] == data.MOVED:
        # By chance a whole result, and then with status 0 alone.
        assert rc == 0
        assert any(answer.get(key) for key in ("bytes", "pings"))
    else:
        assert answer["said"]
    answers.of_server(end(test), Ran(text, rc))


@given(st.integers(1, 1 << 40), st.integers(1, 10**6), st.integers(1, 999))
@few
def test_any_result_of_a_pingpong_is_read(size: int, iterations: int, usec: int) -> None:
    text = f"{size} bytes in 0.77 seconds = 27.24 Mbit/sec\n{iterations} iters in 0.77 seconds = {usec}.25 usec/iter\n"
    found = rc_pingpong.parse(text)
    assert (found.moved, found.iterations, found.usec) == (size, iterations, usec + 0.25)


@given(st.integers(1, 40), st.booleans())
@few
def test_any_number_of_pings_is_read(count: int, server: bool) -> None:
    who = "server " if server else ""
    text = "".join(f"{who}ping data: rdma-ping-{at}: ABC[\\]^_`a\n" for at in range(count))
    found = rping.parse(text)
    assert (found.pings, found.server, found.said) == (count, server, ())


@pytest.mark.parametrize(
    ("test", "text", "numbers"),
    [
        (data.VERBS, PINGPONG, {"bytes": 2621440}),
        (data.CM, PINGS, {"pings": 10}),
        (data.BANDWIDTH, PERFTEST, {"gbps": 396.12}),
    ],
)
def test_what_moved_is_told_with_its_numbers(test: str, text: str, numbers: dict[str, Any]) -> None:
    answer = client(test, text)
    assert {"state": data.MOVED, "kind": "", "said": "", **numbers}.items() <= answer.items()


def test_pings_that_stop_in_the_middle_are_a_failure_though_rping_ends_well() -> None:
    """rping's client gives status 0 wherever the other end has hung up."""
    answer = client(data.CM, RPING + "wait for RDMA_WRITE_ADV state 10\n")
    assert (answer["state"], answer["pings"]) == (data.FAILED, 4)
    assert answer["said"] == "rping ended after 4 of 10 pings"


@pytest.mark.parametrize(
    ("test", "text", "rc", "state", "kind"),
    [
        (data.VERBS, LOST, 1, data.FAILED, data.LOST),
        (data.VERBS, NO_MR, 1, data.FAILED, data.MEMLOCK),
        (data.VERBS, "", 124, data.FAILED, data.LOST),
        (data.VERBS, "Failed to modify QP to RTR\n", 1, data.FAILED, data.GID),
        (data.VERBS, "can't read sgid of index 9\n", 1, data.FAILED, data.GID),
        (data.VERBS, "IB device rxe0 not found\n", 1, data.FAILED, data.NO_DEVICE),
        (data.VERBS, "Couldn't get context for rxe0\n", 1, data.FAILED, data.NOT_OPENED),
        (data.VERBS, "Couldn't connect to 198.18.92.12:18700\n", 1, data.UNTESTED, data.NO_SERVER),
        (
            data.VERBS,
            "libibverbs: Warning: no userspace device-specific driver found for "
            "/sys/class/infiniband_verbs/uverbs0\nNo IB devices found\n",
            1,
            data.FAILED,
            data.NO_PROVIDER,
        ),
        (data.LATENCY, " Failed status 12: wr_id 0 syndrom 0x81\n",
         1, data.FAILED, data.LOST),
        (data.BANDWIDTH, " Unable to init the socket connection\n", 1, data.UNTESTED,
         data.NO_SERVER),
        (data.BANDWIDTH, PERFTEST, 1, data.FAILED, ""),
        (data.CM, "cma event RDMA_CM_EVENT_UNREACHABLE, error -110\n", 1, data.FAILED, data.LOST),
        (data.CM, "cma event RDMA_CM_EVENT_REJECTED, error 8\n", 1, data.FAILED, data.REFUSED),
        (data.CM, RPING, 124, data.FAILED, data.LOST),
        (data.CM, "rdma_create_event_channel: No such device\n", 19, data.FAILED, data.NOT_OPENED),
    ],
)  # fmt: skip
def test_the_words_tell_the_kind(test: str, text: str, rc: int, state: str, kind: str) -> None:
    answer = client(test, text, rc)
    assert (answer["state"], answer["kind"]) == (state, kind)
    assert answer["said"]


def test_a_warning_of_another_device_is_no_cause() -> None:
    """libibverbs names every device without a provider, at each start of each program."""
    other = "libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband_verbs/uverbs1\n"
    answer = client(data.VERBS, other + LOST, 1)
    assert (answer["kind"], "retry counter" in answer["said"]) == (data.LOST, True)
    hung = client(data.BANDWIDTH, other, 124)
    assert (hung["kind"], "waited in vain" in hung["said"]) == (data.LOST, True)
    head = PINGPONG.splitlines()[0]
    for ran in (Ran(other + head), Ran(other + PINGPONG, 0)):
        reported = answers.of_server(end(data.VERBS), ran)
        assert (reported["kind"], reported["said"]) == ("", "")


def test_a_program_that_died_is_told_by_its_own_words() -> None:
    text = "libgcc_s.so.1 must be installed for pthread_exit to work\nAborted\n"
    answer = client(data.CM, text, 134)
    assert answer["said"] == "rping: libgcc_s.so.1 must be installed for pthread_exit to work"
    assert client(data.CM, "Aborted\n", 134)["said"] == "rping: Aborted"


def test_a_program_that_is_missing_is_named_with_its_packages() -> None:
    answer = answers.of_client(end(data.CM), Ran(missing="rping"), "")
    assert answer["state"] == data.UNTESTED
    assert "rdmacm-utils (Debian, Ubuntu) or librdmacm-utils (EL)" in answer["said"]


def test_a_server_that_waits_or_was_stopped_has_nothing_to_say() -> None:
    head = PINGPONG.splitlines()[0]
    for ran in (None, Ran(head), Ran(head, 0), Ran(head, 143), Ran(head, 124)):
        assert answers.of_server(end(data.VERBS), ran)["said"] == ""
    assert answers.of_server(end(data.VERBS), Ran(NO_MR, 1))["kind"] == data.MEMLOCK


def recorded() -> dict[str, tuple[str, int]]:
    """Text and status of each run in the recording."""
    found = {}
    for part in RECORDED.read_text().split("=== ")[1:]:
        name, _, rest = part.partition("\n")
        text, _, rc = rest.rpartition("rc=")
        found[name] = (text, int(rc))
    return found


# By the end of a recording's name.
_TESTS = {"pp": data.VERBS, "lat": data.LATENCY, "bw": data.BANDWIDTH, "cm": data.CM}
_SAID = {
    "moved": (data.MOVED, ""),
    "blocked": (data.FAILED, data.LOST),
    "gid-empty": (data.FAILED, data.GID),
    "mem": (data.FAILED, data.MEMLOCK),
    "nodev": (data.FAILED, data.NO_DEVICE),
    "nonode": (data.FAILED, data.NO_DEVICE),
    "noprov": (data.FAILED, data.NO_PROVIDER),
    "perm": (data.FAILED, data.NOT_OPENED),
    "nocm": (data.FAILED, data.NOT_OPENED),
    "reject": (data.FAILED, data.REFUSED),
}
# What the other end has to tell: it gave up first, or nobody was there yet.
_OTHERS = ("gid-empty-pp", "blocked-pp")


@pytest.mark.parametrize("name", sorted(recorded()))
def test_what_real_programs_said_is_told_by_its_kind(name: str) -> None:
    text, rc = recorded()[name]
    fault, _, last = name.rpartition("-")
    if last in ("server", "latserver"):
        program = next((one for one in _TESTS if f"-{one}" in name), "lat" if "lat" in last else "pp")
        fault = next(one for one in _SAID if name.startswith(one))
        kind = answers.of_server(end(_TESTS[program]), Ran(text, rc))["kind"]
        assert kind == ("" if fault == "moved" else _SAID[fault][1])
    elif name in _OTHERS:
        assert client(data.VERBS, text, rc)["kind"] == data.NO_SERVER
    elif last in _TESTS and fault in _SAID:
        answer = client(_TESTS[last], text, rc)
        assert (answer["state"], answer["kind"]) == _SAID[fault]
    else:
        assert client(data.CM if "cm" in name else data.VERBS, text, rc)["state"] == data.FAILED


def test_a_server_that_writes_without_end_is_read_up_to_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "FOLDER", str(tmp_path))
    place = containers.on_host(containers.SERVE)
    monkeypatch.setattr(containers, "_MOST", 28)
    Path(place.output).write_text("0\tout\tone\n0\tout\ttwo\n0\tout\tthree\n")
    reported = script.read(place.told())
    assert reported.ran[0].text == "one\ntwo"
    assert reported.other == ("it wrote more than 28 characters, and the rest is not read",)
    monkeypatch.setattr(containers, "_MOST", 100)
    assert script.read(place.told()).other == ()


def test_of_more_lines_than_are_kept_it_is_said_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "_MOST_LINES", 2)
    reported = script.read("a\nb\nc\nd\n" + "0\tout\tx\n" * 3 + "1\tout\ty\n" * 2)
    assert reported.other == ("a", "b", "... and 2 more lines")
    assert (reported.ran[0].text, reported.ran[1].text) == ("x\nx\n... and 1 more lines", "y\ny")
