# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the fabric manager: whether it runs, fits the driver, starts at boot, complains; no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._data.sxids import SXIDS
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, outcome, passed, skipped, unknown
from ..._parse.fabricmanager_log import FmError
from ..._parse.fabricmanager_status import MISMATCH, NOTHING_TO_DO, RUNNING, FmStatus
from .check_scope import Scope, cannot_tell

INSTALLED, ACTIVE = "nvlink.fabric_manager.installed", "nvlink.fabric_manager.active"
VERSION, BOOT = "nvlink.fabric_manager.version", "nvlink.fabric_manager.boot"
LOG = "nvlink.fabric_manager.log"
_INSTALL = f"fix {INSTALLED} first"
_ABSENT = "it is not installed"
_MASKED, _UNMASK = "masked", "`systemctl unmask nvidia-fabricmanager`, then enable and start it"
# How systemd words that a unit starts by itself.
_AT_BOOT = ("enabled", "enabled-runtime", "static", "generated", "linked", "alias")

# Why a manager did not start: without its driver, or with another version's.
_REFUSALS = (NOTHING_TO_DO, "match with driver version")


def judge_manager(scope: Scope) -> Iterator[Check]:
    needed, why = scope.manager_needed()
    if needed is False:
        for entry in (INSTALLED, ACTIVE, VERSION, BOOT, LOG):
            yield skipped(entry, "host", why)
        return
    reported = scope.facts.manager
    status = reported.value
    if status is None:
        yield from cannot_tell((INSTALLED, ACTIVE), reported.why or "nobody looked")
    elif needed is None and status.reason == NOTHING_TO_DO:
        # It says itself that there is nothing to manage, and no hardware says otherwise.
        for item in (INSTALLED, ACTIVE, VERSION, BOOT):
            yield skipped(item, "host", "the fabric manager found no NVSwitch to manage")
        yield _log(scope)
        return
    else:
        yield _installed(scope, status, needed, why)
        yield _active(scope, status, needed, why)
    yield _version(scope, status)
    yield _boot(status, reported.why if status is None else why, needed)
    yield _log(scope)


def _installed(scope: Scope, status: FmStatus, needed: bool | None, why: str) -> Check:
    if not status.missing:
        seen = status.version or "there is a service"
        return passed(INSTALLED, "host", seen, "installed", scope.source)
    if needed is None:
        return unknown(INSTALLED, "host", why, observed="not installed")
    return failed(INSTALLED, "host", "not installed", "installed", scope.source)


def _active(scope: Scope, status: FmStatus, needed: bool | None, why: str) -> Check:
    if status.active:
        return passed(ACTIVE, "host", status.state or "active", RUNNING, scope.source)
    if status.missing:
        return unknown(ACTIVE, "host", _ABSENT if needed else why, remedy=_INSTALL)
    if status.active is None:
        return unknown(ACTIVE, "host", "the version alone; its state is not in the bundle")
    broken = bool(status.reason) or status.state.startswith(("failed", "activating"))
    if needed is None and not broken and status.state:
        return unknown(ACTIVE, "host", why, observed=_state(status))
    return failed(ACTIVE, "host", _state(status), RUNNING, scope.source, cause=_why_not(status), remedy=_remedy(status))


def _state(status: FmStatus) -> str:
    return status.state or "not running"


def _why_not(status: FmStatus) -> str:
    if status.reason == MISMATCH:
        return f"its version {status.fm} does not match the loaded driver's {status.driver}"
    if status.reason == NOTHING_TO_DO:
        return f"it found no NVSwitch to manage ({NOTHING_TO_DO})"
    if status.boot in (_MASKED, "disabled"):
        return f"the service is {status.boot}"
    if status.said:
        return f"it said: {status.said}"
    if status.state.startswith("activating"):
        return "it is still starting, or starts again and again"
    if status.state.startswith("inactive"):
        return "it was stopped, or never started"
    return ""


def _remedy(status: FmStatus) -> str:
    if status.reason == MISMATCH:
        return (
            f"install fabric manager {status.driver}, or the driver {status.fm} and reboot; "
            "then `systemctl restart nvidia-fabricmanager`"
        )
    if status.boot == _MASKED:
        return _UNMASK
    return ""


def _version(scope: Scope, status: FmStatus | None) -> Check:
    """The versions of manager and driver must be equal in every number."""
    facts = scope.facts
    if status is not None and status.reason == MISMATCH:
        return failed(VERSION, "host", status.fm, status.driver, CAPABILITY)
    version = (status.version if status else "") or facts.package.value
    driver = facts.driver.value
    if version and driver and version != driver:
        cause = ""
        if status is not None and status.active:
            cause = "the packages were changed under the running one: it will not start again"
        return failed(VERSION, "host", version, driver, CAPABILITY, cause=cause)
    if status is None:
        return unknown(VERSION, "host", facts.manager.why or "nobody looked")
    if version and driver:
        return passed(VERSION, "host", version, driver, CAPABILITY)
    if status.active:
        return passed(VERSION, "host", "the running one accepted the loaded driver", "the driver's version", CAPABILITY)
    if status.missing:
        return unknown(VERSION, "host", _ABSENT, remedy=_INSTALL)
    if version:
        why = facts.driver.why or "nobody looked for the driver's version"
        return unknown(VERSION, "host", why, observed=version)
    return unknown(VERSION, "host", f"its version is not known: {facts.package.why or 'no source'}")


def _boot(status: FmStatus | None, why: str, needed: bool | None) -> Check:
    if status is None or (needed is None and not status.active):
        return unknown(BOOT, "host", why or "nobody looked")
    if status.missing:
        return unknown(BOOT, "host", _ABSENT, remedy=_INSTALL)
    if not status.boot:
        return unknown(BOOT, "host", "systemctl did not say whether it is enabled")
    masked = status.boot == _MASKED
    return outcome(
        status.boot in _AT_BOOT,
        BOOT,
        "host",
        status.boot,
        "enabled",
        CAPABILITY,
        cause="somebody masked the service, or a package did when it was removed" if masked else "",
        remedy=_UNMASK if masked else "",
    )


def _log(scope: Scope) -> Check:
    """By what the running one logged; what was before its last start is shown."""
    reported = scope.facts.log
    if reported.value is None:
        return unknown(LOG, "host", reported.why or "nobody looked")
    # What is fatal to the running one is told by nvlink.nvswitch.fatal.
    found = [error for error in reported.value.errors if not error.fatal]
    if not scope.facts.manager.known:
        # A log alone, of a host of which nobody knows whether the manager runs, is read as a whole.
        found = [*(error for error in reported.value.earlier if not error.fatal), *found]
    if not found:
        seen = f"no error in {reported.value.records} records"
        # A manager that refused to start then, and started since, has nothing to tell.
        earlier = [entry for entry in reported.value.earlier if not any(why in entry.text for why in _REFUSALS)]
        if earlier:
            seen = f"no error since its last start; before it {_counted(earlier)}"
        return passed(LOG, "host", seen, "no error", CAPABILITY)
    return failed(LOG, "host", _counted(found), "no error", CAPABILITY, cause=_means(found[-1]))


def _counted(found: list[FmError]) -> str:
    return f"{len(found)} error{'' if len(found) == 1 else 's'}, last: {_shown(found[-1])}"


def _shown(error: FmError) -> str:
    if not error.sxid:
        return f"{error.when} {error.text[:120]}"
    port = "" if error.port is None else f" port {error.port}"
    return f"{error.when} SXid {error.sxid} on {error.pci or 'an NVSwitch'}{port}"


def _means(error: FmError) -> str:
    known = SXIDS.get(int(error.sxid)) if error.sxid else None
    return f"SXid {error.sxid}: {known.means}" if known else ""
