# SPDX-License-Identifier: GPL-3.0-or-later
"""The three forms of ``nvidia-smi nvlink``: status, error counters, capabilities."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nvlink_caps, nvlink_errors, nvlink_status
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nvlink import Header
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nvlink_errors import Counter
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nvlink_status import Link

HEAD = "GPU {}: NVIDIA A100-SXM4-80GB (UUID: GPU-0000{}-5151-4dad)\n"
STATUS = (
    HEAD.format(0, 0)
    + "\t Link 0: 25 GB/s\n\t Link 1: 25 GB/s\n"
    + HEAD.format(1, 1)
    + "\t Link 0: 25 GB/s\n\t Link 1: <inactive>\n"
)
ERRORS = HEAD.format(0, 0) + "\t Link 0: Replay Errors: 0\n\t Link 0: CRC Errors: 7\n\t Link 1: Replay Errors: 65535\n"
CAPS = HEAD.format(0, 0) + ("\t Link 0, P2P is supported: true\n\t Link 0, P2P atomics supported: false\n")
MIG = "Nvlink queries are not supported for Devices in MIG mode"


def layouts(text: str) -> list[Any]:
    return [
        pytest.param(text.replace("\t", ""), id="indentation lost"),
        pytest.param(text.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(text.replace("\n", "\n\n"), id="blank line between every line"),
        pytest.param(text.replace("Link", "\x1b[1mLink\x1b[0m"), id="coloured"),
        pytest.param("".join(2 * f"{line}\n" for line in text.splitlines()), id="doubled"),
    ]


@pytest.mark.parametrize("text", layouts(STATUS))
def test_every_layout_of_the_status_gives_the_same_links(text: str) -> None:
    assert nvlink_status.parse(text) == nvlink_status.parse(STATUS)


@pytest.mark.parametrize("text", layouts(ERRORS))
def test_every_layout_of_the_counters_gives_the_same_counters(text: str) -> None:
    assert nvlink_errors.parse(text) == nvlink_errors.parse(ERRORS)


def test_links_are_up_or_down() -> None:
    first, second = nvlink_status.parse(STATUS).gpus
    assert first.gpu == Header(0, "NVIDIA A100-SXM4-80GB", "GPU-00000-5151-4dad")
    assert first.links == (Link(0, 25.0), Link(1, 25.0))
    assert (len(second.active), second.down) == (1, (Link(1, None, "inactive"),))
    assert not first.cut


def test_what_is_not_supported_besides_links_is_no_remark() -> None:
    text = "GPU 6: NVIDIA H100 80GB HBM3 ...\n  what():  OS call failed or operation not supported on this OS\n"
    assert nvlink_status.parse(text).gpus[0].messages == ()


@pytest.mark.parametrize(
    "message",
    [
        MIG,
        "Device does not have or support Nvlink",
        "NVML: Unable to retrieve NVLink information as all links are inActive",
        "NVML:Unable to retrieve Nvlink information as all links are inactive",
    ],
)
def test_a_remark_in_place_of_links_is_kept(message: str) -> None:
    (gpu,) = nvlink_status.parse(f"{HEAD.format(3, 3)}{message}\n").gpus
    assert (gpu.gpu.index, gpu.links, gpu.messages) == (3, (), (message,))
    told = nvlink_status.parse(f"{message}\n")
    (alone,) = told.headless
    assert (told.gpus, alone.gpu, alone.messages) == ((), Header(), (message,))
    assert nvlink_status.facts(told)["n_gpus"] == 0


@pytest.mark.parametrize(
    ("more", "elided"),
    [
        pytest.param("\t...\n", True, id="an ellipsis"),
        pytest.param("  [snip]\n", True, id="snip"),
        pytest.param("\t Link 2: 26.5", False, id="a line that ends early"),
        pytest.param("\t Link 2:", False, id="a line without a value"),
        pytest.param("Verbindung 2: 25 GB/s\n", False, id="a line that nobody knows"),
    ],
)
def test_a_listing_that_is_not_whole_says_so(more: str, elided: bool) -> None:
    gpu = nvlink_status.parse(f"{STATUS}{more}").gpus[-1]
    assert (gpu.cut, gpu.elided, len(gpu.links)) == (True, elided, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "empty output", id="empty"),
        pytest.param("bash: nvidia-smi: command not found", "line 1", id="foreign text"),
        pytest.param(
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
            "gave up",
            id="no driver",
        ),
        pytest.param(STATUS * 2, "already listed", id="two hosts in one text"),
    ],
)
def test_a_status_that_cannot_be_trusted_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        nvlink_status.parse(text)


def test_a_refusal_is_kept_beside_the_links() -> None:
    line = "Unable to determine the device handle for GPU0000:8F:00.0: Unknown Error"
    assert nvlink_status.parse(f"{STATUS}{line}\n").error_lines == (line,)
    with pytest.raises(ParseError) as caught:
        nvlink_errors.parse(line)
    assert caught.value.error_lines == (line,)


def test_headings_and_prompts_around_a_listing_are_no_gpus() -> None:
    shown = "$ nvidia-smi nvlink -s\n" + STATUS.replace("GPU 1", "=== NVLink of GPU 1 ===\nGPU 1")
    found = nvlink_status.parse(shown)
    assert [one.gpu.index for one in found.gpus] == [0, 1]
    assert [one.links for one in found.gpus] == [one.links for one in nvlink_status.parse(STATUS).gpus]
    headed = "== NVLink errors of GPU 0 ==\n"
    assert nvlink_errors.parse(headed + ERRORS) == nvlink_errors.parse(ERRORS)


def test_several_counters_may_stand_on_one_line() -> None:
    text = HEAD.format(0, 0) + "\t Link 1: Replay Errors: 12, Recovery Errors: 0, CRC Errors: 34\n"
    assert nvlink_errors.parse(text).gpus[0].counters == (
        Counter(1, "Replay Errors", 12),
        Counter(1, "Recovery Errors", 0),
        Counter(1, "CRC Errors", 34),
    )


def test_counters_are_kept_by_link_and_lane() -> None:
    (gpu,) = nvlink_errors.parse(f"{ERRORS}\t Link 1, Lane 3: CRC Error Counter: 4\n").gpus
    assert gpu.nonzero == (
        Counter(0, "CRC Errors", 7),
        Counter(1, "Replay Errors", 65535),
        Counter(1, "CRC Error Counter", 4, 3),
    )
    assert len(gpu.counters) == 4


def test_rates_and_condensed_ranges_are_no_counters() -> None:
    text = (
        HEAD.format(0, 0)
        + "Links 0-2, 4-5: Replay/Recovery/CRC Errors: 0\n"
        + "Link 3: Effective BER: 15e-255\nLink 3: FEC Errors - 0: 36140700112\n"
    )
    (gpu,) = nvlink_errors.parse(text).gpus
    assert gpu.counters == (Counter(3, "FEC Errors - 0", 36140700112),)
    assert gpu.told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "empty output", id="empty"),
        pytest.param("no counters here", "no GPU and no counter", id="foreign text"),
        pytest.param(ERRORS * 2, "already listed", id="two hosts in one text"),
    ],
)
def test_counters_that_cannot_be_trusted_are_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        nvlink_errors.parse(text)


def test_capabilities_are_kept_by_name() -> None:
    (gpu,) = nvlink_caps.parse(CAPS).gpus
    assert gpu.links == {0: {"P2P": True, "P2P atomics": False}}
    told = nvlink_caps.parse(CAPS.partition("\n")[2])
    (headless,) = told.headless
    assert (headless.gpu, headless.links, told.gpus) == (Header(), gpu.links, ())
    assert "the line of its GPU" in told.cut


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(HEAD.format(0, 0), "no capability", id="a GPU and nothing more"),
        pytest.param(CAPS * 2, "already listed", id="two hosts in one text"),
    ],
)
def test_capabilities_that_cannot_be_trusted_are_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        nvlink_caps.parse(text)


def test_a_remark_stands_in_place_of_capabilities() -> None:
    (gpu,) = nvlink_caps.parse(f"{HEAD.format(0, 0)}{MIG}\n").gpus
    assert (gpu.links, gpu.messages) == ({}, (MIG,))


# Texts that were damaged


def listed(text: str) -> tuple[list[tuple[int | None, list[int], tuple[str, ...]]], str]:
    told = nvlink_status.parse(text)
    every = (*told.gpus, *told.headless)
    return [(one.gpu.index, [link.id for link in one.links], one.messages) for one in every], told.cut


@pytest.mark.parametrize(
    ("text", "gpus", "cut"),
    [
        pytest.param(STATUS, [(0, [0, 1], ()), (1, [0, 1], ())], "", id="whole"),
        pytest.param(
            STATUS.replace(HEAD.format(1, 1), ""),
            [(0, [0, 1], ()), (None, [0, 1], ())],
            "the line of a GPU",
            id="a GPU line lost",
        ),
        pytest.param(
            STATUS.replace("GPU 1: NVIDIA", "Device 1 NVIDIA"),
            [(0, [0, 1], ()), (None, [0, 1], ())],
            "the line of a GPU",
            id="an unknown headline",
        ),
        pytest.param(
            HEAD.format(0, 0) + "Device 1:\n\t Link 0: 25 GB/s\n",
            [(0, [], ()), (None, [0], ())],
            "the line of a GPU",
            id="an unknown headline, and no link before it",
        ),
        pytest.param(
            STATUS.partition("\n")[2],
            [(1, [0, 1], ()), (None, [0, 1], ())],
            "the line of a GPU",
            id="the first line lost",
        ),
        pytest.param(STATUS[: STATUS.index("GPU 1")].partition("\n")[2], [(None, [0, 1], ())], "its GPU", id="no GPU"),
        pytest.param(
            f"{STATUS}{MIG}\n", [(0, [0, 1], ()), (1, [0, 1], ()), (None, [], (MIG,))], "a GPU", id="links and a remark"
        ),
        pytest.param(
            f"{HEAD.format(0, 0)}{MIG}\nLink 0: 25 GB/s\n",
            [(0, [], (MIG,)), (None, [0], ())],
            "the line of a GPU",
            id="a remark and links",
        ),
        pytest.param(
            STATUS.replace("\t Link 0: 25 GB/s\n", "", 1),
            [(0, [1], ()), (1, [0, 1], ())],
            "lines of GPU 0",
            id="a link",
        ),
        pytest.param(STATUS[:-5], [(0, [0, 1], ()), (1, [0], ())], "within the line 'Link 1: <inact'", id="its end"),
        pytest.param(STATUS[:-1], [(0, [0, 1], ()), (1, [0, 1], ())], "it ends within", id="the last line end"),
        pytest.param(
            STATUS[: STATUS.index("A100", 80) + 4], [(0, [0, 1], ()), (1, [], ())], "it ends within", id="within a name"
        ),
    ],
)
def test_links_are_given_to_no_gpu_but_their_own(text: str, gpus: list[object], cut: str) -> None:
    assert (listed(text)[0], cut in listed(text)[1], bool(listed(text)[1])) == (gpus, True, bool(cut))
    told = nvlink_status.facts(nvlink_status.parse(text))
    assert (told["n_gpus"], told["cut"]) == (sum(one["index"] is not None for one in told["gpus"]), bool(cut))


def test_a_name_that_the_text_ends_within_is_none() -> None:
    last = nvlink_status.parse(STATUS[: STATUS.index("A100", 80) + 4]).gpus[-1]
    assert last.gpu == Header(1)


@pytest.mark.parametrize(
    ("text", "counters", "headless", "cut"),
    [
        pytest.param(ERRORS, 3, [], "", id="whole"),
        pytest.param(ERRORS.replace(": 7", ": many"), 2, [], "lines of GPU 0", id="no number"),
        pytest.param(ERRORS.replace("CRC Errors: 7", "CRC"), 2, [], "lines of GPU 0", id="no value"),
        pytest.param(ERRORS + "\t Link 0: CRC Errors: 7\n", 3, [1], "the line of a GPU", id="told twice"),
        pytest.param(ERRORS + ERRORS.partition("\n")[2], 3, [3], "the line of a GPU", id="a GPU line lost"),
        pytest.param(
            ERRORS + "GPU #1\n" + ERRORS.partition("\n")[2], 3, [3], "the line of a GPU", id="unknown headline"
        ),
        pytest.param(ERRORS[:-4], 2, [], "it ends within", id="a number that the text ends within"),
        pytest.param(f"{ERRORS}{MIG}\n", 3, [0], "the line of a GPU", id="a remark behind counters"),
        pytest.param(ERRORS + "\t[...]\n", 3, [], "somebody shortened it", id="an ellipsis"),
    ],
)
def test_counters_are_given_to_no_gpu_but_their_own(text: str, counters: int, headless: list[int], cut: str) -> None:
    told = nvlink_errors.parse(text)
    assert [len(one.counters) for one in told.gpus] == [counters]
    assert [len(one.counters) for one in told.headless] == headless
    assert (cut in told.cut, bool(told.cut)) == (True, bool(cut))
    assert nvlink_errors.facts(told)["cut"] is bool(cut)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param("\t Link 0, P2P is supported: false\n", id="another answer"),
        pytest.param(CAPS.partition("\n")[2], id="the same answers"),
    ],
)
def test_capabilities_are_given_to_no_gpu_but_their_own(more: str) -> None:
    told = nvlink_caps.parse(CAPS + more)
    assert [one.links for one in told.gpus] == [{0: {"P2P": True, "P2P atomics": False}}]
    assert [one.links[0]["P2P"] for one in told.headless] == ["false" not in more.partition("\n")[0]]
    assert nvlink_caps.facts(told)["cut"] is True
    assert nvlink_caps.parse(CAPS).cut == ""
