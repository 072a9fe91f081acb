# SPDX-License-Identifier: GPL-3.0-or-later
"""What the callback takes for itself, and what it leaves to Ansible."""

from __future__ import annotations

import configparser
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from ansible import context
from ansible.plugins.callback.default import CallbackModule as Default
from ansible.plugins.callback.minimal import CallbackModule as Minimal

from ansible_collections.ibready.cluster.plugins.callback import verdict
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import shown as _shown

ROOT = Path(__file__).parents[5]
READY = {"host": "n1", "verdict": "ready", "counts": {"pass": 3}, "findings": []}
BAD = {"host": "n1", "verdict": "not_ready", "counts": {"fail": 1}, "findings": ["ib.port.state mlx5_0/1: Down"]}
WAYS = ("v2_runner_on_ok", "v2_runner_on_failed", "v2_runner_on_unreachable")


def began(monkeypatch: pytest.MonkeyPatch, **args: Any) -> ModuleType:
    monkeypatch.setattr(context, "CLIARGS", args)
    return importlib.reload(verdict)


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield
    monkeypatch.undo()
    importlib.reload(verdict)


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Ansible's own was asked to print."""
    found: list[str] = []
    for base in (Minimal, Default):
        for way in WAYS:
            monkeypatch.setattr(base, way, lambda self, *args, way=way: found.append(way))
        monkeypatch.setattr(base, "v2_playbook_on_stats", lambda self, stats: None)
    return found


def printing(module: ModuleType) -> tuple[Any, list[str]]:
    callback = module.CallbackModule()
    lines: list[str] = []
    callback._display = SimpleNamespace(display=lambda line, color: lines.append(line))
    return callback, lines


def result(host: str, said: dict[str, Any], action: str = "ibverify", **args: Any) -> Any:
    return SimpleNamespace(
        host=SimpleNamespace(get_name=lambda: host),
        task=SimpleNamespace(action=action, args=args, vars={}, get_name=lambda: "a task"),
        result=dict(said),
    )


@pytest.mark.parametrize("module_name", ["ibverify", None])
def test_whatever_ansible_prints_obeys_nobody_and_forges_no_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], module_name: str | None
) -> None:
    callback = began(monkeypatch, module_name=module_name, verbosity=0).CallbackModule()
    try:
        show = callback._display
        for number, way in enumerate((show.warning, show.error, show.display)):
            way(f"{number} {module_name} W\x1b[2J\u202e\x9b\nPLAY RECAP ****\rready")
        show.display("a\tb\x1b[0;32mok\x1b[0m\x1b[8mhidden")
    finally:
        del callback._display.display
    out = capsys.readouterr()
    said = out.out + out.err
    assert not [letter for letter in ("\u202e", "\x9b", "\x1b[2J", "\x1b[8m", "\r") if letter in said]
    assert out.err.count("\n    PLAY RECAP **** ready") == 2
    assert "\nPLAY RECAP" not in out.err
    # Ansible's own lines, columns and colours are as ever.
    assert "\nPLAY RECAP **** ready\na\tb\x1b[0;32mok\x1b[0m?[8mhidden" in out.out


def test_verdicts_are_printed_when_all_have_answered(monkeypatch: pytest.MonkeyPatch, left: list[str]) -> None:
    callback, lines = printing(began(monkeypatch, module_name="ibverify", verbosity=0, inventory=["my hosts"]))
    callback.v2_runner_on_ok(result("n1", READY, "ibready.cluster.ibverify"))
    callback.v2_runner_on_failed(result("n3", {**BAD, "failed": True}))
    callback.v2_runner_on_ok(result("n2", READY))
    callback.v2_runner_on_unreachable(result("n4", {"msg": "no route"}))
    assert lines == []
    callback.v2_playbook_on_stats(None)
    assert lines == [
        "n[1-2] ready 3 pass",
        "n4 unreachable",
        "  no route",
        "n3 not_ready 1 fail",
        "  ib.port.state mlx5_0/1: Down",
        "4 hosts: 2 ready, 1 unreachable, 1 not_ready",
        "Next: `ansible HOST -i 'my hosts' -m ping -vvv` shows each step of the connection",
        "Next: `ibready explain ID` or docs/checks.md explains each check; -v prints all of them",
    ]
    assert left == []
    callback._tell()  # At exit: nothing twice.
    assert len(lines) == 8


def test_of_a_module_that_failed_its_own_word_is_printed_and_the_sum_tells_of_it(
    monkeypatch: pytest.MonkeyPatch, left: list[str]
) -> None:
    callback, lines = printing(began(monkeypatch, module_name="ibverify", verbosity=0))
    callback.v2_runner_on_ok(result("n1", READY))
    callback.v2_runner_on_failed(result("n2", {**READY, "failed": True, "msg": "boom"}))
    callback.v2_runner_on_failed(result("n3", {"failed": True, "msg": "no python"}))
    callback.v2_playbook_on_stats(None)
    assert left == ["v2_runner_on_failed"] * 2
    assert lines == ["n1 ready 3 pass", "3 hosts: 1 ready, 2 failed (above)"]


def test_who_interrupts_the_run_is_told_of_those_that_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[Any] = []
    module = began(monkeypatch, module_name="ibverify", verbosity=0)
    monkeypatch.setattr(module.atexit, "register", ends.append)
    callback, lines = printing(module)
    callback.v2_runner_on_ok(result("n1", READY))
    ends[0]()
    assert lines == ["n1 ready 3 pass"]


@pytest.mark.parametrize(
    ("way", "answer", "action", "args", "verbosity"),
    [
        pytest.param("ok", {"ping": "pong"}, "ansible.builtin.ping", {}, 0, id="another module"),
        pytest.param("ok", READY, "other.cluster.ibverify", {}, 0, id="another's ibverify"),
        pytest.param("failed", {"msg": "x"}, "ansible.builtin.command", {}, 0, id="another's failure"),
        pytest.param("unreachable", {"msg": "x"}, "ansible.builtin.ping", {}, 0, id="another's host"),
        pytest.param("ok", READY, "ibverify", {}, 1, id="-v"),
        pytest.param("ok", READY, "ibverify", {"answer": "all"}, 0, id="all was asked for"),
        pytest.param("failed", {"msg": "no python"}, "ibverify", {}, 0, id="the module failed"),
    ],
)
def test_all_else_is_printed_by_ansible(
    monkeypatch: pytest.MonkeyPatch,
    left: list[str],
    way: str,
    answer: dict[str, Any],
    action: str,
    args: dict[str, Any],
    verbosity: int,
) -> None:
    callback, lines = printing(began(monkeypatch, module_name=action, verbosity=verbosity))
    getattr(callback, f"v2_runner_on_{way}")(result("n1", answer, action, **args))
    callback.v2_playbook_on_stats(None)
    assert (left, lines) == ([f"v2_runner_on_{way}"], [])
    assert isinstance(callback, Minimal)


def test_a_playbook_is_printed_as_ever(monkeypatch: pytest.MonkeyPatch, left: list[str]) -> None:
    callback, lines = printing(began(monkeypatch, args=("site.yml",), verbosity=0))
    callback.v2_runner_on_failed(result("n1", BAD))
    callback.v2_playbook_on_stats(None)
    assert (left, lines) == (["v2_runner_on_failed"], [])
    assert isinstance(callback, Default)


def test_hosts_that_do_well_are_a_line_until_anything_else_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    callback = began(monkeypatch, args=("site.yml",), verbosity=0).CallbackModule()
    try:
        show = callback._display.display
        for line in (
            "ok: [n1]",
            "ok: [n3]",
            "ok: [n2]",
            "changed: [n4]",
            "ok: [n5 -> localhost]",
            "ok: [n6] => (item=1)",
        ):
            show(line, color="green" if line.startswith("ok") else "yellow")
        show("included: /a.yml for n1, n2, n3", color="cyan")
        show("ok: [n7]", color="green")
        monkeypatch.setattr(verdict.os, "getpid", lambda: -1)
        show("what a worker prints")
        monkeypatch.undo()
        show("TASK [another]", stderr=True)
    finally:
        del callback._display.display
    out = capsys.readouterr().out
    assert [re.sub("\x1b[^m]*m", "", line) for line in out.splitlines()] == [
        "ok: [n[1-3]]",
        "changed: [n4]",
        "ok: [n5 -> localhost]",
        "ok: [n6] => (item=1)",
        "included: /a.yml for n[1-3]",
        "what a worker prints",
        "ok: [n7]",
    ]


def ending(host: str, said: str) -> Any:
    found = result(host, {"failed": True, "msg": said}, "ansible.builtin.fail")
    found.task.vars = {"__told": True}
    return found


DOWN = "{} is not_ready: ib.port.state mlx5_0/1. The table above tells why, and what next."


def test_a_playbook_that_ends_by_its_verdict_ends_with_it(monkeypatch: pytest.MonkeyPatch, left: list[str]) -> None:
    callback, lines = printing(began(monkeypatch, args=("verify.yml",), verbosity=0))
    monkeypatch.setattr(Default, "v2_playbook_on_stats", lambda self, stats: lines.append("PLAY RECAP"))
    for host in ("n1", "n2"):
        callback.v2_runner_on_failed(ending(host, DOWN.format(host)))
    callback.v2_runner_on_failed(ending("n3", "the fabric was not judged: boom"))
    callback.v2_playbook_on_stats(None)
    assert left == []
    assert lines == [
        "PLAY RECAP",
        "n[1-2] are not_ready: ib.port.state mlx5_0/1",
        "n3: the fabric was not judged: boom",
        "Next: the table above tells why, and what next.",
    ]


def test_with_v_and_with_ignored_errors_a_playbook_ends_as_ansible_does(
    monkeypatch: pytest.MonkeyPatch, left: list[str]
) -> None:
    for verbosity, ignored in ((1, False), (0, True)):
        callback, lines = printing(began(monkeypatch, args=("verify.yml",), verbosity=verbosity))
        callback.v2_runner_on_failed(ending("n1", DOWN.format("n1")), ignored)
        callback.v2_playbook_on_stats(None)
        assert lines == []
    assert left == ["v2_runner_on_failed"] * 2


@pytest.mark.parametrize("word", ["unreachable", "failed"])
def test_a_host_that_cannot_be_visited_is_a_line(monkeypatch: pytest.MonkeyPatch, left: list[str], word: str) -> None:
    for verbosity in (0, 1):
        callback, lines = printing(began(monkeypatch, args=("verify.yml",), verbosity=verbosity))
        warned: list[Any] = []
        monkeypatch.setattr(Default, "_handle_warnings", lambda self, found, warned=warned: warned.append(found))
        visit = result("n1", {"msg": "Task failed: no route\x1b"}, "ibready.cluster.hostverify")
        visit.task.vars, visit.task._uuid = {"__will_be_told": True}, "visit"
        callback._print_task_banner = lambda task, lines=lines: lines.append("TASK [Visit]")
        getattr(callback, f"v2_runner_on_{word}")(visit)
        assert lines == ([] if verbosity else ["TASK [Visit]", f"{word}: [n1]: no route?"])
        assert warned == ([] if verbosity else [visit.result])
    assert left == [f"v2_runner_on_{word}"]


def test_the_plays_that_go_on_without_a_host_say_so() -> None:
    for name in ("probe", "contact"):
        text = (ROOT / f"playbooks/parts/{name}.yml").read_text()
        assert "ignore_unreachable: true" in text
        assert f"{verdict._WILL}: true" in text


def test_every_playbook_that_fails_by_its_table_says_so() -> None:
    books = {path.stem: path.read_text() for path in (ROOT / "playbooks").glob("*.yml")}
    failing = {name for name, text in books.items() if ".bad[inventory_hostname] }}" in text}
    assert failing == {name for name, text in books.items() if f"        {verdict._TOLD}: true" in text} != set()


def test_an_answer_without_a_verdict_is_none(monkeypatch: pytest.MonkeyPatch, left: list[str]) -> None:
    callback, lines = printing(began(monkeypatch, module_name="ibverify", verbosity=0))
    callback.v2_runner_on_ok(result("n1", {"changed": False}))
    callback.v2_playbook_on_stats(None)
    assert lines[0] == "n1 malformed"
    assert left == []


def test_every_module_that_answers_in_short_is_folded() -> None:
    modules = (ROOT / "plugins/modules").glob("*.py")
    judging = {path.stem for path in modules if "_verify.module import judge\n" in path.read_text()}
    assert judging == verdict.JUDGES


def test_the_checkout_has_it_on_for_ansible_too() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "ansible.cfg")
    assert settings["defaults"]["stdout_callback"] == verdict.CallbackModule.CALLBACK_NAME
    assert settings["defaults"].getboolean("bin_ansible_callbacks")


def test_who_gave_no_answer_is_named_with_what_it_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[Any] = []
    monkeypatch.setattr(Default, "v2_runner_on_failed", lambda self, told, *_: printed.append(told.result["msg"]))
    callback, _unused = printing(began(monkeypatch))
    hung = {"failed": True, "msg": "Timed out after 20 second(s).", "timedout": {"period": 20}}
    callback.v2_runner_on_failed(result("n1", hung, "ansible.builtin.stat"))
    callback.v2_runner_on_failed(result("n2", {"failed": True, "msg": "boom"}, "ansible.builtin.stat"))
    assert printed[0].startswith("n1 gave no answer for 20 s to: a task. Next: see whether the host hangs")
    assert printed[1] == "boom"


def test_a_report_has_its_verdicts_and_what_they_are_for_in_colours() -> None:
    shown: list[tuple[str, str | None]] = []
    display = SimpleNamespace(display=lambda text, color: shown.append((text, color)))
    table = "HOST   VERDICT   PORTS\nn1     ready     1/1\nn2     degraded  ready  0/1"
    _shown.show(display, f"{table}\n\nn2 is degraded:\n  FAIL    a.b  n\n          seen:     is ready:\nnot_ready")
    assert shown == [
        ("\nHOST   VERDICT   PORTS", None),
        ("n1     ready     1/1", "green"),
        ("n2     degraded  ready  0/1", "bright purple"),
        ("", None),
        ("n2 is degraded:\n  FAIL    a.b  n", "bright purple"),
        ("          seen:     is ready:\nnot_ready\n", None),
    ]
