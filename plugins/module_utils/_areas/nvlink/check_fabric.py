# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether each GPU has joined the NVLink fabric, as ``nvidia-smi -q`` tells: no I/O."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..._data import nvlink as data
from ..._data.gpus import Gpu as Model
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Cause, Check, failed
from ..._ground.tally import Tally
from ..._parse._nvlink import Header
from ..._parse._nvsmi import Gpu
from .check_scope import Scope, cannot_tell

STATE, HEALTH = "nvlink.fabric.state", "nvlink.fabric.health"
RECOVERY, CLIQUE = "nvlink.fabric.recovery", "nvlink.fabric.clique"
_NO_FABRIC = "this GPU registers with no NVLink fabric"
_STATE_FIRST = f"fix {STATE} first"
_TEXT_SHOWN = 120


def judge_fabric(scope: Scope) -> Iterator[Check]:
    reported = scope.facts.smi
    if reported.value is None:
        yield from cannot_tell((STATE, HEALTH, RECOVERY, CLIQUE), reported.why or "nobody looked")
        return
    judge = _Fabric(scope)
    for at, gpu in enumerate(reported.value.gpus):
        judge.take(at, gpu)
    on_bus = scope.missing_from
    if on_bus is not None and on_bus > len(reported.value.gpus):
        judge.unsure("host", f"nvidia-smi lists {len(reported.value.gpus)} of {on_bus} GPUs")
    yield from judge.checks()


class _Fabric:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._state = Tally(STATE, "GPUs")
        self._health = Tally(HEALTH, "GPUs")
        self._recovery = Tally(RECOVERY, "GPUs")
        self._clique = Tally(CLIQUE, "GPUs")
        self._cliques: dict[tuple[str, str], list[str]] = {}
        self._waiting: list[Check] = []
        self._gpus = 0

    def checks(self) -> Iterator[Check]:
        for check in _together(self._waiting, self._gpus):
            self._state.bad(check)
        yield from self._state.checks("Completed, Success", CAPABILITY, nothing=_NO_FABRIC)
        yield from self._health.checks("Healthy or N/A", CAPABILITY, nothing=_NO_FABRIC)
        yield from self._recovery.checks("none under way", CAPABILITY, nothing=_NO_FABRIC)
        if len(self._cliques) > 1:
            self._clique.bad(_divided(self._scope, self._cliques))
        yield from self._clique.checks("not zero, and one", CAPABILITY, nothing="no GPU of a rack's fabric")

    def unsure(self, subject: str, why: str) -> None:
        for tally in (self._state, self._health, self._recovery):
            tally.unsure(subject, why)
        if self._scope.in_rack(None):
            self._clique.unsure(subject, why)

    def take(self, at: int, gpu: Gpu) -> None:
        subject = f"GPU {at}"
        self._gpus += 1
        model = self._scope.model(Header(at, gpu.name or None))
        reported = {key: text.lower() for key, text in (gpu.fabric or {}).items()}
        health = {key: text.lower() for key, text in (gpu.fabric_health or {}).items()}
        if gpu.trouble:
            self.unsure(subject, f"nvidia-smi says: {gpu.trouble}")
            return
        if not reported:
            self._no_section(subject, model)
            return
        if reported.get("state", "") in data.NO_FABRIC:
            self._no_fabric(subject, model, reported.get("state", ""))
            return
        recovering = [flag for flag in data.RECOVERY_FLAGS if health.get(flag) == "true"]
        self._judge_recovery(subject, gpu, health, recovering)
        self._judge_state(subject, gpu, reported, recovering)
        self._judge_health(subject, gpu, health, recovering)
        self._judge_clique(subject, model, reported)

    def _leave_out(self, subject: str, why: str) -> None:
        for tally in (self._state, self._health, self._recovery, self._clique):
            tally.left_out(subject, why)

    def _no_section(self, subject: str, model: Model | None) -> None:
        if model is None:
            # Drivers show the section since GPUs that are not in our table came out.
            self._leave_out(subject, "a driver without Fabric section, a GPU not behind NVSwitches")
        elif self._scope.may_register(model):
            self.unsure(subject, "this driver shows no Fabric section")
        else:
            self._leave_out(subject, f"{model.model}: {_NO_FABRIC}")

    def _no_fabric(self, subject: str, model: Model | None, state: str) -> None:
        if not self._scope.registers(model):
            self._leave_out(subject, _NO_FABRIC)
        elif state == data.NOT_SUPPORTED:
            self._state.fail(
                subject,
                "Not Supported",
                "Completed, Success",
                self._scope.source,
                cause="the driver does not know that this GPU is behind NVSwitches",
            )
            self._health.left_out(subject, _STATE_FIRST)
            self._recovery.left_out(subject, _STATE_FIRST)
        else:
            self.unsure(subject, "the driver shows N/A for a GPU that is behind NVSwitches")

    def _judge_recovery(self, subject: str, gpu: Gpu, health: dict[str, str], recovering: list[str]) -> None:
        words = {flag: health[flag] for flag in data.RECOVERY_FLAGS if flag in health}
        strange = [flag for flag, word in words.items() if word not in data.RECOVERY_WORDS]
        if recovering:
            self._recovery.fail(
                subject, ", ".join(entry.replace("_", " ") for entry in recovering), "none under way", CAPABILITY
            )
        elif strange:
            shown = (gpu.fabric_health or {})[strange[0]]
            name = strange[0].replace("_", " ")
            self._recovery.unsure(subject, f"a word that is not known for {name}: {shown[:40]!r}")
        elif not words:
            self._recovery.left_out(subject, "this driver tells nothing of a recovery")
        else:
            self._recovery.good(subject)

    def _judge_state(self, subject: str, gpu: Gpu, told: dict[str, str], recovering: list[str]) -> None:
        state, status = told.get("state", ""), told.get("status", "")
        if state == data.COMPLETED and status == data.SUCCESS:
            self._state.good(subject)
        elif state in data.UNFINISHED and recovering and status in (data.SUCCESS, "n/a", ""):
            self._state.unsure(subject, "the fabric is recovering: look again in a minute")
        elif state == data.COMPLETED and not status:
            self._state.unsure(subject, "nvidia-smi shows no status of the registration")
        elif state == data.COMPLETED or state in data.UNFINISHED:
            self._waiting.append(_not_registered(self._scope, subject, gpu))
        else:
            shown = (gpu.fabric or {}).get("state", "")
            self._state.unsure(subject, f"a state that is not known: {shown}")

    def _judge_health(self, subject: str, gpu: Gpu, health: dict[str, str], recovering: list[str]) -> None:
        if not health:
            self._health.left_out(subject, "this driver tells nothing of the fabric's health")
            return
        shown = gpu.fabric_health or {}
        bad = [
            f"{name.replace('_', ' ')}: {shown[name]}"
            for name, good in data.HEALTH_FLAGS.items()
            if health.get(name, "") not in good
        ]
        if health.get("summary", "") in data.HEALTHY and not bad:
            self._health.good(subject)
        elif recovering:
            self._health.left_out(subject, f"{RECOVERY} tells why")
        else:
            summary = shown.get("summary", "no summary")
            cause = "; ".join(bad)
            self._health.fail(
                subject,
                f"{summary} ({cause})" if cause else summary,
                "Healthy or N/A",
                CAPABILITY,
                cause=_unhealthy(health),
            )

    def _judge_clique(self, subject: str, model: Model | None, told: dict[str, str]) -> None:
        if not self._scope.in_rack(model):
            self._clique.left_out(subject, "only the GPUs of a rack's fabric have a clique")
            return
        clique, cluster = told.get("cliqueId", ""), told.get("clusterUuid", "")
        if told.get("state") != data.COMPLETED:
            self._clique.unsure(subject, _STATE_FIRST)
        elif not clique or not cluster:
            self._clique.unsure(subject, "nvidia-smi shows no CliqueId or ClusterUUID")
        elif clique in ("0", "n/a") or not cluster.strip("0-") or cluster == "n/a":
            self._clique.fail(subject, f"CliqueId {clique}, ClusterUUID {cluster}", "both not zero", self._scope.source)
        else:
            self._clique.good(subject)
            self._cliques.setdefault((clique, cluster), []).append(subject)


def _divided(scope: Scope, cliques: dict[tuple[str, str], list[str]]) -> Check:
    observed = "; ".join(
        f"CliqueId {clique}, ClusterUUID {cluster}: {', '.join(subjects)}"
        for (clique, cluster), subjects in cliques.items()
    )
    return failed(
        CLIQUE,
        "host",
        observed,
        "the same of every GPU",
        scope.source,
        cause="the GPUs of this host are in different cliques: NVLink does not join them all",
    )


def _together(waiting: list[Check], gpus: int) -> list[Check]:
    """One finding of the host where all of its GPUs wait alike: they have one cause."""
    if len(waiting) < max(gpus, 2) or any(replace(each, subject=waiting[0].subject) != waiting[0] for each in waiting):
        return waiting
    return [replace(waiting[0], subject="host", observed=f"all {gpus} GPUs: {waiting[0].observed}")]


def _why_waiting(scope: Scope) -> str:
    """Why GPUs wait, by all that was seen of their fabric manager."""
    status, log = scope.facts.manager.value, scope.facts.log.value
    if status is None or not status.active:
        # What its log says of a mode is of its last run.
        return "the GPU waits for a fabric manager: none runs, or the two do not match"
    mode = data.FABRIC_MODES.get(log.mode, "") if log else ""
    if mode and log:
        return Cause(
            f"the fabric manager runs in {mode} (FABRIC_MODE {log.mode}), in which GPUs wait until somebody gives them "
            "a partition for virtual machines",
            f"where jobs run on this host itself, set FABRIC_MODE=0 in {data.FABRIC_CONFIG}, drain the host and "
            "`systemctl restart nvidia-fabricmanager`; where it is made for virtual machines, activate the partition",
        )
    said = f": {log.errors[-1].text[:_TEXT_SHOWN]}" if log and log.errors else ""
    return f"the GPU waits for a fabric manager, which runs and has not let it in{said}"


def _not_registered(scope: Scope, subject: str, gpu: Gpu) -> Check:
    shown = gpu.fabric or {}
    state, status = shown.get("state", ""), shown.get("status", "")
    if state.lower() == data.COMPLETED:
        cause: str = f"the fabric refused this GPU: {status}"
    elif scope.in_rack(scope.model(Header(None, gpu.name or None))):
        cause = Cause(
            "the rack's fabric manager (on the switch trays) has not let this GPU in",
            "look at the fabric manager and NMX-C of the switch trays; this host runs none",
        )
    else:
        cause = _why_waiting(scope)
    observed = f"{state}, status {status}" if status else state
    return failed(STATE, subject, observed, "Completed, Success", CAPABILITY, cause=cause)


_MISPLACED = Cause(
    "the fabric's configuration is wrong for this GPU",
    "nothing of the GPU is broken: correct what the word names, a tray in the wrong chassis or slot, or the rack's "
    "configuration at the switch trays (NMX-C), then reset the GPU",
)


def _unhealthy(health: dict[str, str]) -> str:
    for name, cause in (
        ("incorrect_configuration", _MISPLACED),
        ("route_unhealthy", "a route through the switches is broken"),
        ("bandwidth", "links of this GPU are down, so that it has less than its full bandwidth"),
    ):
        if health.get(name, "") not in data.HEALTH_FLAGS[name]:
            return cause
    return ""
