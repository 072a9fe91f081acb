# SPDX-License-Identifier: GPL-3.0-or-later
"""What a module that answers from the engine leaves in a host's log."""

from __future__ import annotations

import syslog

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._engine import answer


def test_a_host_s_log_has_who_was_there_and_no_values(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(syslog, "openlog", lambda name, *_: logged.append(name))
    monkeypatch.setattr(syslog, "syslog", lambda _level, text: logged.append(text))
    monkeypatch.setattr(answer, "_given", {"_ansible_module_name": "x", "words": "tok\udce9en", "least": 3})

    asked = answer.Asked({"words": {"type": "str"}, "least": {"type": "int"}, "other": {"type": "str"}})

    assert asked.params == {"words": "tok\udce9en", "least": 3, "other": None}
    assert logged == ["ansible-x", "Invoked with words least"]
