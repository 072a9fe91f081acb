# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules that judge a host have in common: options, the look, the result."""

from __future__ import annotations

import datetime
import time
from typing import Any, Mapping, Sequence

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.ibready.cluster.plugins.module_utils import _verify, _waivers
from ansible_collections.ibready.cluster.plugins.module_utils._catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.module_utils._checks import _model
from ansible_collections.ibready.cluster.plugins.module_utils._data.ib_counters import MOST_PAUSE_S
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._evidence_given import Given
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    SPEC,
    ExpectationError,
    from_inventory,
)
from ansible_collections.ibready.cluster.plugins.module_utils._verdict import (
    source_of,
    verdict_object,
)

# Options that name a file with an output that no host keeps by itself, and the evidence it is.
_FILES = {"log": "nccl_log"}


def _only(checks: list[_model.Check], ids: list[str] | None) -> list[_model.Check]:
    return checks if not ids else [one for one in checks if one.id in ids]


def judge(
    areas: Sequence[str],
    more: dict[str, dict[str, Any]] | None = None,
    asks: Mapping[str, Any] | None = None,
) -> None:
    """Run one of those modules to its end; an option `areas` in ``more`` chooses others.

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
    wanted = {key: one for key, one in given.items() if one is not None}
    wanted = {**(asks or {}), **wanted}
    if module.check_mode and "container" in wanted:
        # An image that is fetched stays on the host.
        wanted["container"] = {**wanted["container"], "pull": False}
    try:
        expect = from_inventory(wanted)
        waivers = _waivers.parse(module.params["waivers"] or [])
        source, name = source_of(module.params["bundle"], pause)
        given = {evidence: module.params.get(option) for option, evidence in _FILES.items()}
        files = {evidence: path for evidence, path in given.items() if path}
        source = Given(source, files) if files else source
    except (ExpectationError, _waivers.WaiverError, Unavailable) as exc:
        module.fail_json(msg=str(exc))
    host = module.params["host"] or name
    judged = _verify.verify(source, expect, module.params.get("areas") or areas)
    told = _only(judged.checks, module.params.get("only"))
    checks = _waivers.apply(told, waivers, host, datetime.date.today())
    result = verdict_object(host, checks, judged.facts)
    if not module.params["bundle"]:
        result["clock"] = {"began": began, "ended": time.time()}
    verdict = result["verdict"]
    if verdict in (_model.NOT_READY, _model.UNKNOWN_VERDICT) and not module.params["report_only"]:
        said = "; ".join(_model.sentence(check) for check in _model.trouble(checks))
        module.fail_json(msg=f"{host} is {verdict}: {said}", changed=False, **result)
    module.exit_json(changed=False, **result)
