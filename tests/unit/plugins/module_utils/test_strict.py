# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever reads JSON or YAML from a disk or another program refuses what is damaged, by name.

A reader is a row of READERS, or of ELSEWHERE with the reason why its text is never too deep.
"""

from __future__ import annotations

import ast
import base64
import json
import os
import signal
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import ledger
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import PackageError
from ansible_collections.ibready.cluster.plugins.module_utils._act.roce import program as roce
from ansible_collections.ibready.cluster.plugins.module_utils._act.snapshot import store
from ansible_collections.ibready.cluster.plugins.module_utils._act.soft_roce import program as soft_roce
from ansible_collections.ibready.cluster.plugins.module_utils._act.tuning import boot_tuning
from ansible_collections.ibready.cluster.plugins.module_utils._agent import judge, look, settings as agent
from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric import observe_look
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import manifest
from ansible_collections.ibready.cluster.plugins.module_utils._ground import state, strict
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ground.host_program import HostError
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import layout
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench import baseline
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import yaml
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes import files as kubernetes_files
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import lock
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import build
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.progress import durations
from tests.unit.on_disk import damaged

PLUGINS = Path(strict.__file__).parents[2]
WHOLE = json.dumps({"schema": "x", "a": {"b": [1, 2.5, "text"], "c": None}}, indent=1)
DEEP = [
    way.format(opened * depth, closed * depth)
    for depth in (70, 400, 990, 100_000)
    for opened, closed in (("[", "]"), ('{"a":', "}"))
    for way in ("{}{}", '{{"a": 1, "schema": {}{}}}')
]
# For programs that stand alone, and YAML, in which more is a text than in JSON.
NO_SENSE = [*(text for text in DEEP if len(text) > 100_000), '{"a": [1', "[}", "\0"]
# What no writer of ours makes.
STRANGE = [
    *('{"a": NaN}', '{"a": [-Infinity]}', '{"a": 1e999}', '{"a": 1, "a": 2}'),
    *('{"b": {"a": 1, "a": 1}}', '{"a": 1', "\0", "nothing", "{} {}", '{"a": ' + "9" * 5000),
]


class Program(Exception):
    """The program ended with a status, and said why."""


@dataclass(frozen=True)
class Reader:
    """``read``: of a folder that stands for the host, in which ``path`` holds the text.

    ``says``: what it raises, or None where it gives ``otherwise``. ``texts``: what it must refuse.
    """

    path: str
    read: Callable[[Path], object]
    says: type[Exception] | None = None
    otherwise: object = None
    texts: Sequence[str] = (*DEEP, *STRANGE)


def _ended(how: object) -> None:
    if how:
        raise Program


def _packed(text: bytes) -> str:
    return base64.b64encode(zlib.compress(text)).decode()


def _settings(home: Path) -> agent.Settings:
    return agent.Settings(host="a", run=str(home), root=str(home), expect=str(home / "expect.json"))


READERS = {
    "_state": Reader("x.json", lambda home: state.load_file(str(home / "x.json")), state.StateError),
    "_packages.ledger": Reader(f"{ledger.HOME}/x.json", lambda home: ledger.load(str(home), "x"), PackageError),
    "_snapshot.store": Reader(
        f"{store.HOME}/1-a/snapshot.json", lambda home: store.load("1-a", str(home)), PackageError
    ),
    "_manifest": Reader("b/manifest.json", lambda home: manifest.load(str(home / "b")), Unavailable),
    "_agent.settings": Reader("x.json", lambda home: agent.load(str(home / "x.json")), agent.SettingsError),
    "_agent.look": Reader("verdict.json", lambda home: look.last(_settings(home))),
    "_agent.judge": Reader("expect.json", lambda home: judge._json(str(home / "expect.json"), {}), ValueError),
    "_observe.fabric_look": Reader(
        "x",
        lambda home: observe_look.unpack([_packed((home / "x").read_bytes())]),
        ValueError,
    ),
    "_bundle.layout": Reader("x", lambda home: layout.manifest((home / "x").read_text()), layout.BundleError),
    "_bench.baseline": Reader("x", lambda home: baseline.read(home / "x"), baseline.BaselineError),
    "_kubernetes.files": Reader(
        kubernetes_files.INDEX,
        lambda home: kubernetes_files._ours(home),
        kubernetes_files.KubernetesError,
    ),
    "_progress.durations": Reader("x", lambda home: durations._runs(home / "x"), otherwise=[]),
    "_run.told": Reader("x", lambda home: _ended((build.benchmarks(home / "x") or {})["error"]), Program),
    "_plan.lock": Reader("x", lambda home: lock.read(home / "x"), lock.LockError),
    "_matrix.load": Reader("m/rdma.yml", lambda home: load.load([home / "m"]), load.MatrixError, texts=NO_SENSE),
    "_boot_tuning, its settings": Reader(
        boot_tuning.CONFIG,
        lambda home: _ended(boot_tuning.main(["show"], str(home))),
        Program,
        texts=NO_SENSE,
    ),
    "_boot_tuning, its record": Reader(
        boot_tuning.RECORD,
        lambda home: boot_tuning.Host(str(home)).record(),
        HostError,
        texts=NO_SENSE,
    ),
    "_roce.program, its settings": Reader(
        roce.CONFIG, lambda home: _ended(roce.main(["show"], str(home))), Program, texts=NO_SENSE
    ),
    "_roce.program, its record": Reader(
        roce.RECORD, lambda home: roce.Host(str(home)).record(), HostError, texts=NO_SENSE
    ),
    "_soft_roce.program": Reader(
        soft_roce.CONFIG,
        lambda home: soft_roce.Host(str(home)).config(),
        HostError,
        texts=NO_SENSE,
    ),
}
# Where else text is parsed without a word on depth.
ELSEWHERE = {
    "module_utils/_ask/nccl/_child.py:main": "what its parent writes",
    "module_utils/_between/tcp/_listen_child.py:main": "what its parent writes",
    "module_utils/_engine/bootstrap.py:main": "an archive of our sources whose sum was looked at",
    "module_utils/_evidence/redact.py:masked_values": "what was made JSON of here, in the same line",
    "module_utils/_engine/serve.py:texts": "an archive of our sources whose sum was looked at",
    "module_utils/_engine/serve.py:serve": "what the controller asks",
    "module_utils/_agent/judge.py:_made": "what its own child wrote a moment ago",
    "module_utils/_act/container/jsonedit.py:value": "a part of what jsontext.parse took",
    "module_utils/_act/container/jsonedit.py:_object": "one string",
    "module_utils/_act/container/tomltext.py:_meaning": "one string",
    "module_utils/_act/container/docker.py:_ended": "what jsontext.parse took",
    "plugin_utils/_ground/child.py:within": "what its own child wrote a moment ago",
    "plugin_utils/_neighbours/kubernetes/document.py:document": "what json.dumps made",
    "plugin_utils/_plan/plan/lock.py:text": "what json.dumps made",
    "plugin_utils/_run/read.py:_whole": "its caller catches it",
    "plugin_utils/_switch/sonic.py:_unquoted": "a word of a text that was read as a whole before",
}


@pytest.mark.parametrize("name", READERS)
def test_what_is_damaged_is_refused_by_name(tmp_path: Path, name: str) -> None:
    reader = READERS[name]
    file = tmp_path / reader.path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    for text in reader.texts:
        file.write_text(text)
        if reader.says is None:
            assert reader.read(tmp_path) == reader.otherwise, text[:80]
            continue
        with pytest.raises(reader.says):
            reader.read(tmp_path)


# What the operator wrote, or the test itself opens, on the controller.
CONTROLLERS = {"_kubernetes.files", "_matrix.load", *(name for name, reader in READERS.items() if reader.path == "x")}


@pytest.mark.parametrize("name", sorted(READERS.keys() - CONTROLLERS))
def test_a_fifo_in_its_place_blocks_nobody(tmp_path: Path, name: str) -> None:
    reader = READERS[name]
    file = tmp_path / reader.path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(file)

    def blocked(*_: object) -> None:
        raise AssertionError(f"{name} waits for a FIFO")

    before = signal.signal(signal.SIGALRM, blocked)
    signal.alarm(10)
    try:
        if reader.says is None:
            assert reader.read(tmp_path) == reader.otherwise
        else:
            with pytest.raises((reader.says, Unavailable)):
                reader.read(tmp_path)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@given(text=st.binary(max_size=64) | damaged(WHOLE.encode()))
def test_a_state_file_of_whatever_bytes_is_read_or_refused_by_name(text: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "x.json")
        file.write_bytes(text)
        try:
            found = state.load_file(str(file))
        except state.StateError as exc:
            said = str(exc)
        else:
            assert json.loads(text) == found
            return
        assert str(file) in said
        assert "Next: remove it" in said


def test_what_was_written_is_read_as_it_was() -> None:
    whole = {"a": [1, 2.5, -1e-300, "ä\ud800", None, True, {"b": {}}], "c": {"d": [[[]]]}}

    assert strict.loads(json.dumps(whole)) == whole


def _parses(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    return name in ("json.load", "json.loads", "yaml.load", "yaml.safe_load")


def _places() -> Iterator[str]:
    """The functions that parse, and catch no RecursionError."""
    for file in sorted({*PLUGINS.rglob("*.py")} - {Path(yaml.__file__)}):
        for one in ast.walk(ast.parse(file.read_text())):
            if (
                isinstance(one, ast.FunctionDef)
                and any(isinstance(call, ast.Call) and _parses(call) for call in ast.walk(one))
                and "RecursionError"
                not in " ".join(
                    ast.unparse(handler.type)
                    for handler in ast.walk(one)
                    if isinstance(handler, ast.ExceptHandler) and handler.type is not None
                )
            ):
                yield f"{file.relative_to(PLUGINS)}:{one.name}"


def test_every_place_that_parses_is_known() -> None:
    assert set(_places()) == set(ELSEWHERE)
