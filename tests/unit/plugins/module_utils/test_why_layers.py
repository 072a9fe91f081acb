# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands around a text as it was printed is undone before it is read: the same fault in thirty-six forms."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._parse import layers
from tests.unit import pasted
from tests.unit.parsers import SAMPLES

NCCL = (
    "node1:77:88 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
    "node1:77:88 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>\n"
    "node1:77:88 [0] NCCL INFO Using network IB\n"
    "node1:77:99 [0] transport/net_ib.cc:1238 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<41001> with error "
    "12, opcode 0, len 0, vendor err 129\n"
)
XID = pasted.HEALTHY["dmesg"] + pasted.FAILING["Xid"][1]
# A text, and the check that has to fail in every form.
TEXTS = {
    "nccl": (NCCL, "nccl.log.errors"),
    "ibstat": (pasted.DOWN, "ib.port.idle"),
    "dmesg": (XID, "gpu.xid.fatal"),
    "table": ((SAMPLES / "nvsmi_table.txt").read_text(), "gpu.ecc.volatile"),
}
CHINESE = "训练失败\n"
# What input methods put in the place of ASCII's punctuation.
FULL = {ord(mark): ord(mark) + 0xFEE0 for mark in ":()[],;="}


def each(put: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: "".join(f"{put(line)}\n" for line in text.splitlines())


def numbered(before: str, after: str) -> Callable[[str], str]:
    return lambda text: "".join(f"{before}{at}{after}{line}\n" for at, line in enumerate(text.splitlines(), 1))


def wrapped(text: str) -> str:
    return "".join(f"{line[at : at + 80]}\n" for line in text.splitlines() for at in range(0, max(len(line), 1), 80))


FORMS: dict[str, Callable[[str], str | bytes]] = {
    "as it is": lambda text: text,
    "mail": each(lambda line: f"> {line}"),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CR": lambda text: text.replace("\n", "\r"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "no indentation": each(str.strip),
    "no-break spaces": lambda text: text.replace("  ", "\u00a0 "),
    "colours": each(lambda line: f"\x1b[31m{line}\x1b[0m"),
    "fences": lambda text: f"```\n{text}```\n",
    "a language": lambda text: f"```console\n{text}```\n",
    "details": lambda text: f"<details>\n<pre>\n{text}</pre>\n</details>\n",
    "Markdown escapes": lambda text: text.replace("_", "\\_"),
    "four spaces": each(lambda line: f"    {line}"),
    "trailing blanks": each(lambda line: f"{line}   "),
    "empty lines": each(lambda line: f"{line}\n"),
    "Chinese around": lambda text: f"{CHINESE}\n{text}\n谢谢\n",
    "English around": lambda text: f"Hi all, this is what I get:\n\n{text}\nAny idea?\n",
    "Kubernetes": each(lambda line: f"[pod/trainer-0/main] {line}"),
    "Ray": each(lambda line: f"(Worker pid=4711, ip=10.0.0.1) {line}"),
    "mpirun": each(lambda line: f"[1,0]<stdout>:{line}"),
    "pdsh": each(lambda line: f"gpu-7: {line}"),
    "Ansible ad hoc": lambda text: f"node1 | CHANGED | rc=0 >>\n{text}",
    "times": each(lambda line: f"2026-01-05T10:00:00.123456Z {line}"),
    "docker's JSON": each(lambda line: json.dumps({"log": f"{line}\n", "stream": "stdout", "time": "2026"})),
    "JSON lines": each(lambda line: json.dumps({"message": line, "level": "info"})),
    "a JSON string": lambda text: json.dumps(text),
    "Ansible stdout": lambda text: json.dumps({"changed": True, "rc": 0, "stderr": "", "stdout": text}, indent=4),
    "Ansible stdout_lines": lambda text: (
        f"ok: [node1] => {json.dumps({'out.stdout_lines': text.splitlines()}, indent=4)}\n"
    ),
    "cat -n": lambda text: "".join(f"{at:6}\t{line}\n" for at, line in enumerate(text.splitlines(), 1)),
    "grep -n": numbered("", ":"),
    "file:line": numbered("job.log:", ":"),
    "a Markdown table": each(lambda line: f"| {line} |"),
    "a list of strings": lambda text: "".join(f" {line!r},\n" for line in text.splitlines()),
    "entities": html.escape,
    "full-width": lambda text: text.translate(FULL),
}
NOT_YET: set[tuple[str, str]] = set()


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("form", FORMS)
def test_a_fault_is_found_in_whatever_form(
    form: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pasted.txt"
    told = FORMS[form](TEXTS[text][0])
    path.write_bytes(told if isinstance(told, bytes) else told.encode())
    said = pasted.answer(capsys, path)[1]
    assert (f"FAIL    {TEXTS[text][1]}" in said) == ((form, text) not in NOT_YET), said


def test_there_are_thirty_six_forms_of_which_four_texts_are_read() -> None:
    assert len(FORMS) * len(TEXTS) == 144
    assert len(NOT_YET) <= 4


def test_a_table_that_a_terminal_cut_is_put_together() -> None:
    assert layers.undone(wrapped(pasted.TABLE)).splitlines() == pasted.TABLE.splitlines()


@pytest.mark.parametrize(
    "text",
    [
        *pasted.HEALTHY.values(),
        NCCL,
        "1: lo: <LOOPBACK>\n2: eth0: <UP>\n",
        "{ not JSON\n",
        '"one" and "two"\n"three" or "four"\n',
        "node1:77:88 [0] x\nnode1:77:88 [0] y\n",
    ],
)
def test_what_has_no_layer_stays_as_it_is(text: str) -> None:
    assert layers.undone(text) == text


def test_layers_stand_in_each_other() -> None:
    line = "mlx5_0 port 1 ==> ib0 (Up)\n"
    text = json.dumps({"log": json.dumps({"message": f"[net_ib.cc:101](http://net_ib.cc:101/) &lt;{line}"})})
    assert layers.undone(text) == f"net_ib.cc:101 <{line}"
    assert layers.undone("one#012two\n") == "one\ntwo\n"


def test_a_long_text_keeps_its_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps("one\n" * 9)
    monkeypatch.setattr(layers, "LONGEST", 10)
    assert layers.undone(text) == text
    monkeypatch.setattr(layers, "LONGEST", 100)
    assert layers.undone(text) == "one\n" * 9


def test_layers_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "STEPS", 2)
    text = "one\n"
    for _step in range(3):
        text = json.dumps({"log": text})
    assert layers.undone(text) == json.dumps({"log": "one\n"}) + "\n"


@given(st.text(max_size=300) | st.recursive(st.text(max_size=9), st.lists, max_leaves=9).map(json.dumps))
def test_no_text_breaks_it(text: str) -> None:
    assert isinstance(layers.undone(text), str)


@pytest.mark.parametrize(
    "text",
    [
        '{"stdout":' * 800 + '"x"' + "}" * 800,
        '["' * 3000,
        f"'a'+{'-' * 20_000}1+'b'\n" * 2,
        f"'a'+{'1+' * 30_000}'b'\n" * 2,
    ],
)
def test_what_is_too_deep_stays_as_it_is(text: str) -> None:
    assert layers.undone(text) == text
