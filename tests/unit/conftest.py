# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import gc
import json
import os
import secrets
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args
from hypothesis import core, settings

# A test run alone knows every check, as one that is run with the others; test_catalog_alone.py asks each area alone.
from ansible_collections.ibready.cluster.plugins.module_utils._verify import catalog as _catalog  # noqa: F401
from tests import cases

# How long an example takes is the machine's day, and no test's matter. What is drawn is the same every day.
settings.register_profile("everyday", deadline=None, database=None, derandomize=True, max_examples=50)
settings.register_profile("all", deadline=None, database=None)
settings.load_profile("all" if cases.ALL else "everyday")
# Of what tests keep hardly anything is garbage, and to look through all of it again and again is a part of the time:
# a look at a node alone makes 200,000 objects that go by themselves.
gc.freeze()
gc.set_threshold(2_000_000, 20, 1000)


LEFT_OUT = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Where examples are drawn at random, all of them by one seed that can be given again."""
    if cases.ALL and config.getoption("--hypothesis-seed", None) is None:
        # Workers of xdist are given the options of the process that starts them.
        config.option.hypothesis_seed = str(secrets.randbits(32))
        core.global_force_seed = int(config.option.hypothesis_seed)


# After -k and -m: they choose among all.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items[:], left = cases.everyday(items)
    config.stash[LEFT_OUT] = len(left)
    if left:
        config.hook.pytest_deselected(items=left)


def pytest_sessionfinish() -> None:
    """Look once for what was left unclosed: pytest looks five times, and each takes seconds with all that is kept."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if cases.ALL:
        seed = terminalreporter.config.getoption("--hypothesis-seed", None)
        terminalreporter.write_line(f"the same examples again: --hypothesis-seed={seed}")
    if left := terminalreporter.config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"{left} thorough tests were left out; IBREADY_CASES=all runs them")


@pytest.fixture(scope="session", autouse=True)
def no_agent_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """gpg starts an agent for every home, which stays and takes two of the machine's 128 inotify instances: after
    some runs of the tests no container booted any more."""
    yield
    # Not rglob: folders may go while this looks, where another run cleans up.
    for folder, inner, _ in os.walk(tmp_path_factory.getbasetemp()):
        if "private-keys-v1.d" in inner:
            subprocess.run(["gpgconf", "--homedir", folder, "--kill", "all"], capture_output=True, check=False)


@pytest.fixture
def run_module(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """Run a module's ``main`` with the given arguments and hand back its JSON."""

    def run(main: Callable[[], None], *, check: bool = False, **args: Any) -> dict[str, Any]:
        warned: list[str] = []
        with pytest.MonkeyPatch.context() as patch:
            # A process that has loaded the controller's plugins shows warnings, and returns none.
            patch.setattr(AnsibleModule, "warn", lambda _module, text: warned.append(text))
            given = patch_module_args({**args, "_ansible_check_mode": check})
            with given, pytest.raises(SystemExit):
                main()
        result: dict[str, Any] = json.loads(capsys.readouterr().out)
        return {**result, "warnings": warned} if warned else result

    return run
