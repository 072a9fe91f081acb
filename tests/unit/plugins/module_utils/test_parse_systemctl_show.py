# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import systemctl_show

# systemd prints the properties in its own order, and none that a kind of unit does not have.
UNITS = """\
Id=apt-daily-upgrade.timer
LoadState=loaded
ActiveState=active

MainPID=4242
Id=slurmd.service
LoadState=loaded
ActiveState=active

MainPID=0
Id=openibd.service
LoadState=not-found
ActiveState=inactive
"""


@pytest.mark.parametrize("text", [UNITS, UNITS.replace("\n", "\r\n"), UNITS + "\n\n"])
def test_units_are_kept_apart(text: str) -> None:
    units = systemctl_show.parse(text).units
    assert {name: one.get("MainPID") for name, one in units.items()} == {
        "apt-daily-upgrade.timer": None,
        "slurmd.service": "4242",
        "openibd.service": "0",
    }


def test_an_empty_line_between_any_two_lines_parts_no_units() -> None:
    two = UNITS.split("\n\n", 1)[1]
    spread = "\n\n".join(line for line in two.split("\n") if line) + "\n"
    assert systemctl_show.parse(spread) == systemctl_show.parse(two)


def test_values_may_hold_anything() -> None:
    parsed = systemctl_show.parse("DefaultLimitMEMLOCK=infinity\nEnvironment=A=1 B=2\nEmpty=\n")
    assert parsed.all == {"DefaultLimitMEMLOCK": "infinity", "Environment": "A=1 B=2", "Empty": ""}


@pytest.mark.parametrize("text", ["", "\n", "Failed to connect to bus: Host is down\n", "lorem ipsum"])
def test_a_text_without_properties_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="no KEY=VALUE line"):
        systemctl_show.parse(text)
