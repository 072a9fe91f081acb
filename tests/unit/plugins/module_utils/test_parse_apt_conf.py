# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import contextlib

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._parse import apt_conf

LEAVE = "unattended-upgrade::package-blacklist"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('APT::Periodic::Unattended-Upgrade "1";\n', [("apt::periodic::unattended-upgrade", "1")]),
        ('APT { Periodic { Unattended-Upgrade "0"; }; };', [("apt::periodic::unattended-upgrade", "0")]),
        (
            'Unattended-Upgrade::Package-Blacklist {\n  "nvidia-"; // "not this"\n#  "nor-this";\n'
            '  /* "nor";\n "this"; */ "libnvidia";\n};\n',
            [(LEAVE, "nvidia-"), (LEAVE, "libnvidia")],
        ),
        ('Unattended-Upgrade::Package-Blacklist:: "mlnx-";', [(LEAVE, "mlnx-")]),
        ('Acquire::http::Proxy "http://proxy:3128"; # here', [("acquire::http::proxy", "http://proxy:3128")]),
        ('A "1"; # it is // not "this"', [("a", "1")]),
        ('}}} "x";', [("", "x")]),
        ("", []),
    ],
)
def test_settings_are_read_with_their_full_names(text: str, found: list[tuple[str, str]]) -> None:
    assert apt_conf.settings(text) == found


@pytest.mark.parametrize(
    "text", ['A "1"; /* never closed', 'A { "1";', 'A { "1', 'A "1', 'A "1"', 'A "1"; B', 'A "1"; }} {']
)
def test_a_text_that_ends_too_early_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="the text ends within"):
        apt_conf.settings(text)


def test_options_of_an_ini_file_are_read() -> None:
    text = "[main]\n# exclude=no\nexcludepkgs = kernel*,\n  nvidia*\napply_updates=yes\n"
    assert apt_conf.options(text) == {"excludepkgs": "kernel*, nvidia*", "apply_updates": "yes"}


def test_packages_on_hold_are_found() -> None:
    status = "Package: bash\nStatus: install ok installed\n\nPackage: nvidia-driver-580\nStatus: hold ok installed\n\n"
    assert apt_conf.held(status) == ["nvidia-driver-580"]


@pytest.mark.parametrize("unit", ['{"a":', "a{", 'x "v" ', "{", "/**/", '"a" ', "a{}", "a{b;"])
def test_a_long_text_of_whoever_comes_back(unit: str) -> None:
    # What looks at a text again and again would not come back within the test run.
    text = unit * (1_000_000 // len(unit))
    with contextlib.suppress(ValueError):
        assert len(apt_conf.settings(text)) <= len(text)


def test_a_name_longer_than_any_of_apt_s_is_refused() -> None:
    name = "a" * (apt_conf._LONGEST - 2)
    assert apt_conf.settings(f'{name} "1";') == [(name, "1")]
    with pytest.raises(ValueError, match="a setting's name has more than 500 characters"):
        apt_conf.settings(f'{name}{{a "1";}}')
