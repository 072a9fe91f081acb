# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import dkms_status
from ansible_collections.ibready.cluster.plugins.module_utils._parse.dkms_status import Entry

KERNEL = "6.1.0-40-amd64"


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("nvidia/580.95.05: added", Entry("nvidia", "580.95.05", "", "", "added")),
        (f"nvidia/580.95.05, {KERNEL}, x86_64: installed", Entry("nvidia", "580.95.05", KERNEL, "x86_64", "installed")),
        (f"nvidia, 470.82.01, {KERNEL}, x86_64: built", Entry("nvidia", "470.82.01", KERNEL, "x86_64", "built")),
        ("mlnx-ofed-kernel, 5.8: added", Entry("mlnx-ofed-kernel", "5.8", "", "", "added")),
        (
            "iser/5.8, 4.18.0-1.el8, x86_64: installed-weak from 4.18.0-0.el8",
            Entry("iser", "5.8", "4.18.0-1.el8", "x86_64", "installed-weak", "4.18.0-0.el8"),
        ),
        (
            f"virtio/1.0, {KERNEL}, x86_64: installed (original_module exists)"
            " (WARNING! Diff between built and installed module!)",
            Entry(
                *("virtio", "1.0", KERNEL, "x86_64", "installed", ""),
                "original_module exists; WARNING! Diff between built and installed module!",
            ),
        ),
        ("evdi/1.14.1: broken", Entry("evdi", "1.14.1", "", "", "broken")),
    ],
)
def test_a_line_of_either_release_is_read(line: str, entry: Entry) -> None:
    assert dkms_status.parse(line + "\n") == (entry,)
    assert entry.installed == entry.state.startswith("installed")


def test_no_module_is_an_answer_and_what_dkms_says_beside_it_none() -> None:
    assert dkms_status.parse("") == ()
    aside = "Deprecated feature: REMAKE_INITRD (/var/lib/dkms/a/1/source/dkms.conf)\na/1: added\n"
    assert dkms_status.parse(aside) == (Entry("a", "1", "", "", "added"),)


@pytest.mark.parametrize(
    "text",
    [
        "Error! Could not locate dkms.conf file.\n",
        f"nvidia/580, {KERNEL}: installed\n",
        "nvidia: added\n",
        f"nvidia/580, {KERNEL}, x86_64: INSTALLED\n",
        f"nvidia/580, {KERNEL}, x86_64: insta",
    ],
)
def test_what_is_not_understood_gives_no_answer(text: str) -> None:
    if text.endswith("insta"):
        # Cut off within a word it still is one line; its state counts as none that is installed.
        assert not dkms_status.parse(text)[0].installed
        return
    with pytest.raises(ParseError, match="dkms_status: line 1"):
        dkms_status.parse(text)


_WORDS = st.text(st.sampled_from("abz019.+-_"), min_size=1, max_size=12)


@given(_WORDS, _WORDS, _WORDS, st.sampled_from(["built", "installed"]), st.sampled_from("/,"))
def test_whatever_the_names_they_come_back(name: str, version: str, kernel: str, state: str, parted: str) -> None:
    parts = f"{name}/{version}" if parted == "/" else f"{name}, {version}"
    (entry,) = dkms_status.parse(f"{parts}, {kernel}, x86_64: {state}\n")
    assert (entry.name, entry.version, entry.kernel, entry.state) == (name, version, kernel, state)


@given(st.text(max_size=200))
def test_any_text_gives_entries_or_a_parse_error(text: str) -> None:
    try:
        found = dkms_status.parse(text)
    except ParseError:
        return
    assert all(one.name and one.version and one.state for one in found)
