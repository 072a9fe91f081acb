# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args
from hypothesis import settings

# How long an example takes is the machine's day, and no test's matter.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def run_module(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """Run a module's ``main`` with the given arguments and hand back its JSON."""

    def run(main: Callable[[], None], *, check: bool = False, **args: Any) -> dict[str, Any]:
        warned: list[str] = []
        with pytest.MonkeyPatch.context() as patch:
            # A process that has loaded the controller's plugins shows warnings, and returns none.
            patch.setattr(AnsibleModule, "warn", lambda _module, text: warned.append(text))
            given = patch_module_args({**args, "_ansible_check_mode": check})
            with given, pytest.raises(SystemExit):
                main()
        result: dict[str, Any] = json.loads(capsys.readouterr().out)
        return {**result, "warnings": warned} if warned else result

    return run
