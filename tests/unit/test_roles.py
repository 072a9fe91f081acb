# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Environment, nodes

from ansible_collections.ibready.cluster.plugins.module_utils._act.tuning.sysctl import read_settings
from ansible_collections.ibready.cluster.plugins.module_utils._expect.nccl_policy import VARIABLES as POLICY
from ansible_collections.ibready.cluster.plugins.plugin_utils._site import imex
from tools import role_readme

ROOT = Path(__file__).parents[2]
ROLES = sorted(path.parent.parent.name for path in ROOT.glob("roles/*/tasks/main.yml"))

# What Ansible itself defines.
MAGIC = {
    "dict",
    "lookup",
    "ansible_check_mode",
    "ansible_facts",
    "ansible_failed_result",
    "ansible_play_batch",
    "ansible_play_hosts_all",
    "ansible_port",
    "ansible_run_tags",
    "groups",
    "hostvars",
    "inventory_hostname",
    "omit",
}
MAGIC |= {"item", "role_path"}
# What playbooks and all roles share: consent, and the hooks around disruptive steps.
SHARED = {"ibready_reboot_ok", "ibready_drain", "ibready_undrain"}
SHARED |= {"ibready_plan", "ibready_replace_stack_ok", "ibready_replace_settings_ok", "ibready_firmware_ok"}
SHARED |= {"ibready_fabric_restart_ok", "ibready_expect", "ibready_waivers"}
SHARED |= {"ibready_visit_timeout", "ibready_packages_timeout", "ibready_counter_pause"}
SHARED |= {"ibready_tcp_ports", "ibready_hold_kernel", "stack_rdma_flavour"}
# Whether converge.yml enters a role is no variable of the role's own tasks.
ENTERED = {f"{role}_manage" for role in ROLES}
# Task keywords that hold a bare expression, and so does an assertion's `that`.
EXPRESSIONS = {"when", "changed_when", "failed_when", "until", "that"}
# Keys of a task that are not a module.
KEYWORDS = {"name", "when", "changed_when", "failed_when", "until", "retries", "delay", "register"}
KEYWORDS |= {"loop", "loop_control", "vars", "tags", "notify", "listen", "check_mode", "become"}
KEYWORDS |= {"environment", "block", "rescue", "always", "delegate_to", "run_once", "no_log"}
KEYWORDS |= {"diff", "throttle", "timeout", "ignore_unreachable"}
INCLUDES = {"ansible.builtin.include_tasks", "ansible.builtin.import_tasks"}


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def tasks_in(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every task and block of a file, those inside blocks too."""
    for entry in entries:
        yield entry
        for part in ("block", "rescue", "always"):
            yield from tasks_in(entry.get(part, []))


def task_files(role: str) -> list[Path]:
    home = ROOT / "roles" / role
    return sorted([*home.glob("tasks/*.yml"), *home.glob("handlers/*.yml")])


def all_tasks(role: str) -> list[tuple[str, dict[str, Any]]]:
    return [(path.name, task) for path in task_files(role) for task in tasks_in(load(path))]


def modules_of(task: dict[str, Any]) -> list[str]:
    return [key for key in task if key not in KEYWORDS]


def names_used(value: Any, *, expression: bool = False) -> set[str]:
    """The variables that a value's templates need, expressions of `when` and the like included."""
    if isinstance(value, dict):
        return set().union(*(names_used(part, expression=key in EXPRESSIONS) for key, part in value.items()))
    if isinstance(value, list):
        return set().union(*(names_used(part, expression=expression) for part in value))
    if not isinstance(value, str):
        return set()
    source = f"{{{{ {value} }}}}" if expression else value
    names = list(Environment().parse(source).find_all(nodes.Name))
    return {name.name for name in names if name.ctx == "load"} - {name.name for name in names if name.ctx == "store"}


def names_given(task: dict[str, Any]) -> set[str]:
    """The variables that a task defines."""
    given = set(task.get("vars", {}))
    given |= {task["register"]} if "register" in task else set()
    given |= set(task.get("ansible.builtin.set_fact", {}))
    given |= {task.get("loop_control", {}).get("loop_var", "item")}
    return given


def options(role: str) -> dict[str, Any]:
    spec = load(ROOT / "roles" / role / "meta/argument_specs.yml")
    found: dict[str, Any] = spec["argument_specs"]["main"]["options"]
    return found


@pytest.mark.parametrize("role", ROLES)
def test_documented_defaults_are_the_real_ones(role: str) -> None:
    real = load(ROOT / "roles" / role / "defaults/main.yml")
    documented = {name: option["default"] for name, option in options(role).items() if "default" in option}
    assert documented == real
    assert all(option["type"] and option["description"] for option in options(role).values())


@pytest.mark.parametrize("role", ROLES)
def test_every_variable_is_the_roles_own(role: str) -> None:
    home = ROOT / "roles" / role
    used = set().union(*(names_used(task) for _file, task in all_tasks(role)))
    private: set[str] = set()
    for path in home.glob("vars/*.yml"):
        private |= set(load(path))
        used |= names_used(load(path))
    for path in home.glob("templates/*"):
        used |= names_used(path.read_text())
    private = private.union(*(names_given(task) for _file, task in all_tasks(role))) - {"item"}

    assert [name for name in options(role) if not name.startswith(f"{role}_")] == []
    used |= set(POLICY) if role == "nccl" else set()
    used |= {imex.NODES, imex.DOMAIN} if role == "nvidia_driver" else set()
    assert [name for name in private if not name.startswith(f"__{role}_")] == []
    assert used - MAGIC - SHARED - private - set(options(role)) == set()
    assert set(options(role)) - used - ENTERED == set(), "documented, but used nowhere"


@pytest.mark.parametrize("role", ROLES)
def test_the_names_for_each_os_are_the_same(role: str) -> None:
    files = [path for path in (ROOT / "roles" / role).glob("vars/*.yml") if path.stem != "main"]
    families = {path.stem: set(load(path)) for path in files}
    assert len({frozenset(names) for names in families.values()}) <= 1
    if families:
        known = load(ROOT / "roles" / role / "vars/main.yml")[f"__{role}_os_families"]
        assert sorted(families) == sorted(known)


@pytest.mark.parametrize("role", ROLES)
def test_main_is_a_table_of_contents(role: str) -> None:
    main = load(ROOT / "roles" / role / "tasks/main.yml")
    assert [task["name"] for task in main if not INCLUDES.issuperset(modules_of(task))] == []


@pytest.mark.parametrize("role", ROLES)
def test_modules_have_their_full_names_and_no_failure_is_ignored(role: str) -> None:
    for file, task in all_tasks(role):
        where = f"{role}/{file}: {task.get('name')}"
        modules = modules_of(task)
        assert len(modules) <= 1, where
        assert all(re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+){2}", name) for name in modules), where
        assert "ansible.builtin.shell" not in modules, where
        assert task.get("failed_when") is not False, where
        # A changed command must say when it is: by changed_when, or by what it creates.
        if modules == ["ansible.builtin.command"]:
            assert "changed_when" in task or "creates" in task[modules[0]], where


@pytest.mark.parametrize("role", ROLES)
def test_a_task_that_writes_a_file_names_it(role: str) -> None:
    """Ansible's own diff of a file that is not there yet names only a temporary one."""
    for name, task in all_tasks(role):
        written = task.get("ansible.builtin.template")
        if written is not None:
            shown = [task["name"], task.get("loop_control", {}).get("label", "")]
            assert any(written["dest"] in one for one in shown), f"{name}: {task['name']}"


@pytest.mark.parametrize("role", ROLES)
def test_the_readme_has_the_current_table(role: str) -> None:
    readme = ROOT / "roles" / role / "README.md"
    assert readme.read_text() == role_readme.render(readme.parent)


def test_each_default_kernel_setting_is_valid_and_has_its_reason() -> None:
    home = ROOT / "roles/host_tuning"
    defaults = load(home / "defaults/main.yml")
    settings = defaults["host_tuning_sysctls"]
    reasons = defaults["host_tuning_sysctl_reasons"]
    assert list(settings) == list(reasons)
    assert all(setting.reason for setting in read_settings(settings, reasons))


def a_role(home: Path, spec: dict[str, Any], readme: str) -> Path:
    role = home / "roles/sample"
    (role / "meta").mkdir(parents=True)
    (role / "meta/argument_specs.yml").write_text(
        yaml.safe_dump({"argument_specs": {"main": {"options": spec}}}, sort_keys=False)
    )
    (role / "README.md").write_text(readme)
    return role


MARKED = f"# sample\n{role_readme.BEGIN}\nold\n{role_readme.END}\nafter\n"


def test_the_table_says_what_the_specification_says(tmp_path: Path) -> None:
    spec = {
        "sample_flavour": {
            "type": "str",
            "choices": ["a", "b"],
            "default": "a",
            "description": ["V(a) or", "see O(sample_names) | more."],
        },
        "sample_names": {
            "type": "list",
            "elements": "str",
            "required": True,
            "description": "Names.",
        },
        "sample_off": {"type": "bool", "default": False, "description": "Off."},
        "sample_big": {"type": "dict", "default": {"a": 1, "b": 2, "c": 3}, "description": "Big."},
    }
    text = role_readme.render(a_role(tmp_path, spec, MARKED))
    assert text.splitlines()[4:8] == [
        "| `sample_flavour` | str (a, b) | `a` | `a` or see `sample_names` \\| more. |",
        "| `sample_names` | list of str | required | Names. |",
        "| `sample_off` | bool | `false` | Off. |",
        "| `sample_big` | dict | [defaults/main.yml](defaults/main.yml) | Big. |",
    ]
    assert text.startswith("# sample\n")
    assert text.endswith(f"{role_readme.END}\nafter\n")


def test_check_says_stale_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    role = a_role(tmp_path, {}, MARKED)
    assert role_readme.main(["--check"], root=tmp_path) == 1
    assert "roles/sample/README.md is stale" in capsys.readouterr().out
    assert (role / "README.md").read_text() == MARKED
    assert role_readme.main([], root=tmp_path) == 0
    assert role_readme.main(["--check"], root=tmp_path) == 0


@pytest.mark.parametrize("fault", ["no marks", "no file"])
def test_a_readme_that_cannot_have_a_table_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    role = a_role(tmp_path, {}, "# sample\n")
    if fault == "no file":
        (role / "README.md").unlink()
    assert role_readme.main([], root=tmp_path) == 2
    assert "sample: no table for README.md" in capsys.readouterr().err
    shutil.rmtree(role)


@pytest.mark.parametrize(
    ("tasks", "name", "field"),
    [
        ("look", "Say what a real run would do", "msg"),
        ("refuse", "Stop where a reboot is needed and not allowed", "fail_msg"),
    ],
)
def test_what_nobody_can_tell_of_the_next_kernel_is_said(tasks: str, name: str, field: str) -> None:
    text = (ROOT / f"roles/reboot_gate/tasks/{tasks}.yml").read_text()
    (task,) = (one for one in yaml.safe_load(text) if one["name"] == name)
    (words,) = (one[field] for one in task.values() if isinstance(one, dict) and field in one)
    environment = Environment()
    environment.filters["bool"] = bool
    state = {"needed": True, "why": "a kernel", "reload": []}
    lack = {"refused": [], "unknown": ["dkms_status ended with status 3"]}
    said = [
        environment.from_string(words).render(
            inventory_hostname="node1",
            __reboot_gate_state=state,
            __reboot_gate_lack=one,
            ibready_reboot_ok=False,
        )
        for one in (lack, {"refused": [], "unknown": []}, {"skipped": True})
    ]
    assert ["dkms_status ended with status 3" in one for one in said] == [True, False, False]
