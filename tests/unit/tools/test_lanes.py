# SPDX-License-Identifier: GPL-3.0-or-later
"""Lanes run side by side and show whole outputs; one that fails stops only what needs it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from tools import lanes
from tools.lanes import Lanes, Stage, stages


class Heard:
    """Lanes of shell scripts, and what was told of them."""

    def __init__(self, folder: Path, scripts: dict[str, str], grace: float = 20) -> None:
        self.told: list[str] = []
        head = f"cd {folder}; until_there() {{ while ! [ -e $1 ]; do sleep 0.02; done; }}; "
        self.lanes = Lanes(lambda step: ["bash", "-ec", head + scripts[step]], self.told.append, grace)

    def of(self, step: str) -> str:
        (text,) = (one for one in self.told if one.startswith(f"\n==> {step}: "))
        return text

    def statuses(self) -> dict[str, int]:
        return {one.step: one.status for one in self.lanes.done}


def test_lanes_run_side_by_side_and_a_lane_s_steps_one_after_the_other(tmp_path: Path) -> None:
    heard = Heard(
        tmp_path,
        {
            "a": "echo one; until_there b; echo two >&2; touch a",
            "b": "touch b; until_there a",
            "c": "[ -e a ] && echo three $NO_COLOR",
        },
    )
    heard.lanes.run(Stage([["a", "c"], ["b"]]))
    assert heard.statuses() == {"a": 0, "b": 0, "c": 0}
    assert heard.lanes.failed == []
    assert heard.of("a").endswith(" s\none\ntwo")
    assert heard.of("c").endswith(" s\nthree 1")
    assert "==> c: begins" in heard.told


def test_a_failure_stops_what_needs_it_and_all_else_goes_on_to_its_end(tmp_path: Path) -> None:
    heard = Heard(
        tmp_path,
        {
            "bad": "touch failed; echo why; exit 3",
            "after": "touch never",
            "apart": "touch apart",
            "long": "until_there failed; echo went on",
            "last": "echo and ended; exit 4",
        },
    )
    heard.lanes.run(Stage([["bad+after", "apart"], ["long", "last"]]))
    assert heard.statuses() == {"bad": 3, "apart": 0, "long": 0, "last": 4}
    assert {one.step for one in heard.lanes.failed} == {"bad", "last"}
    assert "bad: FAILED with status 3" in heard.of("bad")
    assert heard.of("bad").endswith("\nwhy")
    assert heard.of("long").endswith("\nwent on")
    assert "last: FAILED with status 4" in heard.of("last")
    assert not (tmp_path / "never").exists()
    assert (tmp_path / "apart").exists()
    assert heard.lanes.missing(["bad", "after", "apart", "long", "last"]) == ["after"]


def test_tests_are_counted_and_what_was_left_out_is_told_by_its_place() -> None:
    unit = "SKIPPED [2] tests/unit/test_a.py:9: no python3.12 here\n=== 1 failed, 20 passed, 2 skipped in 3.21s ===\n"
    molecule = '    "SKIPPED [1] nodes/test_b.py:3: no apt",\n    "3 passed, 1 skipped in 0.50s"\n'
    shell = "\n==> skipped: fuzzing needs CPython 3.11\nnot a SKIPPED word\n7 passed, 1 error in 9.00s (0:01:00)\n"
    done = [lanes.Done(name, 0, 1, 1, text) for name, text in (("a", unit), ("b", molecule), ("c", shell), ("d", unit))]
    assert lanes.counted(done) == "50 passed, 3 failed, 5 skipped"
    assert lanes.skipped(done) == [
        "4 of tests/unit/test_a.py:9: no python3.12 here",
        "1 of nodes/test_b.py:3: no apt",
        "fuzzing needs CPython 3.11",
    ]


def test_what_does_not_end_is_killed_with_its_children(tmp_path: Path) -> None:
    deaf = "trap '' INT; (trap '' INT; touch ready; echo $BASHPID > child; exec sleep 600) & wait; wait"
    heard = Heard(tmp_path, {"deaf": deaf}, grace=1)
    runs = threading.Thread(target=heard.lanes.run, args=(Stage([["deaf"]]),))
    runs.start()
    while not (tmp_path / "child").exists():
        time.sleep(0.02)
    heard.lanes.stop()
    runs.join(timeout=120)
    assert heard.statuses() == {"deaf": -9}
    assert "deaf: was stopped" in heard.of("deaf")
    child = (tmp_path / "child").read_text().strip()
    for _ in range(200):
        if not Path(f"/proc/{child}/cmdline").exists() or not Path(f"/proc/{child}/cmdline").read_text():
            break
        time.sleep(0.05)
    else:
        pytest.fail("the child of a step that was killed runs on")


def test_an_interruption_stops_every_lane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # No shell: between its fork and the exec of the child an interruption is lost, one time in thousands.
    waits = 'exec {} -c \'import signal, time; signal.signal(2, signal.SIG_DFL); open("{}", "w"); time.sleep(600)\''
    heard = Heard(tmp_path, {name: waits.format(sys.executable, name) for name in ("one", "two")})

    def interrupt(*_: object) -> None:
        while not ((tmp_path / "one").exists() and (tmp_path / "two").exists()):
            time.sleep(0.02)
        raise SandboxError("interrupted by SIGTERM")

    monkeypatch.setattr("concurrent.futures.Future.result", interrupt)
    with pytest.raises(SandboxError):
        heard.lanes.run(Stage([["one"], ["two"]]))
    assert set(heard.statuses().values()) == {-2}
    assert threading.active_count() < 20


def test_lanes_after_then_wait_for_all_before() -> None:
    assert stages(["a,b", "c", "then", "d"]) == [Stage([["a", "b"], ["c"]]), Stage([["d"]])]


def test_what_is_shared_is_done_by_the_lane_that_is_free_first(tmp_path: Path) -> None:
    assert stages(["a+b", "c", "any", "d,e", "then", "f"]) == [Stage([["a+b"], ["c"]], ["d", "e"]), Stage([["f"]])]
    heard = Heard(tmp_path, {"long": "until_there e", "short": "true", "d": "touch d", "e": "[ -e d ]; touch e"})
    heard.lanes.run(Stage([["long"], ["short"]], ["d", "e"]))
    assert heard.statuses() == {"short": 0, "d": 0, "e": 0, "long": 0}


@pytest.mark.parametrize(("words", "status"), [(["x+y", "then", "z"], 1), (["y", "then", "z"], 0)])
def test_the_whole_fails_with_a_step_and_says_which(
    words: list[str], status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = {"x": ["sh", "-c", "echo words of x; exit 4"], "y": ["true"], "z": ["true"]}
    monkeypatch.setattr(lanes, "Lanes", lambda: Lanes(lambda step: argv[step]))
    monkeypatch.setattr(lanes, "take_away", lambda _tell: None)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert lanes.main(words) == status
    out, err = capsys.readouterr()
    assert ("words of x" in out) is bool(status)
    assert ("run: status 4 while: x; the lines" in err) is bool(status)
    assert ("==> z: begins" in out) is not bool(status)
    assert ("\n==> never began: y, z\n" in out) is bool(status)


def test_a_step_is_a_step_of_run_itself() -> None:
    argv = lanes.of_run("no-such-step")
    done = subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert argv[-3:] == [str(lanes.ROOT / "run"), "test", "no-such-step"]
    assert done.returncode == 1
    assert "there is no step 'no-such-step'" in done.stderr
