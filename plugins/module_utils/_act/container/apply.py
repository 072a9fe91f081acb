# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring one engine to what is wished: plan, ask the engine, write, restart, and else put back.

What is not yet in the running engine is remembered with the files as they were, so that a run that
was cut off, or had to leave the engine alone, is finished or taken back by a later one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

from ..._data import container_engines as data
from ..._ground import state
from ..._ground.text import ParseError
from ..._parse import proc_limits
from . import ask, disk, service
from .model import Desired, EngineError, EngineFileError, Plan

_MOST_TOLD = 5
_CONSENT = "container_runtime_restart_ok"


@dataclass
class Persisted:
    """What was found and done, or would be. ``waits``: why the running engine has it not yet."""

    version: str = ""
    plans: list[Plan] = field(default_factory=list)
    restarted: bool = False
    reloaded: bool = False
    running: list[str] = field(default_factory=list)
    waits: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return self.restarted or self.reloaded or any(plan.changed for plan in self.plans)


class Keeper:
    """One visit to one engine of the host whose / is `root`. `backup` copies a file of the site."""

    def __init__(
        self,
        engine: data.Engine,
        wish: Desired,
        *,
        root: str = "/",
        check: bool = False,
        restart_ok: bool = False,
        backup: Callable[[str], object] = lambda _path: None,
    ) -> None:
        self._engine = engine
        self._wish = wish
        self._root = root
        self._check = check
        self._restart_ok = restart_ok
        self._backup = backup
        self._subject = f"container_{engine.name}"
        self._address = ""
        self._kept = Persisted()

    def keep(self) -> Persisted:
        """Raises EngineError; then nothing is other than it was, or the message says what is."""
        kept, memory = self._kept, state.load(self._subject, self._root)
        kept.version = ask.version(self._engine)
        made = disk.make(self._engine, self._wish, kept.version, self._root, memory)
        kept.plans, self._address = made.plans, made.address
        for plan in kept.plans:
            self._prove(plan)
        before = service.look(self._engine.unit, self._root)
        pending = self._pending(memory, before)
        for plan in kept.plans:
            if plan.changed:
                pending.setdefault("files", {}).setdefault(plan.path, plan.before)
        if not pending:
            self._remember(memory, {})
            self._granted(before)
            return kept
        how = self._how(before, pending)
        pending["pid"] = before.pid
        if self._check:
            return kept
        self._remember(memory, pending)
        self._write(memory)
        if self._systemd and set(pending["files"]) - {self._engine.config}:
            # Of an earlier run, too, which may have been cut off before systemd read its drop-in.
            service.read_units()
        self._bring_in(how, pending, memory)
        if not kept.waits:
            self._remember(memory, {})
            self._granted(service.look(self._engine.unit, self._root))
        return kept

    def _granted(self, now: service.Service) -> None:
        """Say so where the service has not got its limits, though its unit asks for them."""
        wanted = disk.limits_asked(self._wish)
        if not now.active or not wanted:
            return
        text = disk.read(self._root, f"/proc/{now.pid}/limits")
        try:
            have = proc_limits.parse(text or "")
        except ParseError as exc:
            self._kept.notes.append(f"nobody can tell whether {now.unit} has its limits: /proc/{now.pid}/limits: {exc}")
            return
        found = {"memlock": have.memlock_hard, "nofile": have.nofile_hard}
        for name in [name for name, number in wanted.items() if found[name] < number]:
            self._kept.plans[-1].left[name] = (
                f"{now.unit} runs with {found[name]}, less than its unit asks for: this host "
                "grants no more (a container without CAP_SYS_RESOURCE cannot)"
            )

    def _prove(self, plan: Plan) -> None:
        """Have the engine say of a new file whether it takes it."""
        if not plan.changed or plan.after is None or plan.path != self._engine.config:
            return
        with disk.tried(self._root, plan.path, plan.after) as staged:
            wrong = ask.refused(self._engine, staged, self._kept.version)
        if wrong is None:
            self._kept.notes.append(f"{self._engine.name} {self._kept.version} cannot try out {plan.path} beforehand")
        elif wrong:
            before = self._same_before(plan)
            raise (EngineFileError if before else EngineError)(
                f"{self._engine.name} does not take {plan.path} with what is to be added: {wrong}{before}",
                f"fix {plan.path} and run this again",
            )

    def _same_before(self, plan: Plan) -> str:
        if plan.before is None:
            return ""
        with disk.tried(self._root, plan.path, plan.before) as staged:
            wrong = ask.refused(self._engine, staged, self._kept.version)
        return ". As the file is now, it does not take it either" if wrong else ""

    def _pending(self, memory: dict[str, Any], now: service.Service) -> dict[str, Any]:
        """What an earlier run left, unless the engine was started since by somebody else."""
        found: dict[str, Any] = memory.get("pending") or {}
        if found and now.active and found.get("pid") != now.pid:
            return {}
        return {**found, "files": dict(found.get("files", {}))} if found else {}

    def _how(self, now: service.Service, pending: dict[str, Any]) -> str:
        """restart, reload or "" (nothing runs, or what runs must not be disturbed)."""
        kept = self._kept
        if not now.wanted:
            return ""
        keys = [change.key for plan in kept.plans for change in plan.changes]
        fresh = not pending.get("restart") and set(pending["files"]) <= {self._engine.config}
        if now.active and keys and fresh and self._reloads(keys):
            kept.reloaded = True
            return "reload"
        pending["restart"] = True
        if now.active:
            kept.running = ask.running(self._engine, self._address)
            if kept.running and not self._restart_ok and not ask.outlive(self._engine):
                names = ", ".join(kept.running[:_MOST_TOLD])
                more = ", ..." if len(kept.running) > _MOST_TOLD else ""
                kept.waits = (
                    f"{self._engine.name} is not restarted while containers run ({names}{more}) "
                    f"without {_CONSENT}; what changed holds from its next start on"
                )
                return ""
        kept.restarted = True
        return "restart"

    def _reloads(self, keys: list[str]) -> bool:
        """Whether the engine takes all of these up without a restart."""
        names = tuple(f"{name}." for name in data.DOCKER_RELOADS)
        return self._engine.name == data.DOCKER and all(key.startswith(names) for key in keys)

    def _write(self, memory: dict[str, Any]) -> None:
        done: list[Plan] = []
        for plan in self._kept.plans:
            if not plan.changed:
                continue
            try:
                if plan.before is not None and plan.path == self._engine.config:
                    self._backup(state.below(self._root, plan.path))
                disk.put(self._root, plan.path, plan.after)
                done.append(plan)
            except (EngineError, OSError) as exc:
                for other in done:
                    disk.put(self._root, other.path, other.before)
                state.save(self._subject, memory, self._root)
                raise EngineError(str(exc), "fix that and run this again") from exc

    @property
    def _systemd(self) -> bool:
        return bool(self._engine.unit) and service.runs(self._root)

    def _bring_in(self, how: str, pending: dict[str, Any], memory: dict[str, Any]) -> None:
        if how == "reload":
            wrong = service.take_up(self._engine.unit)
        elif how == "restart":
            wrong = service.start_anew(self._engine.unit)
        elif self._engine.unit:
            return
        else:
            wrong = ""
        wrong = wrong or ask.answers(self._engine, self._address)
        if wrong:
            self._put_back(wrong, how, pending["files"], memory)

    def _put_back(self, wrong: str, how: str, files: dict[str, str | None], memory: dict[str, Any]) -> None:
        """The files as they were before the first change that never ran; always raises."""
        try:
            for path, text in files.items():
                disk.put(self._root, path, text)
            again = ""
            if self._engine.unit:
                service.read_units()
                bring = service.take_up if how == "reload" else service.start_anew
                again = bring(self._engine.unit)
            again = again or ask.answers(self._engine, self._address)
            records = memory.get("before", memory.get("records", {}))
            state.save(self._subject, {"records": records} if records else {}, self._root)
        except (EngineError, state.StateError) as exc:
            # What was before is still remembered, for the next run to put back.
            raise EngineError(
                f"it did not come up with what was changed: {wrong}. What was there before could "
                f"not be put back: {exc}",
                "fix that and run this again",
                changed=True,
            ) from exc
        names = ", ".join(files)
        fate = f"still it does not run: {again}" if again else "it runs again"
        raise EngineError(
            f"it did not come up with what was changed: {wrong}. What was there before is back ({names}), and {fate}",
            f"see `journalctl -u {self._engine.unit or self._engine.name}`, fix the cause and run this again",
            changed=True,
        )

    def _remember(self, memory: dict[str, Any], pending: dict[str, Any]) -> None:
        """Before a file is written: a record that the file does not bear out is no harm."""
        whole: dict[str, Any] = {"records": {plan.path: plan.record for plan in self._kept.plans if plan.record}}
        if pending:
            whole["pending"] = pending
            whole["before"] = memory.get("before", memory.get("records", {}))
        if not any(whole.values()):
            whole = {}
        if whole != memory and not self._check:
            state.save(self._subject, whole, self._root)
