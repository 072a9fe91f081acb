# SPDX-License-Identifier: GPL-3.0-or-later
"""Buckets and accumulation: each launcher's own word, and a note where there is none."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch import make
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch.words import LaunchError
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.launchers import KINDS
from tests.unit.launch_hosts import two

BUCKET, STEPS = "launch_bucket_mb", "launch_accumulation"


def made(kind: str = make.ALL, **said: Any) -> make.Made:
    return make.make(two(), ["n1", "n2"], kind, {"image": "site/torch:1", **said})


@pytest.mark.parametrize(
    ("kind", "said", "expected"),
    [
        ("horovod", {"bucket_mb": 64}, "  --fusion-threshold-mb 64 \\\n"),
        ("megatron", {"bucket_mb": 160}, "pretrain_gpt.py --overlap-grad-reduce --ddp-bucket-size 41943040\n"),
        ("accelerate", {"accumulation": 4}, "\nexport ACCELERATE_GRADIENT_ACCUMULATION_STEPS=4\n"),
    ],
)
def test_a_launcher_with_a_word_for_it_gets_it(kind: str, said: dict[str, int], expected: str) -> None:
    text = made(kind, **said).files[f"{kind}.sh"]
    assert expected in text
    assert BUCKET not in text
    assert STEPS not in text


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize(("said", "variable"), [({"bucket_mb": 64}, BUCKET), ({"accumulation": 4}, STEPS)])
def test_every_script_sets_it_or_says_whose_word_it_is(kind: str, said: dict[str, int], variable: str) -> None:
    found, plain = (made(kind, **given).files[f"{kind}.sh"] for given in (said, {}))
    noted = [line for line in found.splitlines() if line.startswith(f"# NOTE: {variable} is not set by this script")]
    rest = [line for line in found.splitlines() if line not in noted]
    assert (len(noted), rest == plain.splitlines()) in ((1, True), (0, False))


@pytest.mark.parametrize("argument", ["--ddp-bucket-size", "--ddp-bucket-size=1000"])
def test_what_the_site_says_to_megatron_itself_counts(argument: str) -> None:
    text = made("megatron", bucket_mb=160, arguments=[argument]).files["megatron.sh"]
    assert f"{argument} --overlap-grad-reduce\n" in text
    assert "41943040" not in text


def test_the_files_that_scripts_share_are_the_same_for_all() -> None:
    said = {"bucket_mb": 64, "accumulation": 4}
    whole = made(**said).files
    for kind in KINDS:
        assert {name: whole[name] for name in KINDS[kind].parts} == made(kind, **said).files


@pytest.mark.parametrize("name", ["bucket_mb", "accumulation"])
def test_less_than_nothing_is_refused(name: str) -> None:
    with pytest.raises(LaunchError, match=f"{name}: -1 is less than 1"):
        made(**{name: -1})
