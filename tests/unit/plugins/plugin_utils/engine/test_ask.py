# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions ask by the engine that a node keeps: once sent, then one small command a visit, and the same answer."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible import constants
from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError
from ansible.executor import module_common
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins.loader import connection_loader, module_loader
from ansible.template import Templar

from ansible_collections.ibready.cluster.plugins.action import hostverify, node_facts
from ansible_collections.ibready.cluster.plugins.module_utils._engine import bootstrap
from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect
from ansible_collections.ibready.cluster.plugins.modules import hostverify as module
from ansible_collections.ibready.cluster.plugins.plugin_utils._engine import ask, pack
from ansible_collections.ibready.cluster.plugins.plugin_utils._engine.ask import EngineAction
from tests.gauntlet import render
from tests.unit import engines

pytestmark = pytest.mark.thorough

PLUGINS = Path(pack.__file__).resolve().parents[2]
ORDINARY = {"taken": "the ordinary way"}
Sent = list[tuple[str, bytes]]
# All that a host is sent the second time.
MOST = 20 * 1024


class Host:
    """This machine, as ssh would lead to it: what is sent is counted, what is answered can be bent."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = tmp_path / "engine"
        self.tmp = tmp_path
        self.sent: Sent = []
        self.bend: Callable[[bytes], bytes] = lambda said: said
        text = pack.bootstrap().replace(repr(bootstrap.FOLDER).replace("'", '"'), json.dumps(str(self.place)))
        assert str(self.place) in text
        monkeypatch.setattr(pack, "bootstrap", lambda: text)
        self._as_a_collection(monkeypatch)
        local = tmp_path / "local"
        local.mkdir()
        monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(local))

    def _as_a_collection(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Modules are found, as Ansible's own loader does in a run; the ordinary way answers that it was taken."""

        def found(name: str, *_: Any, **__: Any) -> Any:
            path = PLUGINS / "modules" / f"{name.rpartition('.')[2]}.py"
            return SimpleNamespace(resolved=True, plugin_resolved_path=str(path))

        def built(**given: Any) -> Any:
            like = module_common.modify_module(**{**given, "module_path": str(PLUGINS / "modules/report.py")})
            if given["module_path"].endswith("/report.py"):
                return like
            said = f"print({json.dumps(ORDINARY)!r})".encode()
            return dataclasses.replace(like, b_module_data=said, module_style="new")

        monkeypatch.setattr(module_loader, "find_plugin_with_context", found)
        monkeypatch.setattr("ansible.plugins.action.modify_module", built)

    def action(self, kind: type[EngineAction], args: dict[str, Any], *, pipelining: bool = True) -> EngineAction:
        task = Task()
        task.action = f"ibready.cluster.{kind.__module__.rpartition('.')[2]}"
        task.args = args
        loader = DataLoader()
        connection = connection_loader.get("local", PlayContext())
        connection.set_options(var_options={"ansible_pipelining": pipelining})
        connection._shell.set_options(var_options={"ansible_remote_tmp": str(self.tmp / "remote")})
        plain = connection.exec_command

        def counted(cmd: str, in_data: bytes | None = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
            self.sent.append((cmd, in_data or b""))
            code, out, err = plain(cmd, in_data=in_data, sudoable=sudoable)
            return code, self.bend(out), err

        connection.exec_command = counted
        return kind(task, connection, PlayContext(), loader, Templar(loader, {}))

    def ask(self, kind: type[Any] = node_facts.ActionModule, *, pipelining: bool = True, **args: Any) -> dict[str, Any]:
        variables = {
            "inventory_hostname": "n1",
            "ansible_python_interpreter": sys.executable,
            "ansible_facts": {},
            "groups": {"all": []},
            "hostvars": {},
        }
        self.sent.clear()
        action = self.action(kind, args, pipelining=pipelining)
        result: dict[str, Any] = action.run(task_vars=variables)
        action.cleanup()
        return result


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    tmp_path.chmod(0o755)
    return Host(tmp_path, monkeypatch)


def test_the_second_visit_is_one_small_command(host: Host) -> None:
    first = host.ask()
    assert [len(data) > MOST for _, data in host.sent] == [False, True]

    second = host.ask()

    assert first["node"] == second["node"]
    ((cmd, data),) = host.sent
    assert len(cmd) + len(data) < MOST


def test_without_pipelining_it_is_the_same(host: Host) -> None:
    brought = host.ask(pipelining=False)
    assert brought["node"] == host.ask()["node"]
    assert [data for _, data in host.sent if len(data) > MOST] == []
    assert list((host.tmp / "remote").iterdir()) == []


def test_an_engine_that_root_changed_on_the_node_is_sent_again(host: Host) -> None:
    host.ask()
    (engine,) = (path for path in host.place.iterdir() if "." not in path.name)
    kept = engine.read_bytes()
    engine.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))

    answer = host.ask()

    assert "node" in answer
    assert len(host.sent) == 2


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundles")
    described = render.node("hgx-h100-8")
    collect.collect(render.render(described), str(folder), "node7", "now", {"container": {}})
    return folder / "node7"


@pytest.mark.parametrize(
    "args",
    [
        {"report_only": "yes"},
        {"areas": "host,gpu", "expect": {"gpus": 8}, "report_only": True},
        {"expect": {"gpus": 7}},
        {"pause": 10**6},
        {"waivers": [{"check": "host.limits.memlock", "host": "node7", "until": "2999-01-01", "reason": "known"}]},
    ],
)
def test_the_answer_is_that_of_the_ordinary_way(
    tmp_path: Path, bundle: Path, run_module: Callable[..., dict[str, Any]], args: dict[str, Any]
) -> None:
    node = engines.Node(tmp_path / "engine")
    mine = node.bring(module="hostverify", args={"bundle": str(bundle), **args})
    assert node.visit(module="hostverify", args={"bundle": str(bundle), **args}) == mine

    theirs = run_module(module.main, bundle=str(bundle), **args)

    # Which arguments it was called with, the controller knows; it is told so again where it asks (-vvv).
    del theirs["invocation"]
    assert mine == theirs
    assert ("checks" in mine) is ("pause" not in args)


def test_asked_for_it_the_answer_tells_the_arguments(tmp_path: Path, bundle: Path) -> None:
    args = {"bundle": str(bundle), "_ansible_verbosity": 3, "report_only": "yes"}
    answer = engines.Node(tmp_path / "engine").bring(module="hostverify", args=args)
    assert answer["invocation"]["module_args"]["report_only"] is True


@pytest.mark.parametrize("args", [{"expect": {"gpuz": 7}}, {"areas": "hosts"}, {"strange": 1}, {"pause": "long"}])
def test_words_that_are_wrong_are_left_to_ansible(host: Host, args: dict[str, Any]) -> None:
    host.ask()
    assert host.ask(hostverify.ActionModule, **args)["taken"] == ORDINARY["taken"]
    assert len(host.sent) == 2


def test_what_a_login_prints_before_the_answer_does_no_harm(host: Host) -> None:
    host.bend = lambda said: b"Welcome to n1!\n" + said
    assert "node" in host.ask()


@pytest.mark.parametrize("said", [b"", b"Permission denied", b"[1, 2]", b'{"cut', b"\xff\xfe"])
def test_who_answers_nonsense_is_named_with_the_next_step(host: Host, said: bytes) -> None:
    host.bend = lambda _: said

    answer = host.ask()

    assert answer["failed"] is True
    assert answer["msg"].startswith("n1: ibready.cluster.node_facts gave no answer that can be read")
    assert "Next: " in answer["msg"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("pyenv: python3.13: command not found\n\nNote: see 'pyenv help'.\n", "pyenv: python3.13: command not found"),
        ('Traceback (most recent call last):\n  raise X("not found")\nX: boom\n', "X: boom"),
        ("Welcome\nno more.\nConnection to n1 closed.\r\n", "no more"),
        ("Connection to n1 closed.\n", ""),
        (f"{'x' * 300}\n", "x" * 300),
        (f"{'x' * 301}\n", f"{'x' * 300}, and 1 more characters"),
    ],
)
def test_of_what_a_failed_program_said_the_line_that_tells_most_is_told(said: str, told: str) -> None:
    assert ask._telling(said) == told


@pytest.mark.parametrize(
    ("said", "next_step"),
    [
        ("Password change required but no TTY available.\n", "log in by hand and change that password"),
        ("WARNING: Your password has expired.\nPassword change required\n", "log in by hand and change that password"),
        ("sudo: sorry, you must have a tty to run sudo\n", "Defaults:USER !requiretty"),
        ("sudo: a password is required\n", "run this with -K"),
        ("Python 3.6.8\n", "Python 3.8 or later has to be on the host"),
        ("  File x\nSyntaxError: future feature annotations is not defined\n", "Python 3.8 or later has to be"),
        ("Python 3.11.2\n", "look at module_stdout"),
        ("what?\n", "look at module_stdout"),
    ],
)
def test_the_host_s_own_words_come_first_and_the_next_step_is_of_their_kind(
    host: Host, said: str, next_step: str
) -> None:
    host.bend = lambda _: said.encode()
    told = host.ask()["msg"]
    last = said.strip().rpartition("\n")[2].rstrip(".")
    assert f"gave no answer that can be read: the host said: {last} (" in told
    assert f"Next: {next_step}" in told or next_step in told.partition("Next: ")[2]


def test_a_missing_password_of_sudo_names_the_option(host: Host) -> None:
    def lacks(_said: bytes) -> bytes:
        raise AnsibleError("Missing sudo password")

    host.bend = lacks
    with pytest.raises(AnsibleError, match=r"Missing sudo password\. Next: run this with -K, or give"):
        host.ask()


def test_who_cannot_be_reached_stays_unreachable(host: Host) -> None:
    def lost(_said: bytes) -> bytes:
        raise AnsibleConnectionFailure("a password is required")

    host.bend = lost
    with pytest.raises(AnsibleConnectionFailure):
        host.ask()


@pytest.mark.parametrize("word", ["absent", "damaged", "ordinary", {"a": 1}, None])
def test_who_always_says_that_it_has_none_is_asked_three_times_and_no_more(host: Host, word: Any) -> None:
    host.bend = lambda _: json.dumps({"ibready_engine": word}).encode()

    answer = host.ask()

    assert answer.get("node") is None
    assert len(host.sent) <= 3


def test_what_a_host_says_is_no_template(host: Host) -> None:
    from ansible._internal._datatag._tags import TrustedAsTemplate

    said = {"node": {"hostname": "{{ lookup('pipe', 'id') }}"}, "_ansible_no_log": True}
    host.bend = lambda _: json.dumps(said).encode()

    answer = host.ask()

    assert answer["node"]["hostname"] == said["node"]["hostname"]  # type: ignore[index]
    assert not TrustedAsTemplate.is_tagged_on(answer["node"]["hostname"])
    assert "_ansible_no_log" not in answer


EVIL = "W\x1b[2J\u202ex\x9b\nPLAY RECAP ****\rready"
SEEN = "W?[2J?x?\n    PLAY RECAP **** ready"


@pytest.mark.parametrize("failed", [False, True])
def test_what_ansible_prints_of_an_answer_obeys_nobody_and_begins_no_line(host: Host, failed: bool) -> None:
    many = [f"{number} {EVIL}" for number in range(ask._WARNINGS + 2)]
    said = {"failed": failed, "node": {}, "warnings": many, "deprecations": [{"msg": EVIL}], "msg": EVIL}
    host.bend = lambda _: json.dumps({**said, "exception": EVIL}).encode()

    answer = host.ask()

    shown = json.dumps({key: repr(answer[key]) for key in ("warnings", "msg") if key in answer})
    assert answer["msg"] == SEEN
    assert len(answer["warnings"]) == ask._WARNINGS + 1
    assert "... and 2 more" in shown
    for key in ("warnings", "deprecations", "msg", "exception"):
        told = repr(answer.get(key))
        assert not [letter for letter in (r"\x1b", r"\u202e", r"\x9b", r"\nPLAY") if letter in told], (key, told)


def test_nor_does_what_is_no_answer(host: Host) -> None:
    host.bend = lambda _: EVIL.encode()
    answer = host.ask()
    assert answer["module_stdout"] == SEEN
    assert "\x1b" not in answer["msg"]
    assert "\n" not in answer["msg"]


def test_ansible_s_own_form_of_a_warning_is_cleaned_too() -> None:
    from ansible.module_utils._internal import _messages

    event = _messages.Event(msg=EVIL, chain=None, formatted_traceback=EVIL)
    (cleaned,) = ask._clean([_messages.WarningSummary(event=event)])
    assert isinstance(cleaned, _messages.WarningSummary)
    assert (cleaned.event.msg, cleaned.event.formatted_traceback) == (SEEN, SEEN)


def test_a_host_that_is_lost_is_lost(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(_: bytes) -> bytes:
        raise AnsibleConnectionFailure("n1 is gone")

    host.bend = lost
    with pytest.raises(AnsibleConnectionFailure, match="n1 is gone"):
        host.ask()


def test_a_host_that_hangs_is_named_with_what_it_was_asked(host: Host) -> None:
    from ansible._internal._errors._task_timeout import TaskTimeoutError

    def hung(_: bytes) -> bytes:
        raise TaskTimeoutError(20)

    host.bend = hung
    action = host.action(node_facts.ActionModule, {})
    action._task.timeout, action._task.name = 20, "Collect what the host is"
    with pytest.raises(AnsibleActionFail) as told:
        action.run(task_vars={"inventory_hostname": "n1", "ansible_python_interpreter": sys.executable})
    assert str(told.value).startswith("n1 gave no answer for 20 s to: Collect what the host is. Next: ")
    assert told.value.result["timedout"] == {"period": 20}


def test_a_visit_that_nobody_waits_for_any_more_ends_itself(host: Host) -> None:
    action = host.action(node_facts.ActionModule, {})
    action._task.timeout = 0
    assert "alarm" not in action._program({})
    action._task.timeout = 20
    begin = action._program({}).rpartition("main(")[0]
    program = f"{begin.replace('alarm(50)', 'alarm(1)')}import time; time.sleep(600)"
    done = subprocess.run([sys.executable, "-"], input=program, text=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGALRM


def test_a_host_without_a_python_is_told_as_ever(host: Host) -> None:
    action = host.action(node_facts.ActionModule, {})
    answer = action.run(
        task_vars={
            "inventory_hostname": "n1",
            "ansible_python_interpreter": "/opt/no/python",
            "ansible_facts": {},
        }
    )
    assert answer["failed"] is True
    assert "The module interpreter '/opt/no/python' was not found" in answer["msg"]
    assert answer["msg"].startswith("n1: ")


def test_all_workers_of_a_run_have_one_engine_and_another_run_makes_the_same(tmp_path: Path) -> None:
    made = [tmp_path / name for name in ("one", "two")]
    for folder in made:
        folder.mkdir()
    one, two = (pack.engine(str(folder)) for folder in made)
    assert one.digest == two.digest
    assert one.archive() == two.archive() == pack.archive()
    again = pack.engine.__wrapped__(str(made[0]))
    assert (again, os.listdir(made[0])) == (one, os.listdir(made[0]))
    shutil.rmtree(made[0])


def test_the_archive_holds_what_is_imported_and_no_more() -> None:
    """Of every import, also in functions, as Python's own parser reads them."""
    import ast
    import zlib

    texts = json.loads(zlib.decompress(pack.archive()))
    base = "ansible_collections.ibready.cluster.plugins"
    for name, text in texts.items():
        here = name.removesuffix(".py").replace("/", ".").split(".")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.level:
                at = [*here[: -node.level], *(node.module or "").split(".")]
                said = ".".join(filter(None, at)).replace(".", "/")
                each = [f"{said}/{alias.name}" for alias in node.names]
                assert f"{said}.py" in texts or all(
                    f"{one}.py" in texts or f"{said}/__init__.py" in texts for one in each
                )
    assert not any(name.startswith(base.replace(".", "/") + "/plugin_utils") for name in texts)
    assert not any(name.endswith(("_agent/program.py", "modules/report.py")) for name in texts)
