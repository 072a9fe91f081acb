# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

from ansible_collections.ibready.cluster.plugins.module_utils._agent import settings
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verify import AREAS

ROLE = Path(__file__).parents[4] / "roles/health_agent"


def test_what_is_not_said_is_the_default() -> None:
    known = settings.from_dict({"host": "node1", "areas": ["ib"], "seconds": 5})
    assert (known.host, known.areas, known.seconds) == ("node1", ("ib",), 5.0)
    assert known.slurm_confirm_unknown == settings.Settings().slurm_confirm_unknown


def test_the_roles_defaults_are_the_programs_own() -> None:
    defaults = yaml.safe_load((ROLE / "defaults/main.yml").read_text())
    written = yaml.safe_load((ROLE / "vars/main.yml").read_text())["__health_agent_settings"]
    own = settings.Settings()
    for key in set(written) - {"host", "expect", "waivers", "timer_age", "interval"}:
        value = defaults[f"health_agent_{key}"]
        assert getattr(own, key) == (tuple(value) if isinstance(value, list) else value), key
    spec = yaml.safe_load((ROLE / "meta/argument_specs.yml").read_text())
    choices = spec["argument_specs"]["main"]["options"]["health_agent_areas"]["choices"]
    # A look at containers starts some: nothing for every minute.
    assert choices == [area for area in AREAS if area != "container"]


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ([], "not a JSON object"),
        ({"slurm_confirm": 1}, "slurm_confirm is not known"),
        ({"areas": "ib"}, "areas must be a list"),
        ({"areas": []}, "areas names none"),
        ({"seconds": "5"}, "seconds must be float"),
        ({"seconds": 0}, "seconds must be above 0"),
        ({"slurm_confirm_fail": 0}, "slurm_confirm_fail must be above 0"),
        ({"slurm_confirm_good": 1.5}, "slurm_confirm_good must be int"),
        ({"slurm_confirm_unknown": True}, "slurm_confirm_unknown must be int"),
        ({"gate_unknown": "maybe"}, "gate_unknown must be allow or refuse"),
        ({"gate_intervals": 0}, "gate_intervals must be above 0"),
        ({"interval": 0}, "interval must be above 0"),
        ({"host": 1}, "host must be str"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_key(raw: Any, why: str) -> None:
    with pytest.raises(settings.SettingsError, match=why):
        settings.from_dict(raw)


def test_whatever_the_role_starts_names_its_settings() -> None:
    """Without them it would judge by the defaults, and expect nothing of what the site does."""
    written = yaml.safe_load((ROLE / "vars/main.yml").read_text())
    named = written["__health_agent_settings_file"]
    assert named == settings.PATH
    for name in (
        "tasks/slurm.yml",
        "tasks/nvhcd.yml",
        "templates/ibready-health.service.j2",
        "templates/ibready-ready.service.j2",
    ):
        started = [
            line for line in (ROLE / name).read_text().splitlines() if line.lstrip().startswith(("exec ", "ExecStart="))
        ]
        assert started
        for line in started:
            assert "--settings {{ __health_agent_settings_file }}" in line
    for rule in written["__health_agent_npd"]["rules"]:
        assert rule["args"][1:3] == ["--settings", "{{ __health_agent_settings_file }}"]


@pytest.mark.parametrize(
    ("changed", "state"),
    [
        ((), "started"),
        (("timer_unit",), "restarted"),
        # Its verdict may be of another schema, and the gate closed by it.
        (("brought",), "restarted"),
        # It may be of other areas, or of the name that the node had.
        (("told",), "restarted"),
    ],
)
def test_a_new_program_and_new_settings_have_the_node_looked_at_anew(changed: tuple[str, ...], state: str) -> None:
    tasks = yaml.safe_load((ROLE / "tasks/timer.yml").read_text())
    (start,) = (task for task in tasks if task["name"] == "Start the timer, now and at each boot")
    text = trust_as_template(start["ansible.builtin.systemd_service"]["state"])
    answers = {f"__health_agent_{name}": {"changed": name in changed} for name in ("timer_unit", "brought", "told")}
    assert Templar(loader=DataLoader(), variables=answers).template(text) == state
    # With its tag alone, the tasks before it have not run.
    assert Templar(loader=DataLoader(), variables={"__health_agent_timer_unit": {}}).template(text) == "started"
    for name, register in (("program", "brought"), ("settings", "told")):
        tasks = yaml.safe_load((ROLE / f"tasks/{name}.yml").read_text())
        assert f"__health_agent_{register}" in [task.get("register") for task in tasks]


def test_only_by_hand_the_defaults_hold_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "agent.json")
    monkeypatch.setattr(settings, "PATH", path)
    assert settings.load() == settings.Settings()
    with pytest.raises(settings.SettingsError, match="no such file"):
        settings.load(path)


def test_a_file_that_was_named_has_to_be_there_and_whole(tmp_path: Path) -> None:
    with pytest.raises(settings.SettingsError, match="no such file"):
        settings.load(str(tmp_path / "agent.json"))
    (tmp_path / "agent.json").write_text("{")
    with pytest.raises(settings.SettingsError, match="not JSON"):
        settings.load(str(tmp_path / "agent.json"))
    (tmp_path / "agent.json").write_text(json.dumps({"host": "x"}))
    assert settings.load(str(tmp_path / "agent.json")).host == "x"
