# SPDX-License-Identifier: GPL-3.0-or-later
"""Every test that was planned: what became of it at both ends, or why nobody tried and at whom it
lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from ....module_utils._between.rdma.tried import Try, Words
from ....module_utils._data.rdma_tests import (
    BANDWIDTH,
    CM,
    FAILED,
    LATENCY,
    LOCAL,
    LOST,
    MOVED,
    NO_SERVER,
    UNTESTED,
    VERBS,
)
from ..._answers.rdma import Reported
from ..._ground.dicts import as_dict
from . import plan

_Key = tuple[str, str, str, str, str]
# With these a server ends before it has told the client where to send.
_GAVE_UP = (*LOCAL, LOST)
# What belongs to a test that moved data, beside its state.
_MEASURED = {VERBS: "bytes", LATENCY: "usec", BANDWIDTH: "gbps", CM: "pings"}
# No test moves so many bytes, no rail gives so many Gb/s, no message takes so many microseconds.
_MOST = 1e12
_LET_IN = "a firewall drops it (firewall_tcp_ports, ibready_rdma_port)"
_NOT_ASKED = "it was not asked to move data"


def tries(hosts: Mapping[str, Reported], made: Mapping[str, Any] | None) -> list[Try]:
    """One a planned test, in the plan's order."""
    found: list[Try] = []
    if made:
        answers = _by_key(made, (answer for reported in hosts.values() for answer in reported.answers))
        served = _by_key(made, (entry for reported in hosts.values() for entry in reported.served))
        for number, met in enumerate(made["rounds"]):
            for client, server in met.items():
                if client not in hosts or server not in hosts:
                    continue
                for end in plan.part(made, client, number)["questions"]:
                    key = (client, server, end["rail"], end["where"], end["test"])
                    found.append(_told(key, answers.get(key), served.get(key), hosts[client], hosts[server]))
    return found


def row(entry: Try) -> dict[str, Any]:
    """A test as the report holds it."""
    return asdict(entry)


def _by_key(made: Mapping[str, Any], told: Iterator[Any]) -> dict[_Key, Mapping[str, Any]]:
    """By what it is of; words of another run are nobody's."""
    return {
        (
            str(entry.get("client")),
            str(entry.get("server")),
            str(entry.get("rail")),
            str(entry.get("where")),
            str(entry.get("test")),
        ): entry
        for entry in told
        if str(entry.get("run") or "") == made["run"]
    }


def _told(
    key: _Key,
    answer: Mapping[str, Any] | None,
    served: Mapping[str, Any] | None,
    asking: Reported,
    serving: Reported,
) -> Try:
    client, server = key[0], key[1]
    far = _words(served or {}, served or {})
    if answer is None:
        why, culprit = asking.host.error, client
        if not why and serving.host.error:
            why, culprit = serving.host.error, server
        return Try(*key, said=why or _NOT_ASKED, culprit=culprit, served=far)
    state = str(answer.get("state"))
    amount = answer.get(_MEASURED[key[4]])
    known, least = _number(amount), 1 if key[4] in (VERBS, CM) else 0
    dumb = state == MOVED and (known is None or known < least)
    if dumb or state not in (MOVED, FAILED, UNTESTED):
        why = f"the module rdma_data returned {amount if dumb else state!r}"
        return Try(*key, said=why, culprit=client, served=far)
    at = "server" if answer.get("at") == "server" else "client"
    if state == MOVED and far.kind == "damaged":
        # Only the server of ibv_rc_pingpong looks at what came.
        state, at = FAILED, "server"
    elif state == MOVED and key[4] == VERBS and as_dict(served).get("rc") != 0:
        said = f": {far.said}" if far.said else ""
        why = f"data moved, and {server} did not tell whether it is what was sent{said}"
        return Try(*key, said=why, at="server", culprit=server, served=far)
    elif state == FAILED and answer.get("kind") == LOST and as_dict(served).get("waits") is True:
        # Nobody came to it: what was lost is the call, by TCP, and no data.
        why = f"no TCP connection to port {answer.get('tcp_port')} of {server} came up"
        return Try(*key, kind=NO_SERVER, said=f"{why}: {_LET_IN}", culprit=server, served=far)
    if state == UNTESTED and answer.get("kind") == NO_SERVER and far.kind in _GAVE_UP:
        # It was there, and left the client alone for a reason of its own.
        state, at = FAILED, "server"
        answer = {**answer, "kind": far.kind, "said": far.said}
    said = str(answer.get("said") or "") or (far.said if at == "server" else "")
    near = _words(answer, as_dict(asking.inside.get(key[3])))
    if at == "server":
        far = Words(near.kind or far.kind, near.said or far.said, far.memlock, far.devices)
        near = Words(memlock=near.memlock, devices=near.devices)
    culprit = ""
    if state == UNTESTED:
        culprit = _culprit(answer, at, client, server, far)
        said = f"{said}; {server}: {far.said}" if far.said and at == "client" else said
    return Try(
        *key,
        state=state,
        kind=str(answer.get("kind") or "") or (far.kind if state == FAILED else ""),
        said=said,
        at=at,
        culprit=culprit,
        gbps=_number(answer.get("gbps")),
        usec=_number(answer.get("usec")),
        moved=_whole(answer.get("bytes")),
        pings=_whole(answer.get("pings")),
        asked=near,
        served=far,
    )


def _culprit(answer: Mapping[str, Any], at: str, client: str, server: str, far: Words) -> str:
    """Who kept a test from being made: nobody waited at the server, or the client could not."""
    if at == "server" or answer.get("kind") == NO_SERVER:
        return server
    return client


def _words(told: Mapping[str, Any], about: Mapping[str, Any]) -> Words:
    devices = about.get("devices")
    return Words(
        str(told.get("kind") or ""),
        str(told.get("said") or ""),
        str(about.get("memlock") or ""),
        tuple(map(str, devices)) if isinstance(devices, list | tuple) else None,
    )


def _number(value: Any) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if good and 0 <= value < _MOST else None


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None
