# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.report import ActionModule
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import folded, history
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_json
from tests.unit import runs

Again = Callable[..., dict[str, Any]]
GOOD = {**runs.MIXED, "n2": runs.MIXED["n1"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A report folder after three runs: n2 was good in the first two."""
    for minutes, hosts in enumerate((GOOD, GOOD, runs.MIXED)):
        run = runs.run(hosts, created=runs.NOW + timedelta(minutes=minutes))
        text = render_json.render(folded.fold(run))
        history.keep(tmp_path, run, text, 9)
        (tmp_path / "ibready-report.json").write_text(text)
    return tmp_path


@pytest.fixture
def again(action: Callable[..., ActionBase], shown: list[str], folder: Path) -> Again:
    def over(**args: Any) -> dict[str, Any]:
        given = {"dest": str(folder), "run": "", "fail_on": "never", **args}
        result: dict[str, Any] = action(ActionModule, {}, given).run()
        return result

    return over


def test_the_last_run_is_rendered_again_beside_it(again: Again, folder: Path, shown: list[str]) -> None:
    before = (folder / "ibready-report.json").read_text()
    result = again()
    assert not result.get("failed")
    assert result["verdicts"] == {"n1": "ready", "n2": "not_ready", "n3": "degraded"}
    for kind, ending in {"html": "html", "junit": "xml", "prometheus": "prom"}.items():
        assert result[kind] == str(folder / f"ibready-report.{ending}")
        assert "n2" in Path(result[kind]).read_text()
    assert (folder / "ibready-report.json").read_text() == before
    assert sum("VERDICT" in text for text in shown) == 1
    assert "n2 is not_ready" in "\n".join(shown)


def test_since_tells_what_got_worse(again: Again, shown: list[str]) -> None:
    result = again(since="1", formats=["markdown"])
    assert set(result["since"]["hosts"]) == {"n2"}
    assert "n2: ready -> not_ready" in "\n".join(shown)
    assert "### Since" in Path(result["markdown"]).read_text()


def test_an_earlier_run_is_named_by_its_number_or_file(again: Again, folder: Path) -> None:
    earlier = history.kept(folder)[1]
    for name in ("1", str(earlier)):
        result = again(run=name, since="1")
        assert result["json"] == str(earlier)
        assert result["html"] == f"{history.stem(earlier)}.html"
        assert result["since"]["hosts"] == {}
    assert not (folder / "ibready-report.html").exists()


@pytest.mark.parametrize(
    ("fail_on", "bad"),
    [("never", set()), ("not_ready", {"n2"}), ("degraded", {"n2", "n3"})],
)
def test_it_fails_by_the_verdict_where_asked_to(again: Again, fail_on: str, bad: set[str]) -> None:
    result = again(fail_on=fail_on)
    assert set(result["bad"]) == bad
    assert bool(result.get("failed")) == bool(bad)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"since": "7"}, "since=7: 2 older runs are kept"),
        ({"run": "7"}, "report_from=7: 2 older runs are kept"),
        ({"since": "/nowhere/run.json"}, "/nowhere/run.json is not there; next"),
        ({"formats": ["pdf"]}, "formats"),
    ],
)
def test_what_is_not_there_is_refused(again: Again, args: dict[str, Any], says: str) -> None:
    with pytest.raises(AnsibleActionFail, match=says):
        again(**args)


def test_a_damaged_run_object_is_refused_and_nothing_is_written(again: Again, folder: Path) -> None:
    path = folder / "ibready-report.json"
    path.write_text(path.read_text()[:-40])
    with pytest.raises(AnsibleActionFail, match=r"ibready-report\.json was cut short .*; next: "):
        again()
    assert not (folder / "ibready-report.html").exists()


def test_facts_that_nobody_can_render_are_refused(again: Again, folder: Path) -> None:
    path = folder / "ibready-report.json"
    run = json.loads(path.read_text())
    run["hosts"]["n1"]["facts"]["ib"] = {"cas": 3}
    path.write_text(json.dumps(run))
    with pytest.raises(AnsibleActionFail, match=r"cannot be rendered \(TypeError.*next: name"):
        again()


def test_a_folder_that_cannot_be_written_to_is_named(again: Again, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(AnsibleActionFail, match=r"No space left on device; next: copy the run"):
        again()
