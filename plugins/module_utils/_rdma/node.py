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

from ansible_collections.ibready.cluster.plugins.module_utils import _state, _unit
from ansible_collections.ibready.cluster.plugins.module_utils._command import Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._data.rdma_tests import (
    CM,
    FAILED,
    FIRST_S,
    HOST,
    LIMITS,
    LOCAL,
    UNTESTED,
    WHERE,
)
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Live
from ansible_collections.ibready.cluster.plugins.module_utils._probe.wish import HOST as HOST_NET
from ansible_collections.ibready.cluster.plugins.module_utils._probe.wish import Wish
from ansible_collections.ibready.cluster.plugins.module_utils._rdma import (
    answers,
    containers,
    script,
)
from ansible_collections.ibready.cluster.plugins.module_utils._rdma.ends import End, end
from ansible_collections.ibready.cluster.plugins.module_utils._rdma.place import (
    ASK,
    FOLDER,
    PREFIX,
    SERVE,
    Place,
    on_host,
)
from ansible_collections.ibready.cluster.plugins.module_utils._tcp import holder

_STATE = f"{FOLDER}/state.json"
# Seconds that servers may take to be there; a container has to be started first.
_READY_S = 45.0
_STEP_S = 0.3


@dataclass(frozen=True)
class Node:
    """``wish``: what containers are started with."""

    run: _unit.Run
    wish: Wish = field(default_factory=Wish)
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic

    def serve(self, ends: Sequence[End], lease: int) -> dict[str, Any]:
        """Start a server for each. ``gone``: why those that are gone already are."""
        served = self.collect()
        self._remember(ends, {})
        places, why = self._places(SERVE, ends)
        unstarted: dict[str, tuple[str, str]] = dict(why)
        for where, place in places.items():
            jobs = [script.Job(tuple(one.words(None)), lease) for one in _of(ends, where)]
            try:
                place.start(self.run, script.together(jobs), lease)
            except (Unavailable, _unit.UnitError, OSError) as exc:
                unstarted[where] = str(exc), ""
        there = {one: places[one] for one in places if one not in unstarted}
        gone = self._until_ready(ends, there)
        for where, (said, kind) in unstarted.items():
            gone += [_gone(one, UNTESTED, kind, said) for one in _of(ends, where)]
        return {"served": served, "gone": gone}

    def ask(
        self,
        questions: Sequence[tuple[End, str]],
        gone: Sequence[Mapping[str, Any]],
    ) -> dict[str, Any]:
        """Put every question to its address. ``gone``: of the servers' own ``serve``."""
        served = self.collect()
        ends = [one for one, _ in questions]
        bad = {one.get("tcp_port"): one for one in gone}
        found = [_not_put(one, bad[one.tcp_port]) for one in ends if one.tcp_port in bad]
        put = [(one, to) for one, to in questions if one.tcp_port not in bad]
        places, why = self._places(ASK, [one for one, _ in put])
        inside: dict[str, Any] = {}
        for where in WHERE:
            mine = [(one, to) for one, to in put if one.where == where]
            if where in why:
                said, kind = why[where]
                found += [_answer(one, UNTESTED, kind, said) for one, _ in mine]
            elif mine:
                told, some = self._asked(places[where], mine)
                found += some
                inside[where] = told
        order = [(one.where, one.tcp_port) for one in ends]
        found.sort(key=lambda one: order.index((one["where"], one["tcp_port"])))
        return {"served": served, "answers": found, "inside": inside}

    def stop(self, *, dry: bool = False) -> dict[str, Any]:
        """End all of ours, tell what servers said, and forget the image that was made."""
        units = _unit.running(self.run, PREFIX)
        if dry:
            return {"served": [], "units": units}
        served = self.collect()
        made = _state.load_file(_STATE)
        containers.remove(made, image_too=True)
        _unit.stop(self.run, _unit.running(self.run, PREFIX))
        shutil.rmtree(FOLDER, ignore_errors=True)
        return {"served": served, "units": units}

    def collect(self) -> list[dict[str, Any]]:
        """End the servers of an earlier round; what each said, with its end's labels."""
        known = _state.load_file(_STATE)
        ends = [end(one) for one in known.get("ends", ())]
        if not ends:
            return []
        told = {where: script.read(Place(where, SERVE).told()) for where in WHERE}
        open_ports = holder.listening(Live())
        containers.remove(known, image_too=False)
        _unit.stop(self.run, _unit.running(self.run, PREFIX))
        found = []
        for where in WHERE:
            for at, one in enumerate(_of(ends, where)):
                ran = told[where].ran.get(at)
                words = answers.of_server(one, ran)
                # They stop listening with the first who comes.
                waits = (ran is None or ran.rc is None) and one.tcp_port in open_ports
                waits = waits and one.test != CM and where in self._seen
                about = {"memlock": told[where].memlock, "devices": list(told[where].devices)}
                found.append({**_labels(one), **words, **about, "waits": waits})
        _state.save_file(_STATE, {**known, "ends": []})
        return found

    @property
    def _seen(self) -> set[str]:
        """Where ports are seen: not in a container with a network of its own."""
        return {HOST} if self.wish.network != HOST_NET else set(WHERE)

    def _places(
        self, side: str, ends: Sequence[End]
    ) -> tuple[dict[str, Place], dict[str, tuple[str, str]]]:
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
            known["ends"] = [one.to_dict() for one in ends]
        os.makedirs(FOLDER, mode=0o700, exist_ok=True)
        _state.save_file(_STATE, known)

    def _until_ready(
        self, ends: Sequence[End], places: Mapping[str, Place]
    ) -> list[dict[str, Any]]:
        """Wait until every server waits or is gone; those that are gone with their words."""
        until = self.now() + _READY_S
        failed: dict[tuple[str, int], dict[str, Any]] = {}
        while True:
            open_ports = holder.listening(Live())
            waiting = False
            for where, place in places.items():
                told = script.read(place.told())
                alive = _unit.active(self.run, place.unit)
                for at, one in enumerate(_of(ends, where)):
                    ran = told.ran.get(at)
                    over = ran is not None and (ran.rc is not None or bool(ran.missing))
                    if over or not alive:
                        failed[where, at] = _over(one, ran, told)
                    elif not told.memlock or not (
                        one.test == CM or where not in self._seen or one.tcp_port in open_ports
                    ):
                        waiting = True
            if not waiting or self.now() >= until:
                break
            self.sleep(_STEP_S)
        self.sleep(FIRST_S)
        return list(failed.values())

    def _asked(
        self, place: Place, mine: Sequence[tuple[End, str]]
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """What is known of the shell that asked, and the answers."""
        limits = [LIMITS[one.test] for one, _ in mine]
        rails = sorted({one.rail for one, _ in mine})
        jobs = [
            script.Job(
                tuple(one.words(one.address if one.test == CM else to)),
                seconds,
                rails.index(one.rail),
            )
            for (one, to), seconds in zip(mine, limits)
        ]
        try:
            ended = place.wait(self.run, script.one_by_one(jobs), sum(limits))
        except (Unavailable, _unit.UnitError, OSError) as exc:
            told, why = script.Told(), str(exc)
        else:
            told = script.read(ended.stdout)
            why = "" if told.ended else _cut(told, ended.stderr) or ended.why(sum(limits))
        found = []
        for at, (one, _) in enumerate(mine):
            answer = answers.of_client(one, told.ran.get(at), why)
            found.append({**_labels(one), "at": "client", **answer})
        about = {"memlock": told.memlock, "devices": list(told.devices), "why": why}
        return about, found


def _of(ends: Sequence[End], where: str) -> list[End]:
    return [one for one in ends if one.where == where]


def _labels(one: End) -> dict[str, Any]:
    return {
        "where": one.where,
        "test": one.test,
        "rail": one.rail,
        "client": one.client,
        "server": one.server,
        "tcp_port": one.tcp_port,
        "run": one.run,
    }


def _gone(one: End, state: str, kind: str, said: str) -> dict[str, Any]:
    return {**_labels(one), "state": state, "kind": kind, "said": said}


def _over(one: End, ran: script.Ran | None, told: script.Told) -> dict[str, Any]:
    """A server that ended before anybody asked it."""
    words = answers.of_server(one, ran)
    said = words["said"] or _cut(told, "") or "it ended before it was asked"
    state = FAILED if words["kind"] in LOCAL else UNTESTED
    return _gone(one, state, words["kind"], said)


def _cut(told: script.Told, stderr: str) -> str:
    """What was said where a shell did not come to its end: the engine's word, for the most part."""
    lines = [*told.other, *stderr.splitlines()]
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _answer(one: End, state: str, kind: str, said: str) -> dict[str, Any]:
    return {**_labels(one), "at": "client", "state": state, "kind": kind, "said": said}


def _not_put(one: End, bad: Mapping[str, Any]) -> dict[str, Any]:
    """A question that its server cannot answer."""
    found = _answer(one, str(bad["state"]), str(bad["kind"]), str(bad["said"]))
    return {**found, "at": "server"}
