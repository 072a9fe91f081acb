# SPDX-License-Identifier: GPL-3.0-or-later
"""`ibready why` accounts for every line: what one tool did not use is another's, or is told as it is."""

from __future__ import annotations

import functools
import itertools
import json
import os
import random
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._agent import program
from ansible_collections.ibready.cluster.plugins.module_utils._parse import names, used_lines
from ansible_collections.ibready.cluster.plugins.module_utils._verify import heard as reader
from tests import cases
from tests.unit import pasted
from tests.unit.corpus import CORPUS, ERRATA, text_of
from tests.unit.parsers import SAMPLES

THREADS = CORPUS.parent / "corpus-3"
# Of the threads' texts so many are answered as a person wants it; the rules are next to the texts.
RIGHT = 64
# Every pair in every way, by turns in the one order and in the other.
PAIRS = [
    (failing, healthy, way, at % 2 == 0)
    for at, (failing, healthy, way) in enumerate(itertools.product(pasted.FAILING, pasted.HEALTHY, pasted.WAYS))
]


def told(text: str, *, tool: str, complaints: bool = False) -> list[str]:
    lines = text.splitlines(keepends=True)
    return [lines[at].strip() for at in sorted(used_lines.used(tool, lines, complaints))]


def test_lines_are_used_without_which_a_parser_tells_something_else() -> None:
    text = "so I typed this\nmlx5_0 port 1 ==> ib0 (Up)\nand saw an error\nmlx5_1 port 1 ==> ib1 (Down)\nWhat now?\n"
    assert told(text, tool="ibdev2netdev") == ["mlx5_0 port 1 ==> ib0 (Up)", "mlx5_1 port 1 ==> ib1 (Down)"]
    assert told("nothing\nof it\n", tool="ibstat") == []


def test_a_line_is_used_that_is_worded_like_one_in_use() -> None:
    assert len(told(pasted.HEALTHY["ibstat"] * 2, tool="lsmod")) == 0
    line = "mlx5_0 port 1 ==> ib0 (Up)\n"
    assert told(line * 3, tool="ibdev2netdev") == [line.strip()] * 3


def test_a_complaint_is_used_only_where_somebody_judges_it() -> None:
    text = pasted.HEALTHY["ibv_devinfo"] + "No IB devices found\n"
    assert "No IB devices found" not in told(text, tool="ibv_devinfo")


def test_a_log_s_own_lines_are_its_own_though_they_tell_nothing() -> None:
    assert len(told(pasted.HEALTHY["dmesg"], tool="dmesg")) == len(pasted.HEALTHY["dmesg"].splitlines())


@pytest.mark.parametrize("tool", names.NAMES)
def test_every_parser_reads_its_sample_at_every_deletion(tool: str) -> None:
    """Or says why not, by a ParseError."""
    sample = (SAMPLES / f"{tool}.txt").read_text()
    lines = ["Dear all,\n", *sample.splitlines(keepends=True)[:120]]
    assert used_lines.used(tool, lines, complaints=True) <= set(range(len(lines)))


def test_of_a_long_text_only_lines_of_failure_are_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(used_lines, "LONGEST", 10)
    text = "so it is\nmlx5_0 port 1 ==> ib0 (Up)\nand this\nit failed\nmlx5_1 port 1 ==> ib1 (Up)\nand so on\n"
    assert told(text, tool="ibdev2netdev") == ["mlx5_0 port 1 ==> ib0 (Up)", "and this", "mlx5_1 port 1 ==> ib1 (Up)"]
    monkeypatch.setattr(used_lines, "SPANNED", 10)
    assert [line for line in text.splitlines() if line not in told(text, tool="ibdev2netdev")] == ["it failed"]


def test_of_a_long_log_few_lines_of_a_wording_are_read_by_every_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(used_lines, "ALIKE", 2)
    steps = [f"step {number} took 1.{number} s\n" for number in range(5)]
    others = ["step 7 failed\n", "step 8 failed\n", "step 9 failed\n"]
    own = [f"node1:{number}:9 [0] NCCL INFO Channel {number}\n" for number in range(4)]
    kept, out = used_lines.thinned([*steps, *others, *own, "and so on\n"])
    assert kept == [*steps[:2], *others, *own, "and so on\n"]
    assert out == {used_lines.shape(steps[0]): 3}


def test_in_a_long_log_every_tool_finds_its_text_and_each_unread_line_counts() -> None:
    step = (
        " [2026-04-06 03:02:12] iteration {:8d}/  9000 | consumed samples: 9 | elapsed time per iteration (ms): 500.0 |"
    )
    steps = [step.format(number) for number in range(1, 4001)]
    lines = [line for at, line in enumerate(steps) for line in ([line] if at % 4 else [line, f"saved as {at} of it"])]
    assert sum(map(len, lines)) > used_lines.LONGEST
    xid = "[ 9000.123456] NVRM: Xid (PCI:0000:3b:00): 79, pid=0, GPU has fallen off the bus."
    inner = [xid, "slurmstepd: error: the job was refused"]
    heard = reader.Heard()
    heard.take("job.log", "\n".join([*lines[:3000], *inner, *lines[3000:], ""]))
    (texts,) = heard.texts.values()
    assert set(texts) == {"megatron_log", "dmesg"}
    assert len(names.facts("megatron_log", texts["megatron_log"])[0]["iterations"]) == 4000
    assert sum(line.startswith("saved as") for line in heard.left) + heard.alike == 1000
    assert [one.words for one in heard.failed] == ["the job was refused"]


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.glob("*.txt")))
def test_a_long_text_of_a_tool_is_read_as_one_of_which_nothing_is_left_out(
    sample: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(used_lines, "LONGEST", 10)
    told = []
    for alike in (10**9, 1):
        monkeypatch.setattr(used_lines, "ALIKE", alike)
        heard = reader.Heard()
        heard.take("a", (SAMPLES / sample).read_text())
        told.append({name for texts in heard.texts.values() for name in texts})
    assert told[0] == told[1]


def test_a_long_file_is_named_while_it_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for most, named in ((10**9, False), (10, True)):
        monkeypatch.setattr(program, "_LONG_BYTES", most)
        _status, said = pasted.answer_to(capsys, tmp_path, pasted.HEALTHY["ibstat"])
        assert ("1 of 1" in said) == named, said


def test_a_long_document_is_read_whole() -> None:
    text = json.dumps([{"step": number, "took": 1} for number in range(8000)], indent=1)
    assert len(text) > used_lines.LONGEST
    heard = reader.Heard()
    heard.take("a.json", text)
    assert heard.alike == 0


def test_readings_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "mlx5_0 port 1 ==> ib0 (Up)\n" + "so it is\n" * 40 + "mlx5_1 port 1 ==> ib1 (Up)\nand so on\n"
    assert len(told(text, tool="ibdev2netdev")) == 2
    monkeypatch.setattr(used_lines, "READINGS", 1)
    assert len(told(text, tool="ibdev2netdev")) == 42


def test_wordings_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    ports = ["mlx5_0 port 1 ==> ib0 (Up)", "mlx5_1 port 1 ==> ib1 (Up)"]
    text = f"{ports[0]}\nit failed\nno such thing\n{ports[1]}\n"
    monkeypatch.setattr(used_lines, "LONGEST", 10)
    assert told(text, tool="ibdev2netdev") == ports
    monkeypatch.setattr(used_lines, "WORDINGS", 1)
    assert told(text, tool="ibdev2netdev") == [ports[0], "no such thing", ports[1]]


def test_of_outputs_without_a_word_between_so_many_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reader, "_AGAIN", 1)
    status, said = pasted.answer_to(capsys, tmp_path, pasted.HEALTHY["ibstat"] * 3)
    assert (status, said.count("read ibstat"), "already listed" in said) == (3, 1, True), said


def test_of_many_hosts_some_are_asked_about(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reader, "_HOSTS_ASKED", 1)
    fine, down = pasted.HEALTHY["ibstat"], pasted.DOWN
    text = "".join(f"node{at}: {line}\n" for at, host in enumerate((fine, down)) for line in host.splitlines())
    status, said = pasted.answer_to(capsys, tmp_path, text)
    assert (status, "Down/Polling" in said, "unread" in said) == (1, True, False), said


@pytest.mark.parametrize(
    ("line", "fails"),
    [
        ("Error: whatever went wrong", True),
        ("E: Unable to correct problems, you have held broken packages.", True),
        ("构建失败", True),
        ("Error: No such device", True),
        ("error: not found", True),
        ("error running hook #0: exit status 1", True),
        ("Connection timeout: peer 10.0.0.2", True),
        ("Timeout(ms)=1800000", False),
        ("Recovery Action Error: None", False),
        ("        Errors                        : 0", False),
        ("Remapping Failure Occurred            : No", False),
        ("a:1:2 [0] NCCL INFO TORCH_NCCL_ASYNC_ERROR_HANDLING set by environment to 1", False),
        ("error_handling: on", False),
        ("0 errors, 3 warnings", False),
        ("mlx5_0 port 1 ==> ib0 (Up)", False),
    ],
)
def test_words_of_failure(line: str, fails: bool) -> None:
    assert used_lines.fails(line) == fails


@pytest.mark.parametrize("healthy", pasted.HEALTHY)
def test_what_is_healthy_alone_is_well(healthy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = pasted.answer_to(capsys, tmp_path, pasted.HEALTHY[healthy])
    assert (status, "FAIL" in said, "nothing is wrong" in said) == (0, False, True)


@pytest.mark.parametrize("failing", pasted.FAILING)
def test_what_fails_alone_is_told(failing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _typed, text, words = pasted.FAILING[failing]
    status, said = pasted.answer_to(capsys, tmp_path, text)
    assert status != 0
    assert re.search(words, said), said


@pytest.mark.parametrize(("failing", "healthy", "way", "first"), PAIRS[::29] if not cases.ALL else PAIRS)
def test_a_failure_beside_a_healthy_output_is_told(
    failing: str, healthy: str, way: str, first: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed, text, words = pasted.FAILING[failing]
    alone = pasted.answer_to(capsys, tmp_path, text)[0]
    both = [(text, typed), (pasted.HEALTHY[healthy], pasted.TYPED[healthy])]
    (one, its), (two, other) = both if first else both[::-1]
    status, said = pasted.answer_to(capsys, tmp_path, pasted.WAYS[way].format(one, two, its, other))
    assert re.search(words, said), said
    assert status in ((1, 2) if alone in (1, 2) else (1, 2, 3)), said


OUTPUTS = sorted(itertools.combinations(sorted(pasted.HEALTHY), 2))


@pytest.mark.parametrize(("one", "two"), OUTPUTS[::7] if not cases.ALL else OUTPUTS)
def test_two_healthy_outputs_of_a_host_accuse_nobody(
    one: str, two: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = pasted.answer_to(capsys, tmp_path, pasted.HEALTHY[one] + pasted.HEALTHY[two])
    assert (status, "FAIL" in said) == (0, False), said


def _cut(text: str) -> Iterator[str]:
    """The text without its last line, cut within the line at two thirds, and without its first line."""
    lines = text.rstrip("\n").splitlines(keepends=True)
    most = len(lines) * 2 // 3
    yield "".join(lines[:-1])
    yield "".join(lines[:most]) + lines[most][: len(lines[most]) // 2] + "\n"
    yield "".join(lines[1:]) + "\n"


ORDERED = sorted(itertools.permutations(sorted(pasted.HEALTHY), 2))


@pytest.mark.parametrize(("one", "two"), ORDERED[::11] if not cases.ALL else ORDERED)
def test_a_cut_output_is_not_well_because_another_stands_beside_it(
    one: str, two: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    *ended, begun = _cut(pasted.HEALTHY[one])
    for cut, both in (
        *((cut, cut + pasted.HEALTHY[two]) for cut in ended),
        (begun, pasted.HEALTHY[two] + begun),
    ):
        if pasted.answer_to(capsys, tmp_path, cut)[0] != 0:
            status, said = pasted.answer_to(capsys, tmp_path, both)
            assert status != 0, said


def test_a_text_that_no_check_goes_by_hides_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = (
        "RuntimeError: Connection reset by peer\n"
        "[2023-03-08 23:09:10,901] [INFO] [launch.py:318:sigkill_handler] Killing subprocess 15884\n"
        "[2023-03-08 23:09:10,911] [ERROR] [launch.py:324:sigkill_handler] run_clm.py exits with return code = 1\n"
    )
    status, said = pasted.answer_to(capsys, tmp_path, pasted.HEALTHY["ibv_devinfo"] + log)
    assert (status, "Connection reset by peer" in said) == (2, True), said


def test_the_fabric_s_lines_of_nvidia_smi_are_judged_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "        Fabric\n            State : {}\n            Status : {}\n"
    status, said = pasted.answer_to(capsys, tmp_path, text.format("In Progress", "N/A"))
    assert (status, "nvlink.fabric.state GPU 0: In Progress" in said) == (2, True), said
    assert pasted.answer_to(capsys, tmp_path, text.format("Completed", "Success"))[0] == 0


def test_the_same_tool_s_second_output_is_another_host_s(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = pasted.answer_to(capsys, tmp_path, pasted.HEALTHY["ibstat"] + pasted.DOWN)
    assert (status, said.count("read ibstat"), "Down/Polling" in said) == (1, 2, True), said


@pytest.mark.parametrize(
    ("text", "status", "line"),
    [
        ("[1700000000.123456] ERROR the application caught fire\n", 2, "the application caught fire"),
        ("[    0.123456] ERROR disk /dev/sda is gone\n" * 2, 2, "disk /dev/sda is gone"),
        ("Whatever failed in my script\n", 3, "Whatever failed in my script"),
    ],
)
def test_a_text_of_no_tool_is_read_as_none_and_its_failing_line_is_told(
    text: str, status: int, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, said = pasted.answer_to(capsys, tmp_path, text)
    assert (answer, "nothing is wrong" in said, "read " in said) == (status, False, False), said
    assert line in said


def test_who_pastes_a_few_lines_of_the_kernel_s_log_has_chosen_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "[21852.777689] eth9: hw csum failure\n"
    excerpt = f"{line}[21852.779948] skb len=180 headroom=98\n"
    status, said = pasted.answer_to(capsys, tmp_path, excerpt)
    assert (status, f"nobody here knows the line '{line.strip()}'" in said) == (3, True), said
    whole = f"[    0.000000] Linux version 6.8.0-88-generic (x@y)\n[    0.000000] Command line: quiet\n{excerpt}"
    assert pasted.answer_to(capsys, tmp_path, whole)[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        "[2024-03-20 20:31:29,210] [INFO] [launch.py:315:handler] Killing subprocess 33\n[2024-03-20] [INFO] done\n",
        "#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n     0         1000         0.05   0.06  0.05\n",
    ],
)
def test_a_form_that_others_have_too_names_no_tool(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = pasted.answer_to(capsys, tmp_path, text)
    assert (status, "read " in said) == (3, False), said


def test_a_driver_s_name_alone_makes_no_line_the_kernel_s(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "[W agent.cpp:916] RPC agent for 3 met an error on the socket: Connection reset by peer (from tensorpipe)\n"
    status, said = pasted.answer_to(capsys, tmp_path, text)
    assert ("dmesg" in said, "Connection reset by peer" in said) == (False, True), said
    assert status > 1


def test_a_connection_that_another_program_was_refused_is_not_nccl_s(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = pasted.answer_to(
        capsys, tmp_path, "[ERROR] could not connect to ssh://192.0.2.9:22 - Connection refused\n"
    )
    assert (status, "nccl" in said) == (2, False), said


def test_what_is_marked_as_an_error_is_one_of_no_tool_s(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = pasted.answer_to(capsys, tmp_path, "Error: whatever went wrong in my script\n")
    assert (status, "read " in said) == (2, False), said
    assert "a program says 'whatever went wrong in my script'" in said


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("Failed to do what it should\n", "a program"),
        ("net_frob: probe of 0000:af:00.2 aborted\n", "net_frob"),
        ("Mar  1 10:00:00 n1 frobd[9]: NUMA: Failed to open /x: Permission denied\n", "frobd"),
        ("2026-03-01T10:00:00.1+00:00 n1 frobd[9]: frobd: error: node n1 refused\n" * 2, "frobd"),
        ("[91169.52] [ERROR]Cannot reach it - error: [XORG] (EE) ended\n", "a program"),
        ("frob_init(): No such device\n", "frob_init"),
        ("I0907 09:51:27.066132 2912728 utils.go:749] Run(): -E- Failed to open the device\n", "a program"),
        ("[2026-08-23T15:24:51.390] gres/gpu: _merge: Could not find a record\n", "gres/gpu"),
        (f"{'-' * 74}\nWARNING: There was an error initializing it.\n\n  Local host: n1\n{'-' * 74}\n", "Open MPI"),
        ("[n1:14791:0:14791] ib_mlx5_log.c:139  Remote QP on mlx5_0:1/IB (synd 0x14 vend 0x89 hw_synd 0/0)\n", "UCX"),
        ("root@n1:~# rxe_cfg add eth0\ncannot add it\n", "rxe_cfg"),
        ("root@n1:~# docker logs 1f\nUnable to stop the engine\n", "a program"),
        ("NodeName=n1 Arch=x86_64\n   State=IDLE+DRAIN\n   Reason=gpu count is too low [slurm@2026-03-01]\n", "Slurm"),
    ],
)
def test_a_complaint_of_no_known_form_is_one_of_who_says_it(
    text: str, who: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = pasted.answer_to(capsys, tmp_path, text)
    assert (status, "read " in said, f"FAIL    {who} says '" in said) == (2, False, True), said
    assert "nobody here knows" not in said


def test_of_a_traceback_the_exception_is_told_and_the_rest_is_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head, frame = (
        "Traceback (most recent call last):\n",
        '  File "/x/errors/failing.py", line 3, in fail\n    raise E("failed")\n',
    )
    chain = "\nThe above exception was the direct cause of the following exception:\n\n"
    text = f"{head}{frame}RuntimeError: it broke\n{chain}{head}{frame}{frame}ValueError: so it is\n"
    status, said = pasted.answer_to(capsys, tmp_path, text)
    assert (status, said.count("FAIL"), "nobody here knows" in said, "unread" in said) == (2, 2, False, False), said


def test_a_gpu_that_is_not_found_need_not_have_fallen_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "Unable to determine the device handle for GPU 0000:D8:00.0: {}\n"
    said = pasted.answer_to(capsys, tmp_path, text.format("Not Found"))[1]
    assert "or this driver does not take the model" in said
    assert "driver does not take" not in pasted.answer_to(capsys, tmp_path, text.format("Unknown Error"))[1]


def test_comments_and_a_prompt_make_no_text_of_a_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = pasted.answer_to(capsys, tmp_path, "# a\n\n# b\n\n# c\n[ something of mine ]\n")
    assert (status, "no tool is known" in said) == (3, True), said


def test_how_many_lines_nobody_read_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"Dear all,\nmy ports:\n{pasted.HEALTHY['ibstat']}What do you say?\n"
    assert "3 lines are unread, the first: 'Dear all,'" in pasted.answer_to(capsys, tmp_path, text)[1]


def test_what_is_typed_goes_before_any_guess(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "root@n1:~# ibping -c 3 12\nibwarn: [4711] _do_madrpc: recv failed: Connection timed out\n"
    status, said = pasted.answer_to(capsys, tmp_path, text)
    assert (status != 0, "ibhosts" in said, "Connection timed out" in said) == (True, False, True), said


def _rules() -> dict[str, Any]:
    path = THREADS / "rules.py"
    return runpy.run_path(str(path))["RULES"] if path.exists() else {}


def _recorded(well: bool) -> dict[str, str]:
    """Outputs of the corpus that are well beyond doubt, or not."""
    found = {}
    for sidecar in sorted(CORPUS.glob("*/*.json")):
        name = f"{sidecar.parent.name}/{sidecar.stem}"
        case = {**json.loads(sidecar.read_text()), **ERRATA.get(name, {})}
        if case.get("verdict_hint") and not case.get("acceptable") and (case["verdict_hint"] == "healthy") == well:
            found[name] = text_of(sidecar)
    return found


@pytest.mark.thorough
@pytest.mark.skipif(not THREADS.is_dir(), reason=f"no corpus at {THREADS} (set IBREADY_CORPUS)")
def test_whatever_fails_is_not_well_behind_a_healthy_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Drawn pairs; `IBREADY_PAIRS` says how many, for a day with more time."""
    threads = {name: (THREADS / f"{name}.txt").read_text() for name, (kind, *_) in _rules().items() if kind != "H"}
    failing = {**threads, **_recorded(False), **{name: text for name, (_typed, text, _words) in pasted.FAILING.items()}}
    healthy = {**_recorded(True), **pasted.HEALTHY}
    pairs = random.Random(46).sample(
        sorted(itertools.product(sorted(failing), sorted(healthy))), int(os.environ.get("IBREADY_PAIRS", "150"))
    )
    alone = functools.cache(lambda text: pasted.answer_to(capsys, tmp_path, text)[0])
    green, asked = [], 0
    for bad, good in pairs:
        # A head without a line is told by what is around it.
        if alone(failing[bad]) not in (1, 2) or alone(healthy[good]) != 0 or len(failing[bad].splitlines()) < 2:
            continue
        asked += 1
        if pasted.answer_to(capsys, tmp_path, f"{healthy[good].rstrip()}\n{failing[bad]}")[0] == 0:
            green.append((bad, good))
    assert (green, asked > len(pairs) // 3) == ([], True)


@pytest.mark.thorough
@pytest.mark.skipif(not THREADS.is_dir(), reason=f"no corpus at {THREADS} (set IBREADY_CORPUS)")
def test_threads_are_answered_by_the_rules_beside_them(capsys: pytest.CaptureFixture[str]) -> None:
    right, green, accused = [], [], []
    for name, (kind, needed, never) in _rules().items():
        status, said = pasted.answer(capsys, THREADS / f"{name}.txt")
        if kind == "H":
            fits = status in (0, 3) and "FAIL" not in said
            accused += [] if fits else [name]
        else:
            green += [name] if status == 0 else []
            has = [re.search(words, said, re.IGNORECASE | re.DOTALL) is not None for words in (*needed, *never)]
            fits = status != 0 and has == [True] * len(needed) + [False] * len(never)
        right += [name] if fits else []
    assert (green, accused) == ([], [])
    assert len(right) >= RIGHT, sorted(set(_rules()) - set(right))
