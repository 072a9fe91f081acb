# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import redact
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.redact import MASK, masked

# So far behind a program an option is another's.
FAR = "x" * 220


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("quiet rd.iscsi.password=hunter2 iommu=pt", "hunter2"),
        ("rd.iscsi.in.password: hunter2", "hunter2"),
        ('cloud-init: api_key="hunter2 hunter3" ok', "hunter3"),
        ("ds=nocloud;s=http://user:hunter2@198.18.0.1/ iommu=pt", "hunter2"),
        ("BEARER_TOKEN=hunter2", "hunter2"),
        ("passphrase='hunter2'", "hunter2"),
        ('Environment=A=1 "DB_PASSWORD=correct hunter2 staple" B=2', "hunter2"),
        ("MYSQL_PWD=hunter2", "hunter2"),
        (f"token={MASK}hunter2", "hunter2"),
        ("SLURM_JWT=hunter2", "hunter2"),
        ("ssh_key=hunter2", "hunter2"),
        ("ExecStart=/bin/x --password hunter2 --user me", "hunter2"),
        ('Proxy "http://me:hun/ter2@proxy:3128/";', "ter2"),
        ("http://me:hun@ter2@proxy:3128/", "ter2"),
        (f"curl -s https://h/{FAR}; curl -u admin:hunter2 https://h", "hunter2"),
        (f"ipmitool -H b {FAR} sdr; ipmitool -H b -U a -P hunter2 sdr", "hunter2"),
        (f"curl https://h/{FAR} -u 'x; curl -u a:hunter2'", "hunter2"),
        ("curl -u ipmitool:curl-hunter2 https://h", "hunter2"),
        # Letters that are equal to others where case does not matter.
        ("\u0130 \u017fecret=hunter2", "hunter2"),
        ("ap\u0131_\u212aey=hunter2", "hunter2"),
    ],
)
def test_a_secret_is_masked_and_the_rest_stays(text: str, secret: str) -> None:
    shown = masked(text)
    assert secret not in shown
    assert MASK in shown
    assert ("iommu=pt" in shown) == ("iommu=pt" in text)


@pytest.mark.parametrize(
    "text",
    [
        "BOOT_IMAGE=/vmlinuz root=UUID=1 iommu=pt intel_iommu=on",
        "\t\tNode GUID: 0xa088c20300e3142a",
        "mlx5_core 0000:17:00.0: firmware version: 28.47.1026",
        "3: ib0: <UP> link/infiniband 00:00:10:49:fe:80:00:00",
        f"curl https://h/{FAR}; ps -u root; tar -u;",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == text


# Of every expression the words without which it is not tried.
TRIED = [
    *((words, re.compile(shape)) for words, shape in redact._SHAPES),
    *((words, line) for words, line, _options in redact._COMMANDS),
]


@pytest.mark.parametrize(("words", "shape"), TRIED, ids=[words for words, _shape in TRIED])
@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_an_expression_masks_has_a_word_by_which_it_is_tried(
    words: str, shape: re.Pattern[str], data: st.DataObject
) -> None:
    text = data.draw(st.from_regex(shape))
    assert any(word in redact._low(text) for word in words.split("|"))


@pytest.mark.parametrize("behind", ["", "key", "_key", "pw", "_psk"])
def test_where_the_name_of_a_secret_begins_is_looked_at(behind: str) -> None:
    for word in {*re.findall("[a-z]+", redact._NAME), "license", "preshared"}:
        text = f"?{word}{behind}={word}"
        assert {head.start() for head in redact._HEAD.finditer(text)} <= set(redact._places(text)), text


def test_it_takes_linear_time() -> None:
    # A quadratic expression would not come back from these within the test run.
    for text in ("password" * 20_000, "a" * 400_000, "http://" + "a:" * 400_000):
        assert masked(text) == text
