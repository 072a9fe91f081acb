# SPDX-License-Identifier: GPL-3.0-or-later
"""The node program `ibready`: verify, collect, explain, parse and why without Ansible.

Built as one file by `./run build`. Exit status: 0 ready, 1 degraded, 2 not_ready, 3 unknown (or
nothing could be told), 64 usage. The commands for schedulers and timers have their own.
"""

# Of a program, not of a module: it prints and exits.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import json
import os
import platform
import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Iterator, NoReturn, Sequence

from .._ground import check as _model, strict
from .._ground.bound import Bound
from .._ground.text import escaped, printable
from .._ground.version import VERSION
from .._verify.catalog import CATALOG
from . import settings as agent

if TYPE_CHECKING:
    from .._verify.slow import Job
    from .._verify.why import Heard, Host

_NOT_DONE = 1
# For one command that only metrics need: the verdict is there already and has to be told.
_METRIC_S = 10.0
STATUS = {_model.READY: 0, _model.DEGRADED: 1, _model.NOT_READY: 2, _model.UNKNOWN_VERDICT: 3}
# Of what tools say themselves; more than that fills the screen.
_MOST_TOLD = 6
_MOST_OPEN = 4
_MOST_BYTES: Bound = 512 * 2**20
# What takes seconds to read.
_LONG_BYTES = 5 * 2**20
UNKNOWN_STATUS = STATUS[_model.UNKNOWN_VERDICT]
USAGE_STATUS = 64


def _add_agent(commands: Any) -> None:
    """Add the commands for schedulers and timers to the parser (what add_subparsers returned)."""
    _add(commands, "look", _look, "judge this node and remember it in /run/ibready (the timer)")
    metrics = _add(commands, "metrics", _metrics, "look, and write metrics for Prometheus")
    metrics.add_argument("--textfile", metavar="DIR", required=True, help="the collector's folder")
    gate = _add(commands, "gate", _gate, "may a job start here? By the kept verdict: 0 it may, 1 it may not")
    gate.add_argument("--fail-count", action="store_true", help="answer in JSON, for nvhcd")
    _add(commands, "slurm-health", _slurm_health, "Slurm's HealthCheckProgram: drain, give back")
    _add(commands, "slurm-prolog", _slurm_prolog, "Slurm's Prolog: the gate, with its refusals in the journal")
    npd = _add(commands, "npd", _npd, "a plugin of Kubernetes' node-problem-detector")
    npd.add_argument("--length", metavar="N", type=int, default=80, help="of the message")


def _add(commands: Any, name: str, run: Callable[..., int], words: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=words)
    reported = f"{agent.PATH} where that is there"
    parser.add_argument("--settings", metavar="FILE", help=f"default: {reported}")
    parser.set_defaults(run=run)
    return parser


def _settings(given: argparse.Namespace, parser: argparse.ArgumentParser) -> agent.Settings:
    try:
        return agent.load(given.settings)
    except agent.SettingsError as exc:
        parser.error(str(exc))


def _look(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from . import judge, policy

    known = _settings(given, parser)
    seen = judge.current(known, known.timer_age)
    bad = seen.trouble or seen.why
    reported = policy.summary(seen, 200) if bad else _model.counts(seen.checks)
    age = int(time.time() - seen.looked_at)
    print(f"{seen.host} is {seen.verdict}: {reported}{f', {age} s ago' if age else ''}")
    # A unit that failed for a verdict that was given would hide one that could not look.
    return _NOT_DONE if seen.why else 0


def _metrics(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from .._evidence.sources import Live
    from . import judge, metrics
    from .textfile import FormatError

    known = _settings(given, parser)
    seen = judge.current(known, known.timer_age)
    try:
        for why in metrics.write(given.textfile, seen, Live(known.root, _METRIC_S)):
            print(f"ibready: could not look: {why}", file=sys.stderr)
    except (OSError, FormatError) as exc:
        print(f"ibready: {given.textfile}/{metrics.FILE} was not written: {exc}", file=sys.stderr)
        return _NOT_DONE
    if seen.why:
        print(f"ibready: no verdict: {seen.why}", file=sys.stderr)
        return _NOT_DONE
    return 0


def _slurm_health(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from . import slurm

    return slurm.health(_settings(given, parser))


def _gate(given: argparse.Namespace, _parser: argparse.ArgumentParser) -> int:
    from . import gate

    answer = gate.of(given.settings)
    print(answer.fail_count() if given.fail_count else answer.line())
    return 0 if answer.may_start else _NOT_DONE


def _slurm_prolog(given: argparse.Namespace, _parser: argparse.ArgumentParser) -> int:
    from . import slurm

    return slurm.prolog(given.settings)


def _npd(given: argparse.Namespace, _parser: argparse.ArgumentParser) -> int:
    from . import npd

    return npd.plugin(given.settings, given.length)


class _Parser(argparse.ArgumentParser):
    """Ends with status 64 on bad usage."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE_STATUS, f"{self.prog}: {message}\n")


def main(args: Sequence[str] | None = None) -> int:
    """Run one subcommand; returns the exit status."""
    parser = _parser()
    given = parser.parse_args(args)
    if not hasattr(given, "run"):
        parser.error("a command is needed; `ibready --help` lists them")
    try:
        status: int = given.run(given, parser)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # `ibready ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNKNOWN_STATUS
    except Exception as exc:
        # Python's own status for a crash is 1, which would read as "degraded".
        with contextlib.suppress(Exception):
            print(f"ibready: this went wrong: {type(exc).__name__}: {exc}", file=sys.stderr)
        os._exit(UNKNOWN_STATUS)


def _parser() -> _Parser:
    parser = _Parser(prog="ibready", description="Is this host ready for RDMA training?")
    parser.add_argument("--version", action="version", version=f"ibready {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)

    verify = commands.add_parser("verify", help="judge this host, or a bundle collected from one")
    verify.add_argument("--bundle", metavar="DIR", help="judge this evidence bundle instead")
    verify.add_argument("--only", metavar="AREA,...", help="only these areas of checks")
    verify.add_argument("--expect", metavar="FILE", help="JSON: what ibready_expect holds")
    verify.add_argument("--waivers", metavar="FILE", help="JSON: what ibready_waivers holds")
    verify.add_argument("--json", action="store_true", help="print the verdict object")
    verify.add_argument("--quiet", action="store_true", help="print one line, nothing if ready")
    verify.set_defaults(run=_verify)

    collect = commands.add_parser("collect", help="write an evidence bundle of this host")
    collect.add_argument("directory", metavar="DIR", help="the bundle becomes DIR/HOST")
    collect.add_argument("--expect", metavar="FILE", help="JSON: what ibready_expect holds; the bundle carries it")
    collect.add_argument("--container", action="store_true", help="start containers and record what they get")
    collect.set_defaults(run=_collect)

    reported = commands.add_parser("explain", help="what a check looks at, means and what to do")
    reported.add_argument("check", metavar="CHECK-ID")
    reported.set_defaults(run=_explain)

    parse = commands.add_parser("parse", help="what the parser makes of one output, as JSON")
    parse.add_argument("name", metavar="NAME", help="the evidence name, like ibstat; or a file, whose tool is guessed")
    parse.add_argument("file", metavar="FILE", nargs="?", help="default: standard input")
    parse.set_defaults(run=_parse)
    why = commands.add_parser("why", help="what pasted outputs say, what is wrong by them, what to ask next")
    why.add_argument("files", metavar="FILE", nargs="*", help="logs and outputs, of any hosts; default: standard input")
    why.add_argument("--expect", metavar="FILE", help="JSON: what ibready_expect holds")
    why.add_argument("--json", action="store_true", help="print what is wrong as JSON")
    why.set_defaults(run=_why)
    _add_agent(commands)
    return parser


# Each command imports what it needs, for a health check is started every minute on every node.


def _verify(given: argparse.Namespace, parser: _Parser) -> int:
    from .._evidence.sources import Unavailable
    from .._expect import expectations, waivers as _waivers
    from .._verify import verify as engine
    from .._verify.verdict import carried, source_of, verdict_object

    areas = engine.AREAS if given.only is None else tuple(given.only.split(","))
    for area in areas:
        if area not in engine.AREAS:
            parser.error(f"there is no area {area!r}; known are {', '.join(engine.AREAS)}")
    try:
        source, host = source_of(given.bundle, engine.QUESTIONS)
        wanted = _read_json(given.expect, {}, parser)
        # Containers are started where somebody asks for it, and this is asking.
        asks: dict[str, Any] = {"container": {}} if given.only is not None and "container" in areas else {}
        said = expectations.from_inventory({**asks, **wanted} if isinstance(wanted, dict) else wanted)
        expect = expectations.with_bundle(said, carried(source))
        waivers = _waivers.parse(_read_json(given.waivers, [], parser), CATALOG)
    except (expectations.ExpectationError, _waivers.WaiverError, Unavailable) as exc:
        parser.error(str(exc))
    judged = engine.verify(source, expect, areas)
    checks = _waivers.apply(judged.checks, waivers, host, datetime.date.today())
    result = verdict_object(host, checks, judged.facts)
    if given.json:
        print(json.dumps(result, indent=1))
    else:
        _show(_model.verdict_word(checks), host, checks, judged.facts, quiet=given.quiet)
    return STATUS[result["verdict"]]


def _show(verdict: str, host: str, checks: list[_model.Check], facts: dict[str, Any], *, quiet: bool) -> None:
    from .._verify import fold

    bad = fold.folded(_model.trouble(checks))
    if quiet:
        if bad:
            more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
            print(f"{host} is {verdict}: {_model.sentence(bad[0].check)}{more}")
        elif verdict not in (_model.READY, _model.SKIPPED):
            print(f"{host} is {verdict}: nothing was looked at")
        return
    simulated = facts["machine"]["simulated"]
    if simulated:
        print(f"SIMULATED: {simulated}")
    print(f"{host} is {verdict}")
    for line in bad:
        print(f"  {line.check.result.upper():7} {fold.told(line)}")
    for reason in _model.absent(checks) if verdict == _model.SKIPPED else ():
        print(f"  {reason}")
    for check in checks:
        if check.waived:
            print(f"  WAIVED  {_model.sentence(check)} (waived {check.waived})")
    print(f"  {_model.counts(checks)}")


def _collect(given: argparse.Namespace, parser: _Parser) -> int:
    from .._evidence.sources import Live
    from .._expect.expectations import ExpectationError
    from .._verify import collect as collecting
    from .._verify.verify import QUESTIONS

    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    host = platform.node()
    try:
        wanted = _read_json(given.expect, {}, parser)
        asks: dict[str, Any] = {"container": {}} if given.container else {}
        expect = {**asks, **wanted} if isinstance(wanted, dict) else wanted
        unreported = collecting.collect(Live(questions=QUESTIONS), given.directory, host, now, expect)
    except ExpectationError as exc:
        parser.error(str(exc))
    except collecting.CollectError as exc:
        print(f"ibready: {exc}", file=sys.stderr)
        return UNKNOWN_STATUS
    for line in unreported:
        print(f"not told: {line}", file=sys.stderr)
    print(os.path.join(given.directory, host))
    return 0


def _explain(given: argparse.Namespace, parser: _Parser) -> int:
    from .._verify.explain import explain

    if given.check not in CATALOG:
        near = [entry for entry in CATALOG if given.check in entry]
        hint = f"; there are {', '.join(near)}" if near else "; docs/checks.md lists all"
        parser.error(f"there is no check {given.check!r}{hint}")
    print(explain(CATALOG[given.check]), end="")
    return 0


def _parse(given: argparse.Namespace, parser: _Parser) -> int:
    from .._parse import names, prefix

    name, file = given.name, given.file
    if name not in names.EVERY:
        if file is not None or not (name == "-" or os.path.exists(name)):
            parser.error(f"there is no parser {name!r}, and no such file; docs/parsers.md lists the parsers")
        file = name
    data = _bytes(file, parser)
    if data.startswith(b"\x80"):
        return _parse_pickle(file or "-", data)
    text = data.decode("utf-8", "replace")
    if file is not given.file:
        guessed = names.guess(text)
        if not guessed:
            print(f"ibready: no tool is known whose text {file} is; docs/parsers.md lists them", file=sys.stderr)
            return UNKNOWN_STATUS
        name = guessed[0]
        print(f"ibready: read as {name}; `ibready parse NAME {file}` reads it as another tool's", file=sys.stderr)
    parts = prefix.parts(name, text)
    found = {part.who: names.facts(name, part.text) for part in parts}
    facts = {who: facts for who, (facts, _error) in found.items()}
    print(json.dumps({"hosts": facts} if len(parts) > 1 else facts[parts[0].who], indent=1))
    errors = [f"{who}: {error}" if who else str(error) for who, (_facts, error) in found.items() if error is not None]
    for line in errors:
        print(f"ibready: {line}", file=sys.stderr)
    return UNKNOWN_STATUS if errors else 0


def _parse_pickle(label: str, data: bytes) -> int:
    """What PyTorch's flight recorder left; nothing in it is run."""
    from .._ground.text import ParseError
    from .._parse import flight_recorder

    try:
        print(json.dumps(flight_recorder.facts(flight_recorder.parse_bytes(data)), indent=1))
    except ParseError as exc:
        print(f"ibready: {label}: {exc}", file=sys.stderr)
        return UNKNOWN_STATUS
    return 0


def _why(given: argparse.Namespace, parser: _Parser) -> int:
    from .._expect.expectations import ExpectationError, from_inventory
    from .._verify import why

    try:
        expect = from_inventory(_read_json(given.expect, {}, parser))
    except ExpectationError as exc:
        parser.error(str(exc))
    heard = why.Heard()
    files = given.files or ["-"]
    for number, path in enumerate(files, 1):
        data = _bytes(path, parser)
        if len(data) >= _LONG_BYTES:
            print(f"ibready: reads {escaped(path)}, {len(data) >> 20} MiB, {number} of {len(files)}", file=sys.stderr)
        heard.give(path, data)
        del data
    hosts = why.judged(heard, expect)
    job = why.job(heard)
    if given.json:
        shown = [
            {
                "host": host.name,
                "read": list(host.read),
                "wrong": [dataclasses.asdict(line.check) for line in host.bad],
                "open": [dataclasses.asdict(check) for check in host.open],
                "passed": host.passed,
                "ask": list(host.ask),
                "told": list(host.told),
                "says": list(host.says),
                "partly": list(host.partly),
            }
            for host in hosts
        ]
        of_job = {"job": dataclasses.asdict(job)} if job is not None else {}
        print(
            json.dumps(
                {
                    "hosts": shown,
                    **of_job,
                    "failed": [one.told for one in heard.failed],
                    "unread": heard.unread,
                    "doubts": heard.doubts,
                    "left": heard.left,
                    "alike": heard.alike,
                },
                indent=1,
            )
        )
    else:
        told = [*(_of_job(job) if job is not None else ())]
        failed = [f"{_model.FAIL.upper():7} {one.told}" for one in heard.failed[:_MOST_TOLD]]
        if len(heard.failed) > _MOST_TOLD:
            failed.append(f"{_model.FAIL.upper():7} and {len(heard.failed) - _MOST_TOLD} more of them: --json has all")
        # What a program says failed because of what a host shows to be wrong.
        besides = bool(heard.failed or heard.doubts)
        wrong = any(host.bad or host.told for host in hosts)
        told += [] if wrong else failed
        told += [line for host in hosts if job is None or not host.quiet for line in _of_host(host, besides=besides)]
        told += failed if wrong else []
        told += _of_rest(heard)
        told_why = any(host.bad or host.open for host in hosts)
        if job is None and not told_why and any("nccl_log" in host.read for host in hosts):
            told.append(
                "the job: no text tells how long its steps take, or that it stands; docs/slow.md says what does"
            )
        for line in told:
            # Names and words of hosts and jobs are whoever's.
            print(escaped(line))
    for unread in heard.unread:
        print(f"ibready: {escaped(unread)}", file=sys.stderr)
    if not hosts and job is None and not (heard.unread or heard.failed):
        print(
            "ibready: no text of a host and no time of a job: give the job's log beside its settings", file=sys.stderr
        )
    return STATUS[why.verdict(hosts, heard, job)]


def _of_host(host: Host, *, besides: bool) -> Iterator[str]:
    """What its texts say, what is wrong, and what to ask next; ``besides``: whether a program tells of a failure."""
    from .._verify import fold

    yield f"{host.name or 'the host'}: read {', '.join(host.read)}"
    yield from (f"  {line}" for line in host.says)
    for bad in host.bad:
        yield f"  {bad.check.result.upper():7} {fold.told(bad)}"
        if bad.check.evidence.get("line"):
            yield f"          the line: {bad.check.evidence['line']}"
    yield from (f"  {_model.FAIL.upper():7} {line}" for line in host.told[:_MOST_TOLD])
    if len(host.told) > _MOST_TOLD:
        yield f"  {_model.FAIL.upper():7} and {len(host.told) - _MOST_TOLD} more of them: --json has all"
    # Beside what is wrong only that is told of which something was seen.
    unsure = [check for check in host.open if check.observed or not host.bad]
    yield from (f"  {check.result.upper():7} {_model.sentence(check)}" for check in unsure[:_MOST_OPEN])
    if len(unsure) > _MOST_OPEN:
        yield f"  {_model.UNKNOWN.upper():7} and {len(unsure) - _MOST_OPEN} more of them: --json has all"
    what = "else is" if host.bad or host.told or besides else "is"
    if host.open:
        yield f"  whether all {what} well is not known: {host.passed} checks pass, {len(host.open)} cannot tell"
    elif host.passed:
        yield f"  nothing {what} wrong in it, as far as {host.passed} checks could look"
    elif not (host.bad or host.told or host.says):
        yield "  it says too little for any check"
    if host.partly:
        yield f"  read in part: {'; '.join(host.partly)}"
    if host.ask:
        yield f"  ask next: {'; '.join(f'`{command}`' for command in host.ask)}"


def _of_rest(heard: Heard) -> Iterator[str]:
    """What no tool read."""
    for line in heard.doubts[:_MOST_OPEN]:
        yield f"{_model.UNKNOWN.upper():7} nobody here knows the line '{printable(line, 300)}'"
    if len(heard.doubts) > _MOST_OPEN:
        yield f"{_model.UNKNOWN.upper():7} and {len(heard.doubts) - _MOST_OPEN} more of them: --json has all"
    if heard.left:
        lines = len(heard.left) + heard.alike
        count = "1 line is unread" if lines == 1 else f"{lines} lines are unread, the first"
        yield f"{count}: '{printable(heard.left[0])}'"


def _of_job(job: Job) -> Iterator[str]:
    """The answer first; then the numbers, and what to do."""
    yield f"the job: {job.head}"
    for line in (*job.stuck, *job.because):
        yield f"  {line}"
    for change in job.changes:
        yield f"  change: {change}"
    if job.missing:
        yield f"  to know more, switch on: {'; '.join(job.missing)}"


def _text(path: str | None, parser: _Parser) -> str:
    return _bytes(path, parser).decode("utf-8", errors="replace")


def _bytes(path: str | None, parser: _Parser) -> bytes:
    try:
        if path is None or path == "-":
            data = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with open(path, "rb") as stream:
                data = stream.read(_MOST_BYTES + 1)
    except OSError as exc:
        parser.error(f"{path}: {exc.strerror}")
    if len(data) > _MOST_BYTES:
        parser.error(f"{path or '-'}: more than {_MOST_BYTES >> 20} MiB; give the part that matters, as by grep NCCL")
    return data


def _read_json(path: str | None, otherwise: Any, parser: _Parser) -> Any:
    if path is None:
        return otherwise
    try:
        return strict.loads(_text(path, parser))
    except ValueError as exc:
        parser.error(f"{path}: not JSON: {exc}")
