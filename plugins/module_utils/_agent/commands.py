# SPDX-License-Identifier: GPL-3.0-or-later
"""The subcommands of `ibready` for schedulers and timers. Light: each imports what it needs."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any, Callable

from ansible_collections.ibready.cluster.plugins.module_utils._agent import settings as agent

NOT_DONE = 1
# For one command that only metrics need: the verdict is there already and has to be told.
_METRIC_S = 10.0


def add(commands: Any) -> None:
    """Add them to the program's parser (what add_subparsers returned)."""
    _add(commands, "look", _look, "judge this node and remember it in /run/ibready (the timer)")
    metrics = _add(commands, "metrics", _metrics, "look, and write metrics for Prometheus")
    metrics.add_argument("--textfile", metavar="DIR", required=True, help="the collector's folder")
    _add(commands, "slurm-health", _slurm_health, "Slurm's HealthCheckProgram: drain, give back")
    _add(commands, "slurm-prolog", _slurm_prolog, "Slurm's Prolog: may a job start here?")
    npd = _add(commands, "npd", _npd, "a plugin of Kubernetes' node-problem-detector")
    npd.add_argument("--length", metavar="N", type=int, default=80, help="of the message")


def _add(commands: Any, name: str, run: Callable[..., int], words: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=words)
    told = f"{agent.PATH} where that is there"
    parser.add_argument("--settings", metavar="FILE", help=f"default: {told}")
    parser.set_defaults(run=run)
    return parser


def _settings(given: argparse.Namespace, parser: argparse.ArgumentParser) -> agent.Settings:
    try:
        return agent.load(given.settings)
    except agent.SettingsError as exc:
        parser.error(str(exc))


def _look(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from ansible_collections.ibready.cluster.plugins.module_utils._agent import judge, policy
    from ansible_collections.ibready.cluster.plugins.module_utils._checks import _model

    known = _settings(given, parser)
    seen = judge.current(known, known.timer_age)
    bad = seen.trouble or seen.why
    told = policy.summary(seen, 200) if bad else _model.counts(seen.checks)
    age = int(time.time() - seen.looked_at)
    print(f"{seen.host} is {seen.verdict}: {told}{f', {age} s ago' if age else ''}")
    # A unit that failed for a verdict that was given would hide one that could not look.
    return NOT_DONE if seen.why else 0


def _metrics(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from ansible_collections.ibready.cluster.plugins.module_utils._agent import judge, metrics
    from ansible_collections.ibready.cluster.plugins.module_utils._agent.textfile import FormatError
    from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Live

    known = _settings(given, parser)
    seen = judge.current(known, known.timer_age)
    try:
        for why in metrics.write(given.textfile, seen, Live(known.root, _METRIC_S)):
            print(f"ibready: could not look: {why}", file=sys.stderr)
    except (OSError, FormatError) as exc:
        print(f"ibready: {given.textfile}/{metrics.FILE} was not written: {exc}", file=sys.stderr)
        return NOT_DONE
    if seen.why:
        print(f"ibready: no verdict: {seen.why}", file=sys.stderr)
        return NOT_DONE
    return 0


def _slurm_health(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from ansible_collections.ibready.cluster.plugins.module_utils._agent import slurm

    return slurm.health(_settings(given, parser))


def _slurm_prolog(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from ansible_collections.ibready.cluster.plugins.module_utils._agent import slurm

    return slurm.prolog(_settings(given, parser))


def _npd(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from ansible_collections.ibready.cluster.plugins.module_utils._agent import npd

    return npd.plugin(_settings(given, parser), given.length)
