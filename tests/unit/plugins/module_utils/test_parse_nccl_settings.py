# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of NCCL are read in every form in which people write them down, and judged alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_settings
from tests.unit import pasted

HCA = "mlx5_0:1,mlx5_1:1"
FORMS = {
    "nccl.conf": f"# the rails\nNCCL_IB_HCA={HCA}\nNCCL_IB_DISABLE=1\n",
    "exports": f'export NCCL_IB_HCA="{HCA}"\nexport NCCL_IB_DISABLE=1  # for now\n',
    "in one line": f"NCCL_IB_HCA={HCA} NCCL_IB_DISABLE=1 python train.py\n",
    "csh": f"setenv NCCL_IB_HCA {HCA}\nsetenv NCCL_IB_DISABLE 1\n",
    "mpirun": f"mpirun -np 16 -x NCCL_IB_HCA={HCA} -x NCCL_IB_DISABLE=1 ./all_reduce_perf\n",
    "srun": f"srun --export=ALL,NCCL_IB_HCA={HCA},NCCL_IB_DISABLE=1 ./train\n",
    "Kubernetes": f'env:\n- name: NCCL_IB_HCA\n  value: "{HCA}"\n- name: NCCL_IB_DISABLE\n  value: "1"\n',
    "a map of YAML": f"env:\n  NCCL_IB_HCA: {HCA}\n  NCCL_IB_DISABLE: '1'\n",
    "JSON": f'{{"NCCL_IB_HCA": "{HCA}",\n "NCCL_IB_DISABLE": "1"}}\n'.replace('{"', '{\n"').replace("}", "\n}"),
    "Python": f"os.environ['NCCL_IB_HCA'] = '{HCA}'\nos.environ.setdefault(\"NCCL_IB_DISABLE\", \"1\")\n",
    "a Dockerfile": f"FROM pytorch\nENV NCCL_IB_HCA={HCA}\nENV NCCL_IB_DISABLE=1\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_setting_is_read_in_every_form(form: str) -> None:
    told = {one.name: one.value for one in nccl_settings.parse(FORMS[form]).settings}
    assert {**told, "NCCL_IB_DISABLE": told["NCCL_IB_DISABLE"].split()[0]} == {
        "NCCL_IB_HCA": HCA,
        "NCCL_IB_DISABLE": "1",
    }


@pytest.mark.parametrize("form", FORMS)
def test_settings_alone_are_judged(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = pasted.answer_to(capsys, tmp_path, FORMS[form])
    assert (status, "NCCL_IB_DISABLE=1" in said, "TCP" in said) == (1, True, True), said


@pytest.mark.parametrize(
    "text",
    [
        "n1:7:7 [0] NCCL INFO NCCL_IB_DISABLE=1\n",
        "# export NCCL_IB_DISABLE=1\n",
        "export NCCL_SOCKET_IFNAME=$IFACE\n",
        "$NCCL_HOME=x\n",
        "with `NCCL_IB_USE_INLINE=1` it hung\n",
        "",
    ],
)
def test_what_sets_nothing_is_none(text: str) -> None:
    with pytest.raises(ParseError):
        nccl_settings.parse(text)


def test_what_ncclconf_says_is_left_as_it_is() -> None:
    for text in ('NCCL_IB_HCA = "mlx5_0 mlx5_1"\n', "# rails\nNCCL_IB_HCA=mlx5_0, mlx5_1\n"):
        assert nccl_settings.parse(text * 2).conf.splitlines() == text.splitlines() * 2


def test_settings_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nccl_settings, "_MOST", 3)
    assert len(nccl_settings.parse("NCCL_DEBUG=INFO\n" * 9).settings) == 3


def test_beside_a_healthy_output_the_setting_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in (pasted.HEALTHY["ibstat"] + FORMS["exports"], FORMS["exports"] + pasted.HEALTHY["ibstat"]):
        status, said = pasted.answer_to(capsys, tmp_path, text)
        assert (status, "NCCL_IB_DISABLE=1" in said) == (1, True), said


@pytest.mark.parametrize("line", ["NCCL_LL128_BUFFSIZE=131072", "NCCL_CHUNK_SIZE=1048576", "NCCL_IB_USE_INLINE=1"])
def test_what_no_guide_has_is_a_doubt(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = pasted.answer_to(capsys, tmp_path, f"{line}\n")
    assert (status, "NVIDIA's guide does not have it" in said) == (1, True), said
    default = f"{line.partition('=')[0]}={'-2' if 'LL128' in line else 0}\n"
    assert pasted.answer_to(capsys, tmp_path, default)[0] == 0


@given(st.text(alphabet="NCCL_IB=:'\" \n-xename,$#0a{}[]", max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    try:
        read = nccl_settings.parse(text)
    except ParseError:
        return
    assert all(one.name in text for one in read.settings)
