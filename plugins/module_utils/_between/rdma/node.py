# SPDX-License-Identifier: GPL-3.0-or-later
"""What one node does in a run: wait for others, ask others, and leave nothing.

Whatever it is asked to do, it first ends the servers of an earlier round and tells what they said,
for in one round a host either serves or asks.
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence

from ..._data.rdma_tests import CM, FAILED, FIRST_S, HOST, LIMITS, LOCAL, UNTESTED, WHERE
from ..._evidence.sources import Live
from ..._ground import state as _state, unit
from ..._ground.command import Unavailable
from ..._parse._container_desired import HOST as HOST_NET, Desired
from ..tcp import port_owner
from . import answers, containers, script
from .containers import ASK, FOLDER, PREFIX, SERVE, Place, on_host
from .ends import End, end

_STATE = f"{FOLDER}/state.json"
# Seconds that servers may take to be there; a container has to be started first.
_READY_S = 45.0
_STEP_S = 0.3


@dataclass(frozen=True)
class Node:
    """``wish``: what containers are started with."""

    run: unit.Run
    wish: Desired = field(default_factory=Desired)
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic

    def serve(self, ends: Sequence[End], lease: int) -> dict[str, Any]:
        """Start a server for each. ``gone``: why those that are gone already are."""
        served = self.collect()
        self._remember(ends, {})
        places, why = self._places(SERVE, ends)
        unstarted: dict[str, tuple[str, str]] = dict(why)
        for where, place in places.items():
            jobs = [script.Job(tuple(entry.words(None)), lease) for entry in _of(ends, where)]
            try:
                place.start(self.run, script.together(jobs), lease)
            except (Unavailable, unit.UnitError, OSError) as exc:
                unstarted[where] = str(exc), ""
        there = {place: places[place] for place in places if place not in unstarted}
        gone = self._until_ready(ends, there)
        for where, (said, kind) in unstarted.items():
            gone += [_gone(entry, UNTESTED, kind, said) for entry in _of(ends, where)]
        return {"served": served, "gone": gone}

    def ask(self, questions: Sequence[tuple[End, str]], gone: Any) -> dict[str, Any]:
        """Put every question to its address. ``gone``: of the servers' own ``serve``, another
        host's word: what is no such list is passed over, and that server is asked."""
        served = self.collect()
        ends = [question for question, _unused in questions]
        gone = gone if isinstance(gone, list) else []
        bad = {entry["tcp_port"]: entry for entry in gone if _is_gone(entry)}
        found = [_not_put(end, bad[end.tcp_port]) for end in ends if end.tcp_port in bad]
        put = [(question, to) for question, to in questions if question.tcp_port not in bad]
        places, why = self._places(ASK, [entry for entry, _unused in put])
        inside: dict[str, Any] = {}
        for where in WHERE:
            mine = [(entry, to) for entry, to in put if entry.where == where]
            if where in why:
                said, kind = why[where]
                found += [_answer(entry, UNTESTED, kind, said) for entry, _unused in mine]
            elif mine:
                reported, some = self._asked(places[where], mine)
                found += some
                inside[where] = reported
        order = [(end.where, end.tcp_port) for end in ends]
        found.sort(key=lambda item: order.index((item["where"], item["tcp_port"])))
        return {"served": served, "answers": found, "inside": inside}

    def stop(self, *, dry: bool = False) -> dict[str, Any]:
        """End all of ours, tell what servers said, and forget the image that was made."""
        units = unit.running(self.run, PREFIX)
        if dry:
            return {"served": [], "units": units}
        served = self.collect()
        made = _state.load_file(_STATE)
        containers.remove(made, image_too=True)
        unit.stop(self.run, unit.running(self.run, PREFIX))
        shutil.rmtree(FOLDER, ignore_errors=True)
        return {"served": served, "units": units}

    def collect(self) -> list[dict[str, Any]]:
        """End the servers of an earlier round; what each said, with its end's labels."""
        known = _state.load_file(_STATE)
        ends = [end(entry) for entry in known.get("ends", ())]
        if not ends:
            return []
        reported = {where: script.read(Place(where, SERVE).told()) for where in WHERE}
        open_ports = port_owner.listening(Live())
        containers.remove(known, image_too=False)
        unit.stop(self.run, unit.running(self.run, PREFIX))
        found = []
        for where in WHERE:
            for at, item in enumerate(_of(ends, where)):
                ran = reported[where].ran.get(at)
                words = answers.of_server(item, ran)
                # They stop listening with the first who comes.
                waits = (ran is None or ran.rc is None) and item.tcp_port in open_ports
                waits = waits and item.test != CM and where in self._seen
                about = {"memlock": reported[where].memlock, "devices": list(reported[where].devices)}
                found.append({**_labels(item), **words, **about, "waits": waits})
        _state.save_file(_STATE, {**known, "ends": []})
        return found

    @property
    def _seen(self) -> set[str]:
        """Where ports are seen: not in a container with a network of its own."""
        return {HOST} if self.wish.network != HOST_NET else set(WHERE)

    def _places(self, side: str, ends: Sequence[End]) -> tuple[dict[str, Place], dict[str, tuple[str, str]]]:
        """Where to run what, and why not (with its kind) where that cannot be."""
        wanted = [where for where in WHERE if _of(ends, where)]
        places = {HOST: on_host(side)} if HOST in wanted else {}
        inside = [where for where in wanted if where != HOST]
        if not inside:
            return places, {}
        try:
            found, name, made = containers.ready(self.wish, _state.load_file(_STATE))
        except containers.NoContainers as exc:
            return places, {where: (str(exc), exc.kind) for where in inside}
        self._remember(None, made)
        for where, place in containers.places(side, found, name, self.wish).items():
            if where in inside:
                found.remove(place.name)
                places[where] = place
        return places, {}

    def _remember(self, ends: Sequence[End] | None, made: Mapping[str, Any]) -> None:
        known = {**_state.load_file(_STATE), **made}
        if ends is not None:
            known["ends"] = [end.to_dict() for end in ends]
        os.makedirs(FOLDER, mode=0o700, exist_ok=True)
        _state.save_file(_STATE, known)

    def _until_ready(self, ends: Sequence[End], places: Mapping[str, Place]) -> list[dict[str, Any]]:
        """Wait until every server waits or is gone; those that are gone with their words."""
        until = self.now() + _READY_S
        failed: dict[tuple[str, int], dict[str, Any]] = {}
        while True:
            open_ports = port_owner.listening(Live())
            waiting = False
            for where, place in places.items():
                reported = script.read(place.told())
                alive = unit.active(self.run, place.unit)
                for at, entry in enumerate(_of(ends, where)):
                    ran = reported.ran.get(at)
                    over = ran is not None and (ran.rc is not None or bool(ran.missing))
                    if over or not alive:
                        failed[where, at] = _over(entry, ran, reported)
                    elif not reported.memlock or not (
                        entry.test == CM or where not in self._seen or entry.tcp_port in open_ports
                    ):
                        waiting = True
            if not waiting or self.now() >= until:
                break
            self.sleep(_STEP_S)
        self.sleep(FIRST_S)
        return list(failed.values())

    def _asked(self, place: Place, mine: Sequence[tuple[End, str]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """What is known of the shell that asked, and the answers."""
        limits = [LIMITS[entry.test] for entry, _unused in mine]
        rails = sorted({entry.rail for entry, _unused in mine})
        jobs = [
            script.Job(tuple(entry.words(entry.address if entry.test == CM else to)), seconds, rails.index(entry.rail))
            for (entry, to), seconds in zip(mine, limits)
        ]
        try:
            ended = place.wait(self.run, script.one_by_one(jobs), sum(limits))
        except (Unavailable, unit.UnitError, OSError) as exc:
            reported, why = script.Reported(), str(exc)
        else:
            reported = script.read(ended.stdout)
            why = "" if reported.ended else _cut(reported, ended.stderr) or ended.why(sum(limits))
        found = []
        for at, (entry, _unused) in enumerate(mine):
            answer = answers.of_client(entry, reported.ran.get(at), why)
            found.append({**_labels(entry), "at": "client", **answer})
        about = {"memlock": reported.memlock, "devices": list(reported.devices), "why": why}
        return about, found


def refused(ends: Sequence[End], questions: Sequence[tuple[End, str]], said: str) -> dict[str, Any]:
    """What ``serve`` and ``ask`` return where nothing may be started."""
    return {
        "gone": [_gone(end, UNTESTED, "", said) for end in ends],
        "answers": [_answer(question, UNTESTED, "", said) for question, _unused in questions],
        "inside": {},
    }


def _of(ends: Sequence[End], where: str) -> list[End]:
    return [end for end in ends if end.where == where]


def _labels(end: End) -> dict[str, Any]:
    return {
        "where": end.where,
        "test": end.test,
        "rail": end.rail,
        "client": end.client,
        "server": end.server,
        "tcp_port": end.tcp_port,
        "run": end.run,
    }


def _gone(end: End, state: str, kind: str, said: str) -> dict[str, Any]:
    return {**_labels(end), "state": state, "kind": kind, "said": said}


def _over(end: End, ran: script.Ran | None, told: script.Reported) -> dict[str, Any]:
    """A server that ended before anybody asked it."""
    words = answers.of_server(end, ran)
    said = words["said"] or _cut(told, "") or "it ended before it was asked"
    state = FAILED if words["kind"] in LOCAL else UNTESTED
    return _gone(end, state, words["kind"], said)


def _cut(told: script.Reported, stderr: str) -> str:
    """What was said where a shell did not come to its end: the engine's word, for the most part."""
    lines = [*told.other, *stderr.splitlines()]
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _answer(end: End, state: str, kind: str, said: str) -> dict[str, Any]:
    return {**_labels(end), "at": "client", "state": state, "kind": kind, "said": said}


def _is_gone(told: Any) -> bool:
    """Whether this has the form of what `_gone` makes."""
    return (
        isinstance(told, dict)
        and isinstance(told.get("tcp_port"), int)
        and told.get("state") in (FAILED, UNTESTED)
        and all(isinstance(told.get(name), str) for name in ("kind", "said"))
    )


def _not_put(end: End, bad: Mapping[str, Any]) -> dict[str, Any]:
    """A question that its server cannot answer."""
    found = _answer(end, bad["state"], bad["kind"], bad["said"])
    return {**found, "at": "server"}
