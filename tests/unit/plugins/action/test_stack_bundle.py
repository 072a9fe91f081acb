# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host answers to stack_bundle names no path that the controller would stumble over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.stack_bundle import ActionModule

FILE = {"file": "gcc_1_all.deb", "sha256": "0" * 64, "size": 1}
HAD = {"n1": {"packages": [], "kernels": [], "kernel": "", "held": []}}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"folder": "/var/tmp/x\\'\"\n!touch /tmp/pwned\n#"}, "no plain path; next: do not trust"),
        ({"folder": "-oProxyCommand=x"}, "no plain path"),
        ({"files": [{**FILE, "file": "../../evil"}]}, "no path of a bundle"),
        ({"files": [{**FILE, "file": "x\n!touch /tmp/pwned\n"}]}, "no path of a bundle"),
    ],
)
def test_nothing_is_fetched_by_a_strange_path(
    action: Callable[..., ActionBase],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    answer: dict[str, Any],
    why: str,
) -> None:
    args = {
        **{"state": "fetched", "directory": str(tmp_path), "class_name": "debian-12", "digest": "d"},
        **{"install": {"repositories": [], "parts": {}}, "had": HAD},
    }
    reported = {"files": [FILE], "folder": "/var/tmp/x", "kind_of_packages": "apt", **answer}
    made = action(ActionModule, {}, args)
    monkeypatch.setattr(made, "_execute_module", lambda **_: reported)
    for name in ("kernels", "lacking"):
        monkeypatch.setattr(
            f"ansible_collections.ibready.cluster.plugins.plugin_utils._bundle.base.{name}",
            lambda *_: [],
        )
    # The connection of the fixture has no fetch_file: to ask for it would be another error.
    with pytest.raises(AnsibleActionFail, match=why):
        made.run(task_vars={"inventory_hostname": "n1"})
    assert not [one for one in tmp_path.rglob("*") if one.is_file()]
