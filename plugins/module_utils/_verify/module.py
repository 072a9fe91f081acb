# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules that judge a host have in common: options, the look, the result."""

from __future__ import annotations

import datetime
import time
from typing import Any, Mapping, Sequence

from ansible.module_utils.basic import AnsibleModule

from .._areas.area import Area
from .._data.ib_counters import MOST_PAUSE_S
from .._evidence.given import Given
from .._evidence.sources import Unavailable
from .._expect import waivers as _waivers
from .._expect.expectations import SPEC, ExpectationError, from_inventory, with_bundle
from .._ground import check as _model
from .._ground.catalog import CATALOG
from .._ground.text import sendable
from . import brief, fold
from .look import Judged, look
from .verdict import carried, source_of, verdict_object

# Options that name a file with an output that no host keeps by itself, and the evidence it is.
_FILES = {"log": "nccl_log"}


def _only(checks: list[_model.Check], ids: list[str] | None) -> list[_model.Check]:
    return checks if not ids else [check for check in checks if check.id in ids]


def _findings(result: Mapping[str, Any], judged: Judged) -> dict[str, Any]:
    """With what node_facts tells: a playbook that asks for findings needs no other visit before."""
    from .._areas.stack import contact  # Nobody else pays for its import.

    return brief.brief({**result, "facts": {**judged.facts, "node": contact.collect(judged.evidence)}})


def judge(
    areas: Sequence[Area],
    more: dict[str, dict[str, Any]] | None = None,
    asks: Mapping[str, Any] | None = None,
) -> None:
    """Run one of those modules to its end; an option `areas` in ``more`` chooses of these areas.

    ``asks``: what is expected where the site says nothing of it.
    """
    began = time.time()
    module = AnsibleModule(
        argument_spec={
            "expect": {"type": "dict", "options": SPEC},
            "waivers": {"type": "list", "elements": "dict", "options": _waivers.SPEC},
            "host": {"type": "str"},
            "bundle": {"type": "path"},
            "pause": {"type": "float"},
            "report_only": {"type": "bool", "default": False},
            "answer": {"type": "str", "choices": [brief.ALL, brief.FINDINGS, brief.SHORT], "default": brief.ALL},
            **(more or {}),
        },
        supports_check_mode=True,
    )
    strange = sorted(set(module.params.get("only") or ()) - set(CATALOG))
    if strange:
        module.fail_json(msg=f"only: there is no check {strange[0]!r}. Next: see docs/checks.md")
    pause = module.params["pause"]
    if pause is not None and not 0.1 <= pause <= MOST_PAUSE_S:
        module.fail_json(msg=f"pause must be from 0.1 to {MOST_PAUSE_S:g} seconds, not {pause:g}")
    given = module.params["expect"] or {}
    wanted = {key: entry for key, entry in given.items() if entry is not None}
    wanted = {**(asks or {}), **wanted}
    if module.check_mode and "container" in wanted:
        # An image that is fetched stays on the host.
        wanted["container"] = {**wanted["container"], "pull": False}
    try:
        source, name = source_of(
            module.params["bundle"],
            {name: ask for area in areas for name, ask in area.questions.items()},
            pause,
            module.params["host"],
        )
        expect = with_bundle(from_inventory(wanted), carried(source))
        waivers = _waivers.parse(module.params["waivers"] or [])
        given = {evidence: module.params.get(option) for option, evidence in _FILES.items()}
        files = {evidence: path for evidence, path in given.items() if path}
        source = Given(source, files) if files else source
    except (ExpectationError, _waivers.WaiverError, Unavailable) as exc:
        module.fail_json(msg=str(exc))
    host = module.params["host"] or name
    own = {area.name: area for area in areas}
    chosen = module.params.get("areas") or own
    if not set(chosen) <= set(own):
        # Its action plugin sends hostverify instead.
        module.fail_json(msg=f"this module judges {', '.join(own)} alone; next: use hostverify")
    judged = look(source, expect, [area for area in areas if area.name in chosen])
    reported = _only(judged.checks, module.params.get("only"))
    checks = _waivers.apply(reported, waivers, host, datetime.date.today())
    result = verdict_object(host, checks, judged.facts)
    if not module.params["bundle"]:
        result["clock"] = {"began": began, "ended": time.time()}
    verdict = result["verdict"]
    skipped = _model.verdict_word(checks) == _model.SKIPPED
    findings = _model.absent(checks) if skipped else [fold.told(line) for line in fold.folded(_model.trouble(checks))]
    said = f"{host} is {verdict}: {'; '.join(findings)}"
    if module.params["answer"] == brief.FINDINGS:
        result = _findings(result, judged)
    elif module.params["answer"] == brief.SHORT:
        result = brief.short(result, findings)
        said = (
            f"{host} is {verdict}: see its findings. Next: `ibready explain ID` or docs/checks.md explains each;"
            " answer=all brings every check"
        )
    else:
        result = sendable(result)
    if verdict in (_model.NOT_READY, _model.UNKNOWN_VERDICT) and not module.params["report_only"]:
        module.fail_json(msg=said, changed=False, **result)
    module.exit_json(changed=False, **result)
