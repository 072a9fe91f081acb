# SPDX-License-Identifier: GPL-3.0-or-later
"""A release of ansible-core that is too old is refused in a sentence, wherever of ours it begins."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import releases

PLUGINS = Path(__file__).parents[4] / "plugins"
FIRST = releases.TESTED[0]
# A release is told by ansible.release alone. Of each plugin why it cannot be imported.
OLD = """
import importlib, json, sys
import ansible.release
ansible.release.__version__ = "2.18.19"
said = {}
for name in sys.argv[1:]:
    # As in a process of its own.
    for left in [left for left in sys.modules if left.startswith("ansible_collections.")]:
        del sys.modules[left]
    try:
        importlib.import_module("ansible_collections.ibready.cluster.plugins." + name)
    except Exception as exc:
        said[name] = f"{type(exc).__name__}: {exc}"
print(json.dumps(said))
"""


@pytest.mark.parametrize("version", ["2.16.19", "2.18.19", "2.9.27", "1.9"])
def test_what_is_older_is_refused_with_the_next_step(version: str) -> None:
    said = releases.refusal(version)
    assert said.startswith(f"ibready.cluster does not run with ansible-core {version}. It needs {FIRST} or later")
    assert ", ".join(releases.TESTED) in said
    assert f"Next: in a virtual environment of its own, pip install 'ansible-core>={FIRST}'" in said


@pytest.mark.parametrize("version", [f"{FIRST}.0b1", *(f"{line}.3" for line in releases.TESTED), "2.100.0.dev0", "3.0"])
def test_what_is_not_older_is_not_refused(version: str) -> None:
    assert releases.refusal(version) == ""


def test_every_action_and_callback_begins_with_the_refusal() -> None:
    kinds = ("action", "callback")
    names = [f"{kind}.{path.stem}" for kind in kinds for path in sorted((PLUGINS / kind).glob("*.py"))]
    paths = f"{PLUGINS.parent}:{PLUGINS.parent / 'collections'}"
    done = subprocess.run(
        [sys.executable, "-c", OLD, *names], capture_output=True, text=True, check=True, env={"PYTHONPATH": paths}
    )
    assert len(names) > 30
    assert json.loads(done.stdout) == dict.fromkeys(names, f"AnsibleError: {releases.refusal('2.18.19')}")
